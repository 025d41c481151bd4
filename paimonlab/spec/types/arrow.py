"""The Arrow side of data types: how columns look in memory.

================================  ====================================================
Paimon                            Arrow
================================  ====================================================
BOOLEAN … BIGINT, FLOAT, DOUBLE   bool, int8 … int64, float32, float64
DECIMAL(p, s)                     decimal128(p, s)
CHAR, VARCHAR, STRING             string
BINARY, VARBINARY, BYTES          binary
DATE; TIME(p)                     date32; time32[ms] at every precision
TIMESTAMP(p)                      timestamp[ms] p <= 3, [us] p <= 6, [ns] p <= 9, no zone
TIMESTAMP_LTZ(p)                  the same with zone UTC
ARRAY, MAP, ROW                   list, map, struct
MULTISET<t>                       map<t, int32>
VARIANT                           struct<value: binary, metadata: binary>
================================  ====================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.types as pt

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.same_objects import MOST_REMEMBERED, SameObjects
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.text import MAX_DECIMAL_PRECISION, UNASSIGNED_ID

VARIANT_STORAGE = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False),
    ]
)
VARIANT_EXTENSION_NAME = "arrow.parquet.variant"

_SIMPLE = {
    TypeRoot.BOOLEAN: pa.bool_(),
    TypeRoot.TINYINT: pa.int8(),
    TypeRoot.SMALLINT: pa.int16(),
    TypeRoot.INT: pa.int32(),
    TypeRoot.BIGINT: pa.int64(),
    TypeRoot.FLOAT: pa.float32(),
    TypeRoot.DOUBLE: pa.float64(),
    TypeRoot.CHAR: pa.string(),
    TypeRoot.VARCHAR: pa.string(),
    TypeRoot.BINARY: pa.binary(),
    TypeRoot.VARBINARY: pa.binary(),
    TypeRoot.DATE: pa.date32(),
    TypeRoot.TIME: pa.time32("ms"),
    TypeRoot.VARIANT: VARIANT_STORAGE,
}


def to_arrow(data_type: DataType) -> pa.DataType:
    """Return the Arrow type that holds values of ``data_type`` in memory.

    Raises
    ------
    UnsupportedError
        For BLOB.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> to_arrow(parse_type("TIMESTAMP(9) WITH LOCAL TIME ZONE"))
    TimestampType(timestamp[ns, tz=UTC])
    """
    if isinstance(data_type, AtomicType):
        return _atomic_to_arrow(data_type)
    match data_type:
        case ArrayType(element):
            return pa.list_(pa.field("item", to_arrow(element), nullable=element.nullable))
        case MapType(key, value):
            return _map(key, pa.field("value", to_arrow(value), nullable=value.nullable))
        case MultisetType(element):
            return _map(element, pa.field("value", pa.int32(), nullable=False))
        case RowType(fields):
            return pa.struct(map(arrow_field, fields))


def _map(key: DataType, value: pa.Field) -> pa.DataType:
    # Arrow has no null keys; that the type says NULL is Paimon's default, not a promise.
    return pa.map_(pa.field("key", to_arrow(key), nullable=False), value)


def _atomic_to_arrow(data_type: AtomicType) -> pa.DataType:
    simple = _SIMPLE.get(data_type.root)
    if simple is not None:
        return simple
    match data_type.root:
        case TypeRoot.DECIMAL:
            return pa.decimal128(data_type.precision, data_type.scale)
        case TypeRoot.TIMESTAMP:
            return pa.timestamp(timestamp_unit(data_type))
        case TypeRoot.TIMESTAMP_LTZ:
            return pa.timestamp(timestamp_unit(data_type), tz="UTC")
    raise UnsupportedError(f"data type {data_type.root.value}")


def timestamp_unit(data_type: AtomicType) -> str:
    """Return the Arrow unit of a TIMESTAMP or TIMESTAMP_LTZ: ``ms``, ``us`` or ``ns``."""
    precision = data_type.precision or 0
    return "ms" if precision <= 3 else "us" if precision <= 6 else "ns"


def arrow_field(field: DataField) -> pa.Field:
    """Return the Arrow field of a column, nullable as its type says."""
    return pa.field(field.name, to_arrow(field.type), nullable=field.type.nullable)


def arrow_schema(fields: Iterable[DataField]) -> pa.Schema:
    """Return the Arrow schema of columns, without metadata."""
    same = SameObjects(fields)
    return _known_schema(same) if len(same) <= MOST_REMEMBERED else _arrow_schema(same)


def _arrow_schema(fields: SameObjects[DataField]) -> pa.Schema:
    return pa.schema(map(arrow_field, fields))


_known_schema = lru_cache(maxsize=512)(_arrow_schema)


def from_arrow(arrow_type: pa.DataType, *, nullable: bool = True) -> DataType:
    """Return the type that a column of Arrow type ``arrow_type`` gets in a new table.

    Unsigned integers become the next wider type, ``timestamp[s]`` becomes ``TIMESTAMP(0)``;
    fields of structs get the id `UNASSIGNED_ID`.

    Raises
    ------
    SchemaError
        If no type can hold every value.

    Examples
    --------
    >>> from paimonlab.spec.types.text import format_type
    >>> format_type(from_arrow(pa.list_(pa.timestamp("ns")), nullable=False))
    'ARRAY<TIMESTAMP(9)> NOT NULL'
    """
    if pt.is_dictionary(arrow_type) or pt.is_run_end_encoded(arrow_type):
        return from_arrow(arrow_type.value_type, nullable=nullable)
    composite = _composite_from_arrow(arrow_type, nullable)
    if composite is not None:
        return composite
    for matches, root in _ROOTS:
        if matches(arrow_type):
            length = MAX_LENGTH if root in (TypeRoot.VARCHAR, TypeRoot.VARBINARY) else None
            return AtomicType(root, nullable, length=length)
    parameterised = _parameterised_from_arrow(arrow_type, nullable)
    if parameterised is None and pt.is_null(arrow_type):
        raise SchemaError(
            "no type of Paimon holds a column without any value: give it a type, as in "
            "frame.astype({'name': 'string'}), or create_table(…, {'name': 'STRING', …})"
        )
    if parameterised is None:
        raise SchemaError(f"no type of Paimon holds every value of Arrow's {arrow_type}: cast it")
    return parameterised


_ROOTS: Sequence[tuple[Callable[[pa.DataType], bool], TypeRoot]] = (
    (pt.is_boolean, TypeRoot.BOOLEAN),
    (pt.is_int8, TypeRoot.TINYINT),
    (pt.is_int16, TypeRoot.SMALLINT),
    (pt.is_uint8, TypeRoot.SMALLINT),
    (pt.is_int32, TypeRoot.INT),
    (pt.is_uint16, TypeRoot.INT),
    (pt.is_int64, TypeRoot.BIGINT),
    (pt.is_uint32, TypeRoot.BIGINT),
    (pt.is_float16, TypeRoot.FLOAT),
    (pt.is_float32, TypeRoot.FLOAT),
    (pt.is_float64, TypeRoot.DOUBLE),
    (pt.is_date, TypeRoot.DATE),
    (pt.is_string, TypeRoot.VARCHAR),
    (pt.is_large_string, TypeRoot.VARCHAR),
    (pt.is_string_view, TypeRoot.VARCHAR),
    (pt.is_binary, TypeRoot.VARBINARY),
    (pt.is_large_binary, TypeRoot.VARBINARY),
    (pt.is_binary_view, TypeRoot.VARBINARY),
)
_FRACTION_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def _parameterised_from_arrow(arrow_type: pa.DataType, nullable: bool) -> AtomicType | None:  # noqa: FBT001
    if pt.is_fixed_size_binary(arrow_type):
        return AtomicType(TypeRoot.BINARY, nullable, length=arrow_type.byte_width)
    if pt.is_timestamp(arrow_type):
        root = TypeRoot.TIMESTAMP_LTZ if arrow_type.tz else TypeRoot.TIMESTAMP
        return AtomicType(root, nullable, precision=_FRACTION_DIGITS[arrow_type.unit])
    if pt.is_time(arrow_type):
        return AtomicType(TypeRoot.TIME, nullable, precision=_FRACTION_DIGITS[arrow_type.unit])
    if pt.is_decimal(arrow_type):
        precision, scale = arrow_type.precision, arrow_type.scale
        if precision <= MAX_DECIMAL_PRECISION and 0 <= scale <= precision:
            return AtomicType(TypeRoot.DECIMAL, nullable, precision=precision, scale=scale)
    return None


def _composite_from_arrow(arrow_type: pa.DataType, nullable: bool) -> DataType | None:  # noqa: FBT001
    if pt.is_struct(arrow_type):
        fields = tuple(data_field(UNASSIGNED_ID, field) for field in arrow_type)
        return RowType(fields, nullable)
    if pt.is_map(arrow_type):
        value = from_arrow(arrow_type.item_type, nullable=arrow_type.item_field.nullable)
        return MapType(from_arrow(arrow_type.key_type), value, nullable)
    if _is_list(arrow_type):
        element = arrow_type.value_field
        return ArrayType(from_arrow(element.type, nullable=element.nullable), nullable)
    if getattr(arrow_type, "extension_name", None) == VARIANT_EXTENSION_NAME:
        return AtomicType(TypeRoot.VARIANT, nullable)
    return None


def _is_list(arrow_type: pa.DataType) -> bool:
    return (
        pt.is_list(arrow_type)
        or pt.is_large_list(arrow_type)
        or pt.is_fixed_size_list(arrow_type)
        or pt.is_list_view(arrow_type)
        or pt.is_large_list_view(arrow_type)
    )


def data_field(id: int, field: pa.Field) -> DataField:
    """Return the column that an Arrow field defines.

    Raises
    ------
    SchemaError
        If its type has no counterpart; the message names the column.
    """
    try:
        return DataField(id, field.name, from_arrow(field.type, nullable=field.nullable))
    except SchemaError as error:
        raise SchemaError(f"column {field.name!r}: {error}") from None
