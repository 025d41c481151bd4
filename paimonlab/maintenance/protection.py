"""What other tags, branches and changelogs of a table need.

Everything is read anew when it is asked for, and every error is raised: what cannot be read may
need any file.
"""

from __future__ import annotations

from collections.abc import Collection

from paimonlab.maintenance.references import ReferenceReader, References, union
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO


def needed_by_names(
    layout: TableLayout,
    file_io: FileIO,
    reader: ReferenceReader,
    *,
    but_tags: Collection[str] = (),
    but_changelogs: Collection[int] = (),
) -> References:
    """Return the files that tags, branches and changelogs of a table need.

    Parameters
    ----------
    layout
        Of the branch at hand: its own snapshots are not looked at, those of all others are.
    file_io
        The table's store.
    reader
        Of the table; files of all branches are found through it.
    but_tags, but_changelogs
        Those of the branch at hand that are about to go.
    """
    found = References()
    for branch in _branches(layout, file_io):
        is_own = branch == layout
        tags = [
            tag.to_snapshot()
            for name, tag in TagManager(file_io, branch).list()
            if not (is_own and name in but_tags)
        ]
        found |= union(reader.of_state(one) for one in _distinct(tags))
        changelogs = [
            one
            for one in ChangelogManager(file_io, branch).list()
            if not (is_own and one.id in but_changelogs)
        ]
        found |= union(reader.of_changes(one) for one in changelogs)
        if not is_own:
            snapshots = SnapshotManager(file_io, branch).list()
            found |= union(reader.of_state(one) | reader.of_commit(one) for one in snapshots)
    return found


def _branches(layout: TableLayout, file_io: FileIO) -> list[TableLayout]:
    names = BranchManager(file_io, layout).names()
    return [layout.on_branch(None), *(layout.on_branch(name) for name in names)]


def _distinct(snapshots: list[Snapshot]) -> list[Snapshot]:
    by_lists = {(one.base_manifest_list, one.delta_manifest_list): one for one in snapshots}
    return list(by_lists.values())
