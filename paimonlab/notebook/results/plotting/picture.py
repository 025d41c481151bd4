"""A plot as SVG in an ``<img>``, for viewers that run no JavaScript."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator

import numpy as np

from paimonlab.notebook.display import axes
from paimonlab.notebook.display.characters import cut, escaped
from paimonlab.notebook.results.plotting.columns import AxisKind
from paimonlab.notebook.results.plotting.points import Points, Series
from paimonlab.notebook.results.plotting.styles import STYLES, Style
from paimonlab.spec.visible_text import visible

WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 34, 322
_MOST = sys.float_info.max
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


def image(points: Points, alternative: str) -> str:
    """Return an ``<img>`` with a text that stands for it."""
    data = base64.b64encode(svg(points).encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(alternative)}" '
        f'width="{WIDTH}" height="{HEIGHT}" style="max-width:100%">'
    )


def svg(points: Points) -> str:
    """Draw the plot; the light ground makes it readable in dark themes too."""
    parts = "".join(_Drawing(points).parts())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11" fill="#222">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#fff"/>{parts}</svg>'
    )


class _Drawing:
    """Places of one plot on its ground."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._styled = list(zip(points.series, STYLES, strict=False))
        self._is_bars = points.kind in {"bar", "hist"}
        at = np.concatenate([one.at for one in points.series] or [np.array([0.0, 1.0])])
        y = np.concatenate([one.y for one in points.series] or [np.array([0.0, 1.0])])
        if points.width is not None:
            y = np.sum([one.y for one in points.series], axis=0)  # stacked
        y = y[~np.isnan(y)] if (~np.isnan(y)).any() else np.array([0.0, 1.0])
        low, high = float(y.min()), float(y.max())
        if self._is_bars:
            low, high = min(low, 0.0), max(high, 0.0)
        self._y_ends = axes.span(low, high)
        self._slot = points.width or self._gap(at)
        self._heights: dict[float, float] = {}
        """Where the next bar of a stack begins."""
        self._x_ends = self._along(at)

    def _gap(self, at: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        """Return the room of a bar: the least distance between two."""
        different = np.unique(at)
        return min(float(np.diff(different).min()), _MOST) if len(different) > 1 else 1.0

    def _along(self, at: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
        low, high = float(at.min()), float(at.max())
        if self._points.width is not None:
            return axes.span(low, min(high + self._slot, _MOST))
        if self._is_bars or self._points.x_kind is AxisKind.CATEGORY:
            room = self._slot / 2
            return max(low - room, -_MOST), min(high + room, _MOST)
        return axes.span(low, high)

    def _x(self, value: float) -> float:
        return _scaled(value, *self._x_ends, _LEFT, WIDTH - _RIGHT)

    def _y(self, value: float) -> float:
        return _scaled(value, *self._y_ends, _BOTTOM, _TOP)

    def parts(self) -> Iterator[str]:
        """Yield what is drawn, what lies behind first."""
        points = self._points
        title = _text(points.title, 90)
        yield f'<text x="12" y="20" font-size="13" font-weight="bold">{title}</text>'
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
                yield (
                    f'<pattern id="h{number}" width="6" height="6" patternUnits="userSpaceOnUse">'
                    f'<rect width="6" height="6" fill="{style.colour}"/>'
                    f'<path d="{_HATCHES[style.hatch]}" stroke="#fff" fill="none"/></pattern>'
                )

    def _fill(self, style: Style, number: int) -> str:
        return f"url(#h{number})" if style.hatch else style.colour

    def _grid(self) -> Iterator[str]:
        for value in axes.ticks(*self._y_ends):
            y = self._y(value)
            yield f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#ddd"/>'
            yield (
                f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                f"{axes.number_text(value)}</text>"
            )
        for value, text in self._x_ticks():
            x = self._x(value)
            yield f'<path d="M{x:.1f} {_BOTTOM}v5" stroke="#888"/>'
            yield f'<text x="{x:.1f}" y="{_BOTTOM + 17}" text-anchor="middle">{text}</text>'
        yield f'<path d="M{_LEFT} {_BOTTOM}H{WIDTH - _RIGHT}" stroke="#888"/>'
        middle = (_LEFT + WIDTH - _RIGHT) / 2
        name = _text(self._points.x_name, 60)
        yield f'<text x="{middle}" y="{_BOTTOM + 34}" text-anchor="middle">{name}</text>'
        high = (_TOP + _BOTTOM) / 2
        yield (
            f'<text transform="translate(14 {high}) rotate(-90)" text-anchor="middle">'
            f"{_text(self._points.y_name, 40)}</text>"
        )

    def _x_ticks(self) -> Iterator[tuple[float, str]]:
        low, high = self._x_ends
        if self._points.x_kind is AxisKind.CATEGORY:
            labels = self._points.labels
            room = max(int((WIDTH - _LEFT - _RIGHT) / max(len(labels), 1) / 6.5), 3)
            every = max(-(-len(labels) * 4 // 100), 1)
            for place in range(0, len(labels), every):
                yield float(place), _text(labels[place], min(room * every, 24))
        elif self._points.x_kind is AxisKind.TIME:
            found = axes.time_ticks(low, high)
            apart = found[1] - found[0] if len(found) > 1 else (high - low)
            for value in found:
                yield value, axes.time_text(value, apart)
        else:
            for value in axes.ticks(low, high, 8):
                yield value, axes.number_text(value)

    def _line(self, series: Series, style: Style) -> Iterator[str]:
        path, is_down = [], False
        for at, value in zip(series.at, series.y, strict=True):
            if np.isnan(value):
                is_down = False
                continue
            path.append(f"{'L' if is_down else 'M'}{self._x(at):.1f} {self._y(value):.1f}")
            is_down = True
        dashes = f' stroke-dasharray="{_DASHES[style.dash]}"' if _DASHES[style.dash] else ""
        yield (
            f'<path d="{"".join(path)}" fill="none" stroke="{style.colour}" '
            f'stroke-width="2"{dashes}/>'
        )
        if len(series.x) <= 100:
            yield from self._marks(series, style)

    def _marks(self, series: Series, style: Style) -> Iterator[str]:
        mark = _MARKS[style.symbol]
        path = "".join(
            mark(self._x(at), self._y(value))
            for at, value in zip(series.at, series.y, strict=True)
            if not np.isnan(value)
        )
        yield f'<path d="{path}" fill="{style.colour}" fill-opacity="0.85"/>'

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
            left, right = self._x(at + start), self._x(at + start + room / count)
            top, bottom = sorted((self._y(base + value), self._y(base)))
            yield (
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left - 0.5, 0.5):.1f}" '
                f'height="{max(bottom - top, 0.5):.1f}" fill="{self._fill(style, number)}"/>'
            )

    def _legend(self) -> Iterator[str]:
        if not self._points.by:
            return
        x, y = 12.0, HEIGHT - 24
        for number, (series, style) in enumerate(self._styled):
            name = cut(visible(series.name), 24)
            if x > WIDTH - 100:
                x, y = 12.0, y + 16
            if self._is_bars:
                fill = self._fill(style, number)
                yield f'<rect x="{x}" y="{y - 9}" width="16" height="10" fill="{fill}"/>'
            else:
                if self._points.kind == "line":
                    dashes = _DASHES[style.dash]
                    yield (
                        f'<path d="M{x} {y - 4}h22" stroke="{style.colour}" stroke-width="2" '
                        f'stroke-dasharray="{dashes or "none"}"/>'
                    )
                yield f'<path d="{_MARKS[style.symbol](x + 11, y - 4.0)}" fill="{style.colour}"/>'
            yield f'<text x="{x + 27}" y="{y}">{escaped(name)}</text>'
            x += 44 + 6.5 * len(name)


def _scaled(value: float, low: float, high: float, first: float, last: float) -> float:
    """Place a value between two ends; halves keep what is huge from overflowing."""
    share = min(max((value / 2 - low / 2) / (high / 2 - low / 2), 0.0), 1.0)
    return first + (last - first) * share


def _text(text: str, columns: int) -> str:
    return escaped(cut(visible(text), columns))
