"""A plot in numbers: every point where there are few, else what each series is like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paimonlab.notebook.display.cells import NULL, Cell, value_text
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.display.numbers import figure
from paimonlab.notebook.results.plotting.points import Points, Series
from paimonlab.spec.visible_text import visible

MOST_LISTED = 60
"""Points that are listed one by one."""
_CHARACTERS = 2_000


def numbers_of(points: Points) -> Grid:
    """Write what is drawn as a table of numbers."""
    title = f"{points.kind}: {points.title}"
    footer = "; ".join(points.notes)
    if points.count <= MOST_LISTED:
        return Grid(*_each(points), title, footer)
    return Grid(*_summed(points), title, footer)


def alternative(points: Points) -> str:
    """Say in words what the picture shows."""
    sentences = []
    for series in points.series:
        name = f"{series.name}: " if points.by else ""
        if points.count <= MOST_LISTED:
            pairs = zip(series.x, series.y, strict=True)
            sentences.append(name + ", ".join(f"{_shown(x)} {_number(y)}" for x, y in pairs))
        else:
            first, last = _shown(series.x[0]), _shown(series.x[-1])
            sentences.append(
                f"{name}{len(series.x):,} points from {first} to {last}, "
                f"min {_number(_end(series, -1))}, max {_number(_end(series, 1))}"
            )
    whole = visible(f"{points.kind}, {points.title}: " + "; ".join(sentences))
    return whole if len(whole) <= _CHARACTERS else whole[:_CHARACTERS] + "…"


def _each(points: Points) -> tuple[tuple[Column, ...], Sequence[Sequence[Cell]]]:
    """Put x down and the series across; where x occurs twice, a row per point."""
    heads = [Column(points.x_name)]
    if any(len(set(series.x)) < len(series.x) for series in points.series):
        heads = [*([Column(points.by)] if points.by else []), *heads]
        body = [
            [*([Cell(visible(series.name))] if points.by else []), Cell(_shown(x)), _cell(y)]
            for series in points.series
            for x, y in zip(series.x, series.y, strict=True)
        ]
        return (*heads, Column(points.y_name, align=Align.RIGHT)), body
    positions: dict[object, float] = {}
    for series in points.series:
        positions |= dict(zip(series.x, series.at, strict=True))
    values = [dict(zip(series.x, series.y, strict=True)) for series in points.series]
    names = [series.name if points.by else points.y_name for series in points.series]
    body = [
        [Cell(_shown(x)), *(_cell(by_x[x]) if x in by_x else Cell("") for by_x in values)]
        for x in sorted(positions, key=lambda x: positions[x])
    ]
    return (*heads, *(Column(name, align=Align.RIGHT) for name in names)), body


def _summed(points: Points) -> tuple[tuple[Column, ...], Sequence[Sequence[Cell]]]:
    right = Align.RIGHT
    heads = (
        Column(points.by or "series"),
        Column("points", align=right),
        Column(f"first {points.x_name}"),
        Column(f"last {points.x_name}"),
        Column("min", align=right),
        Column("max", align=right),
    )
    body = [
        [
            Cell(visible(series.name) or "all"),
            Cell(f"{len(series.x):,}"),
            Cell(_shown(series.x[int(np.argmin(series.at))])),
            Cell(_shown(series.x[int(np.argmax(series.at))])),
            _cell(_end(series, -1)),
            _cell(_end(series, 1)),
        ]
        for series in points.series
    ]
    return heads, body


def _end(series: Series, sign: int) -> float:
    known = series.y[~np.isnan(series.y)]
    if not len(known):
        return float("nan")
    return float(known.max() if sign > 0 else known.min())


def _shown(x: object) -> str:
    return _number(x) if isinstance(x, float) else visible(str(x))


def _number(value: float) -> str:
    if np.isnan(value):
        return "NULL"
    return (
        f"{int(value)}"
        if float(value).is_integer() and abs(value) < 2**53
        else value_text(float(value))
    )


def _cell(value: float) -> Cell:
    return NULL if np.isnan(value) else Cell(figure(_number(value)))
