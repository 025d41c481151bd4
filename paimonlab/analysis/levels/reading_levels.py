"""Read the levels of the buckets of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from paimonlab.analysis.buckets.newest_commits import newest_commits
from paimonlab.analysis.levels.lsm import Lsm, LsmSource, lsm
from paimonlab.compact.append_packing import AppendPackingOptions
from paimonlab.compact.strategy import LevelOptions
from paimonlab.compact.tasks import TaskOptions
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import in_real_buckets, index_files_of, live_entries
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS
from paimonlab.spec.manifests.manifest import NO_ENTRIES
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.compacting.keyed import Keep
from paimonlab.table.compacting.verb import kept
from paimonlab.table.definition import TableDefinition
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table


def levels_of(
    table: Table,
    *,
    partition: Mapping[str, Any] | None = None,
    bucket: int | None = None,
    snapshots: int = 30,
    buckets: int = 6,
) -> Lsm:
    """Lay out the levels of the buckets that most need compaction, and what led to them.

    Metadata alone is read: the manifests of the latest snapshot, and what the newest snapshots
    changed.

    Parameters
    ----------
    table
        The table.
    partition
        Values of all or some of the partition columns; None: all partitions.
    bucket
        Its number; None: all buckets.
    snapshots
        How many of the newest snapshots are looked at for what they changed, at least 1.
    buckets
        How many buckets, at least 1.

    Raises
    ------
    ValueError
        If ``snapshots`` or ``buckets`` is less than 1.
    """
    if snapshots < 1:
        raise ValueError(f"snapshots must be at least 1, got {snapshots}")
    chosen = [partition] if partition is not None else None
    keep = kept(definition_of(table), chosen, None if bucket is None else [bucket], None)
    return lsm(source_of(table, keep, snapshots), most_buckets=buckets)


def source_of(table: Table, keep: Keep, snapshots: int) -> LsmSource:
    """Read what the levels of a table are computed from.

    Parameters
    ----------
    table
        The table.
    keep
        Which entries are of buckets that are looked at.
    snapshots
        How many of the newest snapshots are looked at.
    """
    definition, store, snapshot = definition_of(table), store_of(table), table.snapshot
    has_keys = bool(definition.schema.primary_keys)
    target = (
        definition.options.slice(TaskOptions).target_file_size_bytes
        if has_keys
        else definition.options.slice(AppendPackingOptions).target_file_size_bytes
    )
    given: dict[str, Any] = {
        "table": table.name,
        "schema": definition.schema,
        "levels": definition.options.slice(LevelOptions),
        "target_file_bytes": target,
        "snapshot": snapshot,
    }
    if snapshot is None:
        return LsmSource(**given, files=NO_ENTRIES, commits=(), vectors={})
    entries = live_entries(snapshot, store.manifests, keep=keep)
    files = in_real_buckets(entries)
    return LsmSource(
        **given,
        files=files,
        commits=newest_commits(store, snapshot, snapshots, keep),
        vectors=_vectors(store.manifests, snapshot),
        notes=tuple(_notes(definition, entries.num_rows - files.num_rows)),
    )


def _vectors(
    manifests: ManifestStore, snapshot: Snapshot
) -> Mapping[BucketKey, Mapping[str, int | None]]:
    hidden: defaultdict[BucketKey, dict[str, int | None]] = defaultdict(dict)
    for index in index_files_of(snapshot, manifests):
        if index.index_type == DELETION_VECTORS:
            for vector in index.deletion_vectors or ():
                hidden[index.partition, index.bucket][vector.data_file_name] = vector.cardinality
    return hidden


def _notes(definition: TableDefinition, waiting: int) -> Iterator[str]:
    """Say what the picture does not show."""
    scan = definition.options.slice(ScanOptions)
    if waiting:
        yield f"files that wait until a compaction gives their rows buckets: {waiting:,}"
    if not definition.schema.primary_keys:
        yield (
            "an append table has no levels: files are in the order in which their rows were "
            "written, and nothing is merged when they are read"
        )
    elif scan.skips_level_0:
        yield (
            "readers do not see level 0 of this table until it is compacted, and read the other "
            "levels without merging"
        )
