"""Manifest entries and manifest lists as values and as Arrow tables.

The names of `ENTRY_SCHEMA` are ours; the records in Avro files are described in
`paimonlab.formats.manifests.manifest`.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest``.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar, empty_table
from paimonlab.spec.manifests.data_file import EMPTY_STATS, DataFileMeta, SimpleStats

ENTRY_VERSION = 2
LIST_VERSION = 2


class FileKind(IntEnum):
    """What an entry does with its file. The numbers are on disk: never renumber them."""

    ADD = 0
    DELETE = 1


_KINDS = {kind: arrow_scalar(int(kind), pa.int32()) for kind in FileKind}


def is_kind(entries: pa.Table, kind: FileKind) -> pa.ChunkedArray:
    """Return which entries of a table of `ENTRY_SCHEMA` do that with their file."""
    return pc.equal(entries["kind"], _KINDS[kind])


class ManifestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the set of live files."""

    kind: FileKind
    partition: bytes
    """Serialised BinaryRow of the partition values; equal bytes are the same partition."""
    bucket: int
    total_buckets: int
    """The option ``bucket`` when the file was written: n, -1 (unaware, dynamic) or -2."""
    file: DataFileMeta


class ManifestFileMeta(msgspec.Struct, frozen=True, kw_only=True):
    """One manifest as a manifest list describes it."""

    file_name: str
    file_size_bytes: int
    num_added_files: int
    num_deleted_files: int
    partition_stats: SimpleStats = EMPTY_STATS
    """Full (never truncated) statistics over the partition columns."""
    schema_id: int = 0
    """Highest schema id of the entries."""
    min_bucket: int | None = None
    max_bucket: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    min_row_id: int | None = None
    """Lowest id of a row in the files of the entries; None: unknown, or one of them has no ids."""
    max_row_id: int | None = None


_STATS = (
    ("min_values", pa.large_binary()),
    ("max_values", pa.large_binary()),
    ("null_counts", pa.large_list(pa.int64())),
)

ENTRY_SCHEMA = pa.schema(
    [
        ("kind", pa.int32()),
        ("partition", pa.large_binary()),
        ("bucket", pa.int32()),
        ("total_buckets", pa.int32()),
        ("file_name", pa.large_string()),
        ("file_size_bytes", pa.int64()),
        ("row_count", pa.int64()),
        ("min_key", pa.large_binary()),
        ("max_key", pa.large_binary()),
        *((f"key_stats_{name}", type_) for name, type_ in _STATS),
        *((f"value_stats_{name}", type_) for name, type_ in _STATS),
        ("min_sequence_number", pa.int64()),
        ("max_sequence_number", pa.int64()),
        ("schema_id", pa.int64()),
        ("level", pa.int32()),
        ("extra_files", pa.large_list(pa.large_string())),
        ("creation_time_millis", pa.int64()),
        ("delete_row_count", pa.int64()),
        ("embedded_file_index", pa.large_binary()),
        ("file_source", pa.int32()),
        ("value_stats_cols", pa.large_list(pa.large_string())),
        ("external_path", pa.large_string()),
        ("first_row_id", pa.int64()),
        ("write_cols", pa.large_list(pa.large_string())),
    ]
)
"""Columns of every Arrow table of manifest entries: one row per entry, in manifest order."""

NO_ENTRIES = empty_table(ENTRY_SCHEMA)
"""A table without entries."""

IDENTITY_COLUMNS = (
    "partition",
    "bucket",
    "level",
    "file_name",
    "extra_files",
    "embedded_file_index",
    "external_path",
)
"""What makes two entries speak of the same file."""
