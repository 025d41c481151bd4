"""The buckets of a snapshot with their files, for those who compact them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import pyarrow as pa

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.datafile.writer import FileTarget
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import in_real_buckets, index_files_of, live_entries
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.data_file import DataFileMeta, FileSource
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import safe_join
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.write.file_targets import changelog_target, data_target
from paimonlab.write.folders import bucket_folder
from paimonlab.write.write_plan import WritePlan


def live_buckets(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    keep: Callable[[pa.Table], pa.Table],
) -> list[BucketFiles]:
    """Return buckets that have files.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    snapshot
        Of which the files are wanted.
    keep
        Which entries (`ENTRY_SCHEMA`) are looked at; it decides by partition and bucket alone.

    Returns
    -------
    list of BucketFiles
        Ordered by partition and bucket.
    """

    def chosen(entries: pa.Table) -> pa.Table:
        return keep(in_real_buckets(entries))

    return buckets_of(
        definition, store, snapshot, live_entries(snapshot, store.manifests, keep=chosen)
    )


def buckets_of(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot, entries: pa.Table
) -> list[BucketFiles]:
    """Return the buckets of files that are alive in a snapshot (`ENTRY_SCHEMA`), in order."""
    files: defaultdict[tuple[bytes, int, int], list[DataFileMeta]] = defaultdict(list)
    for entry in table_to_entries(entries):
        files[entry.partition, entry.bucket, entry.total_buckets].append(entry.file)
    indexes = _indexes(store.manifests, snapshot)
    plan = write_plan(definition, store.layout)
    return [
        bucket_of(
            plan,
            partition,
            bucket,
            total,
            files=of_bucket,
            indexes=indexes.get((partition, bucket), ()),
            snapshot_id=snapshot.id,
        )
        for (partition, bucket, total), of_bucket in sorted(files.items(), key=lambda item: item[0])
    ]


def bucket_of(
    plan: WritePlan,
    partition: bytes,
    bucket: int,
    total_buckets: int,
    *,
    files: Iterable[DataFileMeta] = (),
    indexes: Iterable[IndexManifestEntry] = (),
    snapshot_id: int = 0,
) -> BucketFiles:
    """Describe a bucket that files are written to as ``plan`` says."""
    folder = bucket_folder(plan, partition, bucket)
    return BucketFiles(
        partition=partition,
        bucket=bucket,
        total_buckets=total_buckets,
        folder=folder,
        files=tuple(files),
        indexes=tuple(indexes),
        has_indexes_beside_data=plan.options.indexes_beside_data,
        index_folder=safe_join(plan.table_path, folder)
        if plan.options.indexes_beside_data
        else TableLayout(plan.table_path).index_folder,
        targets=partial(_compacted, plan, folder),
        changelog_targets=partial(_changelog, plan, folder),
        snapshot_id=snapshot_id,
    )


def _compacted(plan: WritePlan, folder: str, level: int) -> FileTarget:
    return data_target(plan, folder, level=level, source=FileSource.COMPACT)


def _changelog(plan: WritePlan, folder: str, level: int) -> FileTarget:
    return changelog_target(plan, folder, level=level)


def _indexes(
    manifests: ManifestStore, snapshot: Snapshot
) -> Mapping[BucketKey, list[IndexManifestEntry]]:
    by_bucket: defaultdict[BucketKey, list[IndexManifestEntry]] = defaultdict(list)
    for index in index_files_of(snapshot, manifests):
        by_bucket[index.partition, index.bucket].append(index)
    return by_bucket
