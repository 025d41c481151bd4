"""How well a table is maintained: measures of its metadata, and the rules over them.

No data file is opened. Orphan files are looked for only if asked, as that lists every folder.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.health.measures import (
    BucketPlace,
    ClockJump,
    ConsumerState,
    Measures,
    Thresholds,
)
from paimonlab.analysis.health.report import TableHealth, unreadable
from paimonlab.analysis.health.rules import findings
from paimonlab.analysis.row_words import rows_are
from paimonlab.arrow_values import arrow_scalar, numpy_values
from paimonlab.clock import now_millis
from paimonlab.compact.append_packing import AppendPackingOptions
from paimonlab.compact.strategy import LevelOptions
from paimonlab.compact.tasks import TaskOptions
from paimonlab.errors import PaimonError
from paimonlab.maintenance.orphans import OrphanFilesRequest, remove_orphan_files
from paimonlab.metadata.layout import CONSUMER_PREFIX
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import codes, group_codes
from paimonlab.scan.live_files import live_entries, manifests_of
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.statistics.mode import StatsKind, StatsOptions
from paimonlab.storage.together import both
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.texts import names_of_partitions
from paimonlab.table.upkeep.history import history_of

_LOOKED_AT = 1_000
"""Newest snapshots whose times and kinds are read."""
_DAY_MILLIS = 86_400_000


def table_health(
    definition: TableDefinition,
    store: TableStore,
    *,
    thresholds: Thresholds | None = None,
    orphans: bool = False,
) -> TableHealth:
    """Measure a table and apply the rules.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    thresholds
        Values from which something is reported; None: the defaults.
    orphans
        Whether to look for orphan files as well; that lists every folder of the table.

    Returns
    -------
    TableHealth
        With ``problem`` set if metadata cannot be read.
    """
    try:
        measures = measured(definition, store, now_millis=now_millis(), orphans=orphans)
    except (PaimonError, OSError) as error:
        return unreadable(definition.name, error)
    return TableHealth(
        table=measures.name,
        snapshot_id=measures.latest_snapshot,
        file_count=measures.file_count,
        total_bytes=measures.total_bytes,
        record_count=measures.record_count,
        snapshot_count=measures.snapshot_count,
        manifest_count=measures.manifest_count,
        level_0_files=measures.level_0_files,
        findings=findings(measures, thresholds or Thresholds()),
        looked_for_orphans=orphans,
        rows_are=rows_are(definition.primary_keys, definition.options),
    )


def measured(
    definition: TableDefinition, store: TableStore, *, now_millis: int, orphans: bool
) -> Measures:
    """Measure a table in its latest snapshot.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    now_millis
        Epoch milliseconds.
    orphans
        Whether to look for orphan files as well.
    """
    values: dict[str, Any] = {
        "name": definition.name,
        "has_primary_key": bool(definition.schema.primary_keys),
        "options": dict(definition.options),
        "bucket": definition.buckets,
        "skips_level_0": bool(definition.schema.primary_keys)
        and definition.options.slice(ScanOptions).skips_level_0,
        "columns_with_stats": _columns_with_stats(definition),
    }
    values["consumers"], (newest, ids) = both(
        store.layout.table_path,
        lambda: _consumers(store, now_millis),
        lambda: store.snapshots.newest(_LOOKED_AT),
    )
    if ids:
        values |= _of_history(newest, now_millis)
        values |= {
            "earliest_snapshot": ids[0],
            "latest_snapshot": ids[-1],
            "snapshot_count": len(ids),
        }
        is_read = bool(newest) and newest[-1].id == ids[-1]
        latest = newest[-1] if is_read else store.snapshots.get(ids[-1])
        values |= _of_files(definition, store.manifests, latest)
    if orphans:
        history = history_of(definition, store)
        report = remove_orphan_files(history, OrphanFilesRequest(dry_run=True))
        values |= {"orphan_files": len(report.files), "orphan_bytes": report.size_bytes}
    return Measures(**values)


def _columns_with_stats(definition: TableDefinition) -> int:
    modes = StatsOptions.of(definition.schema.fields, definition.options).modes
    return sum(mode.kind in {StatsKind.TRUNCATE, StatsKind.FULL} for mode in modes)


def _consumers(store: TableStore, now_millis: int) -> tuple[ConsumerState, ...]:
    waiting = store.consumers.list()
    moved = {
        status.path.rpartition("/")[2]: status.modified_millis
        for status in (store.file_io.list(store.layout.consumer_folder) if waiting else ())
    }
    states = []
    for name, next_snapshot in waiting.items():
        millis = moved.get(f"{CONSUMER_PREFIX}{name}", now_millis)
        idle_days = max(now_millis - millis, 0) / _DAY_MILLIS
        states.append(ConsumerState(name=name, next_snapshot=next_snapshot, idle_days=idle_days))
    return tuple(states)


def _of_history(snapshots: Sequence[Snapshot], now_millis: int) -> dict[str, Any]:
    compacting = sum(snapshot.commit_kind is CommitKind.COMPACT for snapshot in snapshots)
    return {
        "looked_at_snapshots": len(snapshots),
        "compact_snapshots": compacting,
        "clock_jumps": tuple(_clock_jumps(snapshots, now_millis)),
    }


def _clock_jumps(snapshots: Sequence[Snapshot], now_millis: int) -> Iterator[ClockJump]:
    for before, after in itertools.pairwise(snapshots):
        if after.time_millis < before.time_millis:
            yield ClockJump(snapshot_id=after.id, millis=before.time_millis - after.time_millis)
    latest = snapshots[-1]
    if latest.time_millis > now_millis:
        yield ClockJump(
            snapshot_id=latest.id, millis=latest.time_millis - now_millis, is_in_future=True
        )


def _of_files(
    definition: TableDefinition, manifests: ManifestStore, snapshot: Snapshot
) -> dict[str, Any]:
    metas = manifests_of(snapshot, manifests)
    entries = live_entries(snapshot, manifests, metas=metas)
    postponed = pc.equal(entries["bucket"], arrow_scalar(POSTPONE_BUCKET, pa.int32()))
    waiting = pc.sum(entries.filter(postponed)["row_count"]).as_py() or 0
    files = entries.filter(pc.invert(postponed))
    compacted = arrow_scalar(int(FileSource.COMPACT))
    measures: dict[str, Any] = {
        "manifest_count": len(metas),
        "postponed_rows": waiting,
        "file_count": files.num_rows,
        "total_bytes": pc.sum(files["file_size_bytes"]).as_py() or 0,
        "record_count": pc.sum(files["row_count"]).as_py() or 0,
        "compacted_files": _count(pc.equal(files["file_source"], compacted)),
    }
    return measures | _of_buckets(definition, files) if files.num_rows else measures


def _of_buckets(definition: TableDefinition, files: pa.Table) -> dict[str, Any]:
    """Measure what is about buckets; ``files`` is not empty."""
    strategy = definition.options.slice(LevelOptions)
    has_key = bool(definition.schema.primary_keys)
    target = (
        definition.options.slice(TaskOptions).target_file_size_bytes
        if has_key
        else definition.options.slice(AppendPackingOptions).target_file_size_bytes
    )
    # Of equally bad buckets the first is named, whatever the order of the files.
    files = files.sort_by([("partition", "ascending"), ("bucket", "ascending")])
    partitions = codes(files["partition"])
    buckets = group_codes([partitions, codes(files["bucket"])])
    count = int(buckets.max()) + 1
    first = _first(buckets, count)
    sizes = _ints(files["file_size_bytes"])
    levels = _ints(files["level"])
    bytes_of = _sums(buckets, sizes, count)
    files_of = np.bincount(buckets, minlength=count)
    level_0 = np.bincount(buckets[levels == 0], minlength=count)
    runs = level_0 + _upper_runs(buckets, levels, count)
    at_rest = strategy.compaction_trigger if has_key else 1
    wanted = np.maximum(-(-bytes_of // target), at_rest)
    worst = int(level_0.argmax())
    ratio, largest = _skew(partitions[first], bytes_of)
    rows = _ints(files["row_count"])
    measures: dict[str, Any] = {
        "avoidable_files": int(np.maximum(files_of - wanted, 0).sum()),
        "bucket_count": count,
        "target_file_size_bytes": target,
        "compaction_trigger": strategy.compaction_trigger,
        "stop_trigger": strategy.stop_trigger,
        "rescaled_partitions": _rescaled(definition.buckets, files, partitions),
        "skew_ratio": ratio,
        "largest_bucket_bytes": int(bytes_of[largest]),
        "largest_place": _place(definition.schema, files, int(first[largest])),
    }
    if has_key:
        measures |= {
            "level_0_files": int(level_0.sum()),
            "level_0_rows": int(rows[levels == 0].sum()),
            "level_0_worst": int(level_0[worst]),
            "runs_worst": int(runs[worst]),
            "worst_place": _place(definition.schema, files, int(first[worst])),
        }
    return measures


def _upper_runs(
    buckets: npt.NDArray[np.int64], levels: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Count the levels above 0 of each bucket: each is one sorted run."""
    is_upper = levels > 0
    pairs = np.unique(np.stack([buckets[is_upper], levels[is_upper]]), axis=1)
    return np.bincount(pairs[0], minlength=count)


def _skew(partitions: npt.NDArray[np.int64], bytes_of: npt.NDArray[np.int64]) -> tuple[float, int]:
    """Find the bucket that is largest compared with the median of its partition.

    Returns
    -------
    ratio
        1.0 where no partition has two buckets.
    place
        Number of the bucket.
    """
    order = np.lexsort((bytes_of, partitions))
    starts = np.flatnonzero(np.diff(partitions[order], prepend=-1))
    ends = np.append(starts[1:], len(order))
    medians = bytes_of[order[(starts + ends - 1) // 2]]
    largest = order[ends - 1]
    ratios = bytes_of[largest] / np.maximum(medians, 1)
    worst = int(ratios.argmax())
    return float(ratios[worst]), int(largest[worst])


def _rescaled(buckets: int, files: pa.Table, partitions: npt.NDArray[np.int64]) -> int:
    if buckets <= 0:
        return 0
    differs = _ints(files["total_buckets"]) != buckets
    return len(distinct_integers(partitions[differs]))


def _place(schema: TableSchema, files: pa.Table, row: int) -> BucketPlace:
    entry = files.slice(row, 1)
    (text,) = names_of_partitions(entry["partition"].combine_chunks(), schema)
    return BucketPlace(partition=text, bucket=entry["bucket"][0].as_py())


def _first(groups: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """Return the first row of each group."""
    first = np.empty(count, np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    return first


def _sums(
    groups: npt.NDArray[np.int64], values: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def _ints(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return numpy_values(column.cast(pa.int64()))


def _count(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask).as_py() or 0)
