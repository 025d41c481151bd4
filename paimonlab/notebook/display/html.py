"""A grid as an HTML table that survives sanitisers.

JupyterLab removes ``<style>``, scripts, inline SVG, ids and ARIA attributes from the outputs
of notebooks it does not trust; GitHub removes more. What is left is a table with inline style,
so that is all there is. Nothing sets a text colour: the front end's theme does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.grid import Align, Column, Grid

SHORT_CHARACTERS = 80
"""A longer cell is truncated and can be opened."""
LONG_CHARACTERS = 4_000
"""An opened cell shows at most this many."""

_WIDE_CHARACTERS = 85
"""A table with longer lines is wider than a page."""
_LINE_CHARACTERS = 40
"""Texts up to here are one line in such a table."""
_SHORT_LINE_CHARACTERS = 24
"""Texts up to here, like times and names of files, are one line in every table."""
_BREAKS = re.compile(r"(?<=[._/-])(?=[^\s._/-])")
"""Where a long name may go on in the next line."""
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{8,12}")

_FAINT = "opacity:0.65"
_LINE = ";white-space:nowrap"
_CELL = "padding:2px 8px;vertical-align:top"


def table(grid: Grid) -> str:
    """Draw a grid; every text in it is escaped."""
    return "".join(_parts(grid))


def _parts(grid: Grid) -> Iterator[str]:
    if not grid.rows and not any(column.type_text for column in grid.columns):
        # Heads of nothing say nothing; those with types say what a query would give.
        yield head(grid)
        if grid.footer:
            yield paragraph(grid.footer)
        return
    longest = _longest(grid)
    is_wide = sum(longest) > _WIDE_CHARACTERS
    is_prose = [is_wide and characters > _LINE_CHARACTERS for characters in longest]
    is_line = [not is_wide and characters <= _SHORT_LINE_CHARACTERS for characters in longest]
    is_all = is_wide or all(is_line)
    styles = list(map(_style, grid.columns, is_prose, [not is_all and one for one in is_line]))
    line = _LINE if is_all else ""
    yield f'<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:0{line}">'
    if grid.caption or grid.headline:
        yield f'<caption style="text-align:left;padding:2px 8px">{_said(grid)}</caption>'
    yield "<thead><tr>" + "".join(map(_head, grid.columns, styles)) + "</tr></thead>\n<tbody>"
    for row in grid.rows:
        cells = zip(grid.columns, row, styles, strict=True)
        yield "<tr>" + "".join(_body_cell(*cell) for cell in cells) + "</tr>\n"
    yield "</tbody></table></div>"
    if grid.footer:
        yield paragraph(grid.footer)


def head(grid: Grid) -> str:
    """Write the caption and the headline as they stand above a picture."""
    said = _said(grid)
    return f'<p style="margin:2px 8px 8px">{said}</p>' if said else ""


def _said(grid: Grid) -> str:
    caption = f"<b>{_shown(grid.caption)}</b>" if grid.caption else ""
    return "<br>".join(filter(None, (caption, _shown(grid.headline))))


def paragraph(text: str) -> str:
    """Write a faint line, as under a table."""
    return f'<p style="{_FAINT};margin:2px 8px 8px"><small>{_shown(text)}</small></p>'


def lines(texts: Iterable[str]) -> str:
    """Write lines of text as they are."""
    return "<pre>" + "\n".join(map(escaped, texts)) + "</pre>"


def _head(column: Column, style: str) -> str:
    name = _shown(column.name)
    if len(column.name) > _SHORT_LINE_CHARACTERS:
        name = "<wbr>".join(map(_shown, _BREAKS.split(column.name)))
        style += ";white-space:normal;min-width:10em"
    if column.type_text:
        kind = _shown(column.type_text)
        name += f'<br><small style="{_FAINT};font-weight:normal">{kind}</small>'
    return f'<th style="{style}">{name}</th>'


def _body_cell(column: Column, cell: Cell, style: str) -> str:
    shade = f";background-color:{escaped(cell.background)}" if cell.background else ""
    short = short_id(cell.text) if column.is_id else cell.text
    if short != cell.text:
        return f'<td style="{style}{shade}" title="{escaped(cell.text)}">{_shown(short)}</td>'
    return f'<td style="{style}{shade}">{_content(cell)}</td>'


def _style(column: Column, is_prose: bool, is_line: bool) -> str:  # noqa: FBT001 - of two columns
    prose = ";min-width:18em;white-space:normal;overflow-wrap:anywhere" if is_prose else ""
    wraps = _LINE if column.align is Align.RIGHT or is_line else prose
    return f"text-align:{column.align.value};{_CELL}{wraps}"


def _longest(grid: Grid) -> list[int]:
    """Return the characters of the longest text of each column, as far as it is shown."""
    return [
        min(max([len(column.name), *(len(row[at].text) for row in grid.rows)]), SHORT_CHARACTERS)
        for at, column in enumerate(grid.columns)
    ]


def short_id(text: str) -> str:
    """Show eight letters of an id in a name; the pointer shows all of it."""
    return _ID.sub(lambda found: found[0][:8] + ("" if found[0] == text else "…"), text)


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
