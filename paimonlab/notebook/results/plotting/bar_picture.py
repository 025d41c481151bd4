"""Grouped horizontal bars as SVG in an ``<img>``, for viewers that run no JavaScript."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence

from paimonlab.notebook.display.characters import escaped

COLOURS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7")
"""One for each series; Okabe and Ito's, which colour-blind readers can tell apart."""

Values = Sequence[float | None]

_WIDTH = 760
_LABEL_WIDTH = 110
_NUMBER_WIDTH = 52
_BAR = 9
_HEAD = 50


def bar_picture(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> str:
    """Return an ``<img>`` with a bar for each label and series, and the numbers as its text."""
    data = base64.b64encode(svg(title, labels, series).encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" width="{_WIDTH}" '
        f'height="{_height(labels, series)}" style="max-width:100%" '
        f'alt="{escaped(alternative(title, labels, series))}">'
    )


def alternative(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> str:
    """Say in words what the picture shows."""
    sentences = [
        f"{label} " + ", ".join(f"{name} {_number(values[row])}" for name, values in series.items())
        for row, label in enumerate(labels)
    ]
    return f"{title}: " + "; ".join(sentences)


def svg(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> str:
    """Draw the bars; the light ground makes them readable in dark themes too."""
    height = _height(labels, series)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="11">'
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="#fff"/>'
        f'<text x="12" y="20" fill="#222" font-size="13" font-weight="bold">{escaped(title)}</text>'
        + "".join(_legend(series))
        + "".join(_bars(labels, series))
        + "</svg>"
    )


def _group(series: Mapping[str, Values]) -> int:
    return _BAR * len(series) + 8


def _height(labels: Sequence[str], series: Mapping[str, Values]) -> int:
    return _HEAD + _group(series) * len(labels) + 8


def _legend(series: Mapping[str, Values]) -> Iterator[str]:
    x = 12
    for name, colour in zip(series, COLOURS, strict=False):
        yield f'<rect x="{x}" y="30" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 15}" y="39" fill="#222">{escaped(name)}</text>'
        x += 40 + 7 * len(name)


def _bars(labels: Sequence[str], series: Mapping[str, Values]) -> Iterator[str]:
    known = [value for values in series.values() for value in values if value is not None]
    low, high = min(0.0, *known), max(0.0, *known)
    left = _LABEL_WIDTH + (_NUMBER_WIDTH if low < 0 else 0)
    scale = (_WIDTH - left - _NUMBER_WIDTH) / ((high - low) or 1.0)
    zero = left - low * scale
    bottom = _height(labels, series) - 8
    yield f'<path d="M{zero:.1f} {_HEAD - 4}V{bottom}" stroke="#999"/>'
    for row, label in enumerate(labels):
        y = _HEAD + _group(series) * row
        middle = y + _BAR * len(series) / 2 + 4
        yield (
            f'<text x="{_LABEL_WIDTH - 10}" y="{middle:.0f}" fill="#222" text-anchor="end">'
            f"{escaped(label)}</text>"
        )
        for place, (values, colour) in enumerate(zip(series.values(), COLOURS, strict=False)):
            value = values[row]
            if value is not None:
                yield _bar(zero, y + _BAR * place, value, scale, colour)


def _bar(zero: float, y: int, value: float, scale: float, colour: str) -> str:
    length = abs(value) * scale
    start = zero if value >= 0 else zero - length
    end, anchor = (zero + length + 4, "start") if value >= 0 else (start - 4, "end")
    return (
        f'<rect x="{start:.1f}" y="{y}" width="{length:.1f}" height="{_BAR - 1}" fill="{colour}"/>'
        f'<text x="{end:.1f}" y="{y + _BAR - 1}" fill="#222" font-size="9" '
        f'text-anchor="{anchor}">{_number(value)}</text>'
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f}"
