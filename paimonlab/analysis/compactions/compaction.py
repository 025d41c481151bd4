"""What compactions did, what they cost, and what would be compacted now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.buckets.bucket_lives import Commit
from paimonlab.analysis.compactions.compaction_picks import Pick
from paimonlab.analysis.compactions.compaction_runs import (
    CompactionRun,
    FileSum,
    partitions_of,
    run_of,
)
from paimonlab.arrow_values import arrow_scalar, numpy_values
from paimonlab.scan.entries import codes, group_codes
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import CommitKind

MOST_RUNS = 50
MOST_UNTOUCHED = 20


class Untouched(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A bucket without a file that a compaction wrote."""

    partition: str
    bucket: int
    held: FileSum


class Call(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A compaction to copy."""

    label: str
    sql: str
    """A call of a procedure; "" if no procedure can do this."""
    python: str


class Compaction(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="compaction", tag_field="kind"
):
    """The compactions of a table."""

    table: str
    snapshot_id: int | None
    """The newest one, whose files the picker would look at."""
    has_levels: bool
    runs: tuple[CompactionRun, ...]
    """Newest first."""
    run_count: int
    """Compactions in the window."""
    chosen_id: int | None
    """The compaction to look at first; None if there is none."""
    first_id: int | None
    """Oldest snapshot of the window."""
    last_id: int | None
    appended_bytes: int | None
    """Of files that other commits added in the window; None when sizes are hidden."""
    compacted_bytes: int | None
    """Of files that compactions wrote in the window."""
    write_amplification: float | None
    """Bytes appended and compacted per byte appended; None if nothing was appended."""
    space_amplification: float | None
    """Bytes of all runs per byte of the oldest run of each bucket; None without levels."""
    picks: tuple[Pick, ...]
    pick_count: int
    """Buckets that would be compacted now, among those looked at."""
    full_count: int
    """Buckets that a full compaction would find work in, among those looked at."""
    looked_at: int
    bucket_count: int
    untouched: tuple[Untouched, ...]
    untouched_count: int
    calls: tuple[Call, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSource:
    """What is known about the compactions of a table."""

    table: str
    schema: TableSchema
    snapshot_id: int | None
    files: pa.Table
    """Live files of the newest snapshot in real buckets (`ENTRY_SCHEMA`)."""
    commits: Sequence[Commit]
    """The window, oldest first."""
    chosen_id: int | None
    """None: the newest compaction of the window."""
    picks: Sequence[Pick]
    pick_count: int
    full_count: int
    looked_at: int
    totals: pa.Table
    """Of `bucket_totals`."""
    calls: Sequence[Call]
    notes: Sequence[str]


def compaction(source: CompactionSource) -> Compaction:
    """Tell what compactions did and cost."""
    kinds = [commit.snapshot.commit_kind for commit in source.commits]
    compacted = [
        commit
        for commit, kind in zip(source.commits, kinds, strict=True)
        if kind is CommitKind.COMPACT
    ]
    runs = [run_of(commit, source.schema) for commit in reversed(compacted)]
    shown = runs[:MOST_RUNS]
    if source.chosen_id is not None and all(run.snapshot_id != source.chosen_id for run in shown):
        shown += [run for run in runs if run.snapshot_id == source.chosen_id]
    chosen = source.chosen_id
    appended = sum(_bytes_added(commit) for commit in source.commits if commit not in compacted)
    written = sum(run.written.bytes or 0 for run in runs)
    has_levels = bool(source.schema.primary_keys)
    untouched = _untouched(source)
    window = [commit.snapshot.id for commit in source.commits]
    return Compaction(
        table=source.table,
        snapshot_id=source.snapshot_id,
        has_levels=has_levels,
        runs=tuple(shown),
        run_count=len(runs),
        chosen_id=chosen if chosen is not None or not shown else shown[0].snapshot_id,
        first_id=window[0] if window else None,
        last_id=window[-1] if window else None,
        appended_bytes=appended,
        compacted_bytes=written,
        write_amplification=_ratio(appended + written, appended),
        space_amplification=space_amplification(source.files) if has_levels else None,
        picks=tuple(source.picks),
        pick_count=source.pick_count,
        full_count=source.full_count,
        looked_at=source.looked_at,
        bucket_count=source.totals.num_rows,
        untouched=tuple(untouched[:MOST_UNTOUCHED]),
        untouched_count=len(untouched),
        calls=tuple(source.calls),
        notes=tuple(source.notes),
    )


def space_amplification(files: pa.Table) -> float | None:
    """Compare the bytes of all runs with those of the oldest run of each bucket.

    Parameters
    ----------
    files
        Live files (`ENTRY_SCHEMA`).

    Returns
    -------
    float or None
        At least 1; None without files.
    """
    if not files.num_rows:
        return None
    bucket = group_codes([codes(files["partition"]), codes(files["bucket"])])
    level, size = numpy_values(files["level"]), numpy_values(files["file_size_bytes"])
    highest = np.zeros(int(bucket.max()) + 1, np.int64)
    np.maximum.at(highest, bucket, level)
    is_oldest = (level == highest[bucket]) & (level > 0)
    on_level_0 = np.flatnonzero(highest[bucket] == 0)
    newest = numpy_values(files["max_sequence_number"])
    order = on_level_0[np.lexsort((newest[on_level_0], bucket[on_level_0]))]
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = bucket[order][1:] != bucket[order][:-1]
    is_oldest[order[is_first]] = True
    return _ratio(int(size.sum()), int(size[is_oldest].sum()))


def _bytes_added(commit: Commit) -> int:
    is_added = is_kind(commit.entries, FileKind.ADD)
    return int(pc.sum(commit.entries["file_size_bytes"].filter(is_added)).as_py() or 0)


def _untouched(source: CompactionSource) -> list[Untouched]:
    totals = source.totals
    is_untouched = pc.and_(
        pc.equal(totals["compacted_files"], arrow_scalar(0)),
        pc.equal(totals["highest_level"], arrow_scalar(0)),
    )
    untouched = totals.filter(is_untouched).sort_by([("bytes", "descending")])
    texts = partitions_of(untouched, range(untouched.num_rows), source.schema)
    return [
        Untouched(
            partition=text,
            bucket=row["bucket"],
            held=FileSum(files=row["files"], bytes=row["bytes"], rows=row["rows"]),
        )
        for row, text in zip(untouched.drop_columns(["partition"]).to_pylist(), texts, strict=True)
    ]


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole and math.isfinite(part / whole) else None


def repeatable_compaction(value: Compaction) -> Compaction:
    """Leave out what differs from run to run: times and bytes are hidden, users numbered."""
    users: dict[str, str] = {}
    replace = msgspec.structs.replace

    def plain(held: FileSum) -> FileSum:
        return replace(held, bytes=None)

    runs = [
        replace(
            run,
            time_millis=None,
            least_millis=None,
            commit_user=users.setdefault(run.commit_user, f"user#{len(users) + 1}"),
            read=plain(run.read),
            written=plain(run.written),
            moved=plain(run.moved),
            levels=tuple(
                replace(level, before=plain(level.before), after=plain(level.after))
                for level in run.levels
            ),
            buckets=tuple(
                replace(
                    bucket,
                    read=plain(bucket.read),
                    written=plain(bucket.written),
                    moved=plain(bucket.moved),
                )
                for bucket in run.buckets
            ),
        )
        for run in value.runs
    ]
    return replace(
        value,
        runs=tuple(runs),
        appended_bytes=None,
        compacted_bytes=None,
        write_amplification=None,
        space_amplification=None,
        picks=tuple(replace(pick, bytes=None, numbers="") for pick in value.picks),
        untouched=tuple(replace(bucket, held=plain(bucket.held)) for bucket in value.untouched),
    )
