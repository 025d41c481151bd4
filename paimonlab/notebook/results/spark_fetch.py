"""Rows of a Spark DataFrame as Arrow, without losing a value on the way.

pandas is never involved: it turns integers with a null into floats and cannot tell NULL from
NaN. Where PySpark has no Arrow form for a column, that column alone is transferred as text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, VariantType

from paimonlab.errors import UnsupportedError
from paimonlab.spark.sessions.remote import is_remote


@dataclass(frozen=True, slots=True)
class Fetched:
    """Rows, and whether there are more."""

    table: pa.Table
    """Two columns may have the same name."""
    types: tuple[str, ...]
    """Spark's name of each column's type."""
    has_more_rows: bool
    """Whether there are more rows than were fetched."""


def fetch(frame: DataFrame, *, limit: int | None) -> Fetched:
    """Run a DataFrame and bring at most ``limit`` rows here; None: all of them.

    One row more is asked for, so that it is known without counting whether there are more.
    """
    table = _to_arrow(frame if limit is None else frame.limit(limit + 1))
    has_more_rows = limit is not None and table.num_rows > limit
    types = tuple(field.dataType.simpleString() for field in frame.schema.fields)
    return Fetched(table.slice(0, limit) if has_more_rows else table, types, has_more_rows)


def stream(frame: DataFrame) -> pa.RecordBatchReader:
    """Run a DataFrame and bring its rows here batch by batch, in their order.

    Partitions come one after another, each as a job of its own: this process and Spark's driver
    have no more than one of them in memory. From a Spark Connect server, which may not have the
    Python for that, all rows come at once.

    Raises
    ------
    UnsupportedError
        If there are no columns.
    """
    if not frame.columns:
        raise UnsupportedError("rows without columns as a file")
    if is_remote(frame):
        return _to_arrow(frame).to_reader()
    sent = _sendable(frame)
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    schema = to_arrow_schema(sent.schema, timezone=zone)
    packed = sent.mapInArrow(_packed, "batch BINARY").toLocalIterator()
    names = pa.schema(
        [field.with_name(name) for field, name in zip(schema, frame.columns, strict=True)]
    )
    batches = (_unpacked(row["batch"], schema, names) for row in packed)
    return pa.RecordBatchReader.from_batches(names, batches)


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write each batch as one binary value; runs on executors."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch({"batch": [sink.getvalue().to_pybytes()]})


def _unpacked(packed: bytes, schema: pa.Schema, names: pa.Schema) -> pa.RecordBatch:
    table = pa.ipc.open_stream(bytes(packed)).read_all().cast(schema)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=names)


def _to_arrow(frame: DataFrame) -> pa.Table:
    if not frame.columns:
        return pa.table({})
    return _sendable(frame).toArrow().rename_columns(frame.columns)


Change = Callable[[Column, Any], Column]
"""Makes of a column one that can be transferred, with the module of functions that fits it."""


def _sendable(frame: DataFrame) -> DataFrame:
    """Return the rows with columns that can be transferred; names may differ, not their order."""
    changes = [_transport(field.dataType) for field in frame.schema.fields]
    names = frame.columns
    if not any(changes) and len(set(names)) == len(names):
        return frame
    aliases = [f"c{number}" for number in range(len(names))]
    functions = _functions(frame)
    columns = [
        change(functions.col(alias), functions).alias(alias) if change else functions.col(alias)
        for alias, change in zip(aliases, changes, strict=True)
    ]
    return frame.toDF(*aliases).select(*columns)


def _functions(frame: DataFrame) -> Any:
    """Return the functions that make columns of this kind of frame.

    Those of ``pyspark.sql.functions`` go by what the process was first, not by the frame.
    """
    kind = "connect.functions" if is_remote(frame) else "functions"
    return importlib.import_module(f"pyspark.sql.{kind}")


def _transport(kind: DataType) -> Change | None:
    """Choose how a column of this type is transferred; None: as it is."""
    if isinstance(kind, VariantType):
        return _json
    nullable = _nullable(kind)
    if not _has_arrow_form(nullable):
        return _text
    return None if nullable == kind else lambda column, _: column.cast(nullable)


def _json(column: Column, functions: Any) -> Column:
    text: Column = functions.to_json(column)
    return text


def _text(column: Column, _: Any) -> Column:
    return column.cast("string")


def _has_arrow_form(kind: DataType) -> bool:
    try:
        to_arrow_type(kind, timezone="UTC")
    except PySparkTypeError:
        return False
    return True


def _nullable(kind: DataType) -> DataType:
    """Return the type with nulls allowed everywhere inside.

    PySpark refuses a null struct whose fields are declared as never null, which a union with
    NULL makes.
    """
    match kind:
        case StructType():
            fields = [StructField(field.name, _nullable(field.dataType)) for field in kind.fields]
            return StructType(fields)
        case ArrayType():
            return ArrayType(_nullable(kind.elementType))
        case MapType():
            return MapType(_nullable(kind.keyType), _nullable(kind.valueType))
        case _:
            return kind
