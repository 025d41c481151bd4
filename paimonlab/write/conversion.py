"""Arrow data of users -> the Arrow types of a table's columns, without any loss.

A narrower or wider number is taken when every value fits exactly; anything lossy is an
error that names the column. The rules are the column "Arrow in" of the type table in the
documentation.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from paimonlab.arrow_values import decoded
from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.spec.types.arrow import from_arrow, to_arrow
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    TEXT_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.text import format_type

_INTEGERS = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT})
_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_TIMESTAMPS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_WHOLE_NUMBERS = pa.decimal128(20, 0)
"""Holds every integer of Arrow. A cast of integers to a decimal looks at their type, not at their
values; one of decimals looks at the values."""
_DIGITS_OF_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def convert(
    array: pa.Array, target: DataType, column: str, *, first_row: int | None = None
) -> pa.Array:
    """Turn an array into the Arrow type of a column without losing anything.

    Parameters
    ----------
    array
        n values of any Arrow type.
    target
        The type of the column.
    column
        Name of the column (a dotted path inside nested types), for messages.
    first_row
        Number of rows before this array, for messages; None if unknown.

    Returns
    -------
    pyarrow.Array
        n values of type ``to_arrow(target)``.

    Raises
    ------
    DataError
        If the type does not fit, a value does not, or a null meets NOT NULL.
    """
    arrow_type = to_arrow(target)
    array = decoded(array)
    if pa.types.is_null(array.type):
        array = pa.nulls(len(array), arrow_type)
    if not target.nullable and array.null_count:
        raise DataError(
            f"column {column!r} is {format_type(target)}, but {array.null_count} of "
            f"{len(array)} values are null"
        )
    if isinstance(target, AtomicType):
        return _convert_atomic(array, target, arrow_type, column, first_row)
    return _convert_nested(array, target, arrow_type, column)


def with_types_of_tables(rows: pa.Table) -> pa.Table:
    """Give texts, bytes and nested columns the Arrow types that columns of a table have.

    Frames have others for the same values: pandas ``large_string``, polars ``string_view`` or a
    dictionary. Numbers and times stay as they are.

    Raises
    ------
    DataError
        If a nested value does not fit.
    """
    for place, field in enumerate(rows.schema):
        kind = field.type
        while pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not (pa.types.is_nested(kind) or _is_text(kind) or _is_bytes(kind)):
            continue
        try:
            wanted = from_arrow(kind)
        except SchemaError:  # of no type that a table has; it may not be used at all
            continue
        if field.type == to_arrow(wanted) or pa.types.is_fixed_size_binary(kind):
            continue
        column = rows.column(place)
        chunks = [convert(chunk, wanted, field.name) for chunk in column.chunks]
        made = pa.chunked_array(chunks, to_arrow(wanted))
        rows = rows.set_column(place, field.name, made)
    return rows


def _convert_atomic(
    array: pa.Array, target: AtomicType, arrow_type: pa.DataType, column: str, first_row: int | None
) -> pa.Array:
    if target.root is TypeRoot.VARIANT:
        return _convert_variant(array, target, arrow_type, column)
    if not _may_hold(array.type, target):
        raise _wrong_type(array.type, target, column)
    if target.root is TypeRoot.DATE and pa.types.is_timestamp(array.type):
        array = _wall_clock(array, column)
        _check_midnights(array, column, first_row)
    if array.type != arrow_type:
        array = _safe_cast(array, target, arrow_type, column)
    _check_length(array, target, column)
    _check_precision(array, target, column)
    return array


def _convert_variant(
    array: pa.Array, target: AtomicType, arrow_type: pa.DataType, column: str
) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    names = [field.name for field in array.type] if pa.types.is_struct(array.type) else []
    if set(names) != {"value", "metadata"}:
        advice = "make variants of JSON texts with paimonlab.parse_json"
        raise DataError(f"{_wrong_type(array.type, target, column)}; {advice}")
    parts = dict(zip(names, array.flatten(), strict=True))
    children = []
    for name in ("value", "metadata"):
        if not _is_bytes(parts[name].type):
            raise _wrong_type(array.type, target, column)
        child = parts[name].cast(pa.binary())
        if child.null_count != array.null_count or pc.min(pc.binary_length(child)).as_py() == 0:
            raise DataError(f"column {column!r}: a VARIANT without {name}")
        children.append(child.fill_null(b""))
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(arrow_type), mask=mask)


def _may_hold(source: pa.DataType, target: AtomicType) -> bool:  # noqa: PLR0911
    """Whether values of an Arrow type can become values of the column, loss aside."""
    types = pa.types
    match target.root:
        case root if root in _INTEGERS:
            return types.is_integer(source)
        case root if root in _FLOATS:
            return types.is_floating(source) or types.is_integer(source)
        case root if root in TEXT_ROOTS:
            return _is_text(source)
        case root if root in _BYTES:
            return _is_bytes(source)
        case root if root in _TIMESTAMPS:
            has_zone = types.is_timestamp(source) and source.tz is not None
            return types.is_timestamp(source) and has_zone == (root is TypeRoot.TIMESTAMP_LTZ)
        case TypeRoot.BOOLEAN:
            return types.is_boolean(source)
        case TypeRoot.DECIMAL:
            return types.is_decimal(source) or types.is_integer(source)
        case TypeRoot.DATE:
            return types.is_date(source) or types.is_timestamp(source)
        case TypeRoot.TIME:
            return types.is_time(source)
    raise UnsupportedError(f"writing {format_type(target)}")


def _is_text(source: pa.DataType) -> bool:
    types = pa.types
    return types.is_string(source) or types.is_large_string(source) or types.is_string_view(source)


def _is_bytes(source: pa.DataType) -> bool:
    types = pa.types
    return (
        types.is_binary(source)
        or types.is_large_binary(source)
        or types.is_fixed_size_binary(source)
        or types.is_binary_view(source)
    )


def _safe_cast(
    array: pa.Array, target: AtomicType, arrow_type: pa.DataType, column: str
) -> pa.Array:
    try:
        if target.root is TypeRoot.DECIMAL and pa.types.is_integer(array.type):
            array = pc.cast(array, _WHOLE_NUMBERS)
        result = pc.cast(array, arrow_type, safe=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {column!r}: {array.type} does not fit {format_type(target)}: {error}"
        ) from error
    if pa.types.is_float64(array.type) and pa.types.is_float32(arrow_type):
        _check_exact_floats(array, result, column)
    return result


def _wall_clock(array: pa.Array, column: str) -> pa.Array:
    """Return what clocks of the array's own zone show: that is how its values are printed."""
    if array.type.tz is None:
        return array
    try:
        return pc.local_timestamp(array)
    except pa.ArrowInvalid as error:
        raise DataError(f"column {column!r}: {error}") from error


def _check_midnights(array: pa.Array, column: str, first_row: int | None) -> None:
    """Check that timestamps are days: pandas has no other type for these."""
    is_midnight = pc.equal(pc.floor_temporal(array, unit="day"), array)
    if pc.all(is_midnight).as_py() is not False:
        return
    first_wrong = pc.index(is_midnight, pa.scalar(False)).as_py()
    where = "a value" if first_row is None else f"row {first_row + first_wrong} (counted from 0)"
    raise DataError(
        f"column {column!r} is DATE, but {where} is {_printed(array, first_wrong)}, which is not "
        "at midnight; cut it to its day yourself, in pandas with .dt.normalize(), or give the "
        "column a TIMESTAMP type"
    )


def _printed(array: pa.Array, place: int) -> str:
    """Return a time as text; Python has no objects for the years after 9999."""
    text: str = pc.cast(array.slice(place, 1), pa.string())[0].as_py()
    return text


def _check_exact_floats(array: pa.Array, narrowed: pa.Array, column: str) -> None:
    same = pc.or_(pc.equal(pc.cast(narrowed, pa.float64()), array), pc.is_nan(array))
    if pc.all(same).as_py() is False:
        first = array.filter(pc.invert(same))[0]
        raise DataError(
            f"column {column!r}: {first} is not exactly a FLOAT; cast the column to float32 "
            "yourself if rounding is meant"
        )


def _check_length(array: pa.Array, target: AtomicType, column: str) -> None:
    if target.length is None or target.length == MAX_LENGTH:
        return
    is_text = target.root in TEXT_ROOTS
    lengths = pc.utf8_length(array) if is_text else pc.binary_length(array)
    longest = pc.max(lengths).as_py()
    if longest is not None and longest > target.length:
        unit = "characters" if is_text else "bytes"
        raise DataError(
            f"column {column!r} is {format_type(target)}, but a value has {longest} {unit}"
        )


def _check_precision(array: pa.Array, target: AtomicType, column: str) -> None:
    if target.root is TypeRoot.TIME and target.precision is not None:
        _check_digits(array, pa.int32(), 3, target, column)
    elif target.root in _TIMESTAMPS:
        _check_digits(array, pa.int64(), _DIGITS_OF_UNIT[array.type.unit], target, column)


def _check_digits(
    array: pa.Array, integers: pa.DataType, digits: int, target: AtomicType, column: str
) -> None:
    precision = target.precision if target.precision is not None else digits
    if precision >= digits:
        return
    factor = 10 ** (digits - precision)
    values = array.view(integers)
    whole = pc.multiply(pc.divide(values, factor), factor)
    is_whole = pc.equal(whole, values)
    if pc.all(is_whole).as_py() is False:
        first = _printed(array, pc.index(is_whole, pa.scalar(False)).as_py())
        raise DataError(
            f"column {column!r} is {format_type(target)}, which cannot hold {first}; round it, or "
            "give the column more digits"
        )


def _convert_nested(
    array: pa.Array, target: DataType, arrow_type: pa.DataType, column: str
) -> pa.Array:
    match target:
        case ArrayType(element=element):
            return _convert_list(array, element, arrow_type, column)
        case MapType(key=key, value=value):
            return _convert_map(array, replace(key, nullable=False), value, arrow_type, column)
        case MultisetType(element=element):
            count = AtomicType(TypeRoot.INT, nullable=False)
            return _convert_map(array, replace(element, nullable=False), count, arrow_type, column)
        case RowType():
            return _convert_struct(array, target, arrow_type, column)
    raise UnsupportedError(f"writing {format_type(target)}")


def _convert_list(
    array: pa.Array, element: DataType, arrow_type: pa.DataType, column: str
) -> pa.Array:
    types = pa.types
    if types.is_fixed_size_list(array.type) or types.is_large_list(array.type):
        array = pc.cast(array, pa.list_(array.type.value_type))
    if not types.is_list(array.type):
        raise DataError(f"column {column!r}: {array.type} is not a list")
    # Offsets of a slice do not start at 0: flatten() gives just the values they mean.
    values = convert(array.flatten(), element, f"{column}.element")
    return pa.ListArray.from_arrays(
        _offsets(array), values, type=arrow_type, mask=array.is_null() if array.null_count else None
    )


def _convert_map(
    array: pa.Array, key: DataType, value: DataType, arrow_type: pa.DataType, column: str
) -> pa.Array:
    if not pa.types.is_map(array.type):
        raise DataError(f"column {column!r}: {array.type} is not a map")
    entries = pc.cast(array, pa.list_(_entries_field(array.type)))
    flat = entries.flatten()
    return pa.MapArray.from_arrays(
        _offsets(entries),
        convert(flat.field(0), key, f"{column}.key"),
        convert(flat.field(1), value, f"{column}.value"),
        type=arrow_type,
        mask=array.is_null() if array.null_count else None,
    )


def _entries_field(map_type: pa.MapType) -> pa.Field:
    entry = pa.struct(
        [pa.field("key", map_type.key_type, nullable=False), pa.field("value", map_type.item_type)]
    )
    return pa.field("entries", entry, nullable=False)


def _offsets(array: pa.Array) -> pa.Array:
    """Offsets that fit the flattened values: null lists have no values there."""
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    ends = pc.cumulative_sum(pc.cast(lengths, pa.int64()))
    return pc.cast(pa.concat_arrays([pa.array([0], pa.int64()), ends]), pa.int32())


def _convert_struct(
    array: pa.Array, target: RowType, arrow_type: pa.DataType, column: str
) -> pa.Array:
    if not pa.types.is_struct(array.type):
        raise DataError(f"column {column!r}: {array.type} is not a struct")
    known = {field.name for field in target.fields}
    extra = [field.name for field in array.type if field.name not in known]
    if extra:
        raise DataError(f"column {column!r} has no field {extra[0]!r}; it has {sorted(known)}")
    is_null = array.is_null()
    children = [
        _convert_child(array, is_null, field.name, field.type, f"{column}.{field.name}")
        for field in target.fields
    ]
    return pa.StructArray.from_arrays(
        children, fields=list(arrow_type), mask=is_null if array.null_count else None
    )


def _convert_child(
    array: pa.StructArray, is_null: pa.BooleanArray, name: str, target: DataType, column: str
) -> pa.Array:
    """Convert one field; below a null struct it may be null even when NOT NULL."""
    if array.type.get_field_index(name) < 0:
        child = pa.nulls(len(array))
    else:
        child = pc.struct_field(array, name)
    if not target.nullable and child.null_count:
        missing = pc.and_(child.is_null(), pc.invert(is_null))
        if pc.any(missing).as_py():
            raise DataError(f"column {column!r} is {format_type(target)}, but has null values")
        target = replace(target, nullable=True)
    return convert(child, target, column)


def _wrong_type(source: pa.DataType, target: DataType, column: str) -> DataError:
    return DataError(
        f"column {column!r} is {format_type(target)} and does not take {source}; cast it to "
        f"{to_arrow(target)} first{_in_pandas(source, target, column)}"
    )


def _in_pandas(source: pa.DataType, target: DataType, column: str) -> str:
    """Say how a column of texts is cast where most columns of texts come from."""
    if not (isinstance(target, AtomicType) and _is_text(source)):
        return ""
    if target.root is TypeRoot.DATE or target.root in _TIMESTAMPS:
        zone = ", utc=True" if target.root is TypeRoot.TIMESTAMP_LTZ else ""
        if pa.types.is_string_view(source):  # polars writes texts so
            kind = "date()" if target.root is TypeRoot.DATE else "datetime()"
            return f", in polars pl.col({column!r}).str.to_{kind}"
        return f", in pandas pandas.to_datetime(frame[{column!r}]{zone})"
    if target.root in _INTEGERS or target.root in _FLOATS:
        return f", in pandas pandas.to_numeric(frame[{column!r}])"
    return ""
