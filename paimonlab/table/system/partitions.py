"""``$partitions`` and ``$buckets``: sums over the live files.

Source: apache/paimon@1.4.2 ``org.apache.paimon.table.system.PartitionsTable``, ``BucketsTable``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.file_totals import totals
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.branch_options import BranchOptions
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.system.indexes import index_entries
from paimonlab.table.system.live import files_of
from paimonlab.table.texts import partition_name, partition_text

_SUMS = [
    pa.field("record_count", pa.int64(), nullable=False),
    pa.field("file_size_in_bytes", pa.int64(), nullable=False),
    pa.field("file_count", pa.int64(), nullable=False),
    pa.field("last_update_time", pa.timestamp("ms")),
]
PARTITIONS = pa.schema(
    [
        pa.field("partition", pa.string()),
        *_SUMS,
        pa.field("created_at", pa.timestamp("ms")),
        pa.field("created_by", pa.string()),
        pa.field("updated_by", pa.string()),
        pa.field("options", pa.string()),
        pa.field("total_buckets", pa.int32(), nullable=False),
        pa.field("done", pa.bool_(), nullable=False),
        pa.field("deleted_record_count", pa.int64()),
    ]
)
"""Columns from ``created_at`` on are those of 1.4, from ``total_buckets`` on of 2.0.

What only a metastore knows is null.
"""
BUCKETS = pa.schema(
    [pa.field("partition", pa.string()), pa.field("bucket", pa.int32(), nullable=False), *_SUMS]
)


def partitions(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> pa.Table:
    """``$partitions``: one row per partition that has live files, by its name.

    Those that only a fallback branch has are included.
    """
    own = _sums(definition, store.manifests, snapshot, ["partition"], PARTITIONS)
    fallback = definition.options.slice(BranchOptions).fallback
    if fallback is None:
        return own
    branch, theirs = store.on_branch(fallback)
    others = _sums(branch, theirs.manifests, theirs.snapshots.latest(), ["partition"], PARTITIONS)
    is_missing = pc.invert(pc.is_in(others["partition"], own["partition"]))
    return pa.concat_tables([own, others.filter(is_missing)]).sort_by("partition")


def buckets(definition: TableDefinition, store: TableStore, snapshot: Snapshot | None) -> pa.Table:
    """``$buckets``: one row per bucket that has live files, by partition text and bucket."""
    return _sums(definition, store.manifests, snapshot, ["partition", "bucket"], BUCKETS)


def _sums(
    definition: TableDefinition,
    manifests: ManifestStore,
    snapshot: Snapshot | None,
    keys: Sequence[str],
    schema: pa.Schema,
) -> pa.Table:
    files = files_of(manifests, snapshot, with_postponed="bucket" in keys)
    sums = totals(files, keys)
    unknown = {name: pa.nulls(sums.num_rows, schema.field(name).type) for name in schema.names}
    fields = [definition.schema.field(key) for key in definition.schema.partition_keys]
    columns = {
        **unknown,
        "partition": _shown(
            definition.options, keys, sums.column("partition").combine_chunks(), fields
        ),
        "record_count": sums.column("row_count"),
        "file_size_in_bytes": sums.column("file_size_bytes"),
        "file_count": sums.column("file_count"),
        "last_update_time": pc.cast(sums.column("creation_time_millis"), pa.timestamp("ms")),
    }
    if "bucket" in keys:
        columns["bucket"] = sums.column("bucket")
    else:
        columns["total_buckets"] = sums.column("total_buckets")
        columns["done"] = arrow_array(np.zeros(sums.num_rows, np.bool_))
        columns["deleted_record_count"] = _deleted(manifests, snapshot, sums.column("partition"))
    table = pa.table({name: columns[name] for name in schema.names}).cast(schema)
    return table.sort_by([(key, "ascending") for key in keys])


def _shown(
    options: Options, keys: Sequence[str], rows: pa.Array, fields: Sequence[DataField]
) -> pa.Array:
    """Show partitions as Java does: by name, but as ``{value}`` beside buckets."""
    if "bucket" in keys:
        return partition_text(rows, fields)
    return partition_name(rows, fields, options.slice(PartitionOptions).default_name)


def _deleted(
    manifests: ManifestStore, snapshot: Snapshot | None, partitions: pa.ChunkedArray
) -> pa.Array:
    """Count the rows of each partition that deletion vectors hide; null where one says nothing."""
    by_bucket: defaultdict[bytes, list[int | None]] = defaultdict(list)
    for entry in index_entries(manifests, snapshot):
        by_bucket[entry.partition] += [
            vector.cardinality for vector in entry.deletion_vectors or ()
        ]
    counts = [
        None if None in by_bucket[partition] else sum(count or 0 for count in by_bucket[partition])
        for partition in partitions.to_pylist()
    ]
    return arrow_array(counts, pa.int64())
