"""A statement that failed, as one block: at most eight lines of text, everything as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimonlab.notebook.cell.problem import Problem, ProblemLine
from paimonlab.notebook.cell.problem_text import (
    MOST_LINES,
    help_of,
    message_of,
    pointer,
    text_lines,
)
from paimonlab.notebook.display import html
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.colours import RED
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.view import rows

_PLAIN = pa.schema([("number", pa.int64()), ("before", pa.string()), ("marked", pa.string())])
_BLOCK = f"border-left:4px solid {RED};padding:2px 8px;margin:4px 0"
_MARK = "background-color:rgba(213,94,0,0.25)"


def draw(problem: Problem) -> Drawn[Problem]:
    """Draw a problem; what is raised after it takes the last of `MOST_LINES` lines."""
    columns = (Column("line", align=Align.RIGHT), Column("SQL"))
    hint = problem.hint.replace("\n", "; ")
    grid = Grid(
        columns,
        [texts([line.number, line.before + line.marked + line.after]) for line in problem.lines],
        caption=f"{problem.name}: {message_of(problem)}",
        footer="; ".join(filter(None, (problem.place, hint, help_of(problem)))),
    )
    return Drawn(
        problem,
        grid,
        rows(problem.lines) if problem.lines else _PLAIN.empty_table(),
        static="".join(_html(problem)),
        text="\n".join(text_lines(problem, most=MOST_LINES - 1)),
    )


def _html(problem: Problem) -> Iterator[str]:
    yield f'<div style="{_BLOCK}">'
    condition = f" <small>[{_shown(problem.condition)}]</small>" if problem.condition else ""
    yield f"<p><b>{_shown(problem.name)}</b>: {_shown(problem.message)}{condition}</p>"
    hidden = problem.hidden_line_count
    notes = [problem.place, f"{hidden:,} of its lines are not shown" if hidden else ""]
    place = "; ".join(note for note in notes if note)
    if place:
        yield html.paragraph(place)
    if problem.lines:
        yield "<pre>" + "\n".join(_html_lines(problem.lines)) + "</pre>"
    if problem.hint:
        yield "<p>" + "<br>".join(map(_shown, problem.hint.split("\n"))) + "</p>"
    yield html.paragraph(help_of(problem))
    if problem.trace:
        trace = "\n".join(map(_shown, problem.trace.split("\n")))
        yield f"<details><summary>the whole error</summary><pre>{trace}</pre></details>"
    yield "</div>"


def _html_lines(lines: Sequence[ProblemLine]) -> Iterator[str]:
    """Write the lines, with carets under the first mark, as not everybody sees all colours."""
    is_first = True
    for line in lines:
        mark = f'<b style="{_MARK}">{_shown(line.marked)}</b>' if line.marked else ""
        yield f"{line.number:>4} | {_shown(line.before)}{mark}{_shown(line.after)}"
        if mark and is_first:
            yield escaped(pointer(line)[1])
            is_first = False


def _shown(text: str) -> str:
    return escaped(text)
