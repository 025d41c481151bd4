"""A table ready to be drawn: what HTML, text and Markdown have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from paimonlab.notebook.display.cells import Cell
from paimonlab.spec.visible_text import visible


class Align(Enum):
    """How the text of a column is aligned; the values are CSS."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column."""

    name: str
    type_text: str = ""
    """Shown under the name; empty if it is obvious."""
    align: Align = Align.LEFT
    is_drawing: bool = False
    """Characters that draw: left out where there is a picture."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts, with a line above and a line below."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    """As many cells in each row as there are columns."""
    caption: str = ""
    footer: str = ""

    def without_drawings(self) -> Grid:
        """Return the grid without the columns that draw with characters."""
        shown = [number for number, column in enumerate(self.columns) if not column.is_drawing]
        columns = tuple(self.columns[number] for number in shown)
        rows = [[row[number] for number in shown] for row in self.rows]
        return replace(self, columns=columns, rows=rows)


def texts(values: Sequence[object]) -> tuple[Cell, ...]:
    """Make a row of plain texts, of characters that can be seen; None is an empty cell."""
    return tuple(Cell("" if value is None else visible(str(value))) for value in values)
