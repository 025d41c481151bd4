"""From manifest lists to the files that are alive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import numpy_values
from paimonlab.errors import PaimonError
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.maintenance.fsck.roots import Root
from paimonlab.maintenance.fsck.states import FileState, Group, Moved, unseen
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import live
from paimonlab.spec.manifests.manifest import NO_ENTRIES, FileKind, ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot

_AT_ONCE = 64
"""Of so many roots the manifests are decoded together."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """What metadata says of the rows of a state, and of its commit."""

    rows: int
    changed: int


@dataclass(frozen=True, slots=True)
class LiveFiles:
    """The data files that a root has."""

    root: Root
    new: pa.Table
    """Additions of data and changelog files that no earlier root has (`ENTRY_SCHEMA`)."""
    deep: Mapping[Group, Mapping[str, tuple[bytes, bytes]]]
    """Levels from 1 on that files came to: smallest and greatest key of all of their files."""
    changelog: pa.Table
    """Additions of changelog files (`ENTRY_SCHEMA`)."""
    is_complete: bool
    """Whether all manifests could be read."""
    is_known: bool = False
    """Whether an earlier root has the same manifests and indexes."""
    read: Callable[[], pa.Table] = lambda: NO_ENTRIES
    """Reads additions of all its files (`ENTRY_SCHEMA`)."""


@dataclass(frozen=True, slots=True)
class _ReadAhead:
    """What was read of some roots at once, by name; empty if not all of it can be read."""

    lists: Mapping[str, Sequence[ManifestFileMeta]] = field(default_factory=dict)
    entries: Mapping[str, pa.Table] = field(default_factory=dict)
    """Of manifests that no earlier root has."""


class ManifestWalk:
    """Reads the manifests of roots, each of them once, and follows which files are alive.

    A state is made of the one before by the manifests in which they differ. Where that fails, all
    of its manifests are read, to say what is wrong.
    """

    def __init__(self, manifests: ManifestStore, layout: TableLayout, notes: Notes) -> None:
        self._manifests = manifests
        self._layout = layout
        self._notes = notes
        self._seen: set[str] = set()
        self._seen_files: set[str] = set()
        self._known: dict[tuple[str | None, ...], _Counts] = {}
        self._state: FileState | None = None
        self._ahead = _ReadAhead()

    def all_live(self, roots: Sequence[Root]) -> Iterator[LiveFiles]:
        """Yield the files of each root; problems of its manifests are noted."""
        for start in range(0, len(roots), _AT_ONCE):
            self._read_ahead(roots[start : start + _AT_ONCE])
            yield from map(self._live, roots[start : start + _AT_ONCE])

    def _read_ahead(self, roots: Sequence[Root]) -> None:
        """Decode the manifests of roots together; what fails is read again, one by one."""
        self._ahead = _ReadAhead()
        names = dict(
            named for root in roots if not root.is_changelog for named in _lists(root.snapshot)
        )
        try:
            lists = self._manifests.read_lists(names)
            metas = {
                meta.file_name: meta
                for listed in lists.values()
                for meta in listed
                if meta.file_name not in self._seen
            }
            entries = self._manifests.read(metas.values())
        except (PaimonError, OSError, pa.ArrowException):
            return
        self._ahead = _ReadAhead(lists, dict(zip(metas, entries, strict=True)))

    def _live(self, root: Root) -> LiveFiles:
        snapshot = root.snapshot
        changelog: list[pa.Table] = []
        if not root.is_tag:
            changelog, _ = self._list(
                root, snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size
            )
        changes = _concat(changelog)
        if root.is_changelog:
            return LiveFiles(root, self._unseen(changes), {}, changes, is_complete=False)
        if not root.is_tag:
            self._check_changelog(root, snapshot, changes)
        lists = tuple(name for name, _ in _lists(snapshot))
        key = (*lists, snapshot.index_manifest)
        if key in self._known:
            self._check_counts(root, snapshot, self._known[key])
            return LiveFiles(
                root, self._unseen(changes), {}, changes, is_complete=True, is_known=True
            )
        moved, is_complete = self._moved(root)
        if moved is None:
            return LiveFiles(root, self._unseen(changes), {}, changes, is_complete)
        if self._state is not None:
            counts = _Counts(self._state.row_count, self._rows_changed(root))
            self._check_counts(root, snapshot, counts)
            self._known[key] = counts
        new = self._unseen(_concat([moved.added, changes]) if changes.num_rows else moved.added)
        return LiveFiles(
            root, new, moved.deep, changes, is_complete, read=lambda: self._all_files(root)
        )

    def _unseen(self, entries: pa.Table) -> pa.Table:
        new = unseen(entries, self._seen_files)
        self._seen_files.update(new["file_name"].to_pylist())
        return new

    def _moved(self, root: Root) -> tuple[Moved | None, bool]:
        """Return what the state of a root has that the last had not; whether all could be read."""
        state = FileState() if self._state is None else self._state
        self._state = None
        moved = None
        added: Sequence[ManifestFileMeta] = ()
        tables: Sequence[pa.Table] = ()
        try:
            metas = self._metas_of(root)
            removed = [meta for name, meta in state.manifests.items() if name not in metas]
            added = [meta for name, meta in metas.items() if name not in state.manifests]
            tables = self._entries_of(added, root)
            moved = state.move(metas, self._entries_of(removed, root), tables)
        except (PaimonError, OSError, pa.ArrowException):
            pass
        if moved is None:
            return self._read_whole(root)
        self._state = state
        for name, _ in _lists(root.snapshot):
            self._count(name)
        for meta, entries in zip(added, tables, strict=True):
            if self._count(meta.file_name):
                self._check_manifest(meta, entries, root.name)
        return moved, True

    def _read_whole(self, root: Root) -> tuple[Moved | None, bool]:
        """Read all manifests of a root, and note what is wrong with them."""
        tables: list[pa.Table] = []
        is_complete = True
        for name, size in _lists(root.snapshot):
            found, is_whole = self._list(root, name, size)
            tables += found
            is_complete &= is_whole
        if is_complete:
            with self._notes.taken(root.path, referrer=root.name):
                entries = live(tables, referrer=root.path)
                state = FileState()
                moved = state.move(self._metas_of(root), [], [entries])
                self._state = None if moved is None else state
                return moved, True
        return None, is_complete

    def _metas_of(self, root: Root) -> dict[str, ManifestFileMeta]:
        return {
            meta.file_name: meta
            for name, size in _lists(root.snapshot)
            for meta in self._metas_in(name, size, root)
        }

    def _metas_in(
        self, name: str, size_bytes: int | None, root: Root
    ) -> Sequence[ManifestFileMeta]:
        known = self._ahead.lists.get(name)
        if known is not None:
            return known
        return self._manifests.read_list(name, size_bytes, referrer=root.name)

    def _entries_of(self, metas: Collection[ManifestFileMeta], root: Root) -> Sequence[pa.Table]:
        known = self._ahead.entries
        if all(meta.file_name in known for meta in metas):
            return [known[meta.file_name] for meta in metas]
        return self._manifests.read(metas, referrer=root.name)

    def _all_files(self, root: Root) -> pa.Table:
        return live(self._entries_of(self._metas_of(root).values(), root), referrer=root.path)

    def _rows_changed(self, root: Root) -> int:
        snapshot = root.snapshot
        name, size = snapshot.delta_manifest_list, snapshot.delta_manifest_list_size
        changed = 0
        for entries in self._entries_of(self._metas_in(name, size, root), root):
            is_added = numpy_values(entries["kind"]) == FileKind.ADD
            rows = numpy_values(entries["row_count"])
            changed += int(np.where(is_added, rows, -rows).sum())
        return changed

    def _list(
        self, root: Root, name: str | None, size_bytes: int | None
    ) -> tuple[list[pa.Table], bool]:
        if name is None:
            return [], True
        tables: list[pa.Table] = []
        metas: Sequence[ManifestFileMeta] = ()
        is_read = False
        with self._notes.taken(self._layout.manifest(name, root.name), referrer=root.name):
            metas = self._manifests.read_list(name, size_bytes, referrer=root.name)
            self._count(name)
            is_read = True
        for meta in metas:
            referrer = f"{root.name}, {name}"
            with self._notes.taken(
                self._layout.manifest(meta.file_name, root.name), referrer=referrer
            ):
                (entries,) = self._manifests.read([meta], referrer=referrer)
                tables.append(entries)
                if self._count(meta.file_name):
                    self._check_manifest(meta, entries, referrer)
        return tables, is_read and len(tables) == len(metas)

    def _count(self, name: str) -> bool:
        if name in self._seen:
            return False
        self._seen.add(name)
        self._notes.counts["manifests"] += 1
        return True

    def _check_manifest(self, meta: ManifestFileMeta, entries: pa.Table, referrer: str) -> None:
        added = int((numpy_values(entries["kind"]) == FileKind.ADD).sum())
        counts = (added, entries.num_rows - added)
        said = (meta.num_added_files, meta.num_deleted_files)
        if counts != said:
            problem = (
                f"it adds {counts[0]} and deletes {counts[1]} files, its list says {said[0]} and "
                f"{said[1]}"
            )
            self._notes.add(self._layout.manifest(meta.file_name), problem, referrer=referrer)
        for column, low, high in (
            ("bucket", meta.min_bucket, meta.max_bucket),
            ("level", meta.min_level, meta.max_level),
        ):
            values = numpy_values(entries[column])
            if low is None or high is None or not values.size:
                continue
            least, most = int(values.min()), int(values.max())
            if least < low or most > high:
                problem = (
                    f"it has files of {column} {least} to {most}, its list says "
                    f"{low} to {high}: filtered reads miss them"
                )
                self._notes.add(self._layout.manifest(meta.file_name), problem, referrer=referrer)

    def _check_counts(self, root: Root, snapshot: Snapshot, counts: _Counts) -> None:
        for what, said, counted in (
            ("rows", snapshot.total_record_count, counts.rows),
            ("rows more than before", snapshot.delta_record_count, counts.changed),
        ):
            if said is not None and said != counted:
                problem = f"it says that it has {said:,} {what}, its files have {counted:,}"
                self._notes.add(root.path, problem, referrer=root.name, advice=_COUNTS)

    def _check_changelog(self, root: Root, snapshot: Snapshot, changelog: pa.Table) -> None:
        said, counted = snapshot.changelog_record_count, pc.sum(changelog["row_count"]).as_py() or 0
        if said is not None and said != counted:
            problem = f"it says that its changelog has {said:,} rows, its files have {counted:,}"
            self._notes.add(root.path, problem, referrer=root.name, advice=_COUNTS)


_COUNTS = "Counts are wrong that come from metadata alone."


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).combine_chunks() if tables else NO_ENTRIES


def _lists(snapshot: Snapshot) -> tuple[tuple[str, int | None], ...]:
    return (
        (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
        (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
    )
