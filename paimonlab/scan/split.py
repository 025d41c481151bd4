"""A split: the files that one task reads together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec

from paimonlab.spec.manifests.data_file import DataFileMeta


class DeletionFile(msgspec.Struct, frozen=True, array_like=True):
    """Where the deletion vector of a data file is."""

    path: str
    """Of the index file, relative to the table, or absolute where it lies elsewhere."""
    offset: int
    length_bytes: int
    """As the index manifest has it: without length and checksum in vectors of 32 bits."""
    cardinality: int | None = None
    """Deleted rows; None: unknown."""


class DataSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Files of one bucket that are read together; its keys are in no other split."""

    snapshot_id: int
    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int
    total_buckets: int
    """As `ManifestEntry.total_buckets`."""
    bucket_path: str
    """Folder of the files, relative to the table: ``dt=2026-01-01/bucket-0``."""
    files: tuple[DataFileMeta, ...]
    """Oldest run first; files of append tables in the order in which they were written."""
    raw_convertible: bool
    """Whether the rows of the files, but for those that deletion vectors take away, are the
    result as they are: no two files share a key and no row is a delete."""
    deletion_files: tuple[DeletionFile | None, ...] = ()
    """One per file, None: no row of it is deleted; (): that holds for all files."""

    @property
    def row_count(self) -> int:
        """Rows of all files, before merging; files with the same row ids count once."""
        rows = {
            position if file.first_row_id is None else -1 - file.first_row_id: file.row_count
            for position, file in enumerate(self.files)
        }
        return sum(rows.values())

    @property
    def least_row_count(self) -> int:
        """Lower bound of the rows if nothing is merged: those not deleted."""
        deleted = sum(
            file.row_count if vector.cardinality is None else vector.cardinality
            for file, vector in zip(self.files, self.deletion_files, strict=False)
            if vector is not None
        )
        return self.row_count - deleted

    @property
    def has_deletions(self) -> bool:
        """Whether some rows of the files are deleted by position."""
        return any(vector is not None for vector in self.deletion_files)

    @property
    def has_known_deletions(self) -> bool:
        """Whether it is known, without reading them, how many rows deletion vectors take."""
        return all(
            vector is None or vector.cardinality is not None for vector in self.deletion_files
        )

    def with_files(self, keeps: Callable[[DataFileMeta], bool]) -> Self:
        """Return the split with some of its files, each with its deletion vector."""
        kept = [number for number, file in enumerate(self.files) if keeps(file)]
        return msgspec.structs.replace(
            self,
            files=tuple(self.files[number] for number in kept),
            deletion_files=tuple(self.deletion_files[number] for number in kept)
            if self.deletion_files
            else (),
        )

    @property
    def size_bytes(self) -> int:
        """Size of all files."""
        return sum(file.file_size_bytes for file in self.files)
