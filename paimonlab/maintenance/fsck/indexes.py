"""Index files: deletion vectors and hashes of keys."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimonlab.formats.deletion_vectors import cut_deletion_vector, decode_deletion_vector
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.maintenance.fsck.contents import ContentChecker
from paimonlab.maintenance.fsck.data_files import StoredFiles
from paimonlab.maintenance.fsck.live import LiveFiles
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.hash_index import decode_hashes
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, HASH, IndexManifestEntry
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO

_HASH_BYTES = 4

Owners = Mapping[tuple[bytes, int, str], int]
"""Rows of each data file by partition, bucket and name."""


@dataclass(frozen=True, slots=True)
class IndexChecker:
    """Checks the index files of roots."""

    file_io: FileIO
    layout: TableLayout
    manifests: ManifestStore
    stored: StoredFiles
    notes: Notes
    contents: ContentChecker | None
    """Reads data files; None: they are not to be read."""
    seen: set[str]
    """Index files that were looked at."""

    def check(
        self,
        files: LiveFiles,
        data: pa.Table,
        paths: Sequence[str],
        folders: Mapping[BucketKey, str],
    ) -> None:
        """Check all index files of a root.

        Parameters
        ----------
        files
            The root, and what is known of its files.
        data
            Additions of its data files (`ENTRY_SCHEMA`).
        paths
            Paths of its data files.
        folders
            Where index files lie beside the data files: the folder of each bucket; else {}.
        """
        root = files.root
        name = root.snapshot.index_manifest
        if name is None or root.is_changelog:
            return
        entries: list[IndexManifestEntry] = []
        path = self.layout.manifest(name, root.name)
        with self.notes.taken(path, referrer=root.name):
            entries = self.manifests.read_index(name, referrer=root.name)
            self.notes.counts["manifests"] += 1
        referrer = f"{root.name}, {name}"
        owners = _owners(data)
        owned: dict[tuple[bytes, int, str], str] = {}
        for entry in entries:
            index_path = self._path(entry, folders)
            if entry.index_type == DELETION_VECTORS and entry.deletion_vectors is None:
                problem = f"it does not say of which files {entry.file_name} deletes rows"
                self.notes.add(path, problem, referrer=root.name)
            for vector in entry.deletion_vectors or ():
                owner = (entry.partition, entry.bucket, vector.data_file_name)
                if files.is_complete and owner not in owners:
                    problem = f"it deletes rows of {vector.data_file_name}, which is not there"
                    self.notes.add(index_path, problem, referrer=referrer, advice=_STALE)
                elif (vector.cardinality or 0) > owners.get(owner, 1 << 62):
                    problem = f"it deletes more rows of {vector.data_file_name} than it has"
                    self.notes.add(index_path, problem, referrer=referrer)
                if owner in owned:
                    problem = f"{vector.data_file_name} has another one in {owned[owner]}"
                    self.notes.add(index_path, problem, referrer=referrer)
                owned[owner] = entry.file_name
            if entry.file_name not in self.seen:
                self.seen.add(entry.file_name)
                with self.notes.taken(index_path, referrer=referrer):
                    self._check_file(entry, index_path, owners, referrer)
                if self.contents is not None and entry.index_type == HASH:
                    with self.notes.taken(index_path, referrer=referrer):
                        self._check_hashes(entry, index_path, data, paths, referrer)

    def _path(self, entry: IndexManifestEntry, folders: Mapping[BucketKey, str]) -> str:
        if entry.external_path is not None:
            return self.layout.index_file(entry.external_path)
        folder = folders.get((entry.partition, entry.bucket), "index")
        return self.layout.index_file(posixpath.join(folder, entry.file_name))

    def _check_file(
        self, entry: IndexManifestEntry, path: str, owners: Owners, referrer: str
    ) -> None:
        self.notes.counts["index_files"] += 1
        size = self.stored.size_bytes(path)
        if size is None:
            self.notes.add(path, "the file is missing", referrer=referrer)
            return
        if size != entry.file_size_bytes:
            problem = f"it has {size:,} bytes, expected were {entry.file_size_bytes:,}"
            self.notes.add(path, problem, referrer=referrer)
        if entry.index_type == HASH and size != _HASH_BYTES * entry.row_count:
            problem = f"it has {size:,} bytes, {entry.row_count:,} hashes take {_HASH_BYTES} each"
            self.notes.add(path, problem, referrer=referrer)
        if entry.index_type != DELETION_VECTORS:
            return
        for vector in entry.deletion_vectors or ():
            end = vector.offset + vector.length_bytes
            if vector.offset < 1 or end > size:
                problem = f"the vector of {vector.data_file_name} ends at byte {end:,} of {size:,}"
                self.notes.add(path, problem, referrer=referrer)
        if self.contents is not None:
            with self.notes.taken(path, referrer=referrer):
                self._check_vectors(entry, path, owners, referrer)

    def _check_hashes(
        self,
        entry: IndexManifestEntry,
        path: str,
        entries: pa.Table,
        paths: Sequence[str],
        referrer: str,
    ) -> None:
        assert self.contents is not None, "data files are to be read"
        known = decode_hashes(
            self.file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES), rows=entry.row_count, path=path
        )
        for data, data_path in zip(table_to_entries(entries), paths, strict=True):
            if (data.partition, data.bucket) != (entry.partition, entry.bucket):
                continue
            with self.notes.taken(data_path, referrer=referrer):
                missing = ~np.isin(self.contents.key_hashes(data_path, data), known)
                if missing.any():
                    problem = (
                        f"it does not know {int(missing.sum()):,} keys of {data.file.file_name}: "
                        "they would be written to a second bucket"
                    )
                    self.notes.add(path, problem, referrer=referrer, advice=_STALE)

    def _check_vectors(
        self, entry: IndexManifestEntry, path: str, owners: Owners, referrer: str
    ) -> None:
        data = self.file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES)
        for meta in entry.deletion_vectors or ():
            whole = cut_deletion_vector(data, meta.offset, meta.length_bytes, path=path)
            vector = decode_deletion_vector(whole, path=path)
            if meta.cardinality is not None and vector.cardinality != meta.cardinality:
                problem = (
                    f"it deletes {vector.cardinality:,} rows of {meta.data_file_name}, the "
                    f"manifest says {meta.cardinality:,}"
                )
                self.notes.add(path, problem, referrer=referrer)
            rows = owners.get((entry.partition, entry.bucket, meta.data_file_name))
            positions = vector.positions()
            if rows is not None and len(positions) and int(positions[-1]) >= rows:
                problem = (
                    f"it deletes row {int(positions[-1]):,} of {meta.data_file_name}, which has "
                    f"{rows:,}"
                )
                self.notes.add(path, problem, referrer=referrer)


_STALE = "Rewrite the index of the bucket by a compaction."


def _owners(entries: pa.Table) -> dict[tuple[bytes, int, str], int]:
    columns = ("partition", "bucket", "file_name", "row_count")
    rows = zip(*(entries[name].to_pylist() for name in columns), strict=True)
    return {(partition, bucket, name): count for partition, bucket, name, count in rows}
