"""Entries of an index manifest: which index files a snapshot has.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest.IndexManifestEntry``,
``org.apache.paimon.index.IndexFileMeta``.
"""

from __future__ import annotations

import msgspec

INDEX_VERSION = 1
HASH = "HASH"
"""Index type: which keys of a dynamic bucket are known."""
DELETION_VECTORS = "DELETION_VECTORS"
"""Index type: which rows of data files are deleted."""


class DeletionVectorRange(msgspec.Struct, frozen=True, array_like=True):
    """Where the deletion vector of a data file lies inside an index file."""

    data_file_name: str
    offset: int
    length_bytes: int
    cardinality: int | None = None
    """Deleted rows; None in tables of Paimon 0.9 or older."""


class GlobalIndexRange(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of a global index is about; kept as it is, for such files are not read.

    Source: ``org.apache.paimon.index.GlobalIndexMeta`` of Paimon 1.4 and later.
    """

    row_range_start: int
    """The first row id."""
    row_range_end: int
    """The last row id."""
    index_field_id: int
    extra_field_ids: tuple[int, ...] | None = None
    index_meta: bytes | None = None
    source_meta: bytes | None = None


class IndexManifestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One index file of a bucket."""

    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int
    index_type: str
    """`HASH`, `DELETION_VECTORS`, or the name of a global index."""
    file_name: str
    file_size_bytes: int
    row_count: int
    deletion_vectors: tuple[DeletionVectorRange, ...] | None = None
    external_path: str | None = None
    global_index: GlobalIndexRange | None = None
