"""Charts of results: interactive where plotly's renderer is, a picture and a table elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from paimonlab.interrupts import interrupts_held_back
from paimonlab.notebook.display.drawn import PLOTLY_TYPE
from paimonlab.notebook.results.plotting.bar_picture import COLOURS, Values, bar_picture
from paimonlab.notebook.results.result import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """A plotly figure beside a picture and a table that need no JavaScript."""

    figure: Figure
    """Yours to change before it is shown."""
    result: Result
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


def bar_chart(result: Result, *, label: str, values: Mapping[str, str], title: str) -> Chart:
    """Draw a bar for each row and each of some columns.

    Parameters
    ----------
    result
        At most a few dozen rows, in the order they are drawn from top to bottom.
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
    """
    table = result.to_arrow()
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
    return Chart(_figure(title, labels, series), result, bar_picture(title, labels, series))


def _figure(title: str, labels: Sequence[str], series: Mapping[str, Values]) -> Figure:
    with interrupts_held_back():
        from plotly import graph_objects as go  # noqa: PLC0415 - optional

    from paimonlab.notebook.results.plotting.figure import label as plain_label  # noqa: PLC0415 - few

    figure = go.Figure()
    for (name, values), colour in zip(series.items(), COLOURS, strict=False):
        figure.add_bar(
            name=plain_label(name),
            y=[plain_label(text) for text in labels],
            x=list(values),
            orientation="h",
            marker_color=colour,
        )
    figure.update_layout(
        title=plain_label(title),
        barmode="group",
        height=120 + 30 * len(labels),
        margin={"l": 60, "r": 20, "t": 60, "b": 40},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        yaxis={"autorange": "reversed"},
    )
    return figure
