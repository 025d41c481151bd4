"""Streams that run until nothing is left to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

WAIT_SECONDS = 240
Row: TypeAlias = tuple[Any, ...]
Batches: TypeAlias = list[list[Row]]
"""The rows of each batch."""


def stream(spark: SparkSession, name: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """Return the stream of a table."""
    return spark.readStream.options(**dict(options or {})).table(name)


def batches(rows: DataFrame, checkpoint: Path) -> Batches:
    """Run a stream to the end of what is there; return the rows of each batch, sorted."""
    found: Batches = []
    run(rows, checkpoint, lambda batch, _: found.append(sorted(map(tuple, batch.collect()))))
    return found


def run(rows: DataFrame, checkpoint: Path, each: Callable[[DataFrame, int], None]) -> None:
    """Run a stream to the end of what is there; raise its error."""
    query = (
        rows.writeStream.foreachBatch(each)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        assert query.awaitTermination(WAIT_SECONDS)
    finally:
        query.stop()


def all_of(found: Batches) -> list[Row]:
    """Return the rows of all batches, sorted."""
    return sorted(chain.from_iterable(found))


def ids(found: Batches) -> list[list[int]]:
    """Return the first column of each batch."""
    return [[row[0] for row in rows] for rows in found]


def forget_last_batch(checkpoint: Path) -> None:
    """Let Spark run its last batch again, as if it was killed before it wrote that it is done."""
    done = max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    done.unlink()
    (checkpoint / "commits" / f".{done.name}.crc").unlink(missing_ok=True)


def write_to(
    rows: DataFrame, name: str, checkpoint: Path, mode: str = "append", **options: str
) -> StreamingQuery:
    """Run a stream into a table to the end of what is there; raise its error."""
    query = (
        rows.writeStream.outputMode(mode)
        .options(**options)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .toTable(name)
    )
    try:
        assert query.awaitTermination(WAIT_SECONDS)
    finally:
        query.stop()
    return query
