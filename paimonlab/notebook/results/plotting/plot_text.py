"""A plot in numbers: every point where there are few, else what each series is like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paimonlab.notebook.display.cells import NULL, Cell, value_text
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.results.plotting.points import Points, Series
from paimonlab.spec.visible_text import visible

MOST_TOLD = 60
"""Points that are told one by one."""
_CHARACTERS = 2_000


def told(points: Points) -> Grid:
    """Say what is drawn."""
    title = f"{points.kind}: {points.title}"
    footer = "; ".join(points.notes)
    if points.count <= MOST_TOLD:
        return Grid(*_each(points), title, footer)
    return Grid(*_summed(points), title, footer)


def alternative(points: Points) -> str:
    """Say in words what the picture shows."""
    said = []
    for series in points.series:
        name = f"{series.name}: " if points.by else ""
        if points.count <= MOST_TOLD:
            pairs = zip(series.x, series.y, strict=True)
            said.append(name + ", ".join(f"{_shown(x)} {_number(y)}" for x, y in pairs))
        else:
            first, last = _shown(series.x[0]), _shown(series.x[-1])
            said.append(
                f"{name}{len(series.x):,} points from {first} to {last}, "
                f"least {_number(_end(series, -1))}, largest {_number(_end(series, 1))}"
            )
    whole = visible(f"{points.kind}, {points.title}: " + "; ".join(said))
    return whole if len(whole) <= _CHARACTERS else whole[:_CHARACTERS] + "…"


def _each(points: Points) -> tuple[tuple[Column, ...], Sequence[Sequence[Cell]]]:
    """Put x down and the series across; where x occurs twice, a row a point."""
    heads = [Column(points.x_name)]
    if any(len(set(one.x)) < len(one.x) for one in points.series):
        heads = [*([Column(points.by)] if points.by else []), *heads]
        body = [
            [*([Cell(visible(one.name))] if points.by else []), Cell(_shown(x)), _cell(y)]
            for one in points.series
            for x, y in zip(one.x, one.y, strict=True)
        ]
        return (*heads, Column(points.y_name, align=Align.RIGHT)), body
    places: dict[object, float] = {}
    for one in points.series:
        places |= dict(zip(one.x, one.at, strict=True))
    values = [dict(zip(one.x, one.y, strict=True)) for one in points.series]
    names = [one.name if points.by else points.y_name for one in points.series]
    body = [
        [Cell(_shown(x)), *(_cell(found[x]) if x in found else Cell("") for found in values)]
        for x in sorted(places, key=lambda one: places[one])
    ]
    return (*heads, *(Column(name, align=Align.RIGHT) for name in names)), body


def _summed(points: Points) -> tuple[tuple[Column, ...], Sequence[Sequence[Cell]]]:
    right = Align.RIGHT
    heads = (
        Column(points.by or "series"),
        Column("points", align=right),
        Column(f"first {points.x_name}"),
        Column(f"last {points.x_name}"),
        Column(f"least {points.y_name}", align=right),
        Column(f"largest {points.y_name}", align=right),
    )
    body = [
        [
            Cell(visible(one.name) or "all"),
            Cell(f"{len(one.x):,}"),
            Cell(_shown(one.x[int(np.argmin(one.at))])),
            Cell(_shown(one.x[int(np.argmax(one.at))])),
            _cell(_end(one, -1)),
            _cell(_end(one, 1)),
        ]
        for one in points.series
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
    return NULL if np.isnan(value) else Cell(_number(value))
