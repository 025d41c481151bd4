"""The rows of a SQL statement as an interactive table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from paimonlab.arrow_values import arrow_array
from paimonlab.notebook.display.cells import BYTES_SHOWN, NULL, Cell, cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.display.trees import is_nested, tree
from paimonlab.notebook.results.column_facts import ColumnFacts, column_facts, ranks
from paimonlab.notebook.results.column_kinds import column_kind
from paimonlab.notebook.results.table.value import ResultCells, ResultColumn, ResultRows
from paimonlab.spec.visible_text import visible

DATA_BYTES = 430_000
"""Size of the interactive table, as JSON."""
LEAST_ROW_BYTES = 50_000
"""Least size of its rows, however many columns there are."""
ROWS_CARRIED = 10_000
ROWS_ASKED = 1_000
"""Rows that answer one request, at most."""
CELL_CHARACTERS = 2_000
SUMMARISED_ROWS = 1_000_000
_TREE_BYTES = 4_000
_RANK_BYTES = 7
_SLICE = 500


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
    return Drawn(value, grid or static_grid(value), text_rows(value) if table is None else table)


def text_rows(value: ResultRows) -> pa.Table:
    """Return the rows that the interactive form has, as texts."""
    columns = [[row[number] for row in value.rows] for number in range(len(value.columns))]
    arrays = [arrow_array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=[column.name for column in value.columns])


def static_grid(value: ResultRows) -> Grid:
    """Return the static form of the rows that the interactive form has."""
    columns = tuple(
        Column(
            column.name,
            column.type,
            Align.RIGHT if column.is_number else Align.LEFT,
            is_float=column.type.lower().startswith(("do", "fl", "half")),
            is_grouped=column.is_number,
        )
        for column in value.columns
    )
    rows = [[NULL if text is None else Cell(visible(text)) for text in row] for row in value.rows]
    return Grid(columns, rows, footer=value.footer)


def result_rows(table: pa.Table, grid: Grid, *, has_more_rows: bool, footer: str) -> ResultRows:
    """Make what the interactive form has of a result.

    Parameters
    ----------
    table
        All rows that were fetched.
    grid
        The static form.
    has_more_rows
        Whether there are rows that were not fetched.
    footer
        The footer if all rows are shown.
    """
    facts = [column_facts(column.slice(0, SUMMARISED_ROWS)) for column in table.columns]
    tops = [_top(fact) for fact in facts]
    heads = len(msgspec.json.encode([grid.caption, tops])) + 300 * table.num_columns
    carried = _carried(table, max(DATA_BYTES - heads, LEAST_ROW_BYTES))
    start = table.slice(0, len(carried.rows))
    columns = tuple(
        ResultColumn(
            name=head.name,
            type=head.type_text,
            value=column_kind(field.type, head.type_text),
            is_number=_is_number(field.type),
            null_count=fact.null_count,
            nan_count=fact.nan_count,
            distinct_count=fact.distinct_count,
            low=_end(fact.low),
            high=_end(fact.high),
            bins=fact.bins,
            top=top,
            ranks=None if _sorts_as_written(field.type, details) else ranks(column),
            zone=getattr(field.type, "tz", None),
            cells=details,
        )
        for head, field, fact, top, column, details in zip(
            grid.columns, table.schema, facts, tops, start.columns, carried.columns, strict=True
        )
    )
    if len(carried.rows) < table.num_rows:
        footer = f"the first {len(carried.rows):,} are here, the kernel has the others; {footer}"
    return ResultRows(
        columns=columns,
        rows=carried.rows,
        row_count=table.num_rows,
        has_more_rows=has_more_rows,
        summarised_count=min(table.num_rows, SUMMARISED_ROWS),
        footer=footer,
    )


class CellTexts(Struct, frozen=True):
    """Rows as the interactive table has them."""

    rows: tuple[tuple[str | None, ...], ...]
    columns: tuple[ResultCells, ...]


def cell_texts(table: pa.Table, *, is_whole: bool = False) -> CellTexts:
    """Write rows for the interactive table.

    Parameters
    ----------
    table
        The rows.
    is_whole
        Whether long texts are kept whole.
    """
    limit = None if is_whole else CELL_CHARACTERS
    written = [_cells(column, limit) for column in table.columns]
    rows = tuple(zip(*(texts for texts, _ in written), strict=True))
    return CellTexts(rows, tuple(details for _, details in written))


def _carried(table: pa.Table, room: int) -> CellTexts:
    """Take rows while there is room for them; the first is always taken."""
    rows: list[tuple[str | None, ...]] = []
    details: list[list[ResultCells]] = [[] for _ in table.columns]
    wanted = min(table.num_rows, ROWS_CARRIED)
    ranked = sum(not _is_sorted_by_text(field.type) for field in table.schema)
    while len(rows) < wanted:
        chunk = cell_texts(table.slice(len(rows), min(_SLICE, wanted - len(rows))))
        taken, size = _fitting(chunk, room, ranked)
        taken = taken or int(not rows)
        for parts, column in zip(details, chunk.columns, strict=True):
            parts.append(_moved(column, taken, len(rows)))
        rows += chunk.rows[:taken]
        if taken < len(chunk.rows):
            break
        room -= size
    return CellTexts(tuple(rows), tuple(map(_joined, details)))


def _fitting(texts: CellTexts, room: int, ranked: int) -> tuple[int, int]:
    """Tell how many rows there is room for, and how much they take."""
    sizes = [len(msgspec.json.encode(row)) + _RANK_BYTES * ranked for row in texts.rows]
    for column in texts.columns:
        for row, text in column.exact:
            sizes[row] += len(msgspec.json.encode(text)) + 10
        for row, tree_ in enumerate(column.trees or ()):
            sizes[row] += len(msgspec.json.encode(tree_))
    total = 0
    for row, size in enumerate(sizes):
        total += size
        if total > room:
            return row, total - size
    return len(sizes), total


def _moved(column: ResultCells, count: int, start: int) -> ResultCells:
    return ResultCells(
        exact=tuple((row + start, text) for row, text in column.exact if row < count),
        cut=tuple(row + start for row in column.cut if row < count),
        trees=None if column.trees is None else column.trees[:count],
    )


def _joined(parts: Sequence[ResultCells]) -> ResultCells:
    has_trees = any(part.trees is not None for part in parts)
    return ResultCells(
        exact=tuple(text for part in parts for text in part.exact),
        cut=tuple(row for part in parts for row in part.cut),
        trees=[tree_ for part in parts for tree_ in part.trees or ()] if has_trees else None,
    )


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _sorts_as_written(kind: pa.DataType, details: ResultCells) -> bool:
    """Tell whether the order of the cells' texts is that of the values."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return not (is_text and details.cut) and _is_sorted_by_text(kind)


def _is_sorted_by_text(kind: pa.DataType) -> bool:
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return is_text or _is_number(kind) or pa.types.is_boolean(kind) or is_nested(kind)


def _end(value: pa.Scalar | None) -> str | None:
    return None if value is None else _scalar_text(value)


def _scalar_text(value: pa.Scalar) -> str:
    (cell,) = cells(pa.chunked_array([arrow_array([value])]))
    return cell.text if len(cell.text) <= 40 else cell.text[:39] + "…"


def _top(facts: ColumnFacts) -> tuple[tuple[str, int], ...]:
    return tuple((_scalar_text(value), count) for value, count in facts.top)


def _cells(column: pa.ChunkedArray, limit: int | None) -> tuple[list[str | None], ResultCells]:
    shown = [cell.text if cell.is_value else None for cell in cells(column)]
    kind = column.type
    cut = {row for row, text in enumerate(shown) if limit and text and len(text) > limit}
    exact: list[tuple[int, str]] = []
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        exact = [
            (row, value)
            for row, value in enumerate(column.to_pylist())
            if value is not None and value != shown[row] and row not in cut
        ]
    elif pa.types.is_binary(kind):
        lengths = pc.fill_null(pc.binary_length(column), 0).to_pylist()
        cut |= {row for row, length in enumerate(lengths) if length > BYTES_SHOWN}
    texts = [_start(text, limit) if text and limit else text for text in shown]
    trees = _trees(column) if is_nested(kind) else None
    return texts, ResultCells(exact=tuple(exact), cut=tuple(sorted(cut)), trees=trees)


def _start(text: str, limit: int) -> str:
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}… {more:,} more characters"


def _trees(column: pa.ChunkedArray) -> list[Any]:
    trees = []
    try:
        values = column.to_pylist()
    except (OverflowError, ValueError):  # dates beyond Python's: the cell's text says it
        return [None] * len(column)
    for value in values:
        written = tree(value, column.type)
        trees.append(written if len(msgspec.json.encode(written)) <= _TREE_BYTES else None)
    return trees
