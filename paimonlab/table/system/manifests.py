"""``$manifests``: the manifests of a snapshot.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.ManifestsTable``.
"""

from __future__ import annotations

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.texts import partition_text

MANIFESTS = pa.schema(
    [
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("num_added_files", pa.int64(), nullable=False),
        pa.field("num_deleted_files", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("min_partition_stats", pa.string()),
        pa.field("max_partition_stats", pa.string()),
        pa.field("min_row_id", pa.int64()),
        pa.field("max_row_id", pa.int64()),
    ]
)


def manifests(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> pa.Table:
    """``$manifests``: base, delta and changelog manifests, in the order of the lists."""
    metas = [] if snapshot is None else _of(store, snapshot)
    fields = [definition.schema.field(key) for key in definition.schema.partition_keys]
    low = arrow_array([meta.partition_stats.min_values for meta in metas], pa.large_binary())
    high = arrow_array([meta.partition_stats.max_values for meta in metas], pa.large_binary())
    columns = [
        arrow_array([meta.file_name for meta in metas], pa.string()),
        arrow_array([meta.file_size_bytes for meta in metas], pa.int64()),
        arrow_array([meta.num_added_files for meta in metas], pa.int64()),
        arrow_array([meta.num_deleted_files for meta in metas], pa.int64()),
        arrow_array([meta.schema_id for meta in metas], pa.int64()),
        partition_text(low, fields),
        partition_text(high, fields),
        arrow_array([meta.min_row_id for meta in metas], pa.int64()),
        arrow_array([meta.max_row_id for meta in metas], pa.int64()),
    ]
    return pa.Table.from_arrays(columns, schema=MANIFESTS)


def _of(store: TableStore, snapshot: Snapshot) -> list[ManifestFileMeta]:
    names = [
        (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
        (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
        (snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size),
    ]
    referrer = store.layout.snapshot(snapshot.id)
    return [
        meta
        for name, size in names
        if name is not None
        for meta in store.manifests.read_list(name, size, referrer=referrer)
    ]
