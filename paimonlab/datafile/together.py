"""Rows of many buckets -> their files, written one after the other and described together.

What files of neighbours have in common is found out once for all of them: which columns have
dictionaries, and the bounds of all columns. Each look at an array has its price, however small
the array is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from paimonlab.datafile.row_sizes import sizes_of_slices
from paimonlab.datafile.writer import DataFileWriter, FileTarget, write_small_file
from paimonlab.datafile.written_file import WrittenFile, described, described_slices
from paimonlab.formats.parquet.small_files import Slice
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
    in_files = targets[0].format.as_in_files(rows.rows)
    written: list[Sequence[WrittenFile]] = [()] * len(targets)
    try:
        write = _SmallOrAny(file_io, targets[0], in_files)
        starts = itertools.accumulate([0, *rows.lengths[:-1]])
        sizes = sizes_of_slices(in_files, rows.lengths)
        slices = [Slice(*one) for one in zip(starts, rows.lengths, sizes, strict=True)]
        for number, files in write(targets, slices, first_numbers):
            written[number] = files
        found = iter(described_slices([file for files in written for file in files], rows.rows))
        return [[next(found) for _ in files] for files in written]
    except BaseException:
        for target, files in zip(targets, written, strict=True):
            for path in (path for file in files for path in target.paths_of(file)):
                file_io.delete(path)
        raise


class _SmallOrAny:
    """Writes slices of rows to files of buckets; nothing but the rows of each is counted."""

    def __init__(self, file_io: FileIO, first: FileTarget, rows: pa.Table) -> None:
        self._file_io = file_io
        self._rows = rows
        self._small = None
        if not first.indexes.indexes and first.format.shape_is(rows.schema):
            self._small = first.format.small_files()
        self._taken = rows if self._small is None else self._small.as_taken(rows)
        self._most_bytes = first.target_file_size_bytes
        self._most_rows = first.target_file_rows

    def __call__(
        self, targets: Sequence[FileTarget], slices: Sequence[Slice], first_numbers: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[WrittenFile]]]:
        """Yield the number of a bucket and its files; each bucket once."""
        wanted = [*zip(itertools.count(), targets, slices, first_numbers)]
        for is_small, run in itertools.groupby(wanted, lambda one: self._take(one[2])):
            if is_small:
                yield from self._together([*run])
            else:
                for at, target, rows, number in run:
                    yield at, self._alone(target, rows, number)

    def _together(
        self, wanted: Sequence[tuple[int, FileTarget, Slice, int]]
    ) -> Iterator[tuple[int, Sequence[WrittenFile]]]:
        assert self._small is not None, "they are taken"
        batches = self._small.batches([rows for _, _, rows, _ in wanted])
        encoded = (file for batch in batches for file in self._small.encoded(self._taken, batch))
        for (at, target, rows, number), file in zip(wanted, encoded, strict=True):
            yield at, [write_small_file(self._file_io, target, file, rows.count, number)]

    def _take(self, one: Slice) -> bool:
        return (
            self._small is not None
            and self._small.take(one.count, one.size)
            and 0 < one.count <= self._most_rows
            and one.size <= self._most_bytes
        )

    def _alone(self, target: FileTarget, one: Slice, number: int) -> Sequence[WrittenFile]:
        writer = DataFileWriter(self._file_io, target, only_counts=True)
        try:
            writer.write(self._rows.slice(one.start, one.count), number)
            writer.finish()
        except BaseException:
            writer.abort()
            raise
        return writer.files


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
