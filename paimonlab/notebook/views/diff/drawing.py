"""The differences of two snapshots, as tables and as text."""

from __future__ import annotations

from collections.abc import Iterator

from paimonlab.analysis.snapshots.diff import Diff, DiffSide
from paimonlab.analysis.snapshots.file_totals import Sums
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import (
    bytes_text,
    count,
    many,
    signed,
    signed_many,
    time_text,
)
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.schemas.drawing import difference_cells
from paimonlab.spec.visible_text import visible

_SHOWN = 30
"""Rows of a table; the interactive form has more."""
_RIGHT = Align.RIGHT


def draw(diff: Diff) -> Drawn[Diff]:
    """Draw what changed from one snapshot to another."""
    if not diff.has_snapshots:
        empty = Grid((), (), f"{diff.table} has no snapshot yet", next_rows(diff.table))
        return Drawn(diff, empty, rows(()), link=diff.table)
    others = [
        *([_groups(diff)] if diff.groups else []),
        *([_files(diff)] if diff.files else []),
        *([_schema(diff)] if diff.schema else []),
    ]
    return Drawn(
        diff,
        _summary(diff),
        rows(diff.files),
        legend=[visible(line) for line in _legend(diff)],
        others=others,
        link=diff.table,
    )


def _summary(diff: Diff) -> Grid:
    """Draw the two sides, and their differences."""
    before, after = diff.before, diff.after
    columns = [Column("")]
    columns += [Column(name, align=_RIGHT) for name in ("before", "after", "change")]
    columns += [Column(name, align=_RIGHT) for name in ("added", "removed")]
    columns += [Column("kept", align=_RIGHT, rank=1)]
    body = [["snapshot", *map(_named, (before, after)), "", "", "", ""]]
    if has_bytes(diff):
        times = [time_text(side.time_millis) for side in (before, after)]
        body.append(["time (UTC)", *times, "", "", "", ""])
    body.append(["schema", before.schema_id, after.schema_id, "", "", "", ""])
    body += [[name, *values] for name, values in _numbers(diff)]
    between = diff.partitions_added_count - diff.partitions_removed_count
    body.append(
        [
            "partitions",
            *("", "", signed(between) if between else "0"),
            *(count(diff.partitions_added_count), count(diff.partitions_removed_count), ""),
        ]
    )
    caption = f"{diff.table}: {_words(before, after)}"
    rows = after.live.row_count - before.live.row_count
    counts = {"+": diff.added.file_count, "-": diff.removed.file_count}
    files = ", ".join(f"{sign}{many(number, 'file')}" for sign, number in counts.items() if number)
    headline = "The same files"
    if diff.file_count:
        headline = f"{files}: {signed_many(rows, 'row')}{diff.rows_are.removeprefix('rows')}"
    return Grid(tuple(columns), [texts(line) for line in body], caption, headline=headline)


def _words(before: DiffSide, after: DiffSide) -> str:
    """Say what is compared."""
    if not (before.snapshot_id or after.snapshot_id):
        return "before the first snapshot"
    if not before.snapshot_id:
        return f"up to snapshot {after.snapshot_id}"
    if not after.snapshot_id:
        return f"from snapshot {before.snapshot_id} back to the empty table"
    return f"from snapshot {before.snapshot_id} to {after.snapshot_id}"


def _named(side: DiffSide) -> object:
    return side.snapshot_id or "none"


def _numbers(diff: Diff) -> Iterator[tuple[str, list[str]]]:
    parts = (diff.before.live, diff.after.live, diff.added, diff.removed, diff.kept)
    for name, values, write in (
        ("files", [part.file_count for part in parts], count),
        (diff.rows_are, [part.row_count for part in parts], count),
        ("size", [part.file_bytes for part in parts], bytes_text),
    ):
        if name == "size" and not has_bytes(diff):
            continue
        difference = values[1] - values[0]
        sign = "+" if difference > 0 else ""
        text = f"{sign}{write(difference)}"
        yield name, [write(values[0]), write(values[1]), text, *map(write, values[2:])]


def has_bytes(diff: Diff) -> bool:
    """Tell whether bytes are shown: they are hidden where outputs must be repeatable."""
    return any(side.time_millis is not None for side in (diff.before, diff.after))


def _groups(diff: Diff) -> Grid:
    is_partitioned = any(group.partition for group in diff.groups)
    with_bytes = has_bytes(diff)
    has_levels = any(group.level is not None for group in diff.groups)
    columns = (
        *([Column("partition")] if is_partitioned else []),
        *_places(has_levels=has_levels),
        *(Column(name, align=_RIGHT) for name in _names(with_bytes)),
    )
    body = [
        texts(
            [
                *([group.partition] if is_partitioned else []),
                *([group.bucket, group.level] if has_levels else [group.bucket]),
                *_both_ways(group.added, group.removed, with_bytes=with_bytes),
            ]
        )
        for group in diff.groups[:_SHOWN]
    ]
    caption = "buckets and levels" if has_levels else "buckets"
    return Grid(columns, body, caption, _more(len(body), diff.group_count))


def _places(*, has_levels: bool) -> list[Column]:
    """Return the columns that say where a file is; append tables have no levels."""
    return [Column(name, align=_RIGHT) for name in ("bucket", *(["level"] if has_levels else []))]


def _names(with_bytes: bool) -> tuple[str, ...]:  # noqa: FBT001
    return ("files", "rows", "size") if with_bytes else ("files", "rows")


def _both_ways(added: Sums, removed: Sums, *, with_bytes: bool) -> Iterator[str]:
    """Write what was added and removed in one: ``+6 -18``."""
    signs = [(sign, sums) for sign, sums in (("+", added), ("-", removed)) if sums.file_count]
    yield " ".join(f"{sign}{count(sums.file_count)}" for sign, sums in signs)
    yield " ".join(f"{sign}{count(sums.row_count)}" for sign, sums in signs)
    if with_bytes:
        yield " ".join(f"{sign}{bytes_text(sums.file_bytes)}" for sign, sums in signs)


def _files(diff: Diff) -> Grid:
    is_partitioned = any(file.partition for file in diff.files)
    has_levels = any(file.level is not None for file in diff.files)
    columns = (
        *(Column(""), Column("file", is_id=True)),
        *([Column("partition")] if is_partitioned else []),
        *_places(has_levels=has_levels),
        Column("rows", align=_RIGHT),
        *([Column("size", align=_RIGHT, rank=1)] if has_bytes(diff) else []),
    )
    body = [
        texts(
            [
                "+" if file.is_added else "-",
                file.name,
                *([file.partition] if is_partitioned else []),
                *([file.bucket, file.level] if has_levels else [file.bucket]),
                count(file.row_count),
                *([bytes_text(file.file_bytes)] if has_bytes(diff) else []),
            ]
        )
        for file in diff.files[:_SHOWN]
    ]
    return Grid(columns, body, "files", _more(len(body), diff.file_count))


def _more(shown: int, total: int) -> str:
    return f"{shown} of {total:,}, those with most bytes" if shown < total else ""


def _schema(diff: Diff) -> Grid:
    columns = tuple(Column(name) for name in ("what", "name", "before", "after"))
    caption = f"from schema {diff.before.schema_id} to schema {diff.after.schema_id}"
    return Grid(columns, [texts(cells) for cells in difference_cells(diff.schema)], caption)


def _legend(diff: Diff) -> Iterator[str]:
    for what, names, total in (
        ("added", diff.partitions_added, diff.partitions_added_count),
        ("removed", diff.partitions_removed, diff.partitions_removed_count),
    ):
        if names:
            shown = ", ".join(names[:_SHOWN])
            more = f" and {total - _SHOWN:,} more" if total > _SHOWN else ""
            yield f"partitions {what}: {shown}{more}"
