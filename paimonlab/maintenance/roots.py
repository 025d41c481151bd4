"""What keeps files: tags, branches, changelogs, and the snapshots that are kept.

Everything is read again for each call, and errors are raised: what cannot be read may need any
file. Only data files that may be deleted are looked up, which keeps it cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptMetadataError, SnapshotExpiredError
from paimonlab.maintenance.references import ReferenceReader
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.scan.entries import concat
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    manifests_of,
    read_entries,
)
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO

RootKey: TypeAlias = tuple[str, int, str]

_COLUMNS_OF_FILES = ("kind", "partition", "bucket", "file_name", "external_path", "extra_files")
"""What of an entry says whether its file is alive, and where that and its extra files are."""


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
            roots += tags_of(layout, io) + changelogs_of(layout, io) + snapshots_of(layout, io)
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
    # A file that is not alive in the oldest came with the commit of another.
    roots = [Root(layout.snapshot(snapshot.id), snapshot, "state") for snapshot in snapshots[:1]]
    return roots + [
        Root(layout.snapshot(snapshot.id), snapshot, "commit") for snapshot in snapshots
    ]


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
    own = snapshots_of(layout, io, upto=upto) + tags_of(layout, io) + changelogs_of(layout, io)
    return [root for root in own if root.path not in paths] + others_of(history)


def tags_between(tags: Sequence[Root], first: int, end: int) -> list[Root]:
    """Return the tags that may need files which were alive in snapshots from first to end.

    Those below the range need no file that the last one of them does not.
    """
    below = [root for root in tags if root.snapshot.id <= first]
    latest_below = [root for root in below if root.snapshot.id == below[-1].snapshot.id]
    within = [root for root in tags if first < root.snapshot.id < end]
    return [*latest_below, *within]


def needed(
    find: Callable[[], Iterable[Root]],
    reader: ReferenceReader,
    file_io: FileIO,
    *,
    data_names: frozenset[str],
) -> set[str]:
    """Return the paths of files that roots need; of data files only those with given names.

    Parameters
    ----------
    find
        Finds the roots; called again when one is deleted before it was read, as the next one keeps
        what it kept.
    reader, file_io
        Reads what the table's snapshots refer to; the table's store.
    data_names
        Names of the data files that may be deleted.

    Raises
    ------
    CorruptMetadataError, SnapshotExpiredError
        If a file that a root names cannot be read, and the root is still there.
    """
    names = arrow_array(sorted(data_names), pa.large_string())
    paths: set[str] = set()
    seen: set[tuple[object, ...]] = set()
    has_all = False
    while not has_all:
        has_all = True
        for root in find():
            snapshot = root.snapshot
            key = (
                root.what,
                snapshot.base_manifest_list,
                snapshot.delta_manifest_list,
                snapshot.index_manifest,
            )
            if key in seen:
                continue
            try:
                paths |= _needed_by(root, reader, names)
            except (CorruptMetadataError, SnapshotExpiredError):
                if not root.may_go or file_io.exists(root.path):
                    raise
                has_all = False
            else:
                seen.add(key)
    return paths


def _needed_by(root: Root, reader: ReferenceReader, names: pa.Array) -> set[str]:
    snapshot, layout = root.snapshot, reader.layout
    paths: set[str] = set()
    lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
    # A tag keeps rows, and no changelog: nobody may tell whether that is still there.
    changelogs = [] if root.what == "state" else changelog_manifests_of(snapshot, reader.manifests)
    if snapshot.changelog_manifest_list is not None and root.what != "state":
        lists.append(snapshot.changelog_manifest_list)
    if root.what == "changes":
        metas = _if_there(lambda: delta_manifests_of(snapshot, reader.manifests))
        listed = metas + _if_there(lambda: manifests_of(snapshot, reader.manifests))
    else:
        metas = listed = manifests_of(snapshot, reader.manifests)
        if root.what == "commit":
            metas = delta_manifests_of(snapshot, reader.manifests)
        if snapshot.index_manifest is not None:
            paths.add(layout.manifest(snapshot.index_manifest))
            paths |= set(reader.index_files(snapshot.index_manifest, snapshot))
        if snapshot.statistics is not None:
            paths.add(layout.statistics(snapshot.statistics))
    metas, listed = metas + changelogs, listed + changelogs
    paths |= {layout.manifest(name) for name in lists}
    paths |= {layout.manifest(meta.file_name) for meta in listed}
    if len(names) and root.what != "metadata":
        paths |= _named(snapshot, metas, reader, names, root.what)
    return paths


def _named(
    snapshot: Snapshot,
    metas: Sequence[ManifestFileMeta],
    reader: ReferenceReader,
    names: pa.Array,
    what: str,
) -> set[str]:
    """Return the paths of files with given names that manifests have."""
    tables = read_entries(snapshot, metas, reader.manifests)
    if not tables:
        return set()
    # Filtering takes time for each column of each table.
    entries = pa.concat_tables([entries.select(_COLUMNS_OF_FILES) for entries in tables])
    entries = concat([entries.filter(pc.is_in(entries["file_name"], names))])
    if what == "state":
        entries = _alive(entries)
    elif what == "commit":
        entries = entries.filter(is_kind(entries, FileKind.ADD))
    return {path for paths in reader.data_files(entries) for path in paths}


def _alive(entries: pa.Table) -> pa.Table:
    """Return the entries that add files which were added more often than deleted."""
    if not entries.num_rows:
        return entries
    keys = list(
        zip(
            *(entries[name].to_pylist() for name in ("partition", "bucket", "file_name")),
            strict=True,
        )
    )
    kinds = entries["kind"].to_pylist()
    balance: Counter[tuple[object, ...]] = Counter()
    for key, kind in zip(keys, kinds, strict=True):
        balance[key] += 1 if kind == FileKind.ADD else -1
    is_alive = [
        kind == FileKind.ADD and balance[key] > 0 for key, kind in zip(keys, kinds, strict=True)
    ]
    return entries.filter(arrow_array(is_alive))


def entries_since(
    older: Snapshot, newer: Snapshot, reader: ReferenceReader, names: frozenset[str]
) -> set[str]:
    """Return the paths of files with given names that newer manifests refer to.

    Parameters
    ----------
    older, newer
        Two snapshots of one branch.
    reader
        Reads what the table's snapshots refer to.
    names
        File names.
    """
    before = {meta.file_name for meta in manifests_of(older, reader.manifests)}
    metas = [meta for meta in manifests_of(newer, reader.manifests) if meta.file_name not in before]
    wanted = arrow_array(sorted(names), pa.large_string())
    return _named(newer, metas, reader, wanted, "all")


def _if_there(read: Callable[[], list[ManifestFileMeta]]) -> list[ManifestFileMeta]:
    """Read manifest lists that may have gone with the snapshot."""
    try:
        return read()
    except SnapshotExpiredError:
        return []
