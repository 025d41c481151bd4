"""The picture of a timeline: SVG in an ``<img>``, which sanitisers leave alone.

A snapshot is a mark on a line, its shape and letter say the kind, the bar its rows. The text
for those who cannot see it carries the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from paimonlab.analysis.snapshots.timeline import TimelinePoint
from paimonlab.notebook.display import svg
from paimonlab.notebook.display.colours import (
    AXIS,
    BLUE,
    GREEN,
    GREY,
    GROUND,
    INK,
    LINK,
    NEW,
    ON_BRIGHT,
    ON_MARK,
    PINK,
    RED,
    YELLOW,
)
from paimonlab.notebook.display.numbers import signed_many

Points = Sequence[TimelinePoint]

_STEP = 46
_PAGE = 550
"""Pixels of a narrow page, in which letters keep their size."""
_LETTER = 8
_MARGIN = 30
_HEIGHT = 196
_LINE = 132
_BAR = 66
_RADIUS = 11
_SMALL = 8.5
"""Size of the names of tags and consumers."""

_COLOURS = {"APPEND": BLUE, "COMPACT": GREEN, "OVERWRITE": RED, "ANALYZE": GREY}
LETTERS = {"APPEND": "A", "COMPACT": "C", "OVERWRITE": "O", "ANALYZE": "X"}


def picture(table: str, points: Points) -> str:
    """Return an ``<img>`` of the newest snapshots of a table, oldest first."""
    return svg.image(drawn(points), alternative(table, points), _width(points), _HEIGHT)


def alternative(table: str, points: Points) -> str:
    """Say in words what the picture shows."""
    return f"Timeline of {table}: " + "; ".join(map(_sentence, points))


def _sentence(point: TimelinePoint) -> str:
    added = point.row_change
    rows = "" if added is None else f" {signed_many(added, 'row')}"
    schema = f", schema {point.schema_id}" if point.is_new_schema else ""
    tags = f", tags {', '.join(point.tags)}" if point.tags else ""
    readers = f", read next by {', '.join(point.consumers)}" if point.consumers else ""
    gap = f"{point.missing_before} expired; " if point.missing_before else ""
    return f"{gap}{point.id} {point.commit_kind.lower()}{rows}{schema}{tags}{readers}"


def drawn(points: Points) -> str:
    """Draw the timeline as SVG."""
    width = _width(points)
    line = svg.path(f"M12 {_LINE}H{width - 12}", stroke=AXIS, stroke_width=2)
    return svg.document(width, _HEIGHT, [line, *_shapes(points)], text_anchor="middle")


def _width(points: Points) -> int:
    return max(2 * _MARGIN + _step(points) * (len(points) - 1), 220)


def _step(points: Points) -> int:
    """Return how far snapshots are from each other: as a narrow page needs it, if texts allow."""
    flags = any(one.tags and two.tags for one, two in pairwise(points))
    if flags or any(point.missing_before or point.consumers for point in points):
        return _STEP
    texts = [text for point in points for text in (str(point.id), _short(point.row_change or 0))]
    wide_marks = any(point.commit_kind in {"OVERWRITE", "ANALYZE"} for point in points)
    least = max(_LETTER * max(map(len, texts)) + 4, 32 if wide_marks else 24)
    return min(_STEP, max(least, (_PAGE - 2 * _MARGIN) // max(len(points) - 1, 1)))


def _shapes(points: Points) -> Iterator[str]:
    largest = max(abs(point.row_change or 0) for point in points) or 1
    step = _step(points)
    for number, point in enumerate(points):
        x = _MARGIN + step * number
        yield from _separators(point, x - step // 2)
        yield _bar(point, x, largest)
        yield _MARKS[point.commit_kind](x, _COLOURS[point.commit_kind])
        letter = LETTERS[point.commit_kind]
        yield svg.text(x, _LINE + 4, letter, fill=ON_MARK, font_weight="bold")
        yield svg.text(x, _LINE + 28, str(point.id), fill=INK, font_weight="bold")
        if point.tags:
            yield _flag(point, x)
        if point.consumers:
            name = f"▼ {_short_name(point.consumers)}"
            yield svg.text(x, _LINE + 60, name, fill=LINK, font_size=_SMALL)


def _separators(point: TimelinePoint, x: int) -> Iterator[str]:
    """Draw what happened between this snapshot and the previous one."""
    if point.is_new_schema:
        yield svg.path(f"M{x} 22V{_LINE + 14}", stroke=PINK, stroke_dasharray="4 3")
        yield svg.text(x, 16, f"schema {point.schema_id}", fill=NEW)
    if point.missing_before:
        yield svg.rectangle(x - 12, _LINE - 7, 24, 14, fill=GROUND)
        yield svg.text(x, _LINE + 4, f"… {point.missing_before} …", fill=INK)


def _bar(point: TimelinePoint, x: int, largest: int) -> str:
    count = point.row_change
    if not count:  # statistics, and compactions that dropped nothing
        return ""
    top = _LINE - _RADIUS - 5
    height = max(round(_BAR * abs(count) / largest), 1)
    colour = _COLOURS[point.commit_kind]
    fill = colour if count >= 0 else GROUND
    bar = svg.rectangle(x - 9, top - height, 18, height, fill=fill, stroke=colour)
    return bar + svg.text(x, top - height - 5, _short(count), fill=INK)


def _flag(point: TimelinePoint, x: int) -> str:
    flag = svg.path(f"M{x - 23} {_LINE + 36}h46v16h-46z", fill=YELLOW, stroke="#7A7000")
    name = _short_name(point.tags)
    is_long = len(name) > 8
    return flag + svg.text(
        *(x, _LINE + 47, name),
        fill=ON_BRIGHT,
        font_size=_SMALL,
        textLength=42 if is_long else None,
        lengthAdjust="spacingAndGlyphs" if is_long else None,
    )


def _short_name(names: Sequence[str]) -> str:
    """Return the only name, if it is short; else where the first one begins."""
    return names[0] if len(names) == 1 and len(names[0]) <= 10 else names[0][:9] + "…"


def _short(count: int) -> str:
    """Write a count in at most six characters, as in ``+27.0k``."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(count) >= size:
            return f"{count / size:+.{0 if abs(count) >= 100 * size else 1}f}{unit}"
    return f"{count:+d}"


def _circle(x: int, fill: str) -> str:
    return svg.circle(x, _LINE, _RADIUS, fill=fill)


def _square(x: int, fill: str) -> str:
    side = 2 * _RADIUS - 2
    return svg.rectangle(x - _RADIUS + 1, _LINE - _RADIUS + 1, side, side, fill=fill)


def _diamond(x: int, fill: str) -> str:
    radius = _RADIUS + 3
    sides = f"l{radius} {radius}l-{radius} {radius}l-{radius} -{radius}"
    return svg.path(f"M{x} {_LINE - radius}{sides}z", fill=fill)


def _triangle(x: int, fill: str) -> str:
    return svg.path(f"M{x} {_LINE - 15}l15 25h-30z", fill=fill)


_MARKS: dict[str, Callable[[int, str], str]] = {
    "APPEND": _circle,
    "COMPACT": _square,
    "OVERWRITE": _diamond,
    "ANALYZE": _triangle,
}
