"""A grid as an HTML table that survives sanitisers.

JupyterLab removes ``<style>``, scripts, inline SVG, ids and ARIA attributes from the outputs
of notebooks it does not trust; GitHub removes more. What is left is a table with inline style,
so that is all there is. Nothing sets a text colour: the front end's theme does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.grid import Align, Column, Grid

SHORT_CHARACTERS = 80
"""A longer cell is truncated and can be opened."""
LONG_CHARACTERS = 4_000
"""An opened cell shows at most this many."""

_FAINT = "opacity:0.65"
_CELL = "padding:2px 8px;vertical-align:top"


def table(grid: Grid) -> str:
    """Draw a grid; every text in it is escaped."""
    return "".join(_parts(grid))


def _parts(grid: Grid) -> Iterator[str]:
    yield '<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:0">'
    if grid.caption:
        caption = _shown(grid.caption)
        yield f'<caption style="text-align:left;padding:2px 8px"><b>{caption}</b></caption>'
    yield "<thead><tr>" + "".join(map(_head, grid.columns)) + "</tr></thead>\n<tbody>"
    for row in grid.rows:
        cells = zip(grid.columns, row, strict=True)
        yield "<tr>" + "".join(_body_cell(column, cell) for column, cell in cells) + "</tr>\n"
    yield "</tbody></table></div>"
    if grid.footer:
        yield paragraph(grid.footer)


def paragraph(text: str) -> str:
    """Write a faint line, as under a table."""
    return f'<p style="{_FAINT};margin:2px 8px 8px"><small>{_shown(text)}</small></p>'


def lines(texts: Iterable[str]) -> str:
    """Write lines of text as they are."""
    return "<pre>" + "\n".join(map(escaped, texts)) + "</pre>"


def _head(column: Column) -> str:
    name = _shown(column.name)
    if column.type_text:
        kind = _shown(column.type_text)
        name += f'<br><small style="{_FAINT};font-weight:normal">{kind}</small>'
    return f'<th style="{_style(column)}">{name}</th>'


def _body_cell(column: Column, cell: Cell) -> str:
    shade = f";background-color:{escaped(cell.background)}" if cell.background else ""
    return f'<td style="{_style(column)}{shade}">{_content(cell)}</td>'


def _style(column: Column) -> str:
    wrap = ";white-space:nowrap" if column.align is Align.RIGHT else ""
    return f"text-align:{column.align.value};{_CELL}{wrap}"


def _content(cell: Cell) -> str:
    if not cell.is_value:
        return f'<i style="{_FAINT}">{_shown(cell.text)}</i>'
    if len(cell.text) <= SHORT_CHARACTERS:
        return _shown(cell.text)
    short = _shown(cell.text[:SHORT_CHARACTERS])
    rest = cell.text[:LONG_CHARACTERS]
    more = len(cell.text) - len(rest)
    tail = f" … {more:,} more characters" if more else ""
    return f"<details><summary>{short}…</summary>{_shown(rest)}{tail}</details>"


def _shown(text: str) -> str:
    return escaped(text)
