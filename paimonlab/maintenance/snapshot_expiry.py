"""Expiry of snapshots, and deleting the files that only they needed.

The order is ours, not Java's: snapshots are deleted first, lowest first, and their files last. A
crash leaves files that nothing refers to, never a snapshot whose files are gone.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.ExpireSnapshotsImpl``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from paimonlab import clock
from paimonlab.errors import CorruptMetadataError, SnapshotNotFoundError, habits
from paimonlab.maintenance.candidates import Leaving, left_by_snapshots
from paimonlab.maintenance.deletion import delete_empty_folders, delete_unneeded
from paimonlab.maintenance.held_back import held_by, next_read
from paimonlab.maintenance.manifest_entries import ManifestEntries
from paimonlab.maintenance.needed import entries_since, needed
from paimonlab.maintenance.retention import (
    ExpireOptions,
    Retention,
    RetentionRequest,
    snapshot_bound,
)
from paimonlab.maintenance.roots import (
    Root,
    RootKey,
    changelogs_of,
    others_of,
    tags_between,
    tags_of,
    without_lost_changelog,
)
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.unneeded import Candidates, UnneededFile, UnneededFiles
from paimonlab.metadata.hints import write_hint
from paimonlab.metadata.take_back import take_back
from paimonlab.progress import Progress
from paimonlab.spec.plurals import many
from paimonlab.spec.snapshot import Snapshot

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotExpiryRequest:
    """Which snapshots are to expire; by default as the options of the table say."""

    retention: RetentionRequest = field(default_factory=RetentionRequest)
    dry_run: bool = False
    progress: Progress | None = None
    """Called with how many snapshots and files are deleted."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SnapshotExpiry(habits.FamiliarNames, what="the expiry of snapshots", instead=habits.EXPIRED):
    """What is deleted when snapshots expire."""

    table: str
    snapshots: tuple[int, ...] = ()
    """Ids, lowest first."""
    first_kept: int | None = None
    """The oldest snapshot that is kept; None if the table has no snapshot."""
    reason: str = "nothing was committed yet"
    """Why that one is kept."""
    strays: tuple[int, ...] = ()
    """Ids below the oldest snapshot that anybody reads: published too late by processes that died
    before they found out. Their files are left to orphan file cleaning."""
    changelogs: tuple[int, ...] = ()
    """Ids of the snapshots whose changes outlive them."""
    files: UnneededFiles = field(default_factory=UnneededFiles)
    """Files that nothing needs any more."""
    seen: frozenset[RootKey] = field(default=frozenset(), repr=False, compare=False)
    """The tags and branches that were looked at."""
    gone: tuple[Snapshot, ...] = field(default=(), repr=False, compare=False)
    """The snapshots that the ids mean: after a rollback by others the ids are used again."""
    kept: Snapshot | None = field(default=None, repr=False, compare=False)
    """The oldest snapshot that is kept."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is deleted."""
        return not (self.snapshots or self.strays)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Describe it in words."""
        if not self.snapshots:
            return f"{self.table}: no snapshot expires, as {self.reason}"
        first, last = self.snapshots[0], self.snapshots[-1]
        expired = f"snapshot {first} expires"
        if first != last:
            expired = f"{len(self.snapshots)} snapshots expire, {first} to {last}"
        text = f"{self.table}: {expired}; {self.first_kept} stays, as {self.reason}\n  {self.files}"
        if not self.changelogs:
            return text
        verb = "stays" if len(self.changelogs) == 1 else "stay"
        return f"{text}\n  {many(len(self.changelogs), 'changelog')} {verb}"


@dataclass(frozen=True, slots=True)
class ChangelogKeeping:
    """Whether changes outlive their snapshots, and how they are kept."""

    is_on: bool = False
    has_files: bool = False
    """Whether commits have files of their own for what they changed."""

    @property
    def leaving(self) -> Leaving:
        """What is deleted with a snapshot."""
        return Leaving(
            written_data=not self.is_on or self.has_files,
            changelogs=not self.is_on,
            states=not self.is_on or self.has_files,
        )


def expire_snapshots(history: TableHistory, request: SnapshotExpiryRequest) -> SnapshotExpiry:
    """Let snapshots expire, or only plan it; see `Maintenance.expire_snapshots`."""
    options = history.options.slice(ExpireOptions)
    plan = plan_expiry(
        history,
        request.retention.over(options.of_snapshots(clock.now_millis())),
        ChangelogKeeping(options.keeps_changelogs, options.has_changelog_files),
    )
    return plan if request.dry_run else expire(plan, history, progress=request.progress)


def plan_expiry(
    history: TableHistory, retention: Retention, keeping: ChangelogKeeping
) -> SnapshotExpiry:
    """Find out which snapshots expire, and which files can be deleted with them; delete nothing.

    Parameters
    ----------
    history
        The history of the branch.
    retention
        What is kept.
    keeping
        How changes outlive their snapshots.

    Raises
    ------
    CorruptMetadataError
        If it is unclear which files are needed: then nothing may be deleted.
    SchemaError
        If the retention contradicts itself.
    """
    ids, strays = history.snapshots.chain()
    if not ids:
        return SnapshotExpiry(table=history.name)

    def time_of(snapshot_id: int) -> int:
        return history.snapshots.get(snapshot_id).time_millis

    bound = snapshot_bound(ids, retention, time_of=time_of)
    if bound.first_kept > ids[0]:  # where nothing expires, readers hold nothing back
        bound = snapshot_bound(
            ids, retention, time_of=time_of, next_read=next_read(history.consumers)
        )
    plan = SnapshotExpiry(
        table=history.name,
        snapshots=tuple(snapshot_id for snapshot_id in ids if snapshot_id < bound.first_kept),
        first_kept=next(snapshot_id for snapshot_id in ids if snapshot_id >= bound.first_kept),
        reason=bound.reason,
        strays=strays,
    )
    if not plan.snapshots:
        return plan
    try:
        return _with_files(plan, ids[-1], history, keeping)
    except (SnapshotNotFoundError, CorruptMetadataError) as error:
        if history.snapshots.has(plan.first_kept or 0):
            raise
        logger.info("%s: others let snapshots expire at the same time: %s", history.name, error)
        return replace(plan, snapshots=(), reason="others let snapshots expire at the same time")


def expire(
    plan: SnapshotExpiry, history: TableHistory, *, progress: Progress | None = None
) -> SnapshotExpiry:
    """Let snapshots expire as planned.

    Returns
    -------
    SnapshotExpiry
        What was deleted: less than planned if a tag or branch was created meanwhile, nothing if
        a new consumer has to read what would be deleted.
    """
    _delete_strays(plan, history)
    if not plan.snapshots or plan.first_kept is None:
        return plan
    reader = held_by(history.consumers, plan.first_kept)
    if reader is not None:
        return SnapshotExpiry(
            table=plan.table,
            first_kept=plan.snapshots[0],
            reason=f"consumer {reader!r} was created or reset meanwhile",
        )
    start = time.monotonic()
    io = history.file_io
    if not _delete_snapshots(plan, history, progress):
        return SnapshotExpiry(table=plan.table, reason="others rolled back to an older snapshot")
    files = _still_unneeded(plan, history)
    options = history.options.slice(ExpireOptions)
    delete_unneeded(files, io, table=history.name, threads=options.threads, progress=progress)
    history.reader.manifests.forget([file.path for file in files])
    if options.cleans_directories:
        roots = (history.layout.table_path, *history.layout.external_roots)
        delete_empty_folders(files, io, roots=roots)
    done = replace(plan, files=UnneededFiles(tuple(files)))
    logger.info(
        "%s: snapshots %d to %d expired, %s, %d ms",
        history.name,
        plan.snapshots[0],
        plan.snapshots[-1],
        done.files,
        (time.monotonic() - start) * 1000,
    )
    return done


def _delete_snapshots(
    plan: SnapshotExpiry, history: TableHistory, progress: Progress | None
) -> bool:
    """Delete snapshots, lowest first; False if others rolled back to one of them.

    The hint is written first: a rollback reads it, then deletes; here we look whether what is
    kept is still there, then delete. So one of the two notices the other. Until it is clear which
    one, a snapshot is where guards are, and keeps its files.
    """
    io, layout, kept = history.file_io, history.layout, plan.kept
    assert kept is not None, "there are snapshots"
    if not _stays(kept, history):
        return False
    for snapshot in plan.gone:
        if snapshot.id in plan.changelogs and not _keep_changes(snapshot, history):
            return False
    if plan.changelogs:
        write_hint(io, layout.latest_changelog_hint, plan.changelogs[-1])
    write_hint(io, layout.earliest_hint, kept.id)
    for number, snapshot in enumerate(plan.gone, start=1):
        path = layout.snapshot(snapshot.id)
        is_meant = partial(_is, snapshot, path)
        is_gone = take_back(
            io,
            path,
            is_meant,
            may_go=partial(_may_go, snapshot, kept, history),
            aside=history.tags.guard_path(snapshot),
        )
        if not is_gone and history.snapshots.has(snapshot.id):
            break
        if progress is not None:
            progress(number, len(plan.gone), "snapshots")
    if _stays(kept, history):
        return True
    for first in history.snapshots.ids()[:1]:
        write_hint(io, layout.earliest_hint, first)
    return False


def _stays(kept: Snapshot, history: TableHistory) -> bool:
    """Whether nobody rolled back to an older snapshot: it exists, or it has expired."""
    if history.snapshots.still_has(kept):
        return True
    ids = history.snapshots.ids()
    return bool(ids) and ids[0] > kept.id


def _may_go(snapshot: Snapshot, kept: Snapshot, history: TableHistory) -> bool:
    """Whether a snapshot that was moved out of the way is not the target of a rollback."""
    if _stays(kept, history):
        return True
    ids = history.snapshots.ids()
    return bool(ids) and ids[0] < snapshot.id  # they rolled back further


def _is(snapshot: Snapshot, path: str, data: bytes) -> bool:
    return Snapshot.from_json(data, path=path) == snapshot


def _keep_changes(snapshot: Snapshot, history: TableHistory) -> bool:
    """Create the changelog of a snapshot; False if it no longer exists, though its id may."""
    io, path = history.file_io, history.layout.changelog(snapshot.id)
    try:
        data = io.read(history.layout.snapshot(snapshot.id))
    except FileNotFoundError:
        return False
    if Snapshot.from_json(data, path=path) != snapshot:
        return False
    is_new = io.publish(path, data)
    if not is_new and io.read(path) != data:
        io.replace(path, data)  # left by a snapshot that a rollback deleted
    if history.snapshots.still_has(snapshot):
        return True
    if is_new:
        take_back(io, path, lambda current: current == data)
    return False


def _delete_strays(plan: SnapshotExpiry, history: TableHistory) -> None:
    # Others may have gone back to one of these ids since.
    strays = history.snapshots.chain()[1] if plan.strays else ()
    for snapshot_id in sorted({*plan.strays} & {*strays}):
        stray, path = history.snapshots.find(snapshot_id), history.layout.snapshot(snapshot_id)
        if stray is not None and take_back(
            history.file_io,
            path,
            partial(_is, stray, path),
            may_go=lambda: bool(history.snapshots.ids()),
            aside=history.tags.guard_path(stray),
        ):
            logger.warning(
                "%s: snapshot %d was published too late, nobody could see it; its files are left "
                "to orphan file cleaning",
                history.name,
                snapshot_id,
            )


def _with_files(
    plan: SnapshotExpiry, latest_id: int, history: TableHistory, keeping: ChangelogKeeping
) -> SnapshotExpiry:
    assert plan.first_kept is not None, "there are snapshots"
    gone = _read(plan.snapshots, history)
    if not gone:
        return replace(plan, snapshots=(), reason="others let snapshots expire at the same time")
    first_kept = history.snapshots.get(plan.first_kept)
    latest = first_kept if latest_id == first_kept.id else history.snapshots.get(latest_id)
    entries = ManifestEntries(history.reader.manifests)
    candidates = left_by_snapshots(gone, first_kept, history.reader, keeping.leaving, entries)
    stay = [
        Root(history.layout.snapshot(snapshot.id), snapshot, "metadata", may_go=False)
        for snapshot in (first_kept, latest)
    ]
    seen: set[RootKey] = set()

    def roots() -> list[Root]:
        tags, others = tags_of(history.layout, history.file_io), others_of(history)
        seen.update(root.key for root in (*tags, *others))
        between = tags_between(tags, gone[0].id, first_kept.id)
        return [*stay, *between, *others, *_changelogs(history, keeping)]

    names = candidates.data_names
    candidates.drop(
        needed(roots, history.reader, history.file_io, data_names=names, entries=entries)
    )
    if names and latest.id != first_kept.id:
        # A rollback may have brought back what was deleted before.
        candidates.drop(entries_since(first_kept, latest, history.reader, names))
    ids = tuple(snapshot.id for snapshot in gone)
    changelogs = _lasting(gone, history) if keeping.is_on else ()
    return replace(
        plan,
        snapshots=ids,
        changelogs=changelogs,
        files=candidates.files(),
        seen=frozenset(seen),
        gone=tuple(gone),
        kept=first_kept,
    )


def _lasting(gone: Sequence[Snapshot], history: TableHistory) -> tuple[int, ...]:
    """Return the ids of snapshots whose changes outlive them."""
    first = without_lost_changelog(gone[0], history.layout, history.file_io)
    return tuple(snapshot.id for snapshot in (gone if first == gone[0] else gone[1:]))


def _read(ids: Sequence[int], history: TableHistory) -> list[Snapshot]:
    """Read snapshots that others may delete meanwhile, lowest first."""
    snapshots = []
    for snapshot_id in ids:
        try:
            snapshots.append(history.snapshots.get(snapshot_id))
        except SnapshotNotFoundError:
            snapshots.clear()
    return snapshots


def _changelogs(history: TableHistory, keeping: ChangelogKeeping) -> list[Root]:
    """Return the long-lived changelogs that may need what snapshots leave.

    Those with files of their own share none with snapshots, and with the others nothing goes
    that they share.
    """
    ids = history.changelogs.ids()
    if not ids or (keeping.is_on and not keeping.has_files):
        return []
    if keeping.is_on:
        io, layout = history.file_io, history.layout
        ends = [history.changelogs.get(changelog_id) for changelog_id in {ids[0], ids[-1]}]
        if not any(io.exists(layout.manifest(changelog.delta_manifest_list)) for changelog in ends):
            return []
    return changelogs_of(history.layout, history.file_io)


def _still_unneeded(plan: SnapshotExpiry, history: TableHistory) -> list[UnneededFile]:
    """Check tags and branches once more, now that the snapshots are deleted: some may be new."""
    left = Candidates()
    left.by_path.update({file.path: file for file in plan.files})

    def new_roots() -> list[Root]:
        named = tags_of(history.layout, history.file_io) + others_of(history)
        return [root for root in named if root.key not in plan.seen]

    left.drop(needed(new_roots, history.reader, history.file_io, data_names=left.data_names))
    return list(left.files())
