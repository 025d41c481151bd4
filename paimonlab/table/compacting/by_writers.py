"""What compacts the buckets that a writer of this process writes to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.compacting.live_buckets import bucket_of, buckets_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.store import TableStore
from paimonlab.write.compactions import BucketCompactions
from paimonlab.write.write_plan import WritePlan, WriterCompactionOptions


def writer_compactions(
    definition: TableDefinition,
    store: TableStore,
    plan: WritePlan,
    snapshot: Snapshot | None,
    *,
    replaces: bool,
    file_io: FileIO | None = None,
) -> BucketCompactions:
    """Return what compacts for a writer of a table whose writers compact.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    plan
        How the writer writes.
    snapshot
        The one that the writer continues from.
    replaces
        Whether what is in the buckets goes, so that only new files are compacted.
    file_io
        What files are read from and written to; None: the table's store.
    """
    compacting = compact_plan(definition, store, snapshot)
    options = definition.options.slice(WriterCompactionOptions)
    there = None if replaces else snapshot

    def restore(keys: Collection[BucketKey]) -> Mapping[BucketKey, BucketFiles]:
        return bucket_contents(definition, store, plan, there, keys)

    return BucketCompactions(compacting, options, file_io or store.file_io, restore)


def bucket_contents(
    definition: TableDefinition,
    store: TableStore,
    plan: WritePlan,
    snapshot: Snapshot | None,
    keys: Collection[BucketKey],
) -> Mapping[BucketKey, BucketFiles]:
    """Look up what is in buckets at a snapshot; None: they are empty."""
    buckets = {key: bucket_of(plan, *key, total_buckets=plan.buckets) for key in keys}
    if snapshot is not None:
        entries = store.bucket_memory.at(snapshot, keys)
        for bucket in buckets_of(definition, store, snapshot, entries):
            key = (bucket.partition, bucket.bucket)
            # Files for another number of buckets make the commit fail.
            if key in buckets and bucket.total_buckets == plan.buckets:
                buckets[key] = bucket
    return buckets
