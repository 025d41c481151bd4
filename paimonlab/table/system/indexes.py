"""``$table_indexes``: the index files of a snapshot.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.TableIndexesTable``; the last four
columns are those of 2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import index_files_of
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.texts import partition_text

_RANGE = pa.struct(
    [
        pa.field("f0", pa.string(), nullable=False),
        pa.field("f1", pa.int32(), nullable=False),
        pa.field("f2", pa.int32(), nullable=False),
        pa.field("_CARDINALITY", pa.int64()),
    ]
)
TABLE_INDEXES = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("index_type", pa.string(), nullable=False),
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("row_count", pa.int64(), nullable=False),
        pa.field("dv_ranges", pa.list_(_RANGE)),
        pa.field("row_range_start", pa.int64()),
        pa.field("row_range_end", pa.int64()),
        pa.field("index_field_id", pa.int32()),
        pa.field("index_field_name", pa.string()),
    ]
)
"""``dv_ranges``: for each data file its name, offset, bytes and deleted rows. The last four
columns are of global indexes: the rows they cover, and the column."""


def table_indexes(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> pa.Table:
    """``$table_indexes``: one row an index file, in the order of the index manifest."""
    entries = index_entries(store.manifests, snapshot)
    fields = [definition.schema.field(key) for key in definition.schema.partition_keys]
    partitions = arrow_array([entry.partition for entry in entries], pa.large_binary())
    about = [entry.global_index for entry in entries]
    names = {field.id: field.name for field in definition.schema.fields}
    columns = [
        partition_text(partitions, fields),
        arrow_array([entry.bucket for entry in entries], pa.int32()),
        arrow_array([entry.index_type for entry in entries], pa.string()),
        arrow_array([entry.file_name for entry in entries], pa.string()),
        arrow_array([entry.file_size_bytes for entry in entries], pa.int64()),
        arrow_array([entry.row_count for entry in entries], pa.int64()),
        arrow_array([_ranges(entry) for entry in entries], pa.list_(_RANGE)),
        arrow_array([vector and vector.row_range_start for vector in about], pa.int64()),
        arrow_array([vector and vector.row_range_end for vector in about], pa.int64()),
        arrow_array([vector and vector.index_field_id for vector in about], pa.int32()),
        arrow_array([vector and names.get(vector.index_field_id) for vector in about], pa.string()),
    ]
    return pa.Table.from_arrays(columns, schema=TABLE_INDEXES)


def index_entries(
    manifests: ManifestStore, snapshot: Snapshot | None
) -> Sequence[IndexManifestEntry]:
    """Return what the index manifest of a snapshot says; () without one."""
    return () if snapshot is None else index_files_of(snapshot, manifests)


def _ranges(entry: IndexManifestEntry) -> list[dict[str, Any]] | None:
    if entry.deletion_vectors is None:
        return None
    return [
        {
            "f0": vector.data_file_name,
            "f1": vector.offset,
            "f2": vector.length_bytes,
            "_CARDINALITY": vector.cardinality,
        }
        for vector in entry.deletion_vectors
    ]
