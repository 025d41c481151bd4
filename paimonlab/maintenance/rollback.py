"""Rollback to an older snapshot: what comes after it is deleted.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.RollbackHelper``; the order is ours: nothing
that is still there ever names a file that is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from paimonlab.errors import CorruptMetadataError, SnapshotExpiredError
from paimonlab.maintenance.deletion import delete_files
from paimonlab.maintenance.needed import needed
from paimonlab.maintenance.references import References, union
from paimonlab.maintenance.roots import (
    Root,
    kept_by_others,
    kept_by_tags,
    without_lost_changelog,
)
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.metadata.hints import lower_hint, read_hint, write_hint
from paimonlab.metadata.take_back import take_back
from paimonlab.spec.snapshot import Snapshot

_SHOWN = 5
"""Of what is deleted, so many are named in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """What rolling back to a snapshot deletes."""

    snapshot_id: int
    """What the table is rolled back to."""
    snapshots: tuple[int, ...]
    """Ids, newest first."""
    changelogs: tuple[int, ...]
    """Ids, newest first."""
    tags: tuple[str, ...]
    """Names of tags of newer snapshots."""
    is_only_tagged: bool = False
    """Whether the snapshot has expired and is restored from its tag."""
    files: References = field(default_factory=References, repr=False)
    """Files that nothing needs any more."""

    @property
    def file_count(self) -> int:
        """How many files are deleted besides snapshots, changelogs and tags."""
        return len(self.files.all)

    @property
    def is_empty(self) -> bool:
        """Whether the table is there already, and nothing is deleted."""
        is_gone = self.snapshots or self.changelogs or self.tags or self.file_count
        return not (is_gone or self.is_only_tagged)

    def __str__(self) -> str:
        """Say what is deleted, how much of it, and the first ones."""
        gone = (
            _counted("snapshots", self.snapshots),
            _counted("changelogs", self.changelogs),
            _counted("tags", self.tags),
        )
        without = f"without {', '.join(gone)}, {self.file_count:,} files"
        return f"back to snapshot {self.snapshot_id}, {without}"


def _counted(what: str, gone: Sequence[object]) -> str:
    if not gone:
        return f"0 {what}"
    more = ", …" if len(gone) > _SHOWN else ""
    noun = what.removesuffix("s") if len(gone) == 1 else what
    return f"{len(gone):,} {noun} ({', '.join(map(str, gone[:_SHOWN]))}{more})"


def plan_rollback(
    target: int,
    *,
    snapshots: Sequence[int],
    changelogs: Sequence[int],
    tags: Mapping[str, int],
    folder: str,
) -> Rollback:
    """Decide what is deleted when a table is rolled back to a snapshot.

    Parameters
    ----------
    target
        Id of the snapshot to roll back to.
    snapshots, changelogs
        Existing ids, ascending.
    tags
        Snapshot ids by tag.
    folder
        Folder of the snapshots, for the message.

    Raises
    ------
    CorruptMetadataError
        If a snapshot is missing in between: what its commit added is not known.
    """
    if snapshots and snapshots[-1] - snapshots[0] + 1 != len(snapshots):
        missing = sorted({*range(snapshots[0], snapshots[-1])} - {*snapshots})
        raise CorruptMetadataError(
            folder,
            f"snapshot {missing[0]} is missing between {snapshots[0]} and {snapshots[-1]}; "
            "restore it before you go back",
        )
    return Rollback(
        snapshot_id=target,
        snapshots=tuple(id for id in reversed(snapshots) if id > target),
        changelogs=tuple(id for id in reversed(changelogs) if id > target),
        tags=tuple(sorted(name for name, id in tags.items() if id > target)),
        is_only_tagged=target not in snapshots,
    )


def plan(target: Snapshot, history: TableHistory) -> Rollback:
    """Find out what rolling back to a snapshot would delete, and delete nothing.

    Raises
    ------
    CorruptMetadataError
        If a snapshot is missing in between, or a manifest cannot be read: then nothing may be
        deleted.
    """
    tags = dict(history.tags.list())
    planned = plan_rollback(
        target.id,
        snapshots=history.snapshots.ids(),
        changelogs=history.changelogs.ids(),
        tags={name: tag.id for name, tag in tags.items()},
        folder=history.layout.snapshot_folder,
    )
    gone = [history.snapshots.get(snapshot_id) for snapshot_id in planned.snapshots]
    if planned.is_only_tagged:  # then the oldest snapshot goes, too
        gone[-1:] = [
            without_lost_changelog(oldest, history.layout, history.file_io) for oldest in gone[-1:]
        ]
    gone_tags = [tags[name].to_snapshot() for name in planned.tags]
    candidates = union(
        [
            *(history.reader.of_commit(newer) for newer in gone),
            *(history.reader.of_state(newer) for newer in gone_tags),
            *(history.reader.of_changes(history.changelogs.get(id)) for id in planned.changelogs),
        ]
    )
    return replace(planned, files=_unneeded(candidates, target, planned, history))


def roll_back(target: Snapshot, history: TableHistory) -> Rollback:
    """Roll back to a snapshot.

    Returns
    -------
    Rollback
        What was deleted.

    Notes
    -----
    Snapshots are deleted newest first, so that a crash leaves the table at one. Files come last,
    after tags and branches were looked at once more.
    """
    planned = plan(target, history)
    io, layout = history.file_io, history.layout
    if planned.is_only_tagged:
        _bring_back(target, history)
    # A hint may name too old a snapshot, but not a deleted one.
    lower_hint(io, layout.latest_hint, target.id)
    try:
        late = _delete_snapshots(planned, target, history)
    finally:
        history.snapshots.mend_latest_hint()  # a commit that is gone again may have written it
    if planned.is_only_tagged:
        write_hint(io, layout.earliest_hint, target.id)
    history.changelogs.delete_after(target.id)
    for name in planned.tags:
        history.tell_tag(name, None)
        history.tags.delete_younger(name, target.id)
    # What was deleted no longer counts; what was created meanwhile does.
    unneeded = _unneeded(planned.files | late, target, None, history)
    delete_files(unneeded, io, table=history.name)
    history.reader.manifests.forget(unneeded.manifests)
    return planned


def _bring_back(target: Snapshot, history: TableHistory) -> None:
    """Restore a snapshot of which only a tag is left.

    Deleting a tag checks the snapshots afterwards, so one of the two notices the other.
    """
    path, data = history.layout.snapshot(target.id), target.to_json()
    is_new = history.file_io.publish(path, data)
    if not _is_tagged(target, history):
        if is_new:
            take_back(history.file_io, path, lambda current: current == data)
        raise _expired(target, history, "the tag that kept it was deleted meanwhile")


def _is_tagged(target: Snapshot, history: TableHistory) -> bool:
    kept = (root.snapshot.delta_manifest_list for root in kept_by_tags(history))
    return target.delta_manifest_list in kept


def _delete_snapshots(rollback: Rollback, target: Snapshot, history: TableHistory) -> References:
    """Delete what is newer than a snapshot, newest first, also what others commit meanwhile.

    No snapshot is missing meanwhile, and the hint names none that is deleted: to others such a
    table is a damaged one, for good if this process dies. What is committed between a look and a
    deletion is found by its own process. Returns the files of what others committed.
    """
    late = References()
    is_tagged = _is_tagged(target, history)
    while younger := [
        snapshot_id for snapshot_id in history.snapshots.ids() if snapshot_id > target.id
    ]:
        for snapshot_id in reversed(younger):
            if history.snapshots.has(snapshot_id + 1):
                break  # committed meanwhile: first that one, or a snapshot is missing before it
            _check_stays(target, history, is_tagged=is_tagged)
            snapshot = history.snapshots.find(snapshot_id)
            if snapshot is not None and snapshot_id not in rollback.snapshots:
                late |= _files_of(snapshot, history)
            if (history.snapshots.hinted_id() or 0) >= snapshot_id:  # its commit wrote that
                lower_hint(history.file_io, history.layout.latest_hint, target.id)
            if snapshot is not None:
                _delete_snapshot(snapshot, history)
    return late


def _delete_snapshot(snapshot: Snapshot, history: TableHistory) -> None:
    """Delete a snapshot, unless others need it: then it was moved aside, and is put back.

    It is moved to where guards are, so that whoever looks meanwhile at what needs files finds it.
    If others let it expire while it was aside, what they committed instead of it with it, it does
    not come back: those that are there now were not built upon it. Its files are orphans then.
    """
    file_io, path = history.file_io, history.layout.snapshot(snapshot.id)
    is_gone = take_back(
        file_io,
        path,
        partial(_is, snapshot),
        may_go=partial(_may_go, snapshot.id, history),
        aside=history.tags.guard_path(snapshot),
    )
    if not is_gone and _is_passed(snapshot.id, history):
        take_back(file_io, path, partial(_is, snapshot))


def _is_passed(snapshot_id: int, history: TableHistory) -> bool:
    """Whether an expiry has passed a snapshot: it writes the hint, then deletes."""
    earliest = read_hint(history.file_io, history.layout.earliest_hint)
    return earliest is not None and earliest > snapshot_id and history.snapshots.has(earliest)


def _is(snapshot: Snapshot, data: bytes) -> bool:
    return Snapshot.from_json(data, path=snapshot.file_name) == snapshot


def _may_go(snapshot_id: int, history: TableHistory) -> bool:
    """Whether others have neither let all expire but this snapshot, nor committed after it."""
    return bool(history.snapshots.ids()) and not history.snapshots.has(snapshot_id + 1)


def _files_of(snapshot: Snapshot, history: TableHistory) -> References:
    try:
        return history.reader.of_commit(snapshot)
    except (SnapshotExpiredError, CorruptMetadataError):
        return References()  # whoever published it has taken it back


def _check_stays(target: Snapshot, history: TableHistory, *, is_tagged: bool) -> None:
    """Check that the target does not expire meanwhile."""
    if not is_tagged and _is_passed(target.id, history):
        raise _expired(target, history, "others are letting it expire")
    if not history.snapshots.still_has(target):
        raise _expired(target, history, "others deleted it meanwhile")


def _expired(target: Snapshot, history: TableHistory, why: str) -> SnapshotExpiredError:
    latest = history.snapshots.latest_id()
    hint = f"The table cannot go back to it: {why}. The table is at snapshot {latest}."
    return SnapshotExpiredError(history.name, str(target.id), hint)


def _unneeded(
    candidates: References, target: Snapshot, going: Rollback | None, history: TableHistory
) -> References:
    """Leave out files that something else needs, as files may have been added again."""
    stays = Root(history.layout.snapshot(target.id), target, "state", may_go=False)

    def roots() -> list[Root]:
        if going is None:
            is_there = history.snapshots.still_has(target)
            return [*([stays] if is_there else []), *kept_by_others(history)]
        return [
            stays,
            *kept_by_others(
                history,
                upto=target.id,
                but_tags=going.tags,
                but_changelogs=going.changelogs,
            ),
        ]

    keeping = needed(roots, history.reader, history.file_io, data_names=candidates.data_names)
    return candidates.without(keeping)
