"""Verbs of a table that keep it fast and sound: bound in `paimonlab.table.table.Table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from paimonlab.maintenance import fsck as checking
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import committing, compacting, upkeep, writing
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.inside import definition_of, store_of, writable
from paimonlab.table.opened import OpenedTable

if TYPE_CHECKING:
    from paimonlab.maintenance.fsck.report import FsckReport
    from paimonlab.progress import Progress
    from paimonlab.table.compacting.result import CompactResult


def compact(
    table: OpenedTable,
    *,
    full: bool = False,
    partitions: Sequence[Mapping[str, Any]] | None = None,
    buckets: Sequence[int] | None = None,
    where: str | Predicate | None = None,
    idle_for: timedelta | None = None,
    order_by: str | Sequence[str] | None = None,
    strategy: Literal["order", "zorder", "hilbert"] | None = None,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> CompactResult:
    """Rewrite files so that reads are cheaper, in one commit; rows stay the same.

    In a primary-key table the sorted runs of buckets are merged. In an append table small
    files are put together, and files with many deleted rows are written without them. In a
    table with ``bucket`` = -2 rows that wait get their buckets, where readers see them;
    ``full`` compacts the buckets that they go to.

    Parameters
    ----------
    full
        True: everything is merged into the highest level without deletes; in an append table
        small files do not wait for more of them. False: only what the table's options ask for,
        as a writer would; buckets with few runs are skipped.
    partitions
        Values of all or some of the partition columns each; None: all partitions.
    buckets
        Numbers of buckets; None: all.
    where
        A condition on partition columns.
    idle_for
        Only partitions that got no file for this long; None: all.
    order_by
        For append tables without buckets: columns to put all rows of each partition in
        order by, so that filters on them skip files; a ``clustering.columns`` of the table
        does so with ``clustering.incremental``, some files at a time.
    strategy
        How several columns make an order: ``order``: one after the other; ``zorder`` and
        ``hilbert``: along a curve, so that a filter on any of them skips files. None: the
        first for one column, z-order for up to four.
    progress
        Called with what is done, the total, and the unit: ``progress(3, 8, "buckets")``;
        in an append table, and where rows wait for buckets, the unit is files.
    dry_run
        Only return what would be compacted.

    Returns
    -------
    CompactResult
        Files and bytes of every bucket that had something to compact, before and after.

    Raises
    ------
    UnsupportedError
        If compacting the table needs what is not implemented.
    FilesConflictError
        If others replaced files of the same buckets again and again.
    """
    request = CompactRequest(
        full=full,
        partitions=partitions,
        buckets=buckets,
        where=where,
        idle_for=idle_for,
        order_by=[order_by] if isinstance(order_by, str) else order_by,
        strategy=strategy,
        progress=progress,
        dry_run=dry_run,
    )
    return compacting.verb.compact_table(*writable(table), request)


def compact_manifests(table: OpenedTable) -> Snapshot | None:
    """Rewrite small manifests, and those with deletions, so that plans read few files.

    Returns
    -------
    Snapshot or None
        One of kind COMPACT with the same rows; None if there is nothing to rewrite.
    """
    user = committing.users.new_user(definition_of(table).options)
    return upkeep.after_commit.committer_of(*writable(table)).compact_manifests(user=user)


def mark_partitions_done(table: OpenedTable, partitions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Mark partitions as complete for readers of other systems.

    Parameters
    ----------
    partitions
        The values of all partition columns, one mapping per partition.

    Returns
    -------
    list of str
        The marked folders relative to the table: ``dt=2026-01-01/``.

    Raises
    ------
    UnsupportedError
        If ``partition.mark-done-action`` is anything but ``success-file``, which leaves a
        file ``_SUCCESS`` in the folder of the partition.
    """
    return writing.mark_done.mark_partitions_done(*writable(table), partitions)


def fsck(table: OpenedTable, *, deep: bool = False, progress: Progress | None = None) -> FsckReport:
    """Check every file of the table and of all its branches; change none.

    Parameters
    ----------
    deep
        Whether to read all rows as well, and compare them with their metadata.
    progress
        Called with how much is done, how much there is, and the unit.

    Returns
    -------
    FsckReport
        What was found: severity, file, who refers to it, what is wrong, what to do.

    Examples
    --------
    ::

        report = table.fsck(deep=True)
        if not report.is_clean:
            print(report)
    """
    store = store_of(table)
    return checking.check.fsck(
        table.name, store.file_io, store.layout, deep=deep, progress=progress
    )
