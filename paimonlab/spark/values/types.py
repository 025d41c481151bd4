"""Paimon's column types <-> Spark's.

=========================  ==========================================================
Paimon                     Spark
=========================  ==========================================================
CHAR(n), VARCHAR(n)        char(n), varchar(n); ``plain=True``: string
STRING, BYTES              string, binary
BINARY(n), VARBINARY(n)    binary
TIMESTAMP(p)               timestamp_ntz (microseconds)
TIMESTAMP_LTZ(p)           timestamp (microseconds)
TIME(p)                    time(6), as Spark's literals have it
MULTISET<t>                map<t, int>
BLOB                       refused, naming the column
=========================  ==========================================================

All others have the same name on both sides. Spark's types map back to the widest: timestamp to
TIMESTAMP_LTZ(6), timestamp_ntz to TIMESTAMP(6), binary to BYTES, maps to MAP. Spark calls time
unsupported unless ``spark.sql.timeType.enabled``, but for literals and what a table has.

Source: apache/paimon@1.4.2 ``SparkTypeUtils`` (MULTISET; TIME it refuses).
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import types as st

from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    TEXT_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    with_nullable,
)

CHAR_VARCHAR_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""Metadata where Spark notes what a string column was declared as."""
_MICROSECONDS = 6

_SAME: dict[TypeRoot, st.DataType] = {
    TypeRoot.BOOLEAN: st.BooleanType(),
    TypeRoot.TINYINT: st.ByteType(),
    TypeRoot.SMALLINT: st.ShortType(),
    TypeRoot.INT: st.IntegerType(),
    TypeRoot.BIGINT: st.LongType(),
    TypeRoot.FLOAT: st.FloatType(),
    TypeRoot.DOUBLE: st.DoubleType(),
    TypeRoot.DATE: st.DateType(),
    TypeRoot.VARIANT: st.VariantType(),
}
_TO_SPARK = _SAME | {
    TypeRoot.BINARY: st.BinaryType(),
    TypeRoot.VARBINARY: st.BinaryType(),
    TypeRoot.TIMESTAMP: st.TimestampNTZType(),
    TypeRoot.TIMESTAMP_LTZ: st.TimestampType(),
}
_FROM_SPARK: dict[type[st.DataType], AtomicType] = {
    **{type(spark): AtomicType(root) for root, spark in _SAME.items()},
    st.BinaryType: AtomicType(TypeRoot.VARBINARY, length=MAX_LENGTH),
    st.TimestampNTZType: AtomicType(TypeRoot.TIMESTAMP, precision=_MICROSECONDS),
    st.TimestampType: AtomicType(TypeRoot.TIMESTAMP_LTZ, precision=_MICROSECONDS),
}


def spark_schema(fields: Iterable[DataField], *, plain: bool = False) -> st.StructType:
    """Turn the columns of a table into Spark's schema, comments included.

    Parameters
    ----------
    fields
        Columns of a table.
    plain
        CHAR and VARCHAR as string, without a trace (`relation_schema` leaves one).

    Raises
    ------
    UnsupportedError
        If Spark has no type for a column; names it.
    """
    return st.StructType([_spark_field(field, plain=plain, column=field.name) for field in fields])


def to_spark(data_type: DataType, *, column: str, plain: bool = False) -> st.DataType:
    """Turn a type into Spark's; errors name ``column``."""
    match data_type:
        case ArrayType(element):
            inner = to_spark(element, column=f"{column}.element", plain=plain)
            return st.ArrayType(inner, element.nullable)
        case MapType(key, value):
            return st.MapType(
                to_spark(key, column=f"{column}.key", plain=plain),
                to_spark(value, column=f"{column}.value", plain=plain),
                value.nullable,
            )
        case RowType(fields):
            return st.StructType(
                [_spark_field(f, plain=plain, column=f"{column}.{f.name}") for f in fields]
            )
        case MultisetType(element):
            counted = to_spark(element, column=f"{column}.element", plain=plain)
            return st.MapType(counted, st.IntegerType(), valueContainsNull=False)
        case AtomicType():
            return _atomic_to_spark(data_type, column, plain=plain)


def _spark_field(field: DataField, *, plain: bool, column: str) -> st.StructField:
    metadata = {"comment": field.description} if field.description is not None else None
    spark_type = to_spark(field.type, column=column, plain=plain)
    return st.StructField(field.name, spark_type, field.type.nullable, metadata)


def _atomic_to_spark(data_type: AtomicType, column: str, *, plain: bool) -> st.DataType:
    root, length = data_type.root, data_type.length
    if root is TypeRoot.DECIMAL:
        assert data_type.precision is not None
        return st.DecimalType(data_type.precision, data_type.scale or 0)
    if root is TypeRoot.TIME:
        return st.TimeType()
    if root in TEXT_ROOTS:
        if plain or length is None or length == MAX_LENGTH:
            return st.StringType()
        return st.CharType(length) if root is TypeRoot.CHAR else st.VarcharType(length)
    if root not in _TO_SPARK:
        raise _refused(column, root.value)
    return _TO_SPARK[root]


def _refused(column: str, type_name: str) -> UnsupportedError:
    return UnsupportedError(
        f"column {column!r} of type {type_name} in Spark",
        "Spark has no type for it; read the table with Table.scan, or select nothing from it here",
    )


def fields_from_spark(schema: st.StructType) -> tuple[DataField, ...]:
    """Turn Spark's schema into columns; ids count from 0, the catalog assigns the real ones.

    Raises
    ------
    UnsupportedError
        If Paimon has no type for a column; names it.
    """
    return tuple(
        _field_from_spark(index, field, column=field.name) for index, field in enumerate(schema)
    )


def _field_from_spark(index: int, field: st.StructField, *, column: str) -> DataField:
    declared = field.metadata.get(CHAR_VARCHAR_KEY)
    spark_type = field.dataType
    if declared is not None and isinstance(spark_type, st.StringType):
        spark_type = st._parse_datatype_json_value(declared)  # needs no session
    data_type = from_spark(spark_type, column=column)
    return DataField(
        index,
        field.name,
        with_nullable(data_type, field.nullable),
        field.metadata.get("comment"),
    )


def from_spark(spark_type: st.DataType, *, column: str) -> DataType:
    """Turn Spark's type into a nullable type; errors name ``column``."""
    match spark_type:
        case st.ArrayType():
            element = from_spark(spark_type.elementType, column=f"{column}.element")
            return ArrayType(with_nullable(element, spark_type.containsNull))
        case st.MapType():
            key = from_spark(spark_type.keyType, column=f"{column}.key")
            value = from_spark(spark_type.valueType, column=f"{column}.value")
            return MapType(
                with_nullable(key, nullable=False),
                with_nullable(value, spark_type.valueContainsNull),
            )
        case st.StructType():
            return RowType(
                tuple(
                    _field_from_spark(index, field, column=f"{column}.{field.name}")
                    for index, field in enumerate(spark_type)
                )
            )
        case _:
            return _atomic_from_spark(spark_type, column)


def _atomic_from_spark(spark_type: st.DataType, column: str) -> AtomicType:
    match spark_type:
        case st.DecimalType():
            return AtomicType(
                TypeRoot.DECIMAL, precision=spark_type.precision, scale=spark_type.scale
            )
        case st.TimeType():
            return AtomicType(TypeRoot.TIME, precision=spark_type.precision)
        case st.CharType():
            return AtomicType(TypeRoot.CHAR, length=spark_type.length)
        case st.VarcharType():
            return AtomicType(TypeRoot.VARCHAR, length=spark_type.length)
        case st.StringType() if spark_type == st.StringType():
            return AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)
    root = _FROM_SPARK.get(type(spark_type))
    if root is None:
        raise UnsupportedError(
            f"column {column!r} of type {spark_type.simpleString()}",
            "Paimon tables written here have no such type; cast it to another one first",
        )
    return root
