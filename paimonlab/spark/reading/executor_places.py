"""What a reading task does on an executor that is asked where rows are."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.read.placed import PlacedRows, placed_rows
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.executor_read import as_expected
from paimonlab.storage import FileIO

FILE_COLUMN = "__paimon_file"
"""Column of the name of the file of a row of a statement's target; null: there is none."""
POSITION_COLUMN = "__paimon_position"
"""Column of its position in that file."""
PATH = "__paimonlab_path"
"""Column of the place of the file, as an address."""
NAME = "__paimonlab_file"
"""Column of the name of the file."""
POSITION = "__paimonlab_position"
"""Column of the position of the row in the file."""
BUCKET = "__paimonlab_bucket"
"""Column of the bucket."""


def uri_of(path: str) -> str:
    """Write the place of a file as Spark does.

    Examples
    --------
    >>> uri_of("/data/a.parquet"), uri_of("s3://bucket/a.parquet")
    ('file:/data/a.parquet', 's3://bucket/a.parquet')
    """
    return path if "://" in path else "file:" + path


def read_placed(
    partitions: Iterator[pa.RecordBatch],
    *,
    plan: ReadPlan,
    file_io: FileIO,
    schema: pa.Schema,
    cuts_timestamps: bool,
) -> Iterator[pa.RecordBatch]:
    """Read the splits that Spark hands over, and tell where their rows are.

    Parameters
    ----------
    partitions, plan, file_io, cuts_timestamps
        As of `read_task`; the plan has the columns that are the table's.
    schema
        What Spark expects: columns of the table, and any of `PATH`, `NAME`, `POSITION`, `BUCKET`.
    """
    for batch in partitions:
        for pickled in batch.column(0).to_pylist():
            split = pickle.loads(pickled)  # noqa: S301 - the driver made it for this task
            for placed in placed_rows(split, plan, file_io):
                rows = _with_places(placed, split, plan, schema)
                yield as_expected(rows, schema, plan.table_name, cuts_timestamps=cuts_timestamps)


def _with_places(
    placed: PlacedRows, split: DataSplit, plan: ReadPlan, schema: pa.Schema
) -> pa.RecordBatch:
    file, positions, rows = placed
    count = rows.num_rows if positions is None else len(positions)
    if not len(schema):
        return pa.RecordBatch.from_arrays([pa.nulls(count)], names=[BUCKET]).select([])
    path = name = None
    if file is not None:
        path = uri_of(plan.layout.data_file(split.bucket_path, file.file_name, file.external_path))
        name = file.file_name
    constants = {PATH: path, NAME: name, BUCKET: split.bucket}
    arrays = []
    for field in schema:
        if field.name in constants:
            arrays.append(pa.repeat(pa.scalar(constants[field.name], field.type), count))
        elif field.name == POSITION:
            arrays.append(
                pa.nulls(count, pa.int64()) if positions is None else arrow_array(positions)
            )
        else:
            arrays.append(rows.column(field.name))
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)
