"""Rewriting files of an append table: many small ones become few, deleted rows go.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.BaseAppendFileStoreWrite``,
``compactRewrite``; ``org.apache.paimon.append.AppendCompactTask``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
import pyarrow as pa

from paimonlab.compact.append_packing import Files
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.bucket_vectors import VectorPlace, VectorWriter
from paimonlab.compact.units import CompactIncrement
from paimonlab.datafile.index_files import IndexFileOptions
from paimonlab.datafile.writer import DataFileWriter, FileTarget
from paimonlab.errors import CorruptDataError
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta, FileSource
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS
from paimonlab.storage import FileIO

RowsOf: TypeAlias = Callable[[DataSplit, ReadPlan, FileIO], Iterable[pa.RecordBatch | pa.Table]]
"""Reads the rows of files in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class AppendTask:
    """Files of one bucket that are rewritten together."""

    bucket: BucketFiles
    files: Files
    """In the order in which their rows are written."""
    output_level: int = 0
    """Of the new files: 0, but in tables with incremental clustering."""
    reason: str = ""
    """Why, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendPlan:
    """What compacting an append table takes, as one value."""

    read: ReadPlan
    """Of all columns that files are written with, without condition."""
    index_files: IndexFileOptions


def rewrite_files(
    task: AppendTask, plan: AppendPlan, file_io: FileIO, *, rows_of: RowsOf = read_split
) -> list[DataFileMeta]:
    """Write the rows of files into new files.

    Parameters
    ----------
    task
        The files; none was written under a newer schema than that of ``plan``.
    plan, file_io
        How to rewrite files of the table; its store.
    rows_of
        How rows are read: by default file by file, in batches.

    Returns
    -------
    list of DataFileMeta
        The new files, durable; [] if all rows are deleted. Their sequence numbers count from
        the smallest one of the first file.
    """
    target = task.bucket.targets(task.output_level)
    if plan.read.options.data_evolution:
        return [_of_row_groups(task, target, plan, file_io)]
    number = task.files[0].min_sequence_number
    return write_files(rows_of(split_of(task, plan), plan.read, file_io), target, file_io, number)


def _of_row_groups(
    task: AppendTask, target: FileTarget, plan: AppendPlan, file_io: FileIO
) -> DataFileMeta:
    """Write all columns of rows whose ids follow one another into one file, which has their ids.

    However large it is: its metadata says the first id only. Its sequence numbers are those of its
    files, so that columns that others write meanwhile hide those in it. Its source is said to be
    APPEND, as Java does: Java 1.3.1 completes no other files with columns.
    """
    whole = msgspec.structs.replace(
        target, target_file_size_bytes=sys.maxsize, target_file_rows=sys.maxsize
    )
    rows = _all_of(task, read_split(split_of(task, plan), plan.read, file_io))
    (written,) = write_files(rows, whole, file_io, 0)
    return msgspec.structs.replace(
        written,
        file_source=FileSource.APPEND,
        first_row_id=task.files[0].first_row_id,
        min_sequence_number=min(file.min_sequence_number for file in task.files),
        max_sequence_number=max(file.max_sequence_number for file in task.files),
    )


def _all_of(task: AppendTask, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give rows on, and fail after them if they are not as many as have ids."""
    total = sum({file.first_row_id: file.row_count for file in task.files}.values())
    count = 0
    for batch in batches:
        count += batch.num_rows
        yield batch
    if count != total:
        path = f"{task.bucket.folder}/{task.files[0].file_name}"
        raise CorruptDataError(path, f"it and files after it have {count} rows, not {total}")


def write_files(
    batches: Iterable[pa.RecordBatch | pa.Table], target: FileTarget, file_io: FileIO, number: int
) -> list[DataFileMeta]:
    """Write rows into new files, durable; if anything fails none is left.

    Parameters
    ----------
    batches
        The rows, in their order.
    target
        Of the files.
    file_io
        The table's store.
    number
        Sequence number of the first row.
    """
    writer = DataFileWriter(file_io, target)
    try:
        for rows in batches:
            writer.write(rows, number)
            number += rows.num_rows
        return [_described(file, target) for file in writer.close()]
    except BaseException:
        writer.abort()
        raise


def increment_of(
    tasks: Sequence[AppendTask],
    after: Iterable[DataFileMeta],
    plan: AppendPlan,
    file_io: FileIO,
) -> CompactIncrement:
    """Combine what some rewrites changed in a bucket, and drop vectors of replaced files.

    Parameters
    ----------
    tasks
        Tasks of one bucket, at least one.
    after
        What their files became.
    plan, file_io
        How to rewrite files of the table; its store.
    """
    bucket = tasks[0].bucket
    before = tuple(file for task in tasks for file in task.files)
    names = {file.file_name for file in before}
    gone: dict[str, DeletionVector | None] = {
        name: None for name in bucket.vectors if name in names
    }
    new: tuple[IndexManifestEntry, ...] = ()
    replaced: tuple[IndexManifestEntry, ...] = ()
    if gone:
        vectors_of = VectorPlace(
            partition=bucket.partition,
            bucket=bucket.bucket,
            folder=bucket.folder,
            is_one_file=bucket.total_buckets > 0,
            snapshot_id=bucket.snapshot_id,
        )
        alive = {file.file_name for file in bucket.files}
        writer = VectorWriter(plan.read, plan.index_files, file_io)
        new, replaced = writer.change(vectors_of, bucket.indexes, gone, alive)
    return CompactIncrement(
        before=before, after=tuple(after), new_indexes=new, deleted_indexes=replaced
    )


def split_of(task: AppendTask, plan: AppendPlan) -> DataSplit:
    """Return the files of a task as what is read, in their order."""
    newest = max(file.schema_id for file in task.files)
    assert newest <= plan.read.schema.id, "newer columns would be lost"
    bucket = task.bucket
    vectors = bucket.vectors
    places = tuple(vectors.get(file.file_name) for file in task.files)
    return DataSplit(
        snapshot_id=bucket.snapshot_id,
        partition=bucket.partition,
        bucket=bucket.bucket,
        total_buckets=bucket.total_buckets,
        bucket_path=bucket.folder,
        files=task.files,
        raw_convertible=True,
        deletion_files=places if any(places) else (),
    )


def _described(file: DataFileMeta, target: FileTarget) -> DataFileMeta:
    """Record that a file holds row ids, if it does: then a commit assigns no new ones."""
    names = tuple(field.name for field in target.columns.values)
    if TRACKING_COLUMNS.isdisjoint(names):
        return file
    return msgspec.structs.replace(file, write_cols=names)
