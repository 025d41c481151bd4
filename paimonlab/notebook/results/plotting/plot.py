"""A plot with everything that shows it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from paimonlab.notebook.display import html, page, plain
from paimonlab.notebook.display.drawn import PLOTLY_TYPE
from paimonlab.notebook.display.grid import Grid
from paimonlab.notebook.display.written_files import save_page
from paimonlab.notebook.results.plotting import figure as figures
from paimonlab.notebook.results.plotting.picture import image
from paimonlab.notebook.results.plotting.plot_text import alternative, numbers_of
from paimonlab.notebook.results.plotting.points import Points, points_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_READ_ROWS = 20
"""A longer table below the picture, which has all of it, is opened by a click."""


def plot_of(
    rows: pa.Table,
    kind: str,
    x: str,
    y: str | None = None,
    *,
    by: str | None = None,
    source: str = "result",
    notes: Sequence[str] = (),
) -> Plot:
    """Draw columns of some rows.

    Parameters
    ----------
    rows
        What is drawn.
    kind, x, y, by
        As `Result.plot` has them.
    source
        Name of the result in the code that makes the plot again.
    notes
        What else readers should know about the rows.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    UnsupportedError
        If there is no such kind, or a column cannot be drawn.
    """
    points = points_of(rows, kind, x, y, by)
    arguments = [kind, x, *([] if y is None else [y])]
    call = ", ".join([*map(repr, arguments), *([] if by is None else [f"by={by!r}"])])
    return Plot(points, f"{source}.plot({call})", tuple(notes))


class Plot:
    """A plot: interactive where plotly's renderer is, a picture and numbers elsewhere.

    Parameters
    ----------
    points
        What is drawn.
    call
        Python that makes this plot.
    notes
        What else readers should know about the rows.
    """

    def __init__(self, points: Points, call: str, notes: tuple[str, ...] = ()) -> None:
        self._points = points
        self._call = call
        self._notes = notes

    @cached_property
    def figure(self) -> Figure:
        """The figure of plotly: yours to change before it is shown.

        Raises
        ------
        UnsupportedError
            If plotly is not installed.
        """
        return figures.figure(self._points)

    @property
    def code(self) -> str:
        """Python that makes the same figure."""
        return figures.code(self._points, self._call)

    @property
    def points(self) -> pa.Table:
        """What is drawn: ``series``, ``x``, ``y`` of each point, and x as the figure labels it."""
        series = self._points.series
        is_text = any(isinstance(x, str) for line in series for x in line.x)
        return pa.table(
            {
                "series": pa.array([line.name for line in series for _ in line.x], pa.string()),
                "x": pa.array(
                    [x for line in series for x in line.x], pa.string() if is_text else pa.float64()
                ),
                "y": pa.array([y for line in series for y in figures.y_values(line)], pa.float64()),
                "labels": pa.array(
                    [str(x) for line in series for x in figures.shown_x(self._points, line)]
                ),
            }
        )

    def to_arrow(self) -> pa.Table:
        """Return the points."""
        return self.points

    def to_html(self) -> str:
        """Return the picture and the numbers, without scripts."""
        picture, grid = image(self._points, alternative(self._points)), self._grid
        if len(grid.rows) <= _READ_ROWS:
            return picture + html.table(grid)
        numbers = html.table(Grid(grid.columns, grid.rows, grid.caption))
        notes = html.paragraph(grid.footer) if grid.footer else ""
        return picture + notes + html.folded("show as table", numbers)

    def to_markdown(self) -> str:
        """Return the numbers as a Markdown table."""
        return plain.markdown(self._grid)

    def to_text(self) -> str:
        """Return the numbers as aligned text."""
        return plain.text(self._grid, cell_columns=40)

    def save(self, path: str | Path) -> Path:
        """Write picture and numbers as one HTML page; an existing one is replaced."""
        return save_page(Path(path), page.page(self._grid.caption, self.to_html(), None))

    @property
    def _grid(self) -> Grid:
        grid = numbers_of(self._points)
        notes = [*self._notes, *([grid.footer] if grid.footer else [])]
        return Grid(grid.columns, grid.rows, grid.caption, "; ".join(notes))

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": self.to_html(), "text/plain": self.to_text()}
        if importlib.util.find_spec("plotly") is None:
            return bundle
        return {PLOTLY_TYPE: msgspec.json.decode(self.figure.to_json()), **bundle}
