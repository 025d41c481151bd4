"""The timeline of a table's snapshots: a picture, a table and text with the same numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.timeline_picture import LETTERS, picture
from paimonlab.notebook.views import Timeline, TimelinePoint, rows

Field = tuple[Column, Callable[[TimelinePoint], object]]
"""A column and what stands in it for a snapshot."""

_BAR_COLUMNS = 16
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def draw(timeline: Timeline) -> Drawn[Timeline]:
    """Draw a timeline, newest snapshot first in the table, oldest left in the picture."""
    if not timeline.points:
        return Drawn(timeline, Grid((), (), f"{timeline.table} has no snapshot yet"), rows(()))
    return Drawn(
        timeline,
        _grid(timeline),
        rows(timeline.points),
        picture(timeline),
        link=timeline.table,
    )


def _grid(timeline: Timeline) -> Grid:
    fields = list(_fields(timeline))
    columns = tuple(column for column, _ in fields)
    body = []
    for point in reversed(timeline.points):
        body.append(texts([write(point) for _, write in fields]))
        if point.missing_before:
            body.append(texts(["…", f"{point.missing_before} expired", *[""] * (len(fields) - 2)]))
    return Grid(columns, body, _caption(timeline), _footer(timeline))


def _fields(timeline: Timeline) -> Iterator[Field]:
    """Choose the columns: those that would be empty are left out."""
    largest = max(abs(point.delta_record_count or 0) for point in timeline.points)
    yield Column("snapshot", align=Align.RIGHT), lambda point: point.id
    yield Column("kind"), _kind
    if any(point.time_millis is not None for point in timeline.points):
        yield Column("time (UTC)"), _time
    yield Column("rows", align=Align.RIGHT), lambda point: _signed(point.delta_record_count)
    yield (
        Column("", is_drawing=True),
        lambda point: _bar(abs(point.delta_record_count or 0), largest),
    )
    yield (
        Column("total before merging", align=Align.RIGHT),
        lambda point: _count(point.total_record_count),
    )
    if any(point.changelog_record_count for point in timeline.points):
        yield (
            Column("changelog rows", align=Align.RIGHT),
            lambda point: _count(point.changelog_record_count),
        )
    yield Column("schema", align=Align.RIGHT), _schema
    if any(point.tags for point in timeline.points):
        yield Column("tags"), lambda point: ", ".join(point.tags)
    users = [point.commit_user for point in timeline.points]
    if len(set(users)) < len(users):  # a user that never comes back says nothing
        yield Column("user"), lambda point: point.commit_user


def _kind(point: TimelinePoint) -> str:
    return f"{LETTERS[point.commit_kind]} {point.commit_kind.lower()}"


def _schema(point: TimelinePoint) -> str:
    return f"{'new ' if point.is_new_schema else ''}{point.schema_id}"


def _caption(timeline: Timeline) -> str:
    first, last = timeline.points[0].id, timeline.points[-1].id
    return f"{timeline.table}: snapshots {first} to {last}"


def _footer(timeline: Timeline) -> str:
    if not timeline.older_count:
        return ""
    shown = len(timeline.points)
    return f"the newest {shown} of {shown + timeline.older_count} snapshots; -n N for more"


def _time(point: TimelinePoint) -> str:
    if point.time_millis is None:
        return ""
    moment = dt.datetime.fromtimestamp(point.time_millis / 1000, dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _signed(count: int | None) -> str:
    return "" if count is None else f"{count:+,}"


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _bar(count: int, largest: int) -> str:
    """Draw a bar of block characters, at most `_BAR_COLUMNS` wide."""
    eighths = round(8 * _BAR_COLUMNS * count / largest) if largest else 0
    full, rest = divmod(max(eighths, 1 if count else 0), 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
