"""A statement that failed, as one block: at most eight lines of text, everything as HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimonlab.notebook.display import html
from paimonlab.notebook.display.characters import cut, escaped, text_width
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.views import Problem, ProblemLine, rows
from paimonlab.spec.visible_text import visible

WIDTH = 100
"""Columns of an error block."""
MOST_LINES = 8
"""What a user sees of an error in a terminal, everything together."""
_PLAIN = pa.schema([("number", pa.int64()), ("before", pa.string()), ("marked", pa.string())])
_BLOCK = "border-left:4px solid #D55E00;padding:2px 8px;margin:4px 0"
_MARK = "background-color:rgba(213,94,0,0.25)"


def draw(problem: Problem) -> Drawn[Problem]:
    """Draw a problem; what is raised behind it takes the last of `MOST_LINES` lines."""
    columns = (Column("line", align=Align.RIGHT), Column("SQL"))
    grid = Grid(
        columns,
        [texts([line.number, line.before + line.marked + line.after]) for line in problem.lines],
        caption=f"{problem.name}: {_message(problem)}",
        footer="; ".join(part for part in (problem.place, problem.hint, _help(problem)) if part),
    )
    return Drawn(
        problem,
        grid,
        rows(problem.lines) if problem.lines else _PLAIN.empty_table(),
        static="".join(_html(problem)),
        text="\n".join(text_lines(problem, most=MOST_LINES - 1)),
    )


def text_lines(
    problem: Problem, *, most: int, prefix: str = "", has_help: bool = True
) -> Sequence[str]:
    """Write a problem as a few lines.

    Parameters
    ----------
    problem
        What is shown.
    most
        How many lines; a long message is cut.
    prefix
        What the first line begins with.
    has_help
        Whether the last line says where help is.
    """
    behind = [problem.place] if problem.place else []
    for line in [line for line in problem.lines if line.marked][:1]:
        behind += _pointer(line)
    if problem.hint:
        behind.append(textwrap.shorten(visible(problem.hint), WIDTH, placeholder=" …"))
    if has_help:
        behind.append(_help(problem))
    lines = textwrap.wrap(visible(prefix + _message(problem)), WIDTH)
    room = min(most - len(behind), 3)
    if len(lines) > room:
        lines = [*lines[: room - 1], lines[room - 1][: WIDTH - 2] + " …"]
    return [*lines, *behind]


def _message(problem: Problem) -> str:
    return problem.message + (f" [{problem.condition}]" if problem.condition else "")


def _help(problem: Problem) -> str:
    trace = "; %paimon_trace shows the whole error" if problem.has_trace else ""
    return f"help: %paimon_help {problem.topic}{trace}"


def _pointer(line: ProblemLine) -> list[str]:
    """Draw a line, and carets under what is marked in it."""
    gutter = f"{line.number:>4} | "
    before, marked = visible(line.before), visible(line.marked)
    shown = gutter + before + marked + visible(line.after)
    blank = " " * (len(gutter) - 2) + "| " + " " * text_width(before)
    return [cut(shown.rstrip(), WIDTH), (blank + "^" * max(text_width(marked), 1))[:WIDTH]]


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
        yield f"<p>{_shown(problem.hint)}</p>"
    yield html.paragraph(_help(problem))
    if problem.trace:
        trace = "\n".join(map(_shown, problem.trace.split("\n")))
        yield f"<details><summary>the whole error</summary><pre>{trace}</pre></details>"
    yield "</div>"


def _html_lines(lines: Sequence[ProblemLine]) -> Iterator[str]:
    """Write the lines, with carets under the first mark, as not all colours are seen by all."""
    is_first = True
    for line in lines:
        mark = f'<b style="{_MARK}">{_shown(line.marked)}</b>' if line.marked else ""
        yield f"{line.number:>4} | {_shown(line.before)}{mark}{_shown(line.after)}"
        if mark and is_first:
            yield escaped(_pointer(line)[1])
            is_first = False


def _shown(text: str) -> str:
    return escaped(text)
