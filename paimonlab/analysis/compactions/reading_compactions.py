"""Read what compactions did, and ask the picker what would be compacted now."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.buckets.bucket_lives import ShownBucket
from paimonlab.analysis.buckets.bucket_totals import bucket_totals, worst
from paimonlab.analysis.buckets.newest_commits import newest_commits
from paimonlab.analysis.compactions.compaction import Call, Compaction, CompactionSource, compaction
from paimonlab.analysis.compactions.compaction_calls import calls
from paimonlab.analysis.compactions.compaction_picks import Pick, explained, runs_of
from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.errors import PaimonError
from paimonlab.scan.live_files import in_real_buckets, live_entries
from paimonlab.spec.manifests.manifest import NO_ENTRIES
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.storage.together import both
from paimonlab.table.compacting.result import BucketCompaction
from paimonlab.table.compacting.verb import planned_compaction
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.table import Table
from paimonlab.table.texts import names_of_partitions

_MOST_BUCKETS = 100
_MOST_FILES = 5_000
"""What the picker is asked about."""
_MOST_PICKS = 20
_STRIDE = 1 << 32
"""More than the number of any bucket."""


def compactions_of(
    table: Table, snapshot: int | None = None, *, snapshots: int = 100
) -> Compaction:
    """Tell what compactions did and cost, and what would be compacted now.

    Metadata alone is read.

    Parameters
    ----------
    table
        The table.
    snapshot
        The compaction to look at, where the window ends; None: the newest one.
    snapshots
        How many snapshots the window has, at least 1.

    Raises
    ------
    ValueError
        If ``snapshot`` is not a compaction.
    """
    if snapshots < 1:
        raise ValueError(f"snapshots must be at least 1, got {snapshots}")
    return compaction(_source(table, snapshot, snapshots))


def _source(table: Table, chosen: int | None, count: int) -> CompactionSource:
    store, latest = store_of(table), table.snapshot
    end = latest if chosen is None else table.snapshots.get(chosen)
    if chosen is not None and end is not None and end.commit_kind is not CommitKind.COMPACT:
        kind = end.commit_kind.value
        raise ValueError(f"snapshot {chosen} of {table.name} is of kind {kind}, not a compaction")
    commits = [] if end is None else newest_commits(store, end, count)
    files = NO_ENTRIES if latest is None else in_real_buckets(live_entries(latest, store.manifests))
    totals = bucket_totals(files)
    asked = _asked(totals, has_levels=bool(table.primary_keys))
    looked = _looked_at(table, latest, files, asked)
    return CompactionSource(
        table=table.name,
        schema=table.schema,
        snapshot_id=None if latest is None else latest.id,
        files=files,
        commits=commits,
        chosen_id=chosen,
        picks=looked.picks,
        pick_count=looked.pick_count,
        full_count=looked.full_count,
        looked_at=looked.looked_at,
        totals=totals,
        calls=looked.calls,
        notes=looked.notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """What the picker said about some buckets."""

    picks: tuple[Pick, ...] = ()
    pick_count: int = 0
    full_count: int = 0
    looked_at: int = 0
    calls: tuple[Call, ...] = ()
    notes: tuple[str, ...] = ()


def _asked(totals: pa.Table, *, has_levels: bool) -> pa.Table:
    """Choose the buckets that the picker is asked about: not too many, with not too many files."""
    chosen = worst(totals, _MOST_BUCKETS, has_levels=has_levels)
    before = np.cumsum(numpy_values(chosen["files"])) - numpy_values(chosen["files"])
    return chosen.filter(arrow_array(before < _MOST_FILES))


def _looked_at(table: Table, latest: Snapshot | None, files: pa.Table, asked: pa.Table) -> _Looked:
    if not asked.num_rows:
        return _Looked()
    keys = [ShownBucket(row["partition"], row["bucket"]) for row in asked.to_pylist()]
    try:
        now, full = both(
            table.path,
            lambda: _planned(table, keys, full=False),
            lambda: _planned(table, keys, full=True),
        )
    except PaimonError as error:
        return _Looked(notes=(f"it is unclear what would be compacted: {error}",))
    rows = arrow_array([key.partition for key in keys], pa.large_binary())
    texts = names_of_partitions(rows, table.schema)
    named = dict(zip(keys, texts, strict=True))
    by_place = {(bucket.partition, bucket.bucket): bucket for bucket in now}
    picks = list(_picks(table, latest, files, named, by_place))
    picks.sort(key=lambda pick: not pick.rule)
    chosen = [key for key, text in named.items() if (text, key.bucket) in by_place]
    first = chosen[0] if chosen else keys[0]
    return _Looked(
        picks=tuple(picks[:_MOST_PICKS]),
        pick_count=len(now),
        full_count=len(full),
        looked_at=len(keys),
        calls=calls(table.name, table.schema, first),
    )


def _planned(
    table: Table, keys: Collection[ShownBucket], *, full: bool
) -> tuple[BucketCompaction, ...]:
    """Ask the picker about some buckets."""
    partitions = arrow_array({key.partition for key in keys}, pa.large_binary())
    numbers = {partition: number for number, partition in enumerate(partitions.to_pylist())}
    wanted = arrow_array(
        [numbers[key.partition] * _STRIDE + key.bucket for key in keys], pa.int64()
    )

    def keep(entries: pa.Table) -> pa.Table:
        number = pc.cast(pc.index_in(entries["partition"], partitions), pa.int64())
        bucket = pc.add(
            pc.multiply(number, arrow_scalar(_STRIDE)), pc.cast(entries["bucket"], pa.int64())
        )
        return entries.filter(pc.is_in(bucket, wanted))

    return planned_compaction(definition_of(table), store_of(table), keep, full=full).buckets


def _picks(
    table: Table,
    latest: Snapshot | None,
    files: pa.Table,
    named: dict[ShownBucket, str],
    by_place: dict[tuple[str, int], BucketCompaction],
) -> Iterator[Pick]:
    strategy = (
        compact_plan(definition_of(table), store_of(table), latest).strategy
        if table.primary_keys
        else None
    )
    for key, text in named.items():
        planned = by_place.get((text, key.bucket))
        entries = key.entries(files)
        reason = "" if planned is None else planned.reason
        why, numbers = reason, ""
        if strategy is not None:
            why, numbers = explained(reason, runs_of(entries), strategy)
        elif planned is None:
            why = "too few small files, and too few deleted rows"
        yield Pick(
            partition=text,
            bucket=key.bucket,
            rule=reason,
            why=why,
            numbers=numbers,
            output_level=None if planned is None else planned.output_level,
            files=0 if planned is None else planned.picked.files,
            bytes=0 if planned is None else planned.picked.bytes,
            rows=0 if planned is None else planned.picked.rows,
            of_files=entries.num_rows,
        )
