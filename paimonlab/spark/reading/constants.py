"""Columns that have one value in a whole file: those of the partition.

For Spark they are partition columns of the scan: files are chosen by them before anything is read,
also by what a join finds out while it runs.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as st

from paimonlab.spark.reading.relation_schema import scan_field
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import with_nullable

Texts = tuple[str | None, ...]
"""Values of one row, written for the JVM."""

_FLOATS = {math.inf: "Infinity", -math.inf: "-Infinity"}
_NUMBERS: Mapping[type[st.DataType], pa.DataType] = {
    st.DateType: pa.int32(),
    st.TimestampType: pa.int64(),
    st.TimestampNTZType: pa.int64(),
    st.TimeType: pa.int64(),
}


def partition_schema(schema: TableSchema) -> st.StructType:
    """Return the partition columns of a table as a scan has them."""
    fields = [schema.field(name) for name in schema.partition_keys]
    return st.StructType(
        [
            scan_field(field.name, with_nullable(field.type, nullable=True), field.type)
            for field in fields
        ]
    )


def partition_texts(partitions: Sequence[bytes], schema: TableSchema) -> dict[bytes, Texts]:
    """Write the values of partitions.

    Parameters
    ----------
    partitions
        Serialised rows, no two the same.
    schema
        Of the table.

    Returns
    -------
    dict
        By their serialised rows.
    """
    fields = [schema.field(name) for name in schema.partition_keys]
    if not fields:
        return dict.fromkeys(partitions, ())
    encoded = pa.array(partitions, pa.large_binary())
    decoded = decode(encoded, [field.type for field in fields])
    columns = [
        _texts(column.cast(to_arrow(field.type)), spark.dataType)
        for column, field, spark in zip(decoded, fields, partition_schema(schema), strict=True)
    ]
    return dict(zip(partitions, zip(*columns, strict=True), strict=True))


def _texts(column: pa.Array, spark_type: st.DataType) -> list[str | None]:
    number = _NUMBERS.get(type(spark_type))
    if number is not None:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        elif pa.types.is_time(column.type):
            column = column.cast(pa.time64("ns"))
        column = column.cast(number)
    write = _WRITERS.get(type(spark_type), str)
    return [None if value is None else write(value) for value in column.to_pylist()]


def _float(value: float) -> str:
    return "NaN" if math.isnan(value) else _FLOATS.get(value, repr(value))


_WRITERS: Mapping[type[st.DataType], Callable[[Any], str]] = {
    st.BinaryType: lambda value: base64.b64encode(value).decode(),
    st.DoubleType: _float,
    st.FloatType: _float,
}
