"""Verbs that delete or give up: bound in `paimonlab.table.maintenance.Maintenance`."""

from __future__ import annotations

from datetime import datetime, timedelta

from paimonlab.maintenance import orphans
from paimonlab.maintenance.orphans import OrphanFiles, OrphanFilesRequest
from paimonlab.maintenance.rollback import Rollback, plan, roll_back
from paimonlab.progress import Progress
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import Opened, definition_of, store_of
from paimonlab.table.reading.time_travel import TravelPoint, epoch_millis, travel
from paimonlab.table.upkeep.history import history_of
from paimonlab.table.upkeep.lost_files import LostFiles, remove_lost_files
from paimonlab.table.upkeep.purging import Purge, purge


def rollback_to(
    table: Opened,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    timestamp: datetime | int | str | None = None,
    dry_run: bool = False,
) -> Rollback:
    """Go back to an older snapshot: what came after it is deleted for good.

    Later snapshots, tags and changelogs go, and the files that nothing needs then: no tag,
    no branch. Nobody should write to the table meanwhile. Schemas stay.

    Parameters
    ----------
    snapshot, tag, timestamp
        Where to go back to, one of them: an id, a name, or the latest snapshot at or before a
        time. A tag may name a snapshot that has expired.
    dry_run
        Delete nothing, only tell what would be.

    Returns
    -------
    Rollback
        What was, or would be, deleted.

    Raises
    ------
    SnapshotNotFoundError, TagNotFoundError
        If there is nothing to go back to.
    CorruptMetadataError
        If a snapshot is missing in between, or if it cannot be told what is needed.
    """
    point = TravelPoint(snapshot=snapshot, tag=tag, timestamp=timestamp)
    if point.is_now:
        raise ValueError("say where to go back to: snapshot=, tag= or timestamp=")
    target = _target(table, point)
    history = history_of(definition_of(table), store_of(table))
    return plan(target, history) if dry_run else roll_back(target, history)


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
    """Find the files that nothing names, and delete them if ``dry_run`` is False.

    Crashes, lost races and writes that were given up leave them. Only files that Paimon may
    have made are looked at, in folders that it makes. What a snapshot, tag or changelog of
    any branch needs stays; if that cannot be read, nothing is deleted.

    Parameters
    ----------
    older_than
        Younger files stay, as they may be of a write that is under way: an aware datetime,
        epoch milliseconds, a text in the process's local zone, or how long ago; None: a day.
    dry_run
        Delete nothing, only tell what would be.
    force
        Take files that are less than a day old, too: nobody may write to the table.
    progress
        Told of the snapshots that were looked at, and of files that are gone.

    Returns
    -------
    OrphanFiles
        What was, or would be, deleted.

    Raises
    ------
    ValueError
        If ``older_than`` is not past, or less than a day ago without ``force``.
    CorruptMetadataError
        If it cannot be told what is needed.

    Notes
    -----
    Roots of ``data-file.external-paths`` are looked at, too: they must be this table's alone.
    """
    request = OrphanFilesRequest(
        older_than_millis=epoch_millis(older_than), dry_run=dry_run, force=force, progress=progress
    )
    return orphans.remove_orphan_files(history_of(definition_of(table), store_of(table)), request)


def remove_unexisting_files(table: Opened, *, dry_run: bool = True) -> LostFiles:
    """Find data files that are missing from the store, and go on without them.

    Their rows are lost, and older rows of their keys may come back: restore the files if you
    can. Only entries of the latest snapshot go, in a commit of kind OVERWRITE.

    Parameters
    ----------
    dry_run
        Commit nothing, only tell which are missing.

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
    return remove_lost_files(definition_of(table), store_of(table), dry_run=dry_run)


def purge_files(table: Opened, *, dry_run: bool = False, progress: Progress | None = None) -> Purge:
    """Empty a table for good: rows, tags, branches, consumers, older snapshots, all files.

    Its definition stays, and one empty snapshot. Nobody may write to it meanwhile: files of
    a write that is under way go, too.

    Parameters
    ----------
    dry_run
        Delete nothing, only tell what would be.
    progress
        Told of files that are gone.

    Returns
    -------
    Purge
        What was, or would be, deleted.
    """
    return purge(definition_of(table), store_of(table), dry_run=dry_run, progress=progress)
