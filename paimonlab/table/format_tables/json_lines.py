"""Lines of JSON as Java Paimon writes and reads them: an object a row, all values texts.

Others write numbers and truth values as such, so the first line of a block says which columns are
which; a block that mixes them is decoded value by value.

Source: apache/paimon@1.4.2 ``org.apache.paimon.format.json.JsonFileReader``,
``JsonFormatWriter``.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptDataError
from paimonlab.interrupts import whole_module
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimonlab.table.format_tables.options import JsonOptions
from paimonlab.table.format_tables.value_texts import root_of, texts_of, values_of

_DECODER = msgspec.json.Decoder(float_hook=str)
"""Numbers with a fraction stay as they are spelled."""
_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)

# Reading


def read_rows(
    block: bytes | list[bytes], fields: Sequence[DataField], options: JsonOptions, *, path: str
) -> pa.Table:
    """Read lines.

    Parameters
    ----------
    block
        As `lines.blocks` gives them.
    fields
        The columns that are wanted.
    options
        Of the table.
    path
        Of the file, for messages.

    Raises
    ------
    CorruptDataError
        If a line or a value cannot be read, unless ``json.ignore-parse-errors``.
    """
    if isinstance(block, bytes):
        texts = _by_arrow(block, fields)
        if texts is not None:
            return pa.table(
                {
                    field.name: _values(
                        texts.column(field.name).combine_chunks(), field, options, path
                    )
                    for field in fields
                }
            )
        block = block.split(b"\n")
    objects = _decoded(block, options, path)
    if not fields:
        return pa.table({"": pa.nulls(len(objects))})
    return pa.table(
        {
            field.name: _column([one.get(field.name) for one in objects], field, options, path)
            for field in fields
        }
    )


def _by_arrow(block: bytes, fields: Sequence[DataField]) -> pa.Table | None:
    """Return columns of texts; None: Arrow cannot tell them."""
    if not fields or not all(isinstance(field.type, AtomicType) for field in fields):
        return None
    try:
        first = _DECODER.decode(block[: block.index(b"\n")])
    except msgspec.DecodeError:
        return None
    if not isinstance(first, dict):
        return None
    schema = pa.schema([(field.name, _as_first(first.get(field.name), field)) for field in fields])
    try:
        found = arrow_json.read_json(
            pa.BufferReader(block),
            read_options=arrow_json.ReadOptions(block_size=len(block) + 1, use_threads=False),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowInvalid:
        return None
    return pa.table({name: found.column(name).cast(pa.string()) for name in schema.names})


def _as_first(value: object, field: DataField) -> pa.DataType:
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int) and root_of(field.type) in _INTEGERS:
        return pa.int64()
    return pa.string()


def _decoded(lines: Sequence[bytes], options: JsonOptions, path: str) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        if not line or line.isspace():
            continue
        try:
            one = _DECODER.decode(line)
        except msgspec.DecodeError as error:
            if options.ignores_errors:
                continue
            raise CorruptDataError(path, f"{_shown(line)} is not JSON: {error}") from error
        if isinstance(one, dict):
            found.append(one)
        elif not options.ignores_errors:
            raise CorruptDataError(path, f"{_shown(line)} is not an object")
    return found


def _shown(line: bytes) -> str:
    return repr(line[:60].decode("utf-8", "replace"))


def _values(texts: pa.Array, field: DataField, options: JsonOptions, path: str) -> pa.Array:
    values, unreadable = values_of(texts, field, column=f"{path}: {field.name}")
    if unreadable is not None and not options.ignores_errors and pc.any(unreadable).as_py():
        text = texts.filter(unreadable)[0].as_py()
        raise CorruptDataError(path, f"column {field.name!r}: {text!r} cannot be read")
    return values


def _column(values: list[Any], field: DataField, options: JsonOptions, path: str) -> pa.Array:
    """Make a column of decoded values: nested ones by their parts."""
    data_type = field.type

    def part(some: list[Any], of: DataType) -> pa.Array:
        return _column(some, DataField(field.id, field.name, of), options, path)

    def fitting(kind: type) -> list[Any]:
        return [_of_kind(value, kind, field, options, path) for value in values]

    if isinstance(data_type, ArrayType):
        lists = fitting(list)
        elements = part(list(chain.from_iterable(one or () for one in lists)), data_type.element)
        return pa.ListArray.from_arrays(
            _offsets(lists), elements, type=to_arrow(data_type), mask=_missing(lists)
        )
    if isinstance(data_type, MapType):
        maps = fitting(dict)
        entries = list(chain.from_iterable((one or {}).items() for one in maps))
        made = pa.MapArray.from_arrays(
            _offsets(maps, nulls=True),
            part([key for key, _ in entries], data_type.key),
            part([value for _, value in entries], data_type.value),
        )
        return made.cast(to_arrow(data_type))
    if isinstance(data_type, RowType):
        rows = fitting(dict)
        children = [
            _column(
                [None if row is None else row.get(one.name) for row in rows], one, options, path
            )
            for one in data_type.fields
        ]
        arrow_type = to_arrow(data_type)
        return pa.StructArray.from_arrays(
            children,
            fields=[arrow_type.field(number) for number in range(arrow_type.num_fields)],
            mask=_missing(rows),
        )
    texts = [_text(value, field, options, path) for value in values]
    return _values(arrow_array(texts, pa.string()), field, options, path)


def _of_kind(value: Any, kind: type, field: DataField, options: JsonOptions, path: str) -> Any:
    if value is None or isinstance(value, kind):
        return value
    if options.ignores_errors:
        return None
    raise CorruptDataError(path, f"column {field.name!r}: {value!r} is not of its type")


def _text(value: Any, field: DataField, options: JsonOptions, path: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    _of_kind(value, str, field, options, path)
    return None


def _missing(values: list[Any]) -> pa.Array:
    return arrow_array([value is None for value in values], pa.bool_())


def _offsets(values: list[Any], *, nulls: bool = False) -> pa.Array:
    ends = [0]
    for value in values:
        ends.append(ends[-1] + len(value or ()))
    if not nulls:
        return arrow_array(ends, pa.int32())
    starts = [None if value is None else end for value, end in zip(values, ends, strict=False)]
    return arrow_array([*starts, ends[-1]], pa.int32())


# Writing


def written(
    rows: pa.RecordBatch, fields: Sequence[DataField], options: JsonOptions, *, table: str
) -> bytes:
    """Return rows as lines."""
    ended = options.line_delimiter.encode()
    if all(isinstance(field.type, AtomicType) for field in fields):
        texts = pa.table(
            {
                field.name: texts_of(
                    rows.column(field.name), field.type, column=f"{table}.{field.name}"
                )
                for field in fields
                if isinstance(field.type, AtomicType)
            }
        )
        buffer = io.BytesIO()
        polars = whole_module("polars")
        polars.from_arrow(texts).write_ndjson(buffer)
        found = buffer.getvalue()  # texts have no end of a line: JSON escapes it
        return found if ended == b"\n" else found.replace(b"\n", ended)
    columns = {
        field.name: _spelled(rows.column(field.name), field.type, f"{table}.{field.name}")
        for field in fields
    }
    encode = msgspec.json.Encoder().encode
    lines = (
        encode(dict(zip(columns, values, strict=True)))
        for values in zip(*columns.values(), strict=True)
    )
    return b"".join(chain.from_iterable((line, ended) for line in lines))


def _spelled(values: pa.Array, data_type: DataType, column: str) -> list[Any]:
    """Return values as what becomes JSON: texts, lists and objects of them."""
    if isinstance(data_type, AtomicType):
        spelled: list[Any] = texts_of(values, data_type, column=column).to_pylist()
        return spelled
    if isinstance(data_type, RowType):
        children = [
            _spelled(values.field(number), one.type, column)
            for number, one in enumerate(data_type.fields)
        ]
        names = [one.name for one in data_type.fields]
        rows = zip(*children, strict=True)
        return [
            dict(zip(names, row, strict=True)) if is_there else None
            for row, is_there in zip(rows, values.is_valid().to_pylist(), strict=True)
        ]
    ends = values.offsets.to_pylist()
    if isinstance(data_type, MapType):
        keys = _spelled(values.keys, data_type.key, column)
        items = _spelled(values.items, data_type.value, column)
        pairs = list(zip(keys, items, strict=True))
        return [
            dict(pairs[ends[row] : ends[row + 1]]) if is_there else None
            for row, is_there in enumerate(values.is_valid().to_pylist())
        ]
    assert isinstance(data_type, ArrayType), "other types are refused when a table is made"
    elements = _spelled(values.values, data_type.element, column)
    return [
        elements[ends[row] : ends[row + 1]] if is_there else None
        for row, is_there in enumerate(values.is_valid().to_pylist())
    ]
