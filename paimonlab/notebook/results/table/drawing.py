"""The rows of a SQL statement as an interactive table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.notebook.display.cells import BYTES_SHOWN, NULL, Cell, cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.display.trees import is_nested, tree
from paimonlab.notebook.results.column_facts import ColumnFacts, column_facts, ranks
from paimonlab.notebook.results.column_kinds import column_kind
from paimonlab.notebook.results.table.value import ResultCells, ResultColumn, ResultRows
from paimonlab.spec.visible_text import visible

DATA_BYTES = 430_000
"""Of the interactive table, as JSON."""
LEAST_ROW_BYTES = 50_000
"""Of its rows, however many columns there are."""
ROWS_CARRIED = 10_000
ROWS_ASKED = 1_000
"""At most so many rows answer a question."""
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
    columns = [[row[place] for row in value.rows] for place in range(len(value.columns))]
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names=[column.name for column in value.columns])


def static_grid(value: ResultRows) -> Grid:
    """Return the static form of the rows that the interactive form has."""
    columns = tuple(
        Column(column.name, column.type, Align.RIGHT if column.is_number else Align.LEFT)
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
        What is said of all rows.
    """
    facts = [column_facts(column.slice(0, SUMMARISED_ROWS)) for column in table.columns]
    tops = [_top(one) for one in facts]
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


@dataclass(frozen=True, slots=True)
class CellTexts:
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
        Whether long texts are not cut.
    """
    limit = None if is_whole else CELL_CHARACTERS
    made = [_cells(column, limit) for column in table.columns]
    rows = tuple(zip(*(texts for texts, _ in made), strict=True))
    return CellTexts(rows, tuple(details for _, details in made))


def _carried(table: pa.Table, room: int) -> CellTexts:
    """Take rows while there is room for them; the first is always taken."""
    rows: list[tuple[str | None, ...]] = []
    details: list[list[ResultCells]] = [[] for _ in table.columns]
    wanted = min(table.num_rows, ROWS_CARRIED)
    ranked = sum(not _is_sorted_by_text(field.type) for field in table.schema)
    while len(rows) < wanted:
        some = cell_texts(table.slice(len(rows), min(_SLICE, wanted - len(rows))))
        taken, size = _fitting(some, room, ranked)
        taken = taken or int(not rows)
        for into, one in zip(details, some.columns, strict=True):
            into.append(_moved(one, taken, len(rows)))
        rows += some.rows[:taken]
        if taken < len(some.rows):
            break
        room -= size
    return CellTexts(tuple(rows), tuple(map(_joined, details)))


def _fitting(some: CellTexts, room: int, ranked: int) -> tuple[int, int]:
    """Tell how many rows there is room for, and how much they take."""
    sizes = [len(msgspec.json.encode(row)) + _RANK_BYTES * ranked for row in some.rows]
    for column in some.columns:
        for place, text in column.exact:
            sizes[place] += len(msgspec.json.encode(text)) + 10
        for place, tree_ in enumerate(column.trees or ()):
            sizes[place] += len(msgspec.json.encode(tree_))
    total = 0
    for place, size in enumerate(sizes):
        total += size
        if total > room:
            return place, total - size
    return len(sizes), total


def _moved(one: ResultCells, count: int, start: int) -> ResultCells:
    return ResultCells(
        exact=tuple((place + start, text) for place, text in one.exact if place < count),
        cut=tuple(place + start for place in one.cut if place < count),
        trees=None if one.trees is None else one.trees[:count],
    )


def _joined(parts: Sequence[ResultCells]) -> ResultCells:
    has_trees = any(part.trees is not None for part in parts)
    return ResultCells(
        exact=tuple(one for part in parts for one in part.exact),
        cut=tuple(one for part in parts for one in part.cut),
        trees=[one for part in parts for one in part.trees or ()] if has_trees else None,
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
    return None if value is None else _one(value)


def _one(value: pa.Scalar) -> str:
    (cell,) = cells(pa.chunked_array([pa.array([value], value.type)]))
    return cell.text if len(cell.text) <= 40 else cell.text[:39] + "…"


def _top(facts: ColumnFacts) -> tuple[tuple[str, int], ...]:
    return tuple((_one(value), count) for value, count in facts.top)


def _cells(column: pa.ChunkedArray, limit: int | None) -> tuple[list[str | None], ResultCells]:
    shown = [cell.text if cell.is_value else None for cell in cells(column)]
    kind = column.type
    cut = {place for place, text in enumerate(shown) if limit and text and len(text) > limit}
    exact: list[tuple[int, str]] = []
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        exact = [
            (place, value)
            for place, value in enumerate(column.to_pylist())
            if value is not None and value != shown[place] and place not in cut
        ]
    elif pa.types.is_binary(kind):
        lengths = pc.fill_null(pc.binary_length(column), 0).to_pylist()
        cut |= {place for place, length in enumerate(lengths) if length > BYTES_SHOWN}
    texts = [_start(text, limit) if text and limit else text for text in shown]
    trees = _trees(column) if is_nested(kind) else None
    return texts, ResultCells(exact=tuple(exact), cut=tuple(sorted(cut)), trees=trees)


def _start(text: str, limit: int) -> str:
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}… {more:,} more characters"


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
