"""Which files a snapshot needs, by path."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SnapshotExpiredError
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import concat
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    live_entries,
    manifests_of,
    read_entries,
)
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import DataField

logger = logging.getLogger(__name__)

Paths = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Absolute paths of files."""

    data: Paths = frozenset()
    """Data files, changelog files, and what belongs to them."""
    indexes: Paths = frozenset()
    """Files that index manifests name."""
    manifests: Paths = frozenset()
    """Manifests, manifest lists, index manifests."""
    statistics: Paths = frozenset()

    def __or__(self, other: References) -> References:
        return References(
            data=self.data | other.data,
            indexes=self.indexes | other.indexes,
            manifests=self.manifests | other.manifests,
            statistics=self.statistics | other.statistics,
        )

    def without(self, paths: Collection[str]) -> References:
        """Return all but some paths, of whatever kind of file: names are unique."""
        return References(
            data=self.data.difference(paths),
            indexes=self.indexes.difference(paths),
            manifests=self.manifests.difference(paths),
            statistics=self.statistics.difference(paths),
        )

    @property
    def data_names(self) -> frozenset[str]:
        """Names of the data files."""
        return frozenset(path.rpartition("/")[2] for path in self.data)

    @property
    def all(self) -> Paths:
        """All paths."""
        return self.data | self.indexes | self.manifests | self.statistics


def union(references: Iterable[References]) -> References:
    """Return the files of all."""
    files = References()
    for of_one in references:
        files |= of_one
    return files


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceReader:
    """Reads which files snapshots of a table need.

    Every method raises if a file that a snapshot names cannot be read: before files are deleted,
    all that are needed must be known.
    """

    layout: TableLayout
    manifests: ManifestStore
    options: ScanOptions
    partition_fields: Sequence[DataField]

    def of_state(self, snapshot: Snapshot) -> References:
        """Return what reading the rows of a snapshot takes."""
        metas = manifests_of(snapshot, self.manifests)
        data = self._data(live_entries(snapshot, self.manifests, metas=metas))
        return replace(self._of_metadata(snapshot, metas), data=data)

    def of_commit(self, snapshot: Snapshot) -> References:
        """Return what a snapshot names: its manifests, and the files that its commit added."""
        metas = manifests_of(snapshot, self.manifests)
        delta = delta_manifests_of(snapshot, self.manifests)
        changelog = changelog_manifests_of(snapshot, self.manifests)
        entries = concat(read_entries(snapshot, [*delta, *changelog], self.manifests))
        added = entries.filter(is_kind(entries, FileKind.ADD))
        files = self._of_metadata(snapshot, [*metas, *changelog])
        return replace(files, data=self._data(added))

    def of_changes(self, snapshot: Snapshot) -> References:
        """Return what reading the changes of a commit takes once its state is deleted.

        Its delta was deleted if it has a changelog.
        """
        metas = changelog_manifests_of(snapshot, self.manifests)
        try:
            metas += delta_manifests_of(snapshot, self.manifests)
        except SnapshotExpiredError:
            logger.debug("snapshot %d has no delta any more", snapshot.id)
        entries = concat(read_entries(snapshot, metas, self.manifests))
        names = [snapshot.base_manifest_list, *self._lists(snapshot)]
        names += [meta.file_name for meta in metas]
        return References(data=self._data(entries), manifests=self._manifest_paths(names))

    def _of_metadata(self, snapshot: Snapshot, metas: Iterable[ManifestFileMeta]) -> References:
        names = [snapshot.base_manifest_list, *self._lists(snapshot)]
        names += [meta.file_name for meta in metas]
        indexes: Paths = frozenset()
        if snapshot.index_manifest is not None:
            names.append(snapshot.index_manifest)
            indexes = self._indexes(snapshot.index_manifest, snapshot)
        stats = () if snapshot.statistics is None else (snapshot.statistics,)
        return References(
            indexes=indexes,
            manifests=self._manifest_paths(names),
            statistics=frozenset(self.layout.statistics(name) for name in stats),
        )

    @staticmethod
    def _lists(snapshot: Snapshot) -> list[str]:
        both = (snapshot.delta_manifest_list, snapshot.changelog_manifest_list)
        return [name for name in both if name is not None]

    def _manifest_paths(self, names: Iterable[str]) -> Paths:
        return frozenset(self.layout.manifest(name) for name in names)

    def _indexes(self, name: str, snapshot: Snapshot) -> Paths:
        return frozenset(self.index_files(name, snapshot))

    def index_files(self, name: str, snapshot: Snapshot) -> dict[str, int]:
        """Return the paths of what an index manifest names, and their sizes in bytes."""
        entries = self.manifests.read_index(name, referrer=f"snapshot-{snapshot.id}")
        if not entries:
            return {}
        folders = ["index"] * len(entries)
        if self.options.has_indexes_beside_data:
            partitions = arrow_array([entry.partition for entry in entries], pa.large_binary())
            folders = self._folders(partitions, [entry.bucket for entry in entries])
        return {
            self.layout.index_file(
                entry.external_path or f"{folder}/{entry.file_name}"
            ): entry.file_size_bytes
            for entry, folder in zip(entries, folders, strict=True)
        }

    def _data(self, entries: pa.Table) -> Paths:
        return frozenset(path for paths in self.data_files(entries) for path in paths)

    def data_files(self, entries: pa.Table) -> list[tuple[str, ...]]:
        """Return the path of the data file of each entry, and of the files that belong to it."""
        if not entries.num_rows:
            return []
        folders = self._folders(
            entries["partition"].combine_chunks(), entries["bucket"].to_pylist()
        )
        rows = zip(
            folders,
            entries["file_name"].to_pylist(),
            entries["external_path"].to_pylist(),
            entries["extra_files"].to_pylist(),
            strict=True,
        )
        all_paths = []
        for folder, name, external, extras in rows:
            paths = [self.layout.data_file(folder, name, external)]
            for extra in extras or ():
                beside = None if external is None else f"{external.rpartition('/')[0]}/{extra}"
                paths.append(self.layout.data_file(folder, extra, beside))
            all_paths.append(tuple(paths))
        return all_paths

    def _folders(self, partitions: pa.Array, buckets: Sequence[int]) -> list[str]:
        return bucket_paths(partitions, buckets, self.partition_fields, self.options.partition)
