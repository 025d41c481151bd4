"""The timeline of a table's snapshots: a picture, a table and text with the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from paimonlab.analysis.snapshots.timeline import Timeline, TimelineBranch, TimelinePoint
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import commit_text, next_rows, when
from paimonlab.notebook.display.numbers import bytes_text, count, many, signed, time_text
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.timeline.picture import LETTERS, picture
from paimonlab.spec.visible_text import visible

Field = tuple[Column, Callable[[TimelinePoint], object]]
"""A column, and its content for a snapshot."""

_BAR_COLUMNS = 16
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def draw(timeline: Timeline, *, last: int = 20) -> Drawn[Timeline]:
    """Draw a timeline, newest snapshot first in the table, oldest left in the picture.

    Parameters
    ----------
    timeline
        The interactive form gets all of it.
    last
        How many of the newest snapshots the table and the picture show, at least 1.

    Raises
    ------
    ValueError
        If ``last`` is less than 1.
    """
    if last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    if not timeline.points:
        grid = Grid((), (), f"{timeline.table} has no snapshot yet", next_rows(timeline.table))
        return Drawn(timeline, grid, rows(()))
    points = timeline.points[-last:]
    branches = [branch for branch in timeline.branches if branch.points]
    return Drawn(
        timeline,
        replace(
            _grid(
                points,
                _caption(timeline.table, points),
                _footer(timeline, len(points)),
                timeline.rows_are,
            ),
            headline=_headline(timeline),
        ),
        rows(points),
        picture(timeline.table, points),
        [visible(line) for line in _legend(timeline)],
        [_branch_grid(timeline, branch, last) for branch in branches],
        link=timeline.table,
    )


def _headline(timeline: Timeline) -> str:
    newest = timeline.points[-1]
    change = newest.delta_record_count or 0
    is_known = newest.written_rows is not None
    what = commit_text(
        newest.commit_kind,
        written=newest.written_rows if is_known else max(change, 0),
        deleted=newest.deleted_rows if is_known else max(-change, 0),
        files=newest.added_file_count,
        user=newest.commit_user,
    )
    return f"{many(_existing(timeline), 'snapshot')}, newest{when(newest.time_millis)}: {what}"


def _grid(points: Sequence[TimelinePoint], caption: str, footer: str, rows_are: str) -> Grid:
    fields = list(_fields(points, rows_are))
    columns = tuple(column for column, _ in fields)
    body = []
    for number in range(len(points) - 1, -1, -1):
        body.append(texts([write(points[number]) for _, write in fields]))
        missing = points[number].missing_before
        if missing and number:
            body.append(texts(["…", f"{missing} expired", *[""] * (len(fields) - 2)]))
    return Grid(columns, body, caption, footer)


def _fields(points: Sequence[TimelinePoint], rows_are: str) -> Iterator[Field]:
    """Choose the columns: those that would be empty are left out."""
    largest = max(abs(point.row_change or 0) for point in points)
    yield Column("snapshot", align=Align.RIGHT), lambda point: point.id
    yield Column("kind"), _kind
    if any(point.time_millis is not None for point in points):
        yield Column("time (UTC)"), lambda point: time_text(point.time_millis)
    yield Column("rows", align=Align.RIGHT), _rows
    yield Column("", is_drawing=True), lambda point: _bar(abs(point.row_change or 0), largest)
    yield (
        Column(f"total{rows_are.removeprefix('rows')}", align=Align.RIGHT, rank=2),
        lambda point: count(point.total_record_count),
    )
    if any(point.changelog_record_count for point in points):
        yield (
            Column("changelog rows", align=Align.RIGHT, rank=2),
            lambda point: count(point.changelog_record_count),
        )
    if any(point.file_count is not None for point in points):
        yield Column("files", align=Align.RIGHT), lambda point: count(point.file_count)
    if any(point.file_bytes is not None for point in points):
        yield Column("size", align=Align.RIGHT, rank=1), lambda point: bytes_text(point.file_bytes)
    yield Column("schema", align=Align.RIGHT, rank=2), _schema
    if any(point.watermark_millis is not None for point in points):
        yield (
            Column("watermark (UTC)", rank=2),
            lambda point: time_text(point.watermark_millis),
        )
    if any(point.tags for point in points):
        yield Column("tags"), lambda point: ", ".join(point.tags)
    if any(point.consumers for point in points):
        yield Column("read next by", rank=2), lambda point: ", ".join(point.consumers)
    users = [point.commit_user for point in points]
    if len(set(users)) < len(users):  # users that all occur once say nothing
        yield Column("user", is_id=True, rank=2), lambda point: point.commit_user


def _branch_grid(timeline: Timeline, branch: TimelineBranch, last: int) -> Grid:
    points = branch.points[-last:]
    fork = "" if branch.forked_at is None else f", has snapshot {branch.forked_at} in common"
    total = branch.older_count + len(branch.points)
    footer = f"the newest {len(points)} of {total} snapshots" if len(points) < total else ""
    name = f"{timeline.table}, branch {branch.name}"
    return _grid(points, f"{_caption(name, points)}{fork}", footer, timeline.rows_are)


def _legend(timeline: Timeline) -> Iterator[str]:
    if timeline.expired_count:
        yield f"expired: snapshots 1 to {timeline.expired_count:,}"
    if timeline.other_tags:
        named = ", ".join(f"{name} ({id})" for name, id in timeline.other_tags.items())
        yield f"tags of expired snapshots: {named}"
    for name, id in timeline.other_consumers.items():
        yield f"consumer {name} reads snapshot {id} next, which does not exist"
    if timeline.branch_count > len(timeline.branches):
        yield f"{len(timeline.branches)} of {timeline.branch_count} branches"


def _kind(point: TimelinePoint) -> str:
    return f"{LETTERS[point.commit_kind]} {point.commit_kind.lower()}"


def _rows(point: TimelinePoint) -> str:
    if point.written_rows is None:
        return signed(point.delta_record_count or None)
    parts = (point.written_rows, -(point.deleted_rows or 0))
    return " ".join(signed(part) for part in parts if part)


def _schema(point: TimelinePoint) -> str:
    return f"{'new ' if point.is_new_schema else ''}{point.schema_id}"


def _caption(name: str, points: Sequence[TimelinePoint]) -> str:
    return f"{name}: snapshots {points[0].id} to {points[-1].id}"


def _footer(timeline: Timeline, shown: int) -> str:
    existing = _existing(timeline)
    return "" if shown == existing else f"the newest {shown} of {existing} snapshots; -n N for more"


def _existing(timeline: Timeline) -> int:
    return len(timeline.points) + sum(group.snapshot_count for group in timeline.groups)


def _bar(count: int, largest: int) -> str:
    """Draw a bar of block characters, at most `_BAR_COLUMNS` wide."""
    eighths = round(8 * _BAR_COLUMNS * count / largest) if largest else 0
    full, rest = divmod(max(eighths, 1 if count else 0), 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
