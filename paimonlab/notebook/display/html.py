"""A grid as an HTML table that survives sanitisers.

JupyterLab removes ``<style>``, scripts, inline SVG, ids and ARIA attributes from the outputs
of notebooks it does not trust; GitHub removes more. What is left is a table with inline style,
so that is all there is. Nothing sets a text colour: the front end's theme does.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate

from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.fitting import (
    Fitted,
    code_parts,
    fitted,
    head_parts,
    is_one_line,
    number_pieces,
    parts,
    tight_parts,
    words,
)
from paimonlab.notebook.display.grid import Align, Column, Grid
from paimonlab.notebook.display.numbers import row_number, short_fractions

SHORT_CHARACTERS = 80
"""A longer cell is truncated and can be opened."""
PROSE_CHARACTERS = 400
"""Up to here what is written to be read or copied is shown whole, in as many lines as it takes."""
LONG_CHARACTERS = 4_000
"""An opened cell shows at most this many."""

_LINE_CHARACTERS = 40
"""Texts up to here are one line in a table that is wider than a page."""
_SHORT_LINE_CHARACTERS = 24
"""Texts up to here, like times and names of files, are one line in a table with room for it."""
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{8,12}")

_DATE = re.compile(r"(?<!\S)[^\s<>]{0,20}\d-\d\d(?![^\s,]{12})[^\s<>]*")
_MOST_NAMED = 120
"""Characters of names of columns for which there is no room that are under a table."""
_CELL_CHARACTERS = 2
"""What the sides of a cell take."""
_FAINT = "opacity:0.75"  # 4.5 to 1 at least, in the themes of VS Code and Colab as well
_LINE = ";white-space:nowrap"
_MANY_ROWS = 40
"""A table of more is scrolled, as where scripts run."""
_TALL = ";overflow-y:auto;max-height:480px"
_ONE_LINE = '<span style="white-space:nowrap">{}</span>'
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
    lines = [list(map(_short, grid.columns, row)) for row in grid.rows]
    fit = fitted(grid.columns, [[text[:SHORT_CHARACTERS] for text in line] for line in lines])
    columns = [grid.columns[at] for at in fit.shown]
    styles, is_all = _styles(columns, [[line[at] for at in fit.shown] for line in lines], fit)
    line = _LINE if is_all else ""
    # A caption is no wider than its table.
    is_above = _is_wider(grid, columns, [[texts[at] for at in fit.shown] for texts in lines])
    if is_above:
        yield head(grid)
    writers = _TIGHT_WRITERS if fit.is_tight else _WRITERS
    height = _TALL if len(grid.rows) > _MANY_ROWS else ""
    style = f"border-collapse:collapse;margin:0{line}"
    yield f'<div style="overflow-x:auto{height}"><table style="{style}">'
    if (grid.caption or grid.headline) and not is_above:
        above = 2 if grid.headline else 10  # a further table of a view has no headline
        style = f"text-align:left;padding:{above}px 8px 2px"
        yield f'<caption style="{style}">{_said(grid)}</caption>'
    yield "<thead><tr>" + "".join(map(_head, columns, styles, fit.room)) + "</tr></thead>\n<tbody>"
    for row, texts in zip(grid.rows, lines, strict=True):
        titles = [_details(grid.columns, row, fit.left_out), *[""] * len(columns)]
        yield "<tr>"
        for at, style, room, title in zip(fit.shown, styles, fit.room, titles, strict=False):
            write = _shown if room is None else writers[grid.columns[at].align]
            if grid.columns[at].is_code and room is not None:
                write = _wrapping_code
            most = PROSE_CHARACTERS if grid.columns[at].is_prose else SHORT_CHARACTERS
            yield _body_cell(row[at], texts[at], style, title, partial(_content, write, most))
        yield "</tr>\n"
    yield "</tbody></table></div>"
    if fit.left_out:
        names = _named([grid.columns[at].name for at in fit.left_out])
        yield paragraph(f"{names}: by the pointer, over the first column")
    if grid.footer:
        yield paragraph(grid.footer)


def _is_wider(grid: Grid, columns: Sequence[Column], lines: Sequence[Sequence[str]]) -> bool:
    """Say whether what is above the table would be broken for the width that the table has."""
    said = max(len(grid.caption), len(grid.headline))
    return said > sum(_longest(columns, lines)) + _CELL_CHARACTERS * len(columns)


def _named(names: Sequence[str]) -> str:
    """Say as many names as make a line or two, and how many more there are."""
    ends = accumulate(len(name) + 2 for name in names)
    shown = max(sum(end <= _MOST_NAMED for end in ends), 1)
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more:,} more" if more else "")


def _details(columns: Sequence[Column], row: Sequence[Cell], places: Sequence[int]) -> str:
    """Say what there is no room for."""
    return ", ".join(f"{columns[at].name} {row[at].text}" for at in places if row[at].text)


def head(grid: Grid) -> str:
    """Write the caption and the headline as they stand above a picture."""
    said = _said(grid)
    return f'<p style="margin:2px 8px 8px">{said}</p>' if said else ""


def _said(grid: Grid) -> str:
    caption = f"<b>{_wrapping(grid.caption)}</b>" if grid.caption else ""
    return unbroken("<br>".join(filter(None, (caption, _wrapping(grid.headline)))))


def paragraph(text: str) -> str:
    """Write a faint line, as under a table."""
    said = unbroken(_wrapping(text))
    return f'<p style="{_FAINT};margin:2px 8px 8px"><small>{said}</small></p>'


def folded(summary: str, content: str) -> str:
    """Write HTML that a click on the summary opens."""
    said = f'<summary style="margin:2px 8px">{escaped(summary)}</summary>'
    return f"<details>{said}{content}</details>"


def lines(texts: Iterable[str]) -> str:
    """Write lines of text as they are; wide ones are scrolled, not wrapped."""
    text = "\n".join(map(escaped, texts))
    return f'<pre style="white-space:pre;overflow-x:auto">{text}</pre>'


def unbroken(html: str) -> str:
    """Keep dates in one line, with the names and signs at them."""
    return _DATE.sub(lambda found: _ONE_LINE.format(found[0]), html)


def _head(column: Column, style: str, room: int | None) -> str:
    name = _shown(column.name) if room is None else _wrapping(column.name, head_parts)
    if room is None and len(column.name) > _SHORT_LINE_CHARACTERS:
        name = _wrapping(column.name)
        style += ";white-space:normal;min-width:10em"
    if column.type_text:
        kind = _shown(column.type_text)
        name += f'<br><small style="{_FAINT};font-weight:normal">{kind}</small>'
    return f'<th style="{style}">{name}</th>'


def _body_cell(
    cell: Cell, text: str, style: str, title: str, content: Callable[[Cell, str], str]
) -> str:
    shade = f";background-color:{escaped(cell.background)}" if cell.background else ""
    said = ", ".join(filter(None, (cell.text if text != cell.text else "", title)))
    whole = f' title="{escaped(said[:LONG_CHARACTERS])}"' if said else ""
    return f'<td style="{style}{shade}"{whole}>{content(cell, text)}</td>'


def _styles(
    columns: Sequence[Column], lines: Sequence[Sequence[str]], fit: Fitted
) -> tuple[list[str], bool]:
    """Return the style of each column, and whether all of the table is one line a row."""
    longest = _longest(columns, lines)
    is_line = [not fit.is_wide and characters <= _SHORT_LINE_CHARACTERS for characters in longest]
    is_all = fit.is_wide or (fit.is_whole and all(is_line))
    wraps = []
    for at, column, characters, room, is_short in zip(
        fit.shown, columns, longest, fit.room, is_line, strict=True
    ):
        if room is not None:
            is_any = at in fit.any_place
            wraps.append(f";min-width:{room}px" + ";overflow-wrap:anywhere" * is_any)
        elif column.align is Align.RIGHT or (not is_all and (is_short or not fit.is_whole)):
            wraps.append(_LINE)
        elif fit.is_wide and characters > _LINE_CHARACTERS:
            wraps.append(";min-width:18em;white-space:normal;overflow-wrap:anywhere")
        else:
            wraps.append("")
    cells = [f"text-align:{column.align.value};{_CELL}" for column in columns]
    return list(map(operator.add, cells, wraps)), is_all


def _wrapping(text: str, parts_of: Callable[[str], list[str]] = parts) -> str:
    """Write a text with the places where its line may end."""
    return " ".join("<wbr>".join(map(_piece, parts_of(word))) for word in words(text))


def _piece(text: str) -> str:
    return _ONE_LINE.format(_shown(text)) if is_one_line(text) else _shown(text)


def _wrapping_code(text: str) -> str:
    """Write a statement whose lines end between its words."""
    return unbroken(_wrapping(text, code_parts))


def _tight_texts(text: str) -> str:
    """Write a text whose lines end behind hyphens, too."""
    return unbroken(" ".join("<wbr>".join(map(_shown, tight_parts(word))) for word in words(text)))


def _wrapping_numbers(text: str) -> str:
    """Write numbers that keep their units."""
    return _shown(" ".join(number_pieces(text)))


def _wrapping_texts(text: str) -> str:
    """Write a text whose lines end neither within a date nor within a number with its unit."""
    return unbroken(_wrapping(text))


_WRITERS = {Align.LEFT: _wrapping_texts, Align.RIGHT: _wrapping_numbers}
_TIGHT_WRITERS = _WRITERS | {Align.LEFT: _tight_texts}


def _longest(columns: Sequence[Column], lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the characters of the longest text of each column, as far as it is shown."""
    return [
        min(max([len(column.name), *(len(line[at]) for line in lines)]), SHORT_CHARACTERS)
        for at, column in enumerate(columns)
    ]


def _short(column: Column, cell: Cell) -> str:
    if column.is_grouped:
        return row_number(cell.text, is_float=column.is_float)
    if column.is_float:
        return short_fractions(cell.text)
    return short_id(cell.text) if column.is_id else cell.text


def short_id(text: str) -> str:
    """Show eight letters of an id in a name; the pointer shows all of it."""
    return _ID.sub(lambda found: found[0][:8] + ("" if found[0] == text else "…"), text)


def _content(write: Callable[[str], str], most: int, cell: Cell, text: str) -> str:
    if not cell.is_value:
        return f'<i style="{_FAINT}">{write(text)}</i>'
    if len(text) <= most:
        return write(text)
    short = write(text[:SHORT_CHARACTERS])
    rest = text[:LONG_CHARACTERS]
    more = len(text) - len(rest)
    tail = f" … {more:,} more characters" if more else ""
    return f"<details><summary>{short}…</summary>{write(rest)}{tail}</details>"


def _shown(text: str) -> str:
    return escaped(text)
