"""A plot as plotly's figure, and as the Python that makes the same one.

plotly reads a little markup in names and labels: what would be markup is written as entities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paimonlab.errors import UnsupportedError
from paimonlab.interrupts import interrupts_held_back
from paimonlab.notebook.results.plotting.bar_picture import Values
from paimonlab.notebook.results.plotting.columns import AxisKind
from paimonlab.notebook.results.plotting.points import Points, Series
from paimonlab.notebook.results.plotting.styles import STYLES, Style
from paimonlab.spec.visible_text import visible

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
_NAME_CHARACTERS = 80


def figure(points: Points) -> Figure:
    """Make the figure.

    Raises
    ------
    UnsupportedError
        If plotly is not installed.
    """
    drawing = _empty_figure()
    for series, style in zip(points.series, STYLES, strict=False):
        drawing.add_trace({**_trace(points, series, style), **_data(points, series)})
    drawing.update_layout(**_layout(points))
    return drawing


def bar_figure(
    title: str, labels: Sequence[str], series: Mapping[str, Values], colours: Sequence[str]
) -> Figure:
    """Make the figure of a bar chart: a group of horizontal bars for each label.

    Raises
    ------
    UnsupportedError
        If plotly is not installed.
    """
    drawing = _empty_figure()
    for (name, values), colour in zip(series.items(), colours, strict=False):
        drawing.add_bar(
            name=label(name),
            y=[label(text) for text in labels],
            x=list(values),
            orientation="h",
            marker_color=colour,
        )
    drawing.update_layout(
        title=label(title),
        barmode="group",
        height=120 + 30 * len(labels),
        margin={"l": 60, "r": 20, "t": 60, "b": 40},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        yaxis={"autorange": "reversed"},
    )
    return drawing


def _empty_figure() -> Figure:
    try:
        with interrupts_held_back():
            from plotly import graph_objects as go  # noqa: PLC0415 - optional, and slow
    except ImportError as error:
        raise UnsupportedError("a figure of plotly", "pip install plotly") from error
    return go.Figure()


def code(points: Points, call: str) -> str:
    """Write the Python that makes the same figure.

    Parameters
    ----------
    points
        What is drawn.
    call
        The expression whose value has the points: ``result.plot("line", "x", "y")``.
    """
    traces = [
        f"    ({series.name!r}, {_trace(points, series, style)!r}),"
        for series, style in zip(points.series, STYLES, strict=False)
    ]
    shown = "labels" if points.x_kind is AxisKind.CATEGORY else "x"
    return "\n".join(
        [
            "import plotly.graph_objects as go",
            "",
            "# What is drawn: series, x, y, and x as it is labelled.",
            f"points = {call}.points.to_pylist()",
            "figure = go.Figure()",
            "for name, trace in [",
            *traces,
            "]:",
            '    mine = [point for point in points if point["series"] == name]',
            f'    x, y = [point["{shown}"] for point in mine], [point["y"] for point in mine]',
            "    figure.add_trace({**trace, 'x': x, 'y': y})",
            f"figure.update_layout(**{_layout(points)!r})",
            "figure",
            "",
        ]
    )


def label(text: str) -> str:
    """Write a text so that plotly shows it and does nothing else."""
    short = visible(text if len(text) <= _NAME_CHARACTERS else text[: _NAME_CHARACTERS - 1] + "…")
    return "".join(_ENTITIES.get(character, character) for character in short)


def shown_x(points: Points, series: Series) -> list[Any]:
    """Return the values of x as they are in the figure."""
    if points.x_kind is AxisKind.CATEGORY:
        return [label(text) for text in series.x]
    return list(series.x)


def y_values(series: Series) -> list[float | None]:
    """Return the values of y; None is a gap."""
    return [None if np.isnan(value) else float(value) for value in series.y]


def _data(points: Points, series: Series) -> dict[str, Any]:
    return {"x": shown_x(points, series), "y": y_values(series)}


def _trace(points: Points, series: Series, style: Style) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": label(series.name), "showlegend": bool(points.by)}
    if points.kind in {"bar", "hist"}:
        pattern: dict[str, Any] = {
            "color": style.colour,
            "pattern": {"shape": style.hatch, "fillmode": "overlay"},
        }
        bar: dict[str, Any] = {"type": "bar", "marker": pattern}
        if points.width is not None:
            is_time = points.x_kind is AxisKind.TIME
            bar |= {"width": points.width * (1_000 if is_time else 1), "offset": 0}
        return bar | shown
    marker: dict[str, Any] = {"color": style.colour, "symbol": style.symbol, "size": 7}
    if points.kind == "scatter":
        return {"type": "scatter", "mode": "markers", "marker": marker} | shown
    line: dict[str, Any] = {"color": style.colour, "dash": style.dash, "width": 2}
    mode = "lines+markers" if len(series.x) <= 100 else "lines"
    return {"type": "scatter", "mode": mode, "line": line, "marker": marker} | shown


def _layout(points: Points) -> dict[str, Any]:
    x_axis: dict[str, Any] = {"title": {"text": label(points.x_name)}, "type": points.x_kind.value}
    if points.x_kind is AxisKind.CATEGORY:
        order = [label(text) for text in points.labels]
        x_axis |= {"categoryorder": "array", "categoryarray": order}
    layout: dict[str, Any] = {
        "title": {"text": label(points.title)},
        "xaxis": x_axis,
        "yaxis": {"title": {"text": label(points.y_name)}},
        "legend": {"title": {"text": label(points.by)}},
        "height": 420,
        "margin": {"l": 60, "r": 20, "t": 60, "b": 60},
    }
    if points.width is not None:
        layout["barmode"] = "stack"
    elif points.kind in {"bar", "hist"}:
        layout["barmode"] = "group"
    return layout
