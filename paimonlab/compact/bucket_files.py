"""The files of one bucket of a primary-key table, as a value that compaction works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from paimonlab.compact.levels import level_runs
from paimonlab.datafile.writer import FileTarget
from paimonlab.scan.deletion_files import deletion_file
from paimonlab.scan.split import DataSplit, DeletionFile
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, IndexManifestEntry

Targets = Callable[[int], FileTarget]
"""Says how files of a level are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFiles:
    """What is in a bucket, and how files are written to it."""

    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int
    total_buckets: int
    folder: str
    """Of the data files, relative to the table: ``dt=2026-01-01/bucket-0``."""
    files: tuple[DataFileMeta, ...]
    """All live files with their statistics, in any order."""
    indexes: tuple[IndexManifestEntry, ...] = ()
    """The index files of the bucket."""
    has_indexes_beside_data: bool = False
    """``index-file-in-data-file-dir``"""
    index_folder: str = ""
    """Where index files of the bucket are; absolute."""
    targets: Targets
    """Of data files."""
    changelog_targets: Targets
    """Of changelog files, by the level of the data files they come with."""
    snapshot_id: int = 0
    """The snapshot in which the files are alive; 0 if the table had no snapshot."""

    @property
    def vectors(self) -> dict[str, DeletionFile]:
        """Where deletion vectors are, by the name of their data file."""
        return {
            vector.data_file_name: deletion_file(
                index, vector, self.folder, beside_data=self.has_indexes_beside_data
            )
            for index in self.indexes
            if index.index_type == DELETION_VECTORS
            for vector in index.deletion_vectors or ()
        }

    def split_of(self, files: Iterable[DataFileMeta]) -> DataSplit:
        """Return some files of the bucket as what is read together, oldest run first."""
        chosen = tuple(file for run in reversed(level_runs(files)) for file in run.files)
        vectors = self.vectors
        places = tuple(vectors.get(file.file_name) for file in chosen)
        return DataSplit(
            snapshot_id=self.snapshot_id,
            partition=self.partition,
            bucket=self.bucket,
            total_buckets=self.total_buckets,
            bucket_path=self.folder,
            files=chosen,
            raw_convertible=False,
            deletion_files=places if any(places) else (),
        )
