"""Rows as users have them, opened as Arrow.

A pandas frame has an index beside its columns. One without a name is not data: it says where rows
stood in another frame. One with a name was a column once (``set_index``, ``groupby``), so it is
a column again, or an error; one that repeats a column counts once. pandas itself is not imported
here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    AtomicType,
    DataField,
    MapType,
    MultisetType,
    TypeRoot,
    types_in,
)

_INDEX_FIELD = "__index_level_"
"""What Arrow calls a level of an index that has no name, or that of a column."""
_WHOLE = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_EXACT = {pa.float16(): 1 << 11, pa.float32(): 1 << 24, pa.float64(): 1 << 53}
"""Below these every whole number is a fraction of the type."""
_NO_ARROW = (ValueError, TypeError, NotImplementedError, OverflowError)
"""What Arrow raises for values that it has no type for; of the first three also by its own
subclasses."""


def batches_of(
    data: Any, columns: Collection[str], *, table: str, fields: Sequence[DataField] = ()
) -> pa.RecordBatchReader:
    """Open anything that speaks Arrow as a stream of batches.

    Parameters
    ----------
    data
        An object with ``__arrow_c_stream__`` or ``__arrow_c_array__``: an Arrow table, batch
        or reader, a pandas or polars frame, a DuckDB relation. Also a lazy frame of polars, a
        list of dicts, a dict of lists or arrays.
    columns
        Columns that the caller knows: the index of a frame may have one of these names.
    table
        Its name, for messages.
    fields
        Columns of the table: Python's values do not say which of them are maps.

    Raises
    ------
    TypeError
        If ``data`` does not speak Arrow, or is one column of a frame.
    DataError
        If a frame has columns that no table can have, or an index whose name is not in
        ``columns``.
    """
    reader = _reader(data, columns, table, fields)
    left_out = [
        field
        for field in _unnamed_levels(reader.schema)
        if field in reader.schema.names and field not in columns
    ]
    if not left_out:
        return reader
    kept = [name for name in reader.schema.names if name not in left_out]
    schema = pa.schema([reader.schema.field(name) for name in kept])
    return pa.RecordBatchReader.from_batches(schema, (batch.select(kept) for batch in reader))


def schema_of(data: Any, *, table: str) -> pa.Schema | None:
    """Return the columns of rows, levels of a frame's index that have names included.

    pandas counts nanoseconds unless it is told otherwise, so that is no choice of who made a frame:
    times of pandas that are whole microseconds are columns of microseconds, as Spark has them.

    Parameters
    ----------
    data
        A schema of Arrow, or what `batches_of` takes.
    table
        Name of the table that gets these columns, for messages.

    Returns
    -------
    pyarrow.Schema or None
        None if ``data`` is something else.
    """
    _check_is_table(data, table)
    if _is_pandas(data):
        schema = _micros_where_whole(_from_pandas(data, None, table))
    elif isinstance(data, pa.Schema):
        schema = data
    elif hasattr(data, "__arrow_c_schema__"):
        schema = pa.schema(data)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        schema = _reader(data, (), table).schema
    else:
        return None
    left_out = _unnamed_levels(schema)
    return pa.schema([field for field in schema if field.name not in left_out])


def _reader(
    data: Any, columns: Collection[str], table: str, fields: Sequence[DataField] = ()
) -> pa.RecordBatchReader:
    if isinstance(data, pa.RecordBatchReader):
        return data
    _check_is_table(data, table)
    if _is_pandas(data):
        data = _from_pandas(data, columns, table, fields)
    data = at_hand(data, table=table, fields=fields)
    if isinstance(data, pa.Table):
        return data.to_reader()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data)
    if hasattr(data, "__arrow_c_array__"):
        batch = pa.record_batch(data)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])
    raise TypeError(
        f"cannot write a {type(data).__name__}: give an Arrow table, a pandas or polars frame, a "
        "list of dicts, a dict of lists, or anything else with __arrow_c_stream__"
    )


def at_hand(data: Any, *, table: str, fields: Sequence[DataField] = ()) -> Any:
    """Turn rows of Python, and what is not computed yet, into what speaks Arrow; keep the rest."""
    if _is_lazy(data):
        return data.collect()
    if isinstance(data, Mapping):
        return _from_columns(data, table, types_of_maps(fields))
    if isinstance(data, list | tuple):
        return _from_rows(data, table, types_of_maps(fields))
    return data


def _is_lazy(data: Any) -> bool:
    """Whether something is a frame of polars that is not computed yet."""
    kind = type(data)
    return kind.__name__ == "LazyFrame" and kind.__module__.partition(".")[0] == "polars"


def _from_rows(rows: Sequence[Any], table: str, maps: Mapping[str, pa.DataType]) -> pa.Table:
    """Turn dicts into Arrow; a column that some of them lack is null there."""
    if not all(isinstance(row, Mapping) for row in rows):
        wrong = next(row for row in rows if not isinstance(row, Mapping))
        raise TypeError(
            f"{table}: a list is written as rows, each a dict of column and value; there is a "
            f"{type(wrong).__name__} in it"
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return _from_columns({name: [row.get(name) for row in rows] for name in names}, table, maps)


def _from_columns(
    columns: Mapping[Any, Any], table: str, maps: Mapping[str, pa.DataType]
) -> pa.Table:
    """Turn columns into Arrow: arrays, or lists of values."""
    _check_names(list(columns), table)
    made = {name: _column(name, values, table, maps.get(name)) for name, values in columns.items()}
    if len({len(column) for column in made.values()}) > 1:
        counts = ", ".join(f"{name!r} {len(column)}" for name, column in made.items())
        raise DataError(f"{table}: the columns differ in length: {counts}")
    return pa.table(made)


def _column(
    name: str, values: Any, table: str, of_maps: pa.DataType | None
) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(
            f"{table}: column {name!r} of a dict is a list of values, not {_a(values)}; one row is "
            "written [{…}]"
        )
    if of_maps is not None:
        return _with_maps(list(values), of_maps, name, table)
    given = values if isinstance(values, np.ndarray) else list(values)
    try:
        return arrow_array(given) if isinstance(given, np.ndarray) else _of_python(given)
    except (*_NO_ARROW, pa.ArrowException) as error:
        kinds = sorted({type(value).__name__ for value in given if value is not None})
        said = str(error)
        if len(kinds) > 1:
            said = f"its values are of several types ({', '.join(kinds)}): give them one"
        raise DataError(f"{table}: column {name!r}: {said}") from error


def _of_python(values: list[Any]) -> pa.Array:
    """Make an array of Python's values; of plain ones without a look for pandas."""
    kinds = {type(value) for value in values} - {NoneType}
    if kinds == {float}:
        missing = np.array([value is None for value in values])
        numbers = np.array([0.0 if value is None else value for value in values])
        return arrow_array(numbers, mask=missing if missing.any() else None)
    if len(kinds) == 1:
        return arrow_array(values, _PLAIN.get(kinds.pop()))
    return arrow_array(values)


_PLAIN = {int: pa.int64(), bool: pa.bool_(), str: pa.string(), bytes: pa.binary()}


def _a(value: object) -> str:
    """Return the type of a value with its article."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _is_pandas(data: Any) -> bool:
    """Whether something is a DataFrame of pandas or of a library built on it."""
    return _is_of(data, "DataFrame", "pandas")


def _is_of(data: Any, name: str, *libraries: str) -> bool:
    return any(
        cls.__name__ == name and cls.__module__.partition(".")[0] in libraries
        for cls in type(data).__mro__
    )


def _check_is_table(data: Any, table: str) -> None:
    """Check that something is not one column: those of pandas and polars speak Arrow, too."""
    if not _is_of(data, "Series", "pandas", "polars"):
        return
    frame = "reset_index()" if hasattr(data, "reset_index") else "to_frame()"
    raise TypeError(
        f"{table}: a table is written of a frame; a Series is one column, and "
        f".{frame} makes a frame of it"
    )


def _from_pandas(
    frame: Any, columns: Collection[str] | None, table: str, fields: Sequence[DataField] = ()
) -> pa.Table:
    """Turn a frame into Arrow: the named levels of its index, then its columns."""
    names = [name for name in frame.index.names if name is not None]
    _check_names(names, table)
    _check_names(list(frame.columns), table)
    for name in names:
        if columns is not None and name not in columns:
            raise DataError(
                f"{table}: the index of the frame is {name!r}, which is not a column; "
                "frame.reset_index(drop=True) leaves it out, frame.reset_index() makes a column "
                "of it that can be renamed"
            )
    rows = _columns(frame, table, types_of_maps(fields))
    levels = {
        name: _array(frame.index.get_level_values(place), name, table)
        for place, name in enumerate(frame.index.names)
        if name is not None
    }
    for name in [name for name in names if name in rows.column_names]:
        if not levels.pop(name).equals(rows[name]):
            raise DataError(
                f"{table}: the data has column {name!r} twice, an index counted, and they differ; "
                "frame.reset_index(drop=True) leaves the index out"
            )
    whole = pa.table([*levels.values(), *rows.columns], names=[*levels, *rows.column_names])
    return _with_whole_numbers(whole, fields)


def _columns(frame: Any, table: str, maps: Mapping[str, pa.DataType]) -> pa.Table:
    of_python = [name for name in frame.columns if name in maps and frame[name].dtype == object]
    try:
        if not of_python:
            return pa.Table.from_pandas(frame, preserve_index=False)
        others = pa.Table.from_pandas(frame.drop(columns=of_python), preserve_index=False)
    except _NO_ARROW as error:
        for name in frame.columns:  # not every error says which it is
            _array(frame[name], name, table)
        raise DataError(f"{table}: the frame cannot become an Arrow table. {error}") from error
    made = {
        name: _with_maps(_values(frame[name]), maps[name], name, table)
        if name in of_python
        else others.column(name)
        for name in frame.columns
    }
    return pa.table(made)


def _with_whole_numbers(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """Make whole numbers again of those that pandas had to make fractions, as some are missing."""
    for field in fields:
        place = rows.schema.get_field_index(field.name)
        is_whole = isinstance(field.type, AtomicType) and field.type.root in _WHOLE
        if not is_whole or place < 0 or not pa.types.is_floating(rows.schema.field(place).type):
            continue
        fractions = rows.column(place)
        try:
            numbers = fractions.cast(pa.int64())
        except pa.ArrowInvalid:  # it has a fraction, or is too large: who writes it says so
            continue
        largest = pc.max(pc.abs(numbers)).as_py() or 0
        if largest >= _EXACT[fractions.type]:  # pandas may have changed it already
            continue
        rows = rows.set_column(place, field.name, numbers)
    return rows


def _micros_where_whole(rows: pa.Table) -> pa.Schema:
    """Return the columns, those of nanoseconds with microseconds where that loses nothing."""
    schema = rows.schema
    for place, field in enumerate(schema):
        if not pa.types.is_timestamp(field.type) or field.type.unit != "ns":
            continue
        micros = pa.timestamp("us", field.type.tz)
        try:
            rows.column(place).cast(micros)
        except pa.ArrowInvalid:  # it would lose nanoseconds
            continue
        schema = schema.set(place, field.with_type(micros))
    return schema


def _values(column: Any) -> list[Any]:
    """Return Python's values of a column of pandas; None where one is missing."""
    return [None if isinstance(value, float) and math.isnan(value) else value for value in column]


def _array(values: Any, name: str, table: str) -> pa.ChunkedArray:
    """Turn a column or a level of an index into Arrow."""
    try:
        converted = pa.array(values, from_pandas=True)
    except _NO_ARROW as error:
        raise DataError(
            f"{table}: the frame cannot become an Arrow table. Column {name!r}: {error}"
        ) from error
    return converted if isinstance(converted, pa.ChunkedArray) else pa.chunked_array([converted])


def types_of_maps(fields: Sequence[DataField]) -> dict[str, pa.DataType]:
    """Return the Arrow types of columns that have maps, by name."""
    return {
        field.name: to_arrow(field.type)
        for field in fields
        if any(isinstance(one, MapType | MultisetType) for one in types_in(field.type))
    }


def _with_maps(values: list[Any], arrow_type: pa.DataType, name: str, table: str) -> pa.Array:
    """Make an array of dicts, or lists of pairs, for maps; of dicts for rows."""
    unknown = _unknown_name(values, arrow_type)
    if unknown is not None:
        raise DataError(f"{table}: column {name!r}: {unknown!r} is no field of {arrow_type}")
    try:
        return arrow_array(values, arrow_type)
    except (*_NO_ARROW, pa.ArrowException) as error:
        raise DataError(f"{table}: column {name!r}: {error}") from error


def _unknown_name(values: Iterable[Any], arrow_type: pa.DataType) -> str | None:
    """Return a name in dicts for rows that is none of the type's: Arrow would leave it out."""
    given = [value for value in values if value is not None]
    if pa.types.is_struct(arrow_type):
        names = {field.name for field in arrow_type}
        rows = [value for value in given if isinstance(value, Mapping)]
        for name in (name for row in rows for name in row if name not in names):
            return str(name)
        parts = [([row.get(field.name) for row in rows], field.type) for field in arrow_type]
    elif pa.types.is_map(arrow_type):
        items = [item for value in given for item in _items(value)]
        parts = [(items, arrow_type.item_type)]
    elif pa.types.is_list(arrow_type):
        lists = [value for value in given if isinstance(value, Iterable)]
        parts = [([one for some in lists for one in some], arrow_type.value_type)]
    else:
        return None
    return next(filter(None, (_unknown_name(*part) for part in parts)), None)


def _items(value: Any) -> list[Any]:
    """Return the values of a map that is a dict, or a list of pairs."""
    if isinstance(value, Mapping):
        return [*value.values()]
    if not isinstance(value, list):
        return []
    return [pair[1] for pair in value if isinstance(pair, tuple | list) and len(pair) == 2]


def _check_names(names: Sequence[Any], table: str) -> None:
    """Refuse names that Arrow would turn into texts, or that mean two things."""
    for name in names:
        if not isinstance(name, str):
            raise DataError(
                f"{table}: the frame has a column or index {name!r}, and names of columns are "
                "texts; rename it, as with frame.columns = [str(name) for name in frame.columns]"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{table}: the data has column {twice!r} twice")


def _unnamed_levels(schema: pa.Schema) -> set[str]:
    """Return the fields that Arrow made of an index without a name, by its note about pandas."""
    note = (schema.metadata or {}).get(b"pandas")
    if note is None:
        return set()
    try:
        described = json.loads(note)
        levels = [field for field in described["index_columns"] if isinstance(field, str)]
        names = {column["field_name"]: column["name"] for column in described["columns"]}
    except (ValueError, KeyError, TypeError):  # others may write such a note, too
        return set()
    return {
        field for field in levels if field.startswith(_INDEX_FIELD) and names.get(field) is None
    }
