"""Which of some names of files snapshots, tags and changelogs refer to.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.OrphanFilesClean``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import CorruptMetadataError
from paimonlab.maintenance.roots import Root
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifest_cache import ManifestCache
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.progress import Progress
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta
from paimonlab.storage import FileIO

_CACHE_BYTES = 64 << 20
_SHARED_CHANGELOG = re.compile(r"(.+\$\d+-\d+)-\d+-\d+(\.[^.]+)")
"""Names of parts of changelog files that compactions share; the first two groups are the file."""


def used_names(
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
        self._names = arrow_array(sorted(candidates), pa.large_string())
        self._lists: dict[str, list[str]] = {}
        self._entries: dict[str, list[_Entry]] = {}
        self._indexes: set[str] = set()

    def read(self, root: Root) -> None:
        """Add what a root needs; a root deleted meanwhile needs nothing."""
        snapshot, referrer = root.snapshot, root.path
        is_changelog = root.what == "changes"
        try:
            base = self._list(snapshot.base_manifest_list, referrer, may_be_gone=is_changelog)
            delta = self._list(snapshot.delta_manifest_list, referrer, may_be_gone=is_changelog)
            if not is_changelog:
                self._take_alive([*base, *delta])
            if root.what != "state":  # a tag keeps rows, and no changes
                self._take(entry for entry in delta if entry.kind == FileKind.ADD or is_changelog)
            if snapshot.changelog_manifest_list is not None:
                is_tag = root.what == "state"
                self._take(
                    self._list(snapshot.changelog_manifest_list, referrer, may_be_gone=is_tag)
                )
            if snapshot.index_manifest is not None:
                self._index(snapshot.index_manifest, referrer, may_be_gone=is_changelog)
            if snapshot.statistics is not None:
                self.used.add(snapshot.statistics)
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
        return [
            entry for manifest in self._lists[name] for entry in self._entries.get(manifest, ())
        ]

    def _read(self, metas: Sequence[ManifestFileMeta], referrer: str, *, may_be_gone: bool) -> None:
        new = [meta for meta in metas if meta.file_name not in self._entries]
        # All at once is faster; one by one tells which are missing.
        for group in [[meta] for meta in new] if may_be_gone else [new]:
            try:
                tables = self._manifests.read(group, referrer=referrer)
            except CorruptMetadataError as error:
                if not (may_be_gone and _is_missing(error)):
                    raise
                continue
            for meta, entries in zip(group, tables, strict=True):
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
    rows = sorted({*np.flatnonzero(numpy_values(is_wanted)).tolist(), *owners.to_pylist()})
    chosen = entries.take(arrow_array(rows, pa.int64()))
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
