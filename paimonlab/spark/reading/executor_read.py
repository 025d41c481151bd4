"""What a reading task does on an executor: one split -> Arrow batches as Spark expects them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import UnsupportedError
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.storage import FileIO


def read_task(
    partitions: Iterator[pa.RecordBatch],
    *,
    plan: ReadPlan,
    file_io: FileIO,
    schema: pa.Schema,
    cuts_timestamps: bool,
) -> Iterator[pa.RecordBatch]:
    """Read the splits that Spark hands over.

    Parameters
    ----------
    partitions
        Batches with one binary column: pickled `DataSplit`s, as the driver made them.
    plan
        How to read the table.
    file_io
        The table's store.
    schema
        What Spark expects: timestamps in microseconds, instants in UTC.
    cuts_timestamps
        Whether digits below a microsecond are dropped instead of refused.
    """
    for batch in partitions:
        for pickled in batch.column(0).to_pylist():
            split = pickle.loads(pickled)  # noqa: S301 - the driver made it for this task
            for rows in read_split(split, plan, file_io):
                yield as_expected(rows, schema, plan.table_name, cuts_timestamps=cuts_timestamps)


def as_expected(
    rows: pa.RecordBatch, schema: pa.Schema, table: str, *, cuts_timestamps: bool
) -> pa.RecordBatch:
    """Turn a batch into the Arrow types that Spark expects.

    Raises
    ------
    UnsupportedError
        If a timestamp has digits below a microsecond and they must not be cut.
    """
    columns = [
        _column(rows.column(field.name), field, table, cuts_timestamps=cuts_timestamps)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema) if columns else rows


def _column(column: pa.Array, field: pa.Field, table: str, *, cuts_timestamps: bool) -> pa.Array:
    if column.type == field.type:
        return column
    options = pc.CastOptions(field.type, allow_time_truncate=cuts_timestamps)
    try:
        return pc.cast(column, options=options)
    except pa.ArrowInvalid as error:
        raise UnsupportedError(
            f"column {field.name!r} of {table} in Spark",
            f"a value does not fit Spark's type without loss ({error}). Spark keeps "
            "microseconds; to read timestamps cut to microseconds, set "
            "'spark.paimonlab.timestamps.cut-to-micros' = 'true'",
        ) from error
