"""Bars of a few rows: interactive where plotly's renderer is, a picture and a table elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import pyarrow as pa

from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import PLOTLY_TYPE
from paimonlab.notebook.display.grid import Column, Grid, number_align
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.results import plotting
from paimonlab.notebook.results.plotting.bar_picture import COLOURS, bar_picture
from paimonlab.notebook.results.table.drawing import draw, result_rows

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class Rows(Protocol):
    """What a chart draws: a `Result`, or a view."""

    def to_arrow(self) -> pa.Table:
        """Return the rows."""

    def to_html(self) -> str:
        """Return the rows as HTML without scripts."""

    def to_markdown(self) -> str:
        """Return the rows as a Markdown table."""


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """A plotly figure beside a picture and a table that need no JavaScript."""

    figure: Figure
    """Yours to change before it is shown."""
    result: Rows
    picture: str
    """HTML."""

    def to_html(self) -> str:
        """Return the picture and the table, without scripts."""
        return self.picture + self.result.to_html()

    def to_markdown(self) -> str:
        """Return the table."""
        return self.result.to_markdown()

    def __repr__(self) -> str:
        return repr(self.result)

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        return {
            PLOTLY_TYPE: msgspec.json.decode(self.figure.to_json()),
            "text/html": self.to_html(),
            "text/plain": repr(self),
        }


def bar_chart(
    result: Rows | pa.Table, *, label: str, values: Mapping[str, str], title: str
) -> Chart:
    """Draw a bar for each row and each of some columns.

    Parameters
    ----------
    result
        A result or an Arrow table of at most a few dozen rows, in the order they are drawn from top
        to bottom.
    label
        Column whose values name the rows.
    values
        At most four columns of numbers, and what each is called in the legend.
    title
        What the numbers are, with their unit.

    Raises
    ------
    ValueError
        If there are no rows, or no column or more than four to draw.
    UnsupportedError
        If plotly is not installed.
    """
    shown = _shown(result) if isinstance(result, pa.Table) else result
    table = shown.to_arrow()
    if not table.num_rows or not 0 < len(values) <= len(COLOURS):
        raise ValueError(
            f"a bar chart needs rows and 1 to {len(COLOURS)} columns of numbers, "
            f"got {table.num_rows} rows and {len(values)} columns"
        )
    labels = [str(value) for value in table.column(label).to_pylist()]
    series = {
        name: [
            None if value is None else float(value) for value in table.column(column).to_pylist()
        ]
        for column, name in values.items()
    }
    figure = plotting.figure.bar_figure(title, labels, series, COLOURS)
    return Chart(figure, shown, bar_picture(title, labels, series))


def _shown(table: pa.Table) -> Rows:
    """Draw the rows of an Arrow table as those of a result are drawn."""
    heads = tuple(
        Column(field.name, str(field.type), number_align(map(str, values.drop_null().to_pylist())))
        for field, values in zip(table.schema, table.columns, strict=True)
    )
    body = list(zip(*map(cells, table.columns), strict=True))
    grid = Grid(heads, body, footer=many(table.num_rows, "row"))
    return draw(
        result_rows(table, grid, has_more_rows=False, footer=grid.footer), grid=grid, table=table
    )
