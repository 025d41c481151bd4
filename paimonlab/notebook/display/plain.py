"""A grid as aligned text and as Markdown, the same from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.characters import cut, text_width
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.spec.visible_text import visible

_GAP = "  "
_BLOCK = re.compile(r"^(\d*)([#+=.):-])")
"""What makes more than a paragraph at the start of a line, unless it is escaped anyway."""


def text(grid: Grid, *, cell_columns: int | None = None) -> str:
    """Draw a grid with spaces and one rule under the head.

    Parameters
    ----------
    grid
        What to draw.
    cell_columns
        Columns of the terminal that a cell takes at most; None: as many as it needs.
    """
    return "\n".join(_text_lines(grid, cell_columns or 2**31))


def _text_lines(grid: Grid, cell_columns: int) -> Iterator[str]:
    if grid.caption:
        yield visible(grid.caption)
    if grid.headline:
        yield visible(grid.headline)
    # Heads of nothing say nothing; those with types say what a query would give.
    if grid.rows or any(column.type_text for column in grid.columns):
        yield from _table_lines(grid, cell_columns)
    if grid.footer:
        yield visible(grid.footer)


def _table_lines(grid: Grid, cell_columns: int) -> Iterator[str]:
    heads = [[Cell(visible(column.name)) for column in grid.columns]]
    if any(column.type_text for column in grid.columns):
        heads.append([Cell(visible(column.type_text)) for column in grid.columns])
    every = (*heads, *grid.rows)
    lines = [[cut(visible(cell.text), cell_columns) for cell in row] for row in every]
    widths = [max(map(text_width, texts)) for texts in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        yield _GAP.join(map(_pad, line, widths, grid.columns)).rstrip()
        if number == len(heads) - 1:
            yield _GAP.join("─" * width for width in widths)


def _pad(cell: str, width: int, column: Column) -> str:
    blank = " " * (width - text_width(cell))
    return blank + cell if column.align is Align.RIGHT else cell + blank


def markdown(grid: Grid) -> str:
    """Draw a grid as a Markdown table; cells are never truncated."""
    return "\n".join(_markdown_lines(grid)) + "\n"


def markdown_rows(rows: Sequence[Sequence[Cell]]) -> str:
    """Draw more rows of a Markdown table."""
    return "".join(f"{_markdown_cells(row)}\n" for row in rows)


def _markdown_lines(grid: Grid) -> Iterator[str]:
    if grid.caption.strip():
        yield f"**{_markdown_text(grid.caption.strip())}**\n"
    if grid.headline:
        yield f"{_markdown_line(grid.headline)}\n"
    if grid.columns:
        yield _markdown_row([column.name for column in grid.columns])
        rules = ["---:" if column.align is Align.RIGHT else "---" for column in grid.columns]
        yield "| " + " | ".join(rules) + " |"
        yield from map(_markdown_cells, grid.rows)
    if grid.footer:
        yield f"\n{_markdown_line(grid.footer)}"


def _markdown_cells(row: Sequence[Cell]) -> str:
    return _markdown_row([cell.text for cell in row])


def _markdown_row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(map(_markdown_text, texts)) + " |"


def _markdown_line(value: str) -> str:
    """Write a paragraph whose start makes no heading, list, rule or code of it."""
    return _BLOCK.sub(r"\1\\\2", _markdown_text(value.strip()))


def _markdown_text(value: str) -> str:
    escaped = "".join("\\" + mark if mark in "\\|*_`<>[]$~" else mark for mark in visible(value))
    return escaped.replace("&", "&amp;")
