"""Which data files have deletion vectors, and where these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct, field

from paimonlab.errors import CorruptMetadataError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import index_files_of
from paimonlab.scan.split import DeletionFile
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    DeletionVectorRange,
    IndexManifestEntry,
)
from paimonlab.spec.snapshot import Snapshot

_INDEX_FOLDER = "index"


class DeletionFiles(Struct, frozen=True):
    """The deletion vectors of a snapshot by the names of their data files."""

    found: Mapping[str, tuple[IndexManifestEntry, DeletionVectorRange]] = field(
        default_factory=dict
    )
    """A data file that is not in it has no deleted rows."""
    beside_data: bool = False
    """Whether index files lie in the folders of the buckets."""

    @classmethod
    def of(cls, snapshot: Snapshot, manifests: ManifestStore, *, beside_data: bool) -> Self:
        """Look up the deletion vectors of a snapshot.

        Parameters
        ----------
        snapshot, manifests
            The snapshot with the vectors; the table's manifests.
        beside_data
            ``index-file-in-data-file-dir``

        Raises
        ------
        CorruptMetadataError
            If a data file has two, or if the index manifest is missing or damaged.

        Notes
        -----
        They are looked up whatever the table's options say: without them deleted rows would
        reappear.
        """
        if snapshot.index_manifest is None:
            return cls()
        indexes = index_files_of(snapshot, manifests)
        vectors: dict[str, tuple[IndexManifestEntry, DeletionVectorRange]] = {}
        for index in indexes:
            if index.index_type != DELETION_VECTORS:
                continue
            if index.deletion_vectors is None:
                raise CorruptMetadataError(
                    snapshot.index_manifest, f"{index.file_name} does not say what is in it"
                )
            for vector in index.deletion_vectors:
                if vector.data_file_name in vectors:
                    raise CorruptMetadataError(
                        snapshot.index_manifest,
                        f"the data file {vector.data_file_name} has two deletion vectors, in "
                        f"{vectors[vector.data_file_name][0].file_name} and {index.file_name}",
                    )
                vectors[vector.data_file_name] = index, vector
        return cls(vectors, beside_data)

    def vectors_of(
        self, files: Sequence[DataFileMeta], bucket_path: str
    ) -> tuple[DeletionFile | None, ...]:
        """Return where the vectors of the files of a bucket are; () if there are none."""
        if not self.found or not any(file.file_name in self.found for file in files):
            return ()
        return tuple(self._vector(file.file_name, bucket_path) for file in files)

    def _vector(self, file_name: str, bucket_path: str) -> DeletionFile | None:
        if file_name not in self.found:
            return None
        index, vector = self.found[file_name]
        return deletion_file(index, vector, bucket_path, beside_data=self.beside_data)


def deletion_file(
    index: IndexManifestEntry, vector: DeletionVectorRange, bucket_path: str, *, beside_data: bool
) -> DeletionFile:
    """Return where a vector is.

    Parameters
    ----------
    index, vector
        As the index manifest has them.
    bucket_path
        Folder of the bucket's data files, relative to the table.
    beside_data
        ``index-file-in-data-file-dir``
    """
    folder = bucket_path if beside_data else _INDEX_FOLDER
    return DeletionFile(
        index.external_path or f"{folder}/{index.file_name}",
        vector.offset,
        vector.length_bytes,
        vector.cardinality,
    )
