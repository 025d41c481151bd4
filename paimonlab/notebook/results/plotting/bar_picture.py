"""Grouped horizontal bars as SVG in an ``<img>``, for viewers that run no JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from paimonlab.notebook.display import svg
from paimonlab.notebook.display.axes import Scale
from paimonlab.notebook.display.characters import text_width
from paimonlab.notebook.display.colours import AXIS, BLUE, GREEN, INK, ORANGE, PINK

COLOURS = (ORANGE, BLUE, GREEN, PINK)
"""One for each series."""

Values = Sequence[float | None]

_WIDTH = 760
_LABEL_WIDTH = 110
"""At least, in pixels; a longer label gets what it takes."""
_LABEL_COLUMNS = 40
_COLUMN = 7
"""Pixels of a letter."""
_NUMBER_WIDTH = 52
_BAR = 9
_HEAD = 50


def bar_picture(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> str:
    """Return an ``<img>`` with a bar for each label and series, and the numbers as its text."""
    words, height = alternative(title, labels, series), _height(labels, series)
    return svg.image(drawn(title, labels, series), words, _WIDTH, height)


def alternative(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> str:
    """Say in words what the picture shows."""
    write = _writer(series)
    sentences = [
        f"{label} " + ", ".join(f"{name} {write(values[row])}" for name, values in series.items())
        for row, label in enumerate(labels)
    ]
    return f"{title}: " + "; ".join(sentences)


def drawn(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> str:
    """Draw the bars as SVG."""
    heading = svg.text(12, 20, title, fill=INK, font_size=13, font_weight="bold")
    shapes = [heading, *_legend(series), *_bars(labels, series)]
    return svg.document(_WIDTH, _height(labels, series), shapes)


def _group(series: Mapping[str, Values]) -> int:
    return _BAR * len(series) + 8


def _height(labels: Sequence[str], series: Mapping[str, Values]) -> int:
    return _HEAD + _group(series) * len(labels) + 8


def _legend(series: Mapping[str, Values]) -> Iterator[str]:
    x = 12
    for name, colour in zip(series, COLOURS, strict=False):
        yield svg.rectangle(x, 30, 10, 10, fill=colour)
        yield svg.text(x + 15, 39, name, fill=INK)
        x += 40 + _COLUMN * len(name)


def _bars(labels: Sequence[str], series: Mapping[str, Values]) -> Iterator[str]:
    known = [value for values in series.values() for value in values if value is not None]
    low, high = min(0.0, *known), max(0.0, *known)
    names = [svg.shortened_name(label, _LABEL_COLUMNS) for label in labels]
    gutter = max(_LABEL_WIDTH, *(_COLUMN * text_width(name) + 14 for name in names))
    left = gutter + (_NUMBER_WIDTH if low < 0 else 0)
    write = _writer(series)
    along = Scale(low, high, left, _WIDTH - _NUMBER_WIDTH)
    yield svg.path(f"M{along.at(0):.1f} {_HEAD - 4}V{_height(labels, series) - 8}", stroke=AXIS)
    for row, name in enumerate(names):
        y = _HEAD + _group(series) * row
        middle = round(y + _BAR * len(series) / 2 + 4)
        yield svg.text(gutter - 10, middle, name, fill=INK, text_anchor="end")
        for number, (values, colour) in enumerate(zip(series.values(), COLOURS, strict=False)):
            value = values[row]
            if value is not None:
                yield _bar(along, y + _BAR * number, value, colour, write(value))


def _bar(along: Scale, y: int, value: float, colour: str, words: str) -> str:
    start, end = sorted((along.at(0), along.at(value)))
    x, anchor = (end + 4, "start") if value >= 0 else (start - 4, "end")
    bar = svg.rectangle(start, y, end - start, _BAR - 1, fill=colour)
    return bar + svg.text(x, y + _BAR - 1, words, fill=INK, font_size=9, text_anchor=anchor)


def _writer(series: Mapping[str, Values]) -> Callable[[float | None], str]:
    """Write numbers with a decimal, or without where all of the picture are whole."""
    known = [value for values in series.values() for value in values if value is not None]
    digits = 0 if all(value.is_integer() for value in known) else 1
    return lambda value: "unknown" if value is None else f"{value:,.{digits}f}"
