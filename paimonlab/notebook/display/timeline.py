"""The timeline of a table's snapshots: a picture, a table and text with the same numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.timeline_picture import LETTERS, picture
from paimonlab.notebook.views import Timeline, TimelinePoint, rows

_BAR_COLUMNS = 16
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def draw(timeline: Timeline) -> Drawn[Timeline]:
    """Draw a timeline, newest snapshot first in the table, oldest left in the picture."""
    if not timeline.points:
        return Drawn(timeline, Grid((), (), f"{timeline.table} has no snapshot yet"), rows(()))
    return Drawn(timeline, _grid(timeline), rows(timeline.points), picture(timeline))


def _grid(timeline: Timeline) -> Grid:
    has_times = any(point.time_millis is not None for point in timeline.points)
    has_changelog = any(point.changelog_record_count for point in timeline.points)
    largest = max(abs(point.delta_record_count or 0) for point in timeline.points)
    columns = [
        Column("snapshot", align=Align.RIGHT),
        Column("kind"),
        *([Column("time (UTC)")] if has_times else []),
        Column("rows", align=Align.RIGHT),
        Column(""),
        Column("total before merging", align=Align.RIGHT),
        *([Column("changelog rows", align=Align.RIGHT)] if has_changelog else []),
        Column("schema", align=Align.RIGHT),
        Column("tags"),
        Column("user"),
    ]
    body = [
        row
        for point in reversed(timeline.points)
        for row in _rows(point, largest, has_times=has_times, has_changelog=has_changelog)
    ]
    return Grid(tuple(columns), body, _caption(timeline), _footer(timeline))


def _rows(
    point: TimelinePoint, largest: int, *, has_times: bool, has_changelog: bool
) -> Iterator[tuple[Cell, ...]]:
    yield texts(
        [
            point.id,
            f"{LETTERS[point.commit_kind]} {point.commit_kind.lower()}",
            *([_time(point)] if has_times else []),
            _signed(point.delta_record_count),
            _bar(abs(point.delta_record_count or 0), largest),
            _count(point.total_record_count),
            *([_count(point.changelog_record_count)] if has_changelog else []),
            f"{point.schema_id}{' new' if point.is_new_schema else ''}",
            ", ".join(point.tags),
            point.commit_user,
        ]
    )
    if point.missing_before:
        blanks = [""] * (7 + has_times + has_changelog)
        yield texts(["…", f"{point.missing_before} expired", *blanks])


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
