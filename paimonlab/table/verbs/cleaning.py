"""Verbs that delete files or give them up: bound in `paimonlab.table.maintenance.Maintenance`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from paimonlab.errors import habits
from paimonlab.maintenance import orphans
from paimonlab.maintenance.orphans import OrphanFiles, OrphanFilesRequest
from paimonlab.maintenance.rollback import Rollback, plan, roll_back
from paimonlab.progress import Progress
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import upkeep
from paimonlab.table.committing.committers import refresh_iceberg
from paimonlab.table.inside import Opened, definition_of, store_of
from paimonlab.table.reading.time_travel import TravelPoint, epoch_millis, travel
from paimonlab.table.upkeep.history import history_of

if TYPE_CHECKING:
    from paimonlab.table.upkeep.lost_files import LostFiles
    from paimonlab.table.upkeep.purging import Purge


@habits.arguments(habits.ROLLBACK)
def rollback_to(
    table: Opened,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    timestamp: datetime | int | str | None = None,
    dry_run: bool = False,
) -> Rollback:
    """Roll back to an older snapshot: what came after it is deleted for good.

    Newer snapshots, tags and changelogs are deleted, and the files that no tag and no branch
    needs. Nobody should write to the table meanwhile. Schemas are kept.

    Parameters
    ----------
    snapshot, tag, timestamp
        Where to roll back to, one of them: an id, a name, or the latest snapshot at or before
        a time. A tag may refer to a snapshot that has expired.
    dry_run
        Delete nothing, only return what would be deleted.

    Returns
    -------
    Rollback
        What was, or would be, deleted.

    Raises
    ------
    SnapshotNotFoundError, TagNotFoundError
        If there is no such snapshot or tag.
    CorruptMetadataError
        If a snapshot is missing in between, or if it is unclear what is needed.
    """
    point = TravelPoint(snapshot=snapshot, tag=tag, timestamp=timestamp)
    if point.is_now:
        raise ValueError("give what to roll back to: snapshot=, tag= or timestamp=")
    target = _target(table, point)
    history = history_of(definition_of(table), store_of(table))
    kept = store_of(table).kept
    if not dry_run and kept is None:
        done = roll_back(target, history)
        refresh_iceberg(definition_of(table).options, store_of(table))
        return done
    planned = plan(target, history)
    latest = None if dry_run or kept is None else kept.latest()
    if kept is not None and latest is not None:
        kept.roll_back(target.id, tag=tag, latest=latest.id)
        refresh_iceberg(definition_of(table).options, store_of(table))
    return planned


def _target(table: Opened, point: TravelPoint) -> Snapshot:
    definition, store = definition_of(table), store_of(table)
    if point.tag is not None:
        return store.tags.get(point.tag).to_snapshot()
    snapshot = travel(point, store.snapshots, store.tags, definition.name)
    assert snapshot is not None, "only now may have no snapshot"
    return snapshot


def remove_orphan_files(
    table: Opened,
    *,
    older_than: datetime | timedelta | int | str | None = None,
    dry_run: bool = True,
    force: bool = False,
    progress: Progress | None = None,
) -> OrphanFiles:
    """Find the files that nothing refers to, and delete them if ``dry_run`` is False.

    Crashes, lost races and abandoned writes leave them. Only files that Paimon may have
    created are considered, in folders that it creates. What a snapshot, tag or changelog of
    any branch needs is kept; if that cannot be read, nothing is deleted.

    Parameters
    ----------
    older_than
        Newer files are kept, as they may belong to a write that is under way: an aware
        datetime, epoch milliseconds, a text in the process's local zone, or how long ago (a
        timedelta, ``"2 d"``); None: a day.
    dry_run
        Delete nothing, only return what would be deleted.
    force
        Include files that are less than a day old: nobody may write to the table.
    progress
        Called with how many snapshots were read, and how many files are deleted.

    Returns
    -------
    OrphanFiles
        What was, or would be, deleted.

    Raises
    ------
    ValueError
        If ``older_than`` is not past, or less than a day ago without ``force``.
    CorruptMetadataError
        If it is unclear what is needed.

    Notes
    -----
    Folders of ``data-file.external-paths`` are searched as well: no other table may use them.
    """
    request = OrphanFilesRequest(
        older_than_millis=epoch_millis(older_than), dry_run=dry_run, force=force, progress=progress
    )
    return orphans.remove_orphan_files(history_of(definition_of(table), store_of(table)), request)


def remove_unexisting_files(table: Opened, *, dry_run: bool = True) -> LostFiles:
    """Find data files that are missing from the store, and go on without them.

    Their rows are lost, and older rows of their keys may reappear: restore the files if you
    can. Only entries of the latest snapshot are removed, by a commit of kind OVERWRITE.

    Parameters
    ----------
    dry_run
        Commit nothing, only return which are missing.

    Returns
    -------
    LostFiles
        What is missing.

    Raises
    ------
    UnsupportedError
        If a missing file has a deletion vector.
    FilesConflictError
        If others replaced such a file meanwhile.
    """
    return upkeep.lost_files.remove_lost_files(
        definition_of(table), store_of(table), dry_run=dry_run
    )


def purge_files(table: Opened, *, dry_run: bool = False, progress: Progress | None = None) -> Purge:
    """Empty a table for good: rows, tags, branches, consumers, older snapshots, all files.

    Its definition and one empty snapshot are kept. Nobody may write to it meanwhile: files of
    a write that is under way are deleted as well.

    Parameters
    ----------
    dry_run
        Delete nothing, only return what would be deleted.
    progress
        Called with how many files are deleted.

    Returns
    -------
    Purge
        What was, or would be, deleted.
    """
    return upkeep.purging.purge(
        definition_of(table), store_of(table), dry_run=dry_run, progress=progress
    )
