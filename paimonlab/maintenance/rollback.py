"""Going back to an older snapshot: what comes after it is deleted.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.RollbackHelper``; the order is ours: nothing
that is still there ever names a file that is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from paimonlab.errors import CorruptMetadataError
from paimonlab.maintenance.deletion import delete_files
from paimonlab.maintenance.references import References, union
from paimonlab.maintenance.roots import Root, kept_by_others, needed
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.metadata.hints import lower_hint, write_hint
from paimonlab.spec.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """What going back to a snapshot deletes."""

    snapshot_id: int
    """What the table goes back to."""
    snapshots: tuple[int, ...]
    """Ids, newest first."""
    changelogs: tuple[int, ...]
    """Ids, newest first."""
    tags: tuple[str, ...]
    """Names of tags of younger snapshots."""
    is_only_tagged: bool = False
    """Whether the snapshot has expired and is made anew from its tag."""
    files: References = field(default_factory=References, repr=False)
    """Files that nothing needs then."""

    @property
    def file_count(self) -> int:
        """How many files are deleted besides snapshots, changelogs and tags."""
        return len(self.files.all)


def plan_rollback(
    target: int,
    *,
    snapshots: Sequence[int],
    changelogs: Sequence[int],
    tags: Mapping[str, int],
    folder: str,
) -> Rollback:
    """Decide what goes when a table goes back to a snapshot.

    Parameters
    ----------
    target
        Id of the snapshot to go back to.
    snapshots, changelogs
        Ids that are there, ascending.
    tags
        Snapshot ids by tag.
    folder
        Of the snapshots, for the message.

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
    """Find out what going back to a snapshot would delete, and delete nothing.

    Raises
    ------
    CorruptMetadataError
        If a snapshot is missing in between, or a manifest cannot be read: then nothing may be
        deleted.
    """
    tags = dict(history.tags.list())
    found = plan_rollback(
        target.id,
        snapshots=history.snapshots.ids(),
        changelogs=history.changelogs.ids(),
        tags={name: tag.id for name, tag in tags.items()},
        folder=history.layout.snapshot_folder,
    )
    gone = [history.snapshots.get(snapshot_id) for snapshot_id in found.snapshots]
    gone_tags = [tags[name].to_snapshot() for name in found.tags]
    candidates = union(
        [
            *(history.reader.of_commit(one) for one in gone),
            *(history.reader.of_state(one) for one in gone_tags),
            *(history.reader.of_changes(history.changelogs.get(id)) for id in found.changelogs),
        ]
    )
    return replace(found, files=_unneeded(candidates, target, found, history))


def roll_back(target: Snapshot, history: TableHistory) -> Rollback:
    """Go back to a snapshot.

    Returns
    -------
    Rollback
        What was deleted.

    Notes
    -----
    Snapshots go newest first, so that a crash leaves the table at one of them. Files go last,
    after tags and branches were looked at once more.
    """
    found = plan(target, history)
    io, layout = history.file_io, history.layout
    if found.is_only_tagged:
        io.publish(layout.snapshot(target.id), target.to_json())
    # A hint may name too old a snapshot, but none that is gone.
    lower_hint(io, layout.latest_hint, target.id)
    for snapshot_id in found.snapshots:
        io.delete(layout.snapshot(snapshot_id))
    if found.is_only_tagged:
        write_hint(io, layout.earliest_hint, target.id)
    history.changelogs.delete_after(target.id)
    for name in found.tags:
        history.tags.delete(name)
    # What went is not there any more; what came meanwhile counts.
    unneeded = _unneeded(found.files, target, None, history)
    delete_files(unneeded, io, table=history.name)
    history.reader.manifests.forget(unneeded.manifests)
    return found


def _unneeded(
    candidates: References, target: Snapshot, going: Rollback | None, history: TableHistory
) -> References:
    """Leave out what anything needs that stays; older snapshots may have what came back later."""
    stays = Root(history.layout.snapshot(target.id), target, "state", may_go=False)

    def roots() -> list[Root]:
        if going is None:
            return [stays, *kept_by_others(history)]
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
