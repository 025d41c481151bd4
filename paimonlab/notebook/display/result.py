"""The rows of a SQL statement as an interactive table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.notebook.column_facts import ColumnFacts, column_facts, ranks
from paimonlab.notebook.display.cells import NULL, Cell, cells
from paimonlab.notebook.display.characters import visible
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.display.trees import is_nested, tree
from paimonlab.notebook.views import ResultColumn, ResultRows

DATA_BYTES = 200_000
"""Of rows that the interactive table carries, as JSON."""
CELL_CHARACTERS = 2_000
SUMMARISED_ROWS = 1_000_000
_TREE_BYTES = 4_000


def draw(
    value: ResultRows, *, grid: Grid | None = None, table: pa.Table | None = None
) -> Drawn[ResultRows]:
    """Draw a result.

    Parameters
    ----------
    value
        What the interactive form has.
    grid
        The static form; None: the same rows.
    table
        All rows with their own types; None: those of ``value`` as texts.
    """
    if table is None:
        columns = [[row[place] for row in value.rows] for place in range(len(value.columns))]
        arrays = [pa.array(column, pa.string()) for column in columns]
        table = pa.Table.from_arrays(arrays, names=[column.name for column in value.columns])
    return Drawn(value, grid or _grid(value), table)


def _grid(value: ResultRows) -> Grid:
    columns = tuple(
        Column(column.name, column.type, Align.RIGHT if column.is_number else Align.LEFT)
        for column in value.columns
    )
    rows = [[NULL if text is None else Cell(visible(text)) for text in row] for row in value.rows]
    return Grid(columns, rows, footer=value.footer)


def result_rows(
    table: pa.Table, shown: Sequence[Sequence[Cell]], grid: Grid, *, has_more_rows: bool
) -> ResultRows:
    """Make what the interactive form has of a result.

    Parameters
    ----------
    table
        All rows that were fetched.
    shown
        The first rows as cells, as many as are drawn at all.
    grid
        The static form.
    has_more_rows
        Whether there are rows that were not fetched.
    """
    rows = _bounded(shown)
    start = table.slice(0, len(rows))
    columns = tuple(
        _column(head.name, head.type_text, table.column(place), start.column(place), rows, place)
        for place, head in enumerate(grid.columns)
    )
    footer = grid.footer
    if len(rows) < len(shown):
        footer = f"the first {len(rows):,} of these rows, as more would be too large; {footer}"
    return ResultRows(
        columns=columns,
        rows=rows,
        row_count=table.num_rows,
        has_more_rows=has_more_rows,
        summarised_count=min(table.num_rows, SUMMARISED_ROWS),
        footer=footer,
    )


def _bounded(shown: Sequence[Sequence[Cell]]) -> tuple[tuple[str | None, ...], ...]:
    """Take rows while there is room for them."""
    taken: list[tuple[str | None, ...]] = []
    room = DATA_BYTES
    for row in shown:
        texts = tuple(_text(cell) if cell.is_value else None for cell in row)
        room -= len(msgspec.json.encode(texts))
        if room < 0 and taken:
            break
        taken.append(texts)
    return tuple(taken)


def _text(cell: Cell) -> str:
    more = len(cell.text) - CELL_CHARACTERS
    return cell.text if more <= 0 else f"{cell.text[:CELL_CHARACTERS]}… {more:,} more characters"


def _column(
    name: str,
    type_text: str,
    column: pa.ChunkedArray,
    start: pa.ChunkedArray,
    rows: Sequence[Sequence[str | None]],
    place: int,
) -> ResultColumn:
    facts = column_facts(column.slice(0, SUMMARISED_ROWS))
    kind = column.type
    return ResultColumn(
        name=name,
        type=type_text,
        is_number=_is_number(kind),
        null_count=facts.null_count,
        nan_count=facts.nan_count,
        distinct_count=facts.distinct_count,
        low=_end(facts.low),
        high=_end(facts.high),
        bins=facts.bins,
        top=_top(facts),
        ranks=None if _sorts_as_written(start, rows, place) else ranks(start),
        trees=_trees(start) if is_nested(kind) else None,
    )


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _sorts_as_written(
    column: pa.ChunkedArray, rows: Sequence[Sequence[str | None]], place: int
) -> bool:
    """Tell whether the order of the cells' texts is that of the values."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        # Quotes are put around some texts, and what cannot be seen is written out.
        return [row[place] for row in rows] == column.to_pylist()
    return _is_number(kind) or pa.types.is_boolean(kind) or is_nested(kind)


def _end(value: pa.Scalar | None) -> str | None:
    return None if value is None else _one(value)


def _one(value: pa.Scalar) -> str:
    (cell,) = cells(pa.chunked_array([pa.array([value], value.type)]))
    return cell.text if len(cell.text) <= 40 else cell.text[:39] + "…"


def _top(facts: ColumnFacts) -> tuple[tuple[str, int], ...]:
    return tuple((_one(value), count) for value, count in facts.top)


def _trees(column: pa.ChunkedArray) -> list[Any]:
    found = []
    try:
        values = column.to_pylist()
    except (OverflowError, ValueError):  # dates beyond Python's: the cell's text says it
        return [None] * len(column)
    for value in values:
        made = tree(value, column.type)
        found.append(made if len(msgspec.json.encode(made)) <= _TREE_BYTES else None)
    return found
