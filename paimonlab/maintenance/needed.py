"""Which files roots need, one root after the other: only what differs is read.

Manifests never change, and most of those of a state are those of the one before. Of each manifest
the entries of files that may be deleted are remembered, and from state to state is counted how
often each of these files was added.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import CorruptMetadataError, SnapshotExpiredError
from paimonlab.maintenance.manifest_entries import ManifestEntries
from paimonlab.maintenance.references import ReferenceReader
from paimonlab.maintenance.roots import Root
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    expiry_explained,
    manifests_of,
)
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO

_AT_ONCE = 64
"""Of so many roots the manifests are decoded together."""
_COLUMNS = ("kind", "partition", "bucket", "file_name")
"""What of an entry says whether its file is alive."""


def needed(
    find: Callable[[], Iterable[Root]],
    reader: ReferenceReader,
    file_io: FileIO,
    *,
    data_names: frozenset[str],
    entries: ManifestEntries | None = None,
) -> set[str]:
    """Return the paths of files that roots need; of data files only those with given names.

    Parameters
    ----------
    find
        Finds the roots; called again when one is deleted before it was read, as the next one keeps
        what it kept. Roots that follow each other should have most manifests in common.
    reader, file_io
        Reads what the table's snapshots refer to; the table's store.
    data_names
        Names of the data files that may be deleted.
    entries
        Reads manifests, some of which it may have read before.

    Raises
    ------
    CorruptMetadataError, SnapshotExpiredError
        If a file that a root names cannot be read, and the root is still there.
    """
    files = _NeededFiles(reader, data_names, entries or ManifestEntries(reader.manifests))
    seen: set[tuple[object, ...]] = set()
    has_all = False
    while not has_all:
        has_all = True
        roots = [root for root in find() if _key(root) not in seen]
        for number, root in enumerate(roots):
            if number % _AT_ONCE == 0:
                files.read_ahead(roots[number : number + _AT_ONCE])
            if _key(root) in seen:
                continue
            try:
                files.add(root)
            except (CorruptMetadataError, SnapshotExpiredError):
                if not root.may_go or file_io.exists(root.path):
                    raise
                has_all = False
            else:
                seen.add(_key(root))
    return files.paths


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
    entries = _Entries(reader, names, ManifestEntries(reader.manifests))
    entries.read(newer, metas)
    return {path for meta in metas for entry in entries.of(meta) for path in entry.paths}


def _key(root: Root) -> tuple[object, ...]:
    snapshot = root.snapshot
    lists = (snapshot.base_manifest_list, snapshot.delta_manifest_list)
    return root.what, *lists, snapshot.index_manifest


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a file that may be deleted."""

    is_added: bool
    key: tuple[bytes, int, str]
    """Partition, bucket and name."""
    paths: tuple[str, ...]
    """Of the file, and of those that belong to it."""


class _Entries:
    """The entries of files with given names, by manifest."""

    def __init__(
        self, reader: ReferenceReader, names: frozenset[str], entries: ManifestEntries
    ) -> None:
        self._reader = reader
        self._entries = entries
        self._names = arrow_array(sorted(names), pa.large_string())
        self._known: dict[str, list[_Entry]] = {}

    def read(self, snapshot: Snapshot | None, metas: Iterable[ManifestFileMeta]) -> None:
        """Read manifests, those that are unknown at once.

        Parameters
        ----------
        snapshot
            The one that names them, for messages; None: several do.
        metas
            As the lists have them.
        """
        new = {meta.file_name: meta for meta in metas if meta.file_name not in self._known}
        if not new:
            return
        missing = list(new.values())
        if snapshot is None:
            read = self._entries.read(missing)
        else:
            with expiry_explained(snapshot, self._reader.manifests):
                read = self._entries.read(missing, referrer=snapshot.file_name)
        is_wanted = numpy_values(pc.is_in(read.table["file_name"], self._names))
        chosen = read.table.filter(arrow_array(is_wanted)).combine_chunks()
        owner = np.repeat(np.arange(len(missing)), read.counts)[is_wanted]
        self._known |= {name: [] for name in new}
        columns = (chosen[name].to_pylist() for name in _COLUMNS)
        paths = self._reader.data_files(chosen)
        for number, of_file, kind, *key in zip(owner.tolist(), paths, *columns, strict=True):
            entry = _Entry(kind == FileKind.ADD, (key[0], key[1], key[2]), of_file)
            self._known[missing[number].file_name].append(entry)

    def of(self, meta: ManifestFileMeta) -> Sequence[_Entry]:
        """Return those of a manifest that was read."""
        return self._known[meta.file_name]


class _State:
    """Which files are alive in one state after the other."""

    def __init__(self, entries: _Entries) -> None:
        self._entries = entries
        self._metas: dict[str, ManifestFileMeta] = {}
        self._balance: Counter[tuple[bytes, int, str]] = Counter()
        self._added: defaultdict[tuple[bytes, int, str], Counter[tuple[str, ...]]]
        self._added = defaultdict(Counter)

    def move_to(self, metas: Sequence[ManifestFileMeta]) -> set[str]:
        """Return the paths of files that are alive in a state, and may not have been in the last.

        A file is alive if it was added more often than deleted.
        """
        now = {meta.file_name: meta for meta in metas}
        changed = set[tuple[bytes, int, str]]()
        for name in self._metas.keys() - now.keys():
            changed |= self._count(self._metas[name], -1)
        for name in now.keys() - self._metas.keys():
            changed |= self._count(now[name], 1)
        self._metas = now
        alive = [key for key in changed if self._balance[key] > 0]
        return {
            path
            for key in alive
            for paths, count in self._added[key].items()
            if count > 0
            for path in paths
        }

    def _count(self, meta: ManifestFileMeta, times: int) -> set[tuple[bytes, int, str]]:
        entries = self._entries.of(meta)
        for entry in entries:
            self._balance[entry.key] += times if entry.is_added else -times
            if entry.is_added:
                self._added[entry.key][entry.paths] += times
        return {entry.key for entry in entries}


class _NeededFiles:
    """Collects the paths of files that roots need."""

    def __init__(
        self, reader: ReferenceReader, data_names: frozenset[str], entries: ManifestEntries
    ) -> None:
        self.paths: set[str] = set()
        self._reader = reader
        self._has_names = bool(data_names)
        self._entries = _Entries(reader, data_names, entries)
        self._state = _State(self._entries)
        self._manifests: set[str] = set()

    def read_ahead(self, roots: Sequence[Root]) -> None:
        """Read the manifests of states together; what fails is read again, root by root."""
        if not self._has_names:
            return
        manifests = self._reader.manifests
        states = [root.snapshot for root in roots if root.what == "state"]
        names = dict[str, int | None]()
        for one in states:
            names[one.base_manifest_list] = one.base_manifest_list_size
            names[one.delta_manifest_list] = one.delta_manifest_list_size
        try:
            lists = manifests.read_lists(names)
            self._entries.read(None, [meta for metas in lists.values() for meta in metas])
        except (CorruptMetadataError, SnapshotExpiredError):
            return

    def add(self, root: Root) -> None:
        """Add what a root needs; nothing if that cannot be read."""
        snapshot, reader = root.snapshot, self._reader
        lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
        # A tag keeps rows, and no changelog: nobody may tell whether that is still there.
        is_state = root.what == "state"
        changelogs = [] if is_state else changelog_manifests_of(snapshot, reader.manifests)
        if snapshot.changelog_manifest_list is not None and not is_state:
            lists.append(snapshot.changelog_manifest_list)
        paths = set[str]()
        if root.what == "changes":
            metas = _if_there(lambda: delta_manifests_of(snapshot, reader.manifests))
            listed = metas + _if_there(lambda: manifests_of(snapshot, reader.manifests))
        else:
            metas = listed = manifests_of(snapshot, reader.manifests)
            if root.what == "commit":
                metas = delta_manifests_of(snapshot, reader.manifests)
            if snapshot.index_manifest is not None:
                paths.add(reader.layout.manifest(snapshot.index_manifest))
                paths |= set(reader.index_files(snapshot.index_manifest, snapshot))
            if snapshot.statistics is not None:
                paths.add(reader.layout.statistics(snapshot.statistics))
        names = {*lists, *(meta.file_name for meta in (*listed, *changelogs))} - self._manifests
        paths |= {reader.layout.manifest(name) for name in names}
        if self._has_names and root.what != "metadata":
            paths |= self._data(root, metas + changelogs)
        self._manifests |= names
        self.paths |= paths

    def _data(self, root: Root, metas: Sequence[ManifestFileMeta]) -> set[str]:
        self._entries.read(root.snapshot, metas)
        if root.what == "state":
            return self._state.move_to(metas)
        return {
            path
            for meta in metas
            for entry in self._entries.of(meta)
            if entry.is_added or root.what == "changes"
            for path in entry.paths
        }


def _if_there(read: Callable[[], list[ManifestFileMeta]]) -> list[ManifestFileMeta]:
    """Read manifest lists that may have gone with the snapshot."""
    try:
        return read()
    except SnapshotExpiredError:
        return []
