"""Compactions as tables, with an arrow from what was read to what was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa

from paimonlab.analysis.compactions.compaction import Compaction
from paimonlab.analysis.compactions.compaction_runs import CompactionRun, FileSum
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import bytes_text, count, many, time_text
from paimonlab.notebook.views.compaction.picture import picture
from paimonlab.spec.visible_text import visible

_RIGHT = Align.RIGHT


def draw(value: Compaction) -> Drawn[Compaction]:
    """Draw compactions, newest first, the chosen one in full, and what would be picked now."""
    if value.first_id is None:
        grid = Grid((), (), f"{visible(value.table)} has no snapshot yet", next_rows(value.table))
        return Drawn(value, grid, partial(_rows, value.runs), link=value.table)
    chosen = next((run for run in value.runs if run.snapshot_id == value.chosen_id), None)
    return Drawn(
        value,
        _run_grid(value),
        partial(_rows, value.runs),
        "" if chosen is None else picture(value.table, chosen),
        legend=list(_legend(value)),
        others=[
            *([] if chosen is None else [_bucket_grid(chosen)]),
            _pick_grid(value),
            _call_grid(value),
            *([_untouched_grid(value)] if value.untouched else []),
        ],
        link=value.table,
    )


def _rows(runs: Sequence[CompactionRun]) -> pa.Table:
    return pa.table(
        {
            "snapshot_id": pa.array([run.snapshot_id for run in runs], pa.int64()),
            "files_read": pa.array([run.read.files for run in runs], pa.int64()),
            "bytes_read": pa.array([run.read.bytes for run in runs], pa.int64()),
            "rows_read": pa.array([run.read.rows for run in runs], pa.int64()),
            "files_written": pa.array([run.written.files for run in runs], pa.int64()),
            "bytes_written": pa.array([run.written.bytes for run in runs], pa.int64()),
            "rows_written": pa.array([run.written.rows for run in runs], pa.int64()),
            "files_moved": pa.array([run.moved.files for run in runs], pa.int64()),
            "dropped_rows": pa.array([run.dropped_rows for run in runs], pa.int64()),
            "changelog_rows": pa.array([run.changelog_rows for run in runs], pa.int64()),
        }
    )


def held(files: FileSum) -> str:
    """Say how much files contain."""
    if not files.files:
        return "nothing"
    size = "" if files.bytes is None else f", {bytes_text(files.bytes)}"
    return f"{many(files.files, 'file')}{size}, {many(files.rows, 'row')}"


def place(partition: str, bucket: int) -> str:
    """Name a bucket."""
    return visible(f"{partition} bucket {bucket}".strip())


def _run_grid(value: Compaction) -> Grid:
    name = visible(value.table)
    if not value.runs:
        headline = f"No compaction in snapshots {value.first_id} to {value.last_id}"
        return Grid((), (), f"{name}: compactions", headline=headline)
    has_times = value.runs[0].time_millis is not None
    columns = [Column("snapshot", align=_RIGHT)]
    columns += [Column("time (UTC)", rank=1)] if has_times else []
    columns += [
        Column("buckets", align=_RIGHT, rank=1),
        Column("read"),
        Column("written"),
        Column("moved", align=_RIGHT, is_optional=True, rank=1),
        Column("rows dropped", align=_RIGHT),
        Column("changelog rows", align=_RIGHT, is_optional=True, rank=1),
    ]
    columns += [Column("took at least", align=_RIGHT, rank=1)] if has_times else []
    body = []
    for run in value.runs:
        cells: list[object] = [run.snapshot_id]
        cells += [time_text(run.time_millis)] if has_times else []
        cells += [count(run.bucket_count), held(run.read), held(run.written)]
        cells += [
            count(run.moved.files or None),
            count(run.dropped_rows),
            count(run.changelog_rows or None),
        ]
        cells += [_duration(run.least_millis)] if has_times else []
        body.append(texts(cells))
    window = f"snapshots {value.first_id} to {value.last_id}"
    shown = f"the newest {len(value.runs)} of {value.run_count}; " * (
        value.run_count > len(value.runs)
    )
    newest = value.runs[0]
    headline = (
        f"{many(value.run_count, 'compaction')}; the newest: {held(newest.read)} became "
        f"{held(newest.written)}"
    )
    return Grid(
        tuple(columns), body, f"{name}: compactions", f"{shown}{window}", headline
    ).without_empty()


def _duration(millis: int | None) -> str:
    if millis is None:
        return ""
    return f"{millis:,} ms" if millis < 1000 else f"{millis / 1000:.1f} s"


def _bucket_grid(run: CompactionRun) -> Grid:
    columns = (
        *(Column(name) for name in ("bucket", "read", "written")),
        Column("moved", is_optional=True),
    )
    body = [
        texts(
            [
                place(bucket.partition, bucket.bucket),
                held(bucket.read),
                held(bucket.written),
                held(bucket.moved) if bucket.moved.files else None,
            ]
        )
        for bucket in run.buckets
    ]
    hidden = run.bucket_count - len(run.buckets)
    shown = f"the {len(run.buckets)} of {run.bucket_count:,} buckets with most bytes"
    footer = shown if hidden > 0 else ""
    return Grid(columns, body, f"snapshot {run.snapshot_id}", footer).without_empty()


def _pick_grid(value: Compaction) -> Grid:
    columns = (Column("bucket"), Column("picked"), Column("why", is_prose=True))
    body = []
    for pick in value.picks:
        picked = "nothing"
        if pick.rule:
            level = "" if pick.output_level is None else f" → level {pick.output_level}"
            size = "" if pick.bytes is None else f", {bytes_text(pick.bytes)}"
            picked = f"{pick.files:,} of {pick.of_files:,} files{size}{level}"
        why = f"{pick.rule}: {pick.numbers}" if pick.rule and pick.numbers else pick.why
        body.append(texts([place(pick.partition, pick.bucket), picked, visible(why)]))
    footer = (
        f"{value.pick_count:,} of {value.looked_at:,} buckets would be compacted now, "
        f"{value.full_count:,} by a full compaction"
    )
    if value.looked_at < value.bucket_count:
        footer += f"; {value.looked_at:,} of {value.bucket_count:,} buckets were looked at"
    return Grid(columns, body, "what would be picked now", footer)


def _call_grid(value: Compaction) -> Grid:
    columns = (Column("compact"), Column("in"), Column("statement", is_prose=True, is_code=True))
    body: list[Sequence[object]] = []
    for call in value.calls:
        body += [[call.label, "SQL", visible(call.sql)]] if call.sql else []
        body.append(["" if call.sql else call.label, "Python", visible(call.python)])
    return Grid(columns, [texts(row) for row in body], "to copy")


def _untouched_grid(value: Compaction) -> Grid:
    columns = (Column("bucket"), Column("contains"))
    body = [
        texts([place(bucket.partition, bucket.bucket), held(bucket.held)])
        for bucket in value.untouched
    ]
    hidden = value.untouched_count - len(value.untouched)
    footer = f"the largest {len(value.untouched)} of {value.untouched_count:,}" * (hidden > 0)
    return Grid(columns, body, "never compacted: no live file was written by a compaction", footer)


def _legend(value: Compaction) -> Iterator[str]:
    rules = (f"{pick.rule}: {pick.why}" for pick in value.picks if pick.rule and pick.numbers)
    yield from map(visible, dict.fromkeys(rules))
    if value.write_amplification is not None:
        yield (
            f"write amplification {value.write_amplification:.2f}: "
            f"{bytes_text(value.appended_bytes)} appended and "
            f"{bytes_text(value.compacted_bytes)} written by compactions in snapshots "
            f"{value.first_id} to {value.last_id}"
        )
    if value.space_amplification is not None:
        yield (
            f"space amplification {value.space_amplification:.2f}: bytes of all sorted runs per "
            "byte of the oldest run of each bucket"
        )
    if value.runs:
        yield (
            "how long a compaction took is not recorded: it is at least the time from its first "
            "new file, by the clock of the writer, to its commit"
        )
    yield "picks are those of a new writer, which knows nothing of earlier compactions"
    yield from map(visible, value.notes)
