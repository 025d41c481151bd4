"""Rows of many buckets -> their files, written one after the other and described together.

What files of neighbours have in common is found out once for all of them: which columns have
dictionaries, and the bounds of all columns. Each look at an array has its price, however small
the array is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from paimonlab.datafile.writer import DataFileWriter, FileTarget
from paimonlab.datafile.written_file import described, described_slices
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.storage import FileIO


@dataclass(frozen=True, slots=True)
class AdjacentRows:
    """Rows of some buckets in one table, one bucket after the other."""

    rows: pa.Table
    """n rows."""
    lengths: Sequence[int]
    """How many each bucket has; n together."""

    @classmethod
    def of(cls, tables: Sequence[pa.Table]) -> Self:
        """Put the rows of buckets one after the other."""
        return cls(pa.concat_tables(tables), [table.num_rows for table in tables])

    def of_each(self) -> list[pa.Table]:
        """Return the rows of each bucket."""
        return _slices(self.rows, self.lengths)


def written_alone(
    writer: DataFileWriter, pieces: Iterable[pa.Table], first_number: int = 0
) -> list[DataFileMeta]:
    """Write rows of one bucket, finish its files and describe them.

    Parameters
    ----------
    writer
        Whatever it wrote is deleted if this fails.
    pieces
        The rows.
    first_number
        Sequence number of the first row, in append tables.

    Returns
    -------
    list of DataFileMeta
        In writing order. The files are not durable until they are synced: see
        `FileTarget.sizes_of`.
    """
    try:
        for piece in pieces:
            writer.write(piece, first_number)
            first_number += piece.num_rows
        writer.finish()
        return described(writer.files)
    except BaseException:
        writer.abort()
        raise


def written_together(
    file_io: FileIO,
    targets: Sequence[FileTarget],
    rows: AdjacentRows,
    first_numbers: Sequence[int],
) -> list[list[DataFileMeta]]:
    """Write all rows of some buckets to new files and describe them.

    Parameters
    ----------
    file_io
        Where to write. Whatever was written is deleted if this fails.
    targets
        One per bucket, of the same columns and format.
    rows
        The physical columns.
    first_numbers
        Sequence number of the first row of each, in append tables.

    Returns
    -------
    list of list of DataFileMeta
        The files of each bucket, as `written_alone` returns them.
    """
    writers = [DataFileWriter(file_io, target, only_counts=True) for target in targets]
    in_files = targets[0].format.as_in_files(rows.rows)
    try:
        for writer, own, first_number in zip(
            writers, _slices(in_files, rows.lengths), first_numbers, strict=True
        ):
            writer.write(own, first_number)
            writer.finish()
        found = iter(described_slices([file for one in writers for file in one.files], rows.rows))
        return [[next(found) for _ in writer.files] for writer in writers]
    except BaseException:
        for writer in writers:
            writer.abort()
        raise


def written_runs(
    file_io: FileIO,
    targets: Sequence[FileTarget],
    runs: AdjacentRows | Iterable[pa.Table],
    *,
    threads: int,
) -> list[list[DataFileMeta]]:
    """Write sorted runs to new files and describe them.

    Parameters
    ----------
    file_io, targets
        As in `written_together`.
    runs
        The run of each bucket, or of the only one in pieces.
    threads
        How many may encode the files of a single bucket.
    """
    if isinstance(runs, AdjacentRows):
        return written_together(file_io, targets, runs, [0] * len(targets))
    [target] = targets
    return [written_alone(DataFileWriter(file_io, target, threads=threads), runs)]


def described_by(writers: Sequence[DataFileWriter]) -> list[list[DataFileMeta]]:
    """Describe the files of writers that are finished, together; see `described`."""
    files = iter(described([file for writer in writers for file in writer.files]))
    return [[next(files) for _ in writer.files] for writer in writers]


def _slices(rows: pa.Table, lengths: Sequence[int]) -> list[pa.Table]:
    slices, start = list[pa.Table](), 0
    for length in lengths:
        slices.append(rows.slice(start, length))
        start += length
    return slices
