"""Writing the deletion vectors of a bucket anew when some of them change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from paimonlab.datafile.index_files import IndexFileOptions, write_deletion_vectors
from paimonlab.datafile.vector_upkeep import changed_vectors
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.read.deletions import read_deletion_vectors
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.deletion_files import deletion_file
from paimonlab.spec.manifests.index_manifest import DeletionVectorRange, IndexManifestEntry
from paimonlab.storage import FileIO, join


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPlace:
    """The bucket whose vectors change."""

    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int
    folder: str
    """Of the data files, relative to the table."""
    is_one_file: bool
    """Whether all vectors of the bucket lie in one index file: all but in tables without
    buckets."""
    snapshot_id: int
    """The snapshot that has the vectors as they were."""


@dataclass(frozen=True, slots=True)
class VectorWriter:
    """Writes the deletion vectors of buckets."""

    read: ReadPlan
    options: IndexFileOptions
    file_io: FileIO

    def change(
        self,
        place: VectorPlace,
        before: Sequence[IndexManifestEntry],
        changes: Mapping[str, DeletionVector | None],
        alive: Collection[str],
    ) -> tuple[tuple[IndexManifestEntry, ...], tuple[IndexManifestEntry, ...]]:
        """Write the index files that a change of some vectors asks for.

        Parameters
        ----------
        place
            The bucket.
        before
            Its index files.
        changes
            The new vectors by the name of their data file; None removes a vector.
        alive
            Names of the bucket's data files; vectors of other files are dropped.

        Returns
        -------
        new : tuple of IndexManifestEntry
            Durable files that no snapshot refers to yet.
        replaced : tuple of IndexManifestEntry
            Those that go.

        Raises
        ------
        SnapshotExpiredError
            If the snapshot has expired, and with it vectors that stay.
        """

        def read(index: IndexManifestEntry, vector: DeletionVectorRange) -> DeletionVector:
            beside_data = self.options.is_beside_data
            file = deletion_file(index, vector, place.folder, beside_data=beside_data)
            (vectors,) = read_deletion_vectors(
                [file], self.read, self.file_io, snapshot_id=place.snapshot_id
            )
            assert vectors is not None, "a place that is given is read"
            return vectors

        changed = changed_vectors(before, changes, alive, read, is_one_file=place.is_one_file)
        if not changed.vectors:
            return (), changed.replaced
        layout = self.read.layout
        written = write_deletion_vectors(
            self.file_io,
            self.options.folder(layout, join(layout.table_path, place.folder)),
            changed.vectors,
            self.options,
            partition=place.partition,
            bucket=place.bucket,
            is_one_file=place.is_one_file,
        )
        return tuple(written), changed.replaced
