"""A plot as SVG in an ``<img>``, for viewers that run no JavaScript."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paimonlab.notebook.display import axes, svg
from paimonlab.notebook.display.axes import Scale
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.colours import AXIS, ON_MARK, RULE
from paimonlab.notebook.results.plotting.columns import AxisKind
from paimonlab.notebook.results.plotting.points import Points, Series
from paimonlab.notebook.results.plotting.styles import STYLES, Style

WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 34, 322
_MOST = sys.float_info.max
_LABEL = 10
"""Letters that a name below its bar has at least, if it is so long: other names go."""
_SHORT_START = 6
"""Letters of a common start that are not worth to be left out."""
_DASHES = {
    "solid": "",
    "dash": "9 5",
    "dot": "2 4",
    "dashdot": "9 4 2 4",
    "longdash": "15 6",
    "longdashdot": "15 5 2 5",
}
_HATCHES = {
    "/": "M-1 1l2 -2M0 6l6 -6M5 7l2 -2",
    "\\": "M-1 5l2 2M0 0l6 6M5 -1l2 2",
    "x": "M0 6l6 -6M0 0l6 6",
    "-": "M0 3h6",
    "|": "M3 0v6",
    "+": "M0 3h6M3 0v6",
    ".": "M2 2h2v2h-2z",
}
_MARKS: dict[str, Callable[[float, float], str]] = {
    "circle": lambda x, y: f"M{x - 3:.1f} {y:.1f}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "square": lambda x, y: f"M{x - 3:.1f} {y - 3:.1f}h6v6h-6z",
    "diamond": lambda x, y: f"M{x:.1f} {y - 4:.1f}l4 4l-4 4l-4 -4z",
    "triangle-up": lambda x, y: f"M{x:.1f} {y - 4:.1f}l4 7h-8z",
    "triangle-down": lambda x, y: f"M{x:.1f} {y + 4:.1f}l4 -7h-8z",
    "x": lambda x, y: (
        f"M{x - 3:.1f} {y - 4:.1f}l3 3l3 -3l1 1l-3 3l3 3l-1 1l-3 -3l-3 3l-1 -1l3 -3l-3 -3z"
    ),
    "cross": lambda x, y: f"M{x - 1:.1f} {y - 4:.1f}h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
    "star": lambda x, y: (
        f"M{x:.1f} {y - 5:.1f}l1.5 3.5h3.5l-3 2.5l1.5 3.5l-3.5 -2.5l-3.5 2.5l1.5 -3.5l-3 -2.5h3.5z"
    ),
}


def without_common_start(labels: Sequence[str]) -> list[str]:
    """Leave out how all names start, if that is long: what differs is seen where room is short.

    Examples
    --------
    >>> without_common_start(["region=north/hour=01", "region=north/hour=02"])
    ['…01', '…02']
    >>> without_common_start(["new", "news"]), without_common_start(["2026-01-01", "2026-01-02"])
    (['new', 'news'], ['2026-01-01', '2026-01-02'])
    """
    first, last = (min(labels), max(labels)) if len(labels) > 1 else ("", "")
    ends = (at for at, (one, two) in enumerate(zip(first, last, strict=False)) if one != two)
    common = first[: next(ends, min(len(first), len(last)))]
    end = max((found.end() for found in re.finditer(r"[/=_.: ]", common)), default=0)
    return [f"…{label[end:]}" for label in labels] if end > _SHORT_START else [*labels]


def image(points: Points, alternative: str) -> str:
    """Return an ``<img>`` with its description."""
    drawn = svg.document(WIDTH, HEIGHT, _Drawing(points).shapes())
    return svg.image(drawn, alternative, WIDTH, HEIGHT)


class _Drawing:
    """One plot: its axes, and shapes at the pixels of its points."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._styled = list(zip(points.series, STYLES, strict=False))
        self._is_bars = points.kind in {"bar", "hist"}
        at = np.concatenate([series.at for series in points.series] or [np.array([0.0, 1.0])])
        y = np.concatenate([series.y for series in points.series] or [np.array([0.0, 1.0])])
        if points.width is not None:
            y = np.sum([series.y for series in points.series], axis=0)  # stacked
        y = y[~np.isnan(y)] if (~np.isnan(y)).any() else np.array([0.0, 1.0])
        low, high = float(y.min()), float(y.max())
        if self._is_bars:
            low, high = min(low, 0.0), max(high, 0.0)
        self._up = Scale(*axes.span(low, high), _BOTTOM, _TOP)
        self._slot = points.width or self._gap(at)
        self._heights: dict[float, float] = {}
        """Where the next bar of a stack begins."""
        self._along = Scale(*self._x_ends(at), _LEFT, WIDTH - _RIGHT)

    def _gap(self, at: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        """Return the room of a bar: the least distance between two."""
        different = np.unique(at)
        return min(float(np.diff(different).min()), _MOST) if len(different) > 1 else 1.0

    def _x_ends(self, at: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
        low, high = float(at.min()), float(at.max())
        if self._points.width is not None:
            return axes.span(low, min(high + self._slot, _MOST))
        if self._is_bars or self._points.x_kind is AxisKind.CATEGORY:
            room = self._slot / 2
            return max(low - room, -_MOST), min(high + room, _MOST)
        return axes.span(low, high)

    def shapes(self) -> Iterator[str]:
        """Yield what is drawn, the hindmost first."""
        points = self._points
        title = svg.shortened(points.title, 90)
        yield svg.text(12, 20, title, font_size=13, font_weight="bold")
        yield from self._hatches()
        yield from self._grid()
        for number, (series, style) in enumerate(self._styled):
            if self._is_bars:
                yield from self._bars(series, style, number)
            elif points.kind == "line":
                yield from self._line(series, style)
            else:
                yield from self._marks(series, style)
        yield from self._legend()

    def _hatches(self) -> Iterator[str]:
        if not self._is_bars:
            return
        for number, (_, style) in enumerate(self._styled):
            if style.hatch:
                ground = svg.element("rect", width=6, height=6, fill=style.colour)
                lines = svg.path(_HATCHES[style.hatch], stroke=ON_MARK, fill="none")
                yield svg.hatch(f"h{number}", 6, ground, lines)

    def _fill(self, style: Style, number: int) -> str:
        return f"url(#h{number})" if style.hatch else style.colour

    def _grid(self) -> Iterator[str]:
        for value in axes.ticks(self._up.low, self._up.high):
            y = self._up.at(value)
            yield svg.path(f"M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}", stroke=RULE)
            yield svg.text(_LEFT - 6, y + 4, axes.number_text(value), text_anchor="end")
        for value, text in self._x_ticks():
            x = self._along.at(value)
            yield svg.path(f"M{x:.1f} {_BOTTOM}v5", stroke=AXIS)
            yield svg.text(x, _BOTTOM + 17, text, text_anchor="middle")
        yield svg.path(f"M{_LEFT} {_BOTTOM}H{WIDTH - _RIGHT}", stroke=AXIS)
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        name = svg.shortened(self._points.x_name, 60)
        yield svg.text(middle, _BOTTOM + 34, name, text_anchor="middle")
        yield svg.element(
            "text",
            escaped(svg.shortened(self._points.y_name, 40)),
            transform=f"translate(14 {(_TOP + _BOTTOM) / 2}) rotate(-90)",
            text_anchor="middle",
        )

    def _x_ticks(self) -> Iterator[tuple[float, str]]:
        low, high = self._along.low, self._along.high
        if self._points.x_kind is AxisKind.CATEGORY:
            labels = self._points.labels
            different = without_common_start(labels)
            room = (WIDTH - _LEFT - _RIGHT) / max(len(labels), 1) / 6.5
            wanted = min(max(map(len, different), default=1), _LABEL) + 1
            every = max(math.ceil(wanted / room), 1)
            for number in range(0, len(labels), every):
                yield float(number), svg.shortened(different[number], min(int(room * every), 24))
        elif self._points.x_kind is AxisKind.TIME:
            moments = axes.time_ticks(low, high)
            apart = moments[1] - moments[0] if len(moments) > 1 else (high - low)
            for moment in moments:
                yield moment, axes.time_text(moment, apart)
        else:
            for value in axes.ticks(low, high, 8):
                yield value, axes.number_text(value)

    def _line(self, series: Series, style: Style) -> Iterator[str]:
        line, is_down = [], False
        for at, value in zip(series.at, series.y, strict=True):
            if np.isnan(value):
                is_down = False
                continue
            line.append(
                f"{'L' if is_down else 'M'}{self._along.at(at):.1f} {self._up.at(value):.1f}"
            )
            is_down = True
        yield svg.path(
            "".join(line),
            fill="none",
            stroke=style.colour,
            stroke_width=2,
            stroke_dasharray=_DASHES[style.dash] or None,
        )
        if len(series.x) <= 100:
            yield from self._marks(series, style)

    def _marks(self, series: Series, style: Style) -> Iterator[str]:
        mark = _MARKS[style.symbol]
        marks = "".join(
            mark(self._along.at(at), self._up.at(value))
            for at, value in zip(series.at, series.y, strict=True)
            if not np.isnan(value)
        )
        yield svg.path(marks, fill=style.colour, fill_opacity="0.85")

    def _bars(self, series: Series, style: Style, number: int) -> Iterator[str]:
        is_stack = self._points.width is not None
        count = 1 if is_stack else len(self._styled)
        room = self._slot if is_stack else self._slot * 0.8
        start = 0.0 if is_stack else -room / 2 + room * number / count
        for at, value in zip(series.at.tolist(), series.y.tolist(), strict=True):
            if np.isnan(value) or (is_stack and not value):
                continue
            base = self._heights.get(at, 0.0)
            if is_stack:
                self._heights[at] = base + value
            left = self._along.at(at + start)
            width = max(self._along.at(at + start + room / count) - left - 0.5, 0.5)
            top, bottom = sorted((self._up.at(base + value), self._up.at(base)))
            fill = self._fill(style, number)
            yield svg.rectangle(left, top, width, max(bottom - top, 0.5), fill=fill)

    def _legend(self) -> Iterator[str]:
        if not self._points.by:
            return
        x, y = 12.0, HEIGHT - 24
        for number, (series, style) in enumerate(self._styled):
            name = svg.shortened(series.name, 24)
            if x > WIDTH - 100:
                x, y = 12.0, y + 16
            if self._is_bars:
                fill = self._fill(style, number)
                yield svg.rectangle(x, y - 9, 16, 10, fill=fill)
            else:
                if self._points.kind == "line":
                    yield svg.path(
                        f"M{x} {y - 4}h22",
                        stroke=style.colour,
                        stroke_width=2,
                        stroke_dasharray=_DASHES[style.dash] or "none",
                    )
                yield svg.path(_MARKS[style.symbol](x + 11, y - 4.0), fill=style.colour)
            yield svg.text(x + 27, y, name)
            x += 44 + 6.5 * len(name)
