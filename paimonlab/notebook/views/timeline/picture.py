"""The picture of a timeline: SVG in an ``<img>``, which sanitisers leave alone.

A snapshot is a mark on a line, its shape and letter say the kind, the bar its rows. The text
for those who cannot see it carries the same numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence

from paimonlab.analysis.snapshots.timeline import TimelinePoint
from paimonlab.notebook.display.characters import escaped

Points = Sequence[TimelinePoint]

_STEP = 46
_MARGIN = 30
_HEIGHT = 196
_LINE = 132
_BAR = 66
_RADIUS = 11
_PIN = 'fill="#0072B2" font-size="8.5"'

# Okabe and Ito's colours can be told apart by people who do not see red or green.
_COLOURS = {"APPEND": "#0072B2", "COMPACT": "#009E73", "OVERWRITE": "#D55E00", "ANALYZE": "#7A7A7A"}
LETTERS = {"APPEND": "A", "COMPACT": "C", "OVERWRITE": "O", "ANALYZE": "X"}


def picture(table: str, points: Points) -> str:
    """Return an ``<img>`` of the newest snapshots of a table, oldest first."""
    data = base64.b64encode(svg(points).encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(alternative(table, points))}" '
        f'width="{_width(points)}" height="{_HEIGHT}" style="max-width:100%">'
    )


def alternative(table: str, points: Points) -> str:
    """Say in words what the picture shows."""
    return f"Timeline of {table}: " + "; ".join(map(_sentence, points))


def _sentence(point: TimelinePoint) -> str:
    rows = "" if point.delta_record_count is None else f" {point.delta_record_count:+,} rows"
    schema = f", schema {point.schema_id}" if point.is_new_schema else ""
    tags = f", tags {', '.join(point.tags)}" if point.tags else ""
    readers = f", read next by {', '.join(point.consumers)}" if point.consumers else ""
    gap = f"{point.missing_before} expired; " if point.missing_before else ""
    return f"{gap}{point.id} {point.commit_kind.lower()}{rows}{schema}{tags}{readers}"


def svg(points: Points) -> str:
    """Draw the timeline; a light ground makes it readable in dark themes too."""
    width = _width(points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" width="{width}" '
        f'height="{_HEIGHT}" font-family="sans-serif" font-size="11" text-anchor="middle">'
        f'<rect width="{width}" height="{_HEIGHT}" rx="6" fill="#fff"/>'
        f'<path d="M12 {_LINE}H{width - 12}" stroke="#999" stroke-width="2"/>'
        + "".join(_shapes(points))
        + "</svg>"
    )


def _width(points: Points) -> int:
    return max(2 * _MARGIN + _STEP * (len(points) - 1), 220)


def _shapes(points: Points) -> Iterator[str]:
    largest = max(abs(point.delta_record_count or 0) for point in points) or 1
    for number, point in enumerate(points):
        x = _MARGIN + _STEP * number
        yield from _separators(point, x - _STEP // 2)
        yield _bar(point, x, largest)
        yield _MARKS[point.commit_kind](x, _COLOURS[point.commit_kind])
        letter = LETTERS[point.commit_kind]
        yield _text(x, _LINE + 4, letter, 'fill="#fff" font-weight="bold"')
        yield _text(x, _LINE + 28, str(point.id), 'fill="#222" font-weight="bold"')
        if point.tags:
            yield _flag(point, x)
        if point.consumers:
            yield _text(x, _LINE + 60, f"▼ {_short_name(point.consumers)}", _PIN)


def _separators(point: TimelinePoint, x: int) -> Iterator[str]:
    """Draw what happened between this snapshot and the one before it."""
    if point.is_new_schema:
        yield f'<path d="M{x} 22V{_LINE + 14}" stroke="#CC79A7" stroke-dasharray="4 3"/>'
        yield _text(x, 16, f"schema {point.schema_id}", 'fill="#8A3D6B"')
    if point.missing_before:
        yield f'<rect x="{x - 12}" y="{_LINE - 7}" width="24" height="14" fill="#fff"/>'
        yield _text(x, _LINE + 4, f"… {point.missing_before} …", 'fill="#555"')


def _bar(point: TimelinePoint, x: int, largest: int) -> str:
    count = point.delta_record_count
    if count is None:
        return ""
    top = _LINE - _RADIUS - 5
    height = max(round(_BAR * abs(count) / largest), 1 if count else 0)
    fill = _COLOURS[point.commit_kind] if count >= 0 else "#fff"
    stroke = _COLOURS[point.commit_kind]
    return (
        f'<rect x="{x - 9}" y="{top - height}" width="18" height="{height}" fill="{fill}" '
        f'stroke="{stroke}"/>' + _text(x, top - height - 5, _short(count), 'fill="#222"')
    )


def _flag(point: TimelinePoint, x: int) -> str:
    label = _text(x, _LINE + 47, _short_name(point.tags), 'fill="#222" font-size="8.5"')
    return f'<path d="M{x - 23} {_LINE + 36}h46v16h-46z" fill="#F0E442" stroke="#7A7000"/>{label}'


def _short_name(names: Sequence[str]) -> str:
    """Return the only name, if it is short; else where the first one begins."""
    return names[0] if len(names) == 1 and len(names[0]) <= 10 else names[0][:9] + "…"


def _text(x: int, y: int, text: str, style: str) -> str:
    return f'<text x="{x}" y="{y}" {style}>{escaped(text)}</text>'


def _short(count: int) -> str:
    """Write a count in at most six characters, as in ``+27.0k``."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(count) >= size:
            return f"{count / size:+.1f}{unit}"
    return f"{count:+d}"


def _circle(x: int, fill: str) -> str:
    return f'<circle cx="{x}" cy="{_LINE}" r="{_RADIUS}" fill="{fill}"/>'


def _square(x: int, fill: str) -> str:
    side = 2 * _RADIUS - 2
    return (
        f'<rect x="{x - _RADIUS + 1}" y="{_LINE - _RADIUS + 1}" width="{side}" height="{side}" '
        f'fill="{fill}"/>'
    )


def _diamond(x: int, fill: str) -> str:
    radius = _RADIUS + 3
    return (
        f'<path d="M{x} {_LINE - radius}l{radius} {radius}l-{radius} {radius}'
        f'l-{radius} -{radius}z" fill="{fill}"/>'
    )


def _triangle(x: int, fill: str) -> str:
    return f'<path d="M{x} {_LINE - 15}l15 25h-30z" fill="{fill}"/>'


_MARKS: dict[str, Callable[[int, str], str]] = {
    "APPEND": _circle,
    "COMPACT": _square,
    "OVERWRITE": _diamond,
    "ANALYZE": _triangle,
}
