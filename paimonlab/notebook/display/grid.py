"""A table ready to be drawn: what HTML, text and Markdown have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.notebook.display.cells import Cell
from paimonlab.spec.visible_text import visible

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


class Align(Enum):
    """How the text of a column is aligned; the values are CSS."""

    LEFT = "left"
    RIGHT = "right"


class Column(Struct, frozen=True):
    """The head of a column."""

    name: str
    type_text: str = ""
    """Shown under the name; empty if it is obvious."""
    align: Align = Align.LEFT
    is_drawing: bool = False
    """Characters that draw: left out where there is a picture."""
    is_id: bool = False
    """Names with ids of many letters in them, which HTML shows short."""
    is_float: bool = False
    """Numbers with many digits, of which HTML shows few; the pointer shows all."""
    is_grouped: bool = False
    """Numbers of rows, whose digits HTML groups; the pointer shows them as they are."""
    is_optional: bool = False
    """Left out where no row has a value."""
    is_prose: bool = False
    """Sentences and statements, which HTML wraps instead of folding them."""
    is_code: bool = False
    """Statements, whose lines end between words only, but for words of many letters."""
    rank: int = 0
    """Of columns that HTML leaves out where a page has too little room: the highest goes first, of
    equal ones the rightmost; 0 never goes."""


class Grid(Struct, frozen=True):
    """A table of texts, with lines above and a line below."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    """As many cells in each row as there are columns."""
    caption: str = ""
    footer: str = ""
    headline: str = ""
    """What happened, in a line under the caption."""

    def without_drawings(self) -> Grid:
        """Return the grid without the columns that draw with characters."""
        return self._with(
            number for number, column in enumerate(self.columns) if not column.is_drawing
        )

    def without_empty(self) -> Grid:
        """Return the grid without optional columns in which no row has a value."""
        return self._with(
            number
            for number, column in enumerate(self.columns)
            if not column.is_optional or any(row[number].text for row in self.rows)
        )

    def _with(self, columns_shown: Iterable[int]) -> Grid:
        shown = list(columns_shown)
        columns = tuple(self.columns[number] for number in shown)
        rows = [[row[number] for number in shown] for row in self.rows]
        return replace(self, columns=columns, rows=rows)


def number_align(values: Iterable[str | None]) -> Align:
    """Put a column of texts at the right if all of them are numbers; None says nothing.

    Examples
    --------
    >>> number_align(["1", None, "-2.5e3"]), number_align(["1", "a"]), number_align([None])
    (<Align.RIGHT: 'right'>, <Align.LEFT: 'left'>, <Align.LEFT: 'left'>)
    """
    known = [value for value in values if value]
    are_numbers = all(map(_NUMBER.fullmatch, known))
    return Align.RIGHT if known and are_numbers else Align.LEFT


def texts(values: Sequence[object]) -> tuple[Cell, ...]:
    """Make a row of plain texts, of characters that can be seen; None is an empty cell."""
    return tuple(Cell("" if value is None else visible(str(value))) for value in values)
