"""A split: the files that one task reads together."""

from __future__ import annotations

import msgspec

from paimonlab.spec.data_file import DataFileMeta


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
    """Files of one bucket that are read together; no key is also in another split."""

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
    """Whether the rows of the files are the result as they are: no two files share a key and
    no row is a delete."""
    deletion_files: tuple[DeletionFile | None, ...] = ()
    """One a file, None: no row of it is deleted; (): that holds for all files."""

    @property
    def row_count(self) -> int:
        """Rows of all files, before merging; files with the same row ids count once."""
        rows = {
            position if file.first_row_id is None else -1 - file.first_row_id: file.row_count
            for position, file in enumerate(self.files)
        }
        return sum(rows.values())

    @property
    def size_bytes(self) -> int:
        """Size of all files."""
        return sum(file.file_size_bytes for file in self.files)
