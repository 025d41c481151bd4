"""The levels of buckets: pictures, tables and text with the same numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from paimonlab.analysis.levels.lsm import Lsm, LsmBucket
from paimonlab.analysis.levels.lsm_files import LsmFile
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import bytes_text, count, many
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.lsm.picture import picture
from paimonlab.spec.visible_text import visible

_PICTURES = 3
_FILES = 20
_STEPS = 12


def draw(lsm: Lsm) -> Drawn[Lsm]:
    """Draw buckets, the one that most needs compaction first, with its files and steps."""
    if not lsm.buckets:
        empty = f"{visible(lsm.table)} has no data files"
        grid = Grid((), (), empty, next_rows(lsm.table))
        return Drawn(lsm, grid, rows(()), legend=lsm.notes, link=lsm.table)
    first = lsm.buckets[0]
    return Drawn(
        lsm,
        _bucket_grid(lsm),
        rows(first.files),
        "".join(picture(lsm, bucket) for bucket in lsm.buckets[:_PICTURES]),
        legend=[*_legend(lsm), *map(visible, lsm.notes)],
        others=[_file_grid(lsm, first), _step_grid(lsm, first)],
        link=lsm.table,
    )


def place(bucket: LsmBucket) -> str:
    """Name a bucket."""
    return visible(f"{bucket.partition} bucket {bucket.bucket}".strip())


def _bucket_grid(lsm: Lsm) -> Grid:
    columns = [Column("bucket"), Column("files", align=Align.RIGHT)]
    columns.append(Column("rows", align=Align.RIGHT))
    has_sizes = lsm.buckets[0].bytes is not None
    if has_sizes:
        columns.append(Column("size", align=Align.RIGHT))
    if lsm.has_levels:
        columns += [
            Column("level 0", align=Align.RIGHT, rank=1),
            Column("backlog", align=Align.RIGHT, rank=1),
            Column(f"runs (trigger {lsm.compaction_trigger})", align=Align.RIGHT),
            Column("levels", rank=2),
        ]
    columns += [Column(name, align=Align.RIGHT, rank=1) for name in ("deletes", "hidden rows")]
    body = [texts(list(_bucket_cells(lsm, bucket, has_sizes))) for bucket in lsm.buckets]
    caption = f"{visible(lsm.table)}: {'levels' if lsm.has_levels else 'files'}"
    caption = f"{caption} of snapshot {lsm.snapshot_id}"
    return Grid(tuple(columns), body, caption, _footer(lsm), _headline(lsm))


def _headline(lsm: Lsm) -> str:
    first = lsm.buckets[0]
    if not lsm.has_levels:
        return f"Most files: {place(first)}, {many(first.file_count, 'file')}"
    most = max(lsm.buckets, key=lambda bucket: bucket.run_count)
    if most.run_count < 2 and len(lsm.buckets) == lsm.bucket_count:
        return "Nothing to merge: no bucket has more than 1 sorted run"
    return (
        f"Most to merge: {place(most)}, {many(most.run_count, 'sorted run')} "
        f"(compaction from {lsm.compaction_trigger}, writers wait from {lsm.stop_trigger})"
    )


def _bucket_cells(lsm: Lsm, bucket: LsmBucket, has_sizes: bool) -> Iterator[object]:  # noqa: FBT001
    yield place(bucket)
    yield count(bucket.file_count)
    yield count(bucket.row_count)
    if has_sizes:
        yield bytes_text(bucket.bytes)
    if lsm.has_levels:
        yield count(bucket.level_0_count)
        yield f"{bucket.backlog_ratio:.2f}"
        yield count(bucket.run_count)
        yield _levels(bucket)
    yield count(bucket.delete_count)
    yield "?" if bucket.hidden_count is None else count(bucket.hidden_count)


def _levels(bucket: LsmBucket) -> str:
    files: Counter[int] = Counter()
    for file in alive(bucket):
        files[file.level] += file.count
    return ", ".join(f"level {level}: {files[level]:,}" for level in sorted(files))


def alive(bucket: LsmBucket) -> list[LsmFile]:
    """Return the files of a bucket that are alive now."""
    last = len(bucket.steps) - 1
    return [file for file in bucket.files if file.died > last]


def _file_grid(lsm: Lsm, bucket: LsmBucket) -> Grid:
    has_sizes = bucket.bytes is not None
    columns = [Column("file", is_id=True)]
    if lsm.has_levels:
        columns.append(Column("level", align=Align.RIGHT))
    columns.append(Column("rows", align=Align.RIGHT))
    if has_sizes:
        columns.append(Column("size", align=Align.RIGHT))
    if lsm.has_levels:
        columns += [Column("min key"), Column("max key")]
    columns.append(Column("sequence numbers", align=Align.RIGHT, rank=1))
    files = alive(bucket)
    body = []
    for file in files[:_FILES]:
        cells: list[object] = [visible(file.name) + (f" +{file.count - 1}" * (file.count > 1))]
        cells += [file.level] if lsm.has_levels else []
        cells.append(count(file.rows))
        cells += [bytes_text(file.bytes)] if has_sizes else []
        cells += [visible(file.min_key), visible(file.max_key)] if lsm.has_levels else []
        cells.append(f"{file.min_sequence:,} to {file.max_sequence:,}")
        body.append(texts(cells))
    footer = f"{_FILES} of {len(files):,} files" if len(files) > _FILES else ""
    return Grid(tuple(columns), body, f"files of {place(bucket)}", footer)


def _step_grid(lsm: Lsm, bucket: LsmBucket) -> Grid:
    columns = [Column("snapshot", align=Align.RIGHT), Column("kind")]
    if lsm.has_levels:
        columns.append(Column("runs", align=Align.RIGHT))
    columns.append(Column("what happened", is_prose=True))
    body = []
    for step in bucket.steps[-_STEPS:]:
        cells: list[object] = [step.snapshot_id, step.commit_kind.lower() or "before"]
        cells += [step.run_count] if lsm.has_levels else []
        cells.append(f"{step.caption} {step.watch}".strip())
        body.append(texts(cells))
    hidden = max(len(bucket.steps) - _STEPS, 0)
    parts = [f"the last {_STEPS} of {len(bucket.steps)} steps"] if hidden else []
    if bucket.earlier_count:
        parts.append(f"{bucket.earlier_count} earlier changes touch too many files to be shown")
    return Grid(tuple(columns), body, f"steps of {place(bucket)}", "; ".join(parts))


def _footer(lsm: Lsm) -> str:
    parts = []
    if lsm.bucket_count > len(lsm.buckets):
        what = "level 0" if lsm.has_levels else "files"
        parts.append(f"the {len(lsm.buckets)} of {lsm.bucket_count:,} buckets with most {what}")
    parts.append(f"changes of the newest {many(lsm.snapshot_count, 'snapshot')}")
    if any(file.count > 1 for bucket in lsm.buckets for file in bucket.files):
        parts.append("where there are too many files, neighbours share a bar")
    return "; ".join(parts)


def _legend(lsm: Lsm) -> Sequence[str]:
    if not lsm.has_levels:
        return ()
    begin, wait = lsm.compaction_trigger, lsm.stop_trigger
    lanes = (
        "each lane is a sorted run: a reader merges all of them. Compaction begins at "
        f"{many(begin, 'run')} (num-sorted-run.compaction-trigger), writers wait at {wait} "
        f"(num-sorted-run.stop-trigger); backlog is files of level 0 per {begin}"
    )
    axis = (
        "files lie from their smallest to their greatest key; places are ranks of these keys, so "
        "distances mean nothing"
    )
    return lanes, axis
