"""Verbs that make anew what helps reads: bound in `paimonlab.table.maintenance.Maintenance`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.progress import Progress
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import rewriting, upkeep
from paimonlab.table.inside import Opened, definition_of, store_of, writable

if TYPE_CHECKING:
    from paimonlab.table.rewriting.file_indexes import RewrittenIndexes
    from paimonlab.table.rewriting.rescaling import Rescale


def rescale(
    table: Opened,
    *,
    buckets: int,
    partitions: Sequence[Mapping[str, Any]] | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Rescale:
    """Give partitions another number of buckets: their rows are written anew, in one commit.

    The option ``bucket`` of the table is set first, so that what others write from then on
    goes to the new buckets. A partition that has another number of buckets can be read, but
    not be written to before it is rescaled as well. With ``bucket`` = -2 the option stays: each
    partition has a number of its own, and rows that wait for a bucket go on waiting.

    No row changes, and followers are told of none. Rows that readers or followers learn of by
    compaction only (deletion vectors, ``first-row``, ``changelog-producer`` = ``lookup`` or
    ``full-compaction``) are compacted first, in a commit of its own.

    Parameters
    ----------
    buckets
        At least 1.
    partitions
        Values of all or some of the partition columns each; None: all partitions.
    dry_run
        Change nothing, only tell what would be.
    progress
        Is called with the number of partitions written.

    Returns
    -------
    Rescale
        The partitions that had another number of buckets.

    Raises
    ------
    UnsupportedError
        If the rows of the table are in no bucket, or in buckets that an index of their keys
        counts.
    FilesConflictError
        If others changed the same partitions again and again.
    """
    return rewriting.rescaling.rescale(
        *writable(table),
        buckets=buckets,
        partitions=partitions,
        dry_run=dry_run,
        progress=progress,
    )


def rewrite_file_index(
    table: Opened,
    *,
    partitions: Sequence[Mapping[str, Any]] | None = None,
    progress: Progress | None = None,
) -> RewrittenIndexes:
    """Give data files the indexes that ``file-index.….columns`` asks for now.

    For files that were written before the options were set, or others: the indexed columns
    are read, the files stay. One commit of kind COMPACT.

    Parameters
    ----------
    partitions
        Values of all or some of the partition columns each; None: all partitions.
    progress
        Is called with the number of files looked at.

    Returns
    -------
    RewrittenIndexes
        How many files have other indexes now.

    Raises
    ------
    FilesConflictError
        If others changed the same files again and again.
    """
    return rewriting.file_indexes.rewrite_file_index(
        *writable(table), partitions=partitions, progress=progress
    )


def analyze(table: Opened, columns: Sequence[str] | None = None) -> Snapshot | None:
    """Compute statistics of the rows and commit them.

    Rows and bytes of the table; of columns the distinct values (exact up to 65,535, else to
    about 0.4 %), nulls, smallest and greatest value, average and greatest length.

    Parameters
    ----------
    columns
        Names; None: all columns of atomic types.

    Returns
    -------
    Snapshot or None
        The new snapshot, of kind ANALYZE; None when there is nothing to look at.
    """
    return upkeep.analyze.analyze_table(definition_of(table), store_of(table), columns)
