"""Orphan files, which nothing refers to: left by crashes, lost races and abandoned writes.

Candidates are listed first and what is needed is read after that: in the other order a commit in
between would lose its files. They are matched by name, as names are given once.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.OrphanFilesClean``,
``…LocalOrphanFilesClean``.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import CorruptMetadataError, SnapshotNotFoundError
from paimonlab.maintenance.deletion import delete_unneeded
from paimonlab.maintenance.roots import Root, RootKey, changelogs_of, tags_of
from paimonlab.maintenance.stored_files import StoredFile, StoredOptions, stored_files
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.unneeded import FileSort, UnneededFile
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifest_cache import ManifestCache
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.progress import Progress
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta
from paimonlab.storage import FileIO, join

logger = logging.getLogger(__name__)

LEAST_AGE = timedelta(days=1)
"""Younger files may be of a commit that is under way."""
_CACHE_BYTES = 64 << 20
_SHARED_CHANGELOG = re.compile(r"(.+\$\d+-\d+)-\d+-\d+(\.[^.]+)")
"""Names of parts of changelog files that compactions share; the first two groups are the file."""


@dataclass(frozen=True, slots=True)
class OrphanFile:
    """A file that nothing refers to."""

    path: str
    """Absolute."""
    sort: FileSort
    size_bytes: int
    modified: datetime
    """By the store's clock."""
    age: timedelta
    """When it was listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanFiles:
    """The orphan files of a table that are old enough to be deleted."""

    table: str
    older_than: datetime
    """Younger files were left out."""
    files: tuple[OrphanFile, ...] = field(default=(), repr=False)
    """By path."""
    seen: frozenset[RootKey] = field(default=frozenset(), repr=False, compare=False)
    """The snapshots, tags and changelogs that were looked at."""

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return sum(file.size_bytes for file in self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Absolute paths."""
        return tuple(file.path for file in self.files)

    def counts(self) -> Mapping[str, int]:
        """How many there are of each sort."""
        return Counter(file.sort for file in self.files)

    def __str__(self) -> str:
        """Tell it to a person."""
        head = (
            f"{self.table}: {len(self.files):,} orphan files, {self.size_bytes:,} bytes, older "
            f"than {self.older_than:%Y-%m-%d %H:%M:%S%z}"
        )
        lines = [
            f"  {file.path}  {file.sort}, {file.size_bytes:,} bytes, {file.age.days} days old"
            for file in self.files
        ]
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanSearch:
    """Where to look."""

    options: StoredOptions
    external_folders: Sequence[str] = ()
    """Roots of data files outside of the table's folder; nothing but this table uses them."""
    partition_depth: int
    """How many partition columns there are."""


def find_orphans(
    history: TableHistory,
    search: OrphanSearch,
    *,
    older_than: datetime,
    progress: Progress | None = None,
) -> OrphanFiles:
    """Find the orphan files of all branches of a table; delete nothing.

    Parameters
    ----------
    history
        The history of any branch.
    search
        Which folders to search.
    older_than
        With a zone; compared with the store's clock.
    progress
        Called with the number of snapshots read.

    Raises
    ------
    CorruptMetadataError
        If metadata cannot be read, so that it is unclear what is needed, or a branch has no schema.
    """
    io, layout = history.file_io, history.layout.on_branch(None)
    branches = _branches(layout, io)
    now = datetime.now(UTC)
    cutoff = int(older_than.timestamp() * 1000)
    there = [
        file
        for file in stored_files(
            layout,
            branches,
            io,
            search.options,
            external_folders=search.external_folders,
            partition_depth=search.partition_depth,
        )
        if file.status.modified_millis < cutoff
    ]
    # One that was made since has files that were listed.
    roots = list(_roots(_branches(layout, io), io)) if there else []
    used = _used(roots, layout, io, {file.name for file in there}, progress)
    orphans = [_orphan(file, now) for file in there if file.name not in used]
    return OrphanFiles(
        table=history.name,
        older_than=older_than,
        files=tuple(sorted(orphans, key=lambda file: file.path)),
        seen=frozenset(root.key for root in roots),
    )


def remove_orphans(
    orphans: OrphanFiles,
    history: TableHistory,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> OrphanFiles:
    """Delete orphan files, unless something refers to them by now.

    Returns
    -------
    OrphanFiles
        What was deleted.
    """
    io, layout = history.file_io, history.layout.on_branch(None)
    roots = [root for root in _roots(_branches(layout, io), io) if root.key not in orphans.seen]
    names = {file.path.rpartition("/")[2] for file in orphans.files}
    used = _used(roots, layout, io, names, None)
    files = [file for file in orphans.files if file.path.rpartition("/")[2] not in used]
    gone = [UnneededFile(one.path, one.sort, one.size_bytes, "nothing names it") for one in files]
    gone.sort(key=lambda file: file.sort)
    delete_unneeded(gone, io, table=history.name, threads=threads, progress=progress)
    done = replace(orphans, files=tuple(files))
    logger.info("%s: %d orphan files deleted, %d bytes", history.name, len(files), done.size_bytes)
    return done


def clock_of(file_io: FileIO, layout: TableLayout) -> datetime:
    """Return the time by the store's clock, or by this machine's if that is earlier."""
    path = join(layout.manifest_folder, f".clock-{uuid.uuid4()}.tmp")
    now = time.time_ns() // 1_000_000
    try:
        file_io.write(path, b"")
        times = [
            one.modified_millis for one in file_io.list(layout.manifest_folder) if one.path == path
        ]
    finally:
        file_io.delete(path)
    return datetime.fromtimestamp(min([now, *times]) / 1000, UTC)


def _orphan(file: StoredFile, now: datetime) -> OrphanFile:
    modified = datetime.fromtimestamp(file.status.modified_millis / 1000, UTC)
    return OrphanFile(file.status.path, file.sort, file.status.size_bytes, modified, now - modified)


def _branches(layout: TableLayout, file_io: FileIO) -> list[TableLayout]:
    """Return all branches.

    Raises
    ------
    CorruptMetadataError
        If one has no schema: it may need any file.
    """
    names = BranchManager(file_io, layout).names()
    branches = [layout, *(layout.on_branch(name) for name in names)]
    for branch in branches:
        if not SchemaManager(file_io, branch).ids():
            raise CorruptMetadataError(
                branch.schema_folder,
                "there is no schema, so that it cannot be told what the branch needs; restore or "
                "delete it",
            )
    return branches


def _roots(branches: Iterable[TableLayout], file_io: FileIO) -> Iterator[Root]:
    for branch in branches:
        # Tags before snapshots, snapshots before changelogs: the way in which they are made.
        yield from tags_of(branch, file_io)
        for one in SnapshotManager(file_io, branch).list():
            yield Root(branch.snapshot(one.id), one, "commit")
        yield from _changelogs(branch, file_io)


def _changelogs(branch: TableLayout, file_io: FileIO) -> list[Root]:
    try:
        return changelogs_of(branch, file_io)
    except SnapshotNotFoundError:  # one expired while they were listed
        return changelogs_of(branch, file_io)


def _used(
    roots: Sequence[Root],
    layout: TableLayout,
    file_io: FileIO,
    candidates: set[str],
    progress: Progress | None,
) -> set[str]:
    """Return the names of candidates that roots need."""
    # A cache of its own: what others of this process have read may be damaged since.
    manifests = ManifestStore(file_io, layout, cache=ManifestCache(_CACHE_BYTES))
    reader = _NameReader(manifests, file_io, candidates)
    for number, root in enumerate(roots, start=1):
        reader.read(root)
        if progress is not None:
            progress(number, len(roots), "snapshots")
    return reader.used


class _NameReader:
    """Reads which of some names roots need, each manifest once."""

    def __init__(self, manifests: ManifestStore, file_io: FileIO, candidates: set[str]) -> None:
        self.used: set[str] = set()
        self._manifests = manifests
        self._file_io = file_io
        self._names = pa.array(sorted(candidates), pa.large_string())
        self._lists: dict[str, list[str]] = {}
        self._entries: dict[str, list[_Entry]] = {}
        self._indexes: set[str] = set()

    def read(self, root: Root) -> None:
        """Add what a root needs; a root deleted meanwhile needs nothing."""
        one, referrer = root.snapshot, root.path
        is_changelog = root.what == "changes"
        try:
            base = self._list(one.base_manifest_list, referrer, may_be_gone=is_changelog)
            delta = self._list(one.delta_manifest_list, referrer, may_be_gone=is_changelog)
            if not is_changelog:
                self._take_alive([*base, *delta])
            if root.what != "state":  # a tag keeps rows, and no changes
                self._take(entry for entry in delta if entry.kind == FileKind.ADD or is_changelog)
            if one.changelog_manifest_list is not None:
                is_tag = root.what == "state"
                self._take(self._list(one.changelog_manifest_list, referrer, may_be_gone=is_tag))
            if one.index_manifest is not None:
                self._index(one.index_manifest, referrer, may_be_gone=is_changelog)
            if one.statistics is not None:
                self.used.add(one.statistics)
        except CorruptMetadataError as error:
            if not _is_missing(error) or self._file_io.exists(root.path):
                raise

    def _list(self, name: str, referrer: str, *, may_be_gone: bool) -> list[_Entry]:
        """Return the entries of candidates in the manifests of a list."""
        self.used.add(name)
        if name not in self._lists:
            try:
                metas = self._manifests.read_list(name, referrer=referrer)
            except CorruptMetadataError as error:
                if may_be_gone and _is_missing(error):
                    return []
                raise
            self._read(metas, referrer, may_be_gone=may_be_gone)
            self._lists[name] = [meta.file_name for meta in metas]
            self.used.update(self._lists[name])
        return [entry for one in self._lists[name] for entry in self._entries.get(one, ())]

    def _read(self, metas: Sequence[ManifestFileMeta], referrer: str, *, may_be_gone: bool) -> None:
        new = [meta for meta in metas if meta.file_name not in self._entries]
        # All at once is faster, each on its own tells which are gone.
        for some in [[meta] for meta in new] if may_be_gone else [new]:
            try:
                tables = self._manifests.read(some, referrer=referrer)
            except CorruptMetadataError as error:
                if not (may_be_gone and _is_missing(error)):
                    raise
                continue
            for meta, entries in zip(some, tables, strict=True):
                self._entries[meta.file_name] = _entries_of(entries, self._names)

    def _take_alive(self, entries: Sequence[_Entry]) -> None:
        balance: Counter[tuple[object, ...]] = Counter()
        for entry in entries:
            balance[entry.key] += 1 if entry.kind == FileKind.ADD else -1
        self._take(entry for entry in entries if balance[entry.key] > 0)

    def _take(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            self.used.update(entry.names)

    def _index(self, name: str, referrer: str, *, may_be_gone: bool) -> None:
        self.used.add(name)
        if name in self._indexes:
            return
        try:
            entries = self._manifests.read_index(name, referrer=referrer)
        except CorruptMetadataError as error:
            if may_be_gone and _is_missing(error):
                return
            raise
        self.used |= {entry.file_name for entry in entries}
        paths = [entry.external_path for entry in entries if entry.external_path is not None]
        self.used |= {path.rpartition("/")[2] for path in paths}
        self._indexes.add(name)


def _is_missing(error: CorruptMetadataError) -> bool:
    return isinstance(error.__cause__, FileNotFoundError)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A manifest entry of a candidate."""

    kind: int
    key: tuple[object, ...]
    names: tuple[str, ...]
    """Of the file, and of those that belong to it."""


def _entries_of(entries: pa.Table, names: pa.Array) -> list[_Entry]:
    """Return the entries of files of which a name is wanted, or might be."""
    lists = entries["extra_files"].combine_chunks()
    extras = pc.list_flatten(lists)
    owners = pc.list_parent_indices(lists).filter(pc.is_in(extras, names))
    is_wanted = pc.or_(
        pc.is_in(entries["file_name"], names), pc.match_substring(entries["file_name"], ".cc-")
    )
    rows = sorted({*np.flatnonzero(is_wanted.to_numpy()).tolist(), *owners.to_pylist()})
    chosen = entries.take(pa.array(rows, pa.int64()))
    columns = ("kind", "partition", "bucket", "file_name", "extra_files")
    return [
        _Entry(kind, (partition, bucket, name), (*_stored_names(name), *(extra or ())))
        for kind, partition, bucket, name, extra in zip(
            *(chosen[column].to_pylist() for column in columns), strict=True
        )
    ]


def _stored_names(name: str) -> tuple[str, ...]:
    shared = _SHARED_CHANGELOG.fullmatch(name)
    return (name,) if shared is None else (name, shared[1] + shared[2])
