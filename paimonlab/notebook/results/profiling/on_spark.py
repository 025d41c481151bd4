"""All rows of a DataFrame summed up where they are, in one job of Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from paimonlab.notebook.results.profiling.sketch import RowSketch, has_facts, sketch_batches

_PARTS = "part INT, sketch BINARY"


@dataclass(frozen=True, slots=True)
class SketchedFrame:
    """All rows of a query."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    """Spark's names of them."""
    kinds: tuple[pa.DataType, ...]
    """Arrow's; a list for everything nested, and for what has no Arrow form."""
    rows: RowSketch


def sketch_frame(frame: DataFrame, most_columns: int) -> SketchedFrame:
    """Sum up the rows of each of the first columns.

    Each partition is summed up in a Python worker, and their sums in one; nothing else leaves
    Spark. Of columns that are nested, or have no Arrow form, only the nulls are transferred.
    """
    fields = frame.schema.fields[:most_columns]
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    kinds = tuple(arrow_kind(field.dataType, zone) for field in fields)
    column_names = [f"c{number}" for number in range(len(frame.columns))]
    columns = [
        _travelling(sf.col(name), kind) for name, kind in zip(column_names, kinds, strict=False)
    ]
    chosen = frame.toDF(*column_names).select(*columns)
    parts = chosen.mapInArrow(_sketched, _PARTS).repartition(1).sortWithinPartitions("part")
    collected = parts.mapInArrow(_summed, _PARTS).collect()
    rows = pickle.loads(collected[0]["sketch"]) if collected else RowSketch.empty(kinds)  # noqa: S301 - ours
    names = tuple(field.name for field in fields)
    types = tuple(field.dataType.simpleString() for field in fields)
    return SketchedFrame(names, types, kinds, rows)


def arrow_kind(kind: DataType, zone: str | None) -> pa.DataType:
    """Return the type that a column has in Arrow; a list for what is counted only.

    Parameters
    ----------
    kind
        Its type.
    zone
        Time zone of the session: Spark sends moments to workers with it.
    """
    try:
        arrow_type = to_arrow_type(kind, timezone=zone)
    except PySparkTypeError:
        return pa.list_(pa.bool_())
    return arrow_type if has_facts(arrow_type) else pa.list_(pa.bool_())


def _travelling(column: Column, kind: pa.DataType) -> Column:
    if has_facts(kind):
        return column
    return sf.when(column.isNotNull(), sf.array(sf.lit(True)))  # noqa: FBT003


def _sketched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sum up a partition; runs in a worker."""
    first = next(batches, None)
    if first is None:
        return
    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    rows = sketch_batches(_with(first, batches), first.schema.types, stream=part)
    yield _row(part, rows)


def _summed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sum up the sums of all partitions; runs in a worker."""
    parts = (
        pickle.loads(sketch)  # noqa: S301 - made by `_sketched`
        for batch in batches
        for sketch in batch.column("sketch").to_pylist()
    )
    first: RowSketch | None = next(parts, None)
    if first is not None:
        yield _row(0, reduce(add, parts, first))


def _row(part: int, rows: RowSketch) -> pa.RecordBatch:
    columns: Sequence[pa.Array] = [
        pa.array([part], pa.int32()),
        pa.array([pickle.dumps(rows)], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=["part", "sketch"])


def _with(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others
