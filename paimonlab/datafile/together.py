"""Rows of many buckets -> their files, written one after the other and described together.

What files of neighbours have in common is found out once for all of them: which columns have
dictionaries, and the bounds of all columns. Each look at an array has its price, however small
the array is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from paimonlab.datafile.writer import DataFileWriter, FileTarget
from paimonlab.datafile.written_file import described
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.storage import FileIO


def writers_for(
    file_io: FileIO, targets: Sequence[FileTarget], *, threads: int
) -> list[DataFileWriter]:
    """Begin files of several buckets, whose rows stay in memory until they are described.

    Parameters
    ----------
    file_io
        Where to write.
    targets
        One per bucket.
    threads
        How many may encode the file of a single bucket, whose rows need not stay.
    """
    if len(targets) == 1:
        return [DataFileWriter(file_io, targets[0], threads=threads)]
    return [DataFileWriter(file_io, target, keeps_rows=True) for target in targets]


def written_together(
    writers: Sequence[DataFileWriter],
    runs: Sequence[Iterable[pa.Table]],
    first_numbers: Sequence[int],
) -> list[list[DataFileMeta]]:
    """Write all rows of some buckets, finish the files and describe them.

    Parameters
    ----------
    writers
        One per bucket. Whatever they wrote is deleted if this fails.
    runs
        The rows of each, in pieces.
    first_numbers
        Sequence number of the first row of each, in append tables.

    Returns
    -------
    list of list of DataFileMeta
        The files of each bucket, in writing order. They are not durable until they are synced: see
        `FileTarget.sizes_of`.
    """
    try:
        for writer, run, first_number in zip(writers, runs, first_numbers, strict=True):
            next_number = first_number
            for piece in run:
                writer.write(piece, next_number)
                next_number += piece.num_rows
            writer.finish()
        return described_by(writers)
    except BaseException:
        for writer in writers:
            writer.abort()
        raise


def described_by(writers: Sequence[DataFileWriter]) -> list[list[DataFileMeta]]:
    """Describe the files of writers that are finished, together; see `described`."""
    files = iter(described([file for writer in writers for file in writer.files]))
    return [[next(files) for _ in writer.files] for writer in writers]
