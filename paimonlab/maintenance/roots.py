"""What keeps files: tags, branches, changelogs, and the snapshots that are kept.

Everything is read again for each call, and errors are raised: what cannot be read may need any
file. Only data files that may be deleted are looked up, which keeps it cheap.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec.structs import replace

from paimonlab.maintenance.table_history import TableHistory
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO

RootKey: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Root:
    """A snapshot that is kept by something, and what of it."""

    path: str
    """The file that keeps it."""
    snapshot: Snapshot
    what: Literal["state", "commit", "changes", "metadata"]
    """All that was alive in it; what its commit added, its changelog, and all manifests; what
    reading its changes takes once it has expired; its manifests alone."""
    may_go: bool = True
    """Whether it may be deleted while it is looked at."""

    @property
    def key(self) -> RootKey:
        """What distinguishes it from another snapshot with the same id."""
        return self.path, self.snapshot.id, self.snapshot.delta_manifest_list


def tags_of(layout: TableLayout, file_io: FileIO) -> list[Root]:
    """Return the tags of one branch, by snapshot."""
    # Guards first: they are deleted once a tag has taken their place.
    roots = _guards_of(layout, file_io)
    tags = TagManager(file_io, layout).list()
    roots += [Root(layout.tag(name), tag.to_snapshot(), "state") for name, tag in tags]
    return sorted(roots, key=lambda root: root.snapshot.id)


def _guards_of(layout: TableLayout, file_io: FileIO) -> list[Root]:
    guards = TagManager(file_io, layout).guards()
    return [Root(path, tag.to_snapshot(), "state") for path, tag in guards]


def changelogs_of(layout: TableLayout, file_io: FileIO) -> list[Root]:
    """Return the long-lived changelogs of one branch."""
    changelogs = ChangelogManager(file_io, layout)
    return [
        Root(layout.changelog(changelog.id), changelog, "changes")
        for changelog in changelogs.list()
    ]


def others_of(history: TableHistory) -> list[Root]:
    """Return all that the other branches of a table keep."""
    io = history.file_io
    branches = BranchManager(io, history.layout)
    roots: list[Root] = []
    names: list[str] | None = None
    while names != (names := branches.names()):
        # One that was renamed meanwhile was under neither of its names.
        roots = []
        for layout in _other_layouts(history, names):
            roots += _all_of(layout, io)
    # Guards once more: they are written before a branch is deleted whose snapshots are kept.
    return roots + _guards_of(history.layout, io)


def kept_by_tags(history: TableHistory) -> list[Root]:
    """Return what tags keep, and the other branches."""
    return tags_of(history.layout, history.file_io) + others_of(history)


def _other_layouts(history: TableHistory, names: Sequence[str]) -> list[TableLayout]:
    layouts = [history.layout.on_branch(name) for name in (None, *names)]
    return [layout for layout in layouts if layout != history.layout]


def snapshots_of(layout: TableLayout, file_io: FileIO, *, upto: int | None = None) -> list[Root]:
    """Return the snapshots of one branch, up to one of them; None: all."""
    listed = SnapshotManager(file_io, layout).list()
    snapshots = [snapshot for snapshot in listed if upto is None or snapshot.id <= upto]
    snapshots[:1] = [
        without_lost_changelog(snapshot, layout, file_io) for snapshot in snapshots[:1]
    ]
    # A file that is not alive in the oldest came with the commit of another.
    roots = [Root(layout.snapshot(snapshot.id), snapshot, "state") for snapshot in snapshots[:1]]
    return roots + [
        Root(layout.snapshot(snapshot.id), snapshot, "commit") for snapshot in snapshots
    ]


def without_lost_changelog(first: Snapshot, layout: TableLayout, file_io: FileIO) -> Snapshot:
    """Return the first snapshot of a branch, without its changelog if that is gone.

    It may have come from a tag, by a new branch, a fast-forward or a rollback: a tag keeps rows,
    and no changelog, which went when the snapshot expired.
    """
    name = first.changelog_manifest_list
    if name is None or file_io.exists(layout.manifest(name)):
        return first
    return replace(first, changelog_manifest_list=None, changelog_manifest_list_size=None)


def kept_by_others(
    history: TableHistory,
    *,
    upto: int | None = None,
    but_tags: Collection[str] = (),
    but_changelogs: Collection[int] = (),
) -> list[Root]:
    """Return all that keeps files of a table, except what is about to be deleted.

    Parameters
    ----------
    history
        The history of the branch.
    upto
        The newest of its snapshots that is kept; None: all are.
    but_tags, but_changelogs
        Those of its tags and changelogs that are about to be deleted.
    """
    layout, io = history.layout, history.file_io
    paths = {layout.tag(name) for name in but_tags}
    paths |= {layout.changelog(number) for number in but_changelogs}
    own = _all_of(layout, io, upto=upto)
    return [root for root in own if root.path not in paths] + others_of(history)


def _all_of(layout: TableLayout, file_io: FileIO, *, upto: int | None = None) -> list[Root]:
    """Return the snapshots of one branch, up to one of them, its tags and its changelogs."""
    found = snapshots_of(layout, file_io, upto=upto)
    found += tags_of(layout, file_io) + changelogs_of(layout, file_io)
    return found + _put_back(layout, file_io, found, upto)


def _put_back(
    layout: TableLayout, file_io: FileIO, known: Sequence[Root], upto: int | None
) -> list[Root]:
    """Return snapshots that are here by now: one may have been moved aside and put back.

    Then its guard was no longer there when the tags were listed.
    """
    snapshots = SnapshotManager(file_io, layout)
    listed = {root.path for root in known}
    ids = [number for number in snapshots.ids() if upto is None or number <= upto]
    new = [number for number in ids if layout.snapshot(number) not in listed]
    found = [snapshot for number in new if (snapshot := snapshots.find(number)) is not None]
    return [Root(layout.snapshot(one.id), one, "state") for one in found]


def tags_between(tags: Sequence[Root], first: int, end: int) -> list[Root]:
    """Return the tags that may need files which were alive in snapshots from first to end.

    Those below the range need no file that the last one of them does not.
    """
    below = [root for root in tags if root.snapshot.id <= first]
    latest_below = [root for root in below if root.snapshot.id == below[-1].snapshot.id]
    within = [root for root in tags if first < root.snapshot.id < end]
    return [*latest_below, *within]
