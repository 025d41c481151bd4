"""A statement that failed, as a few lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from paimonlab.notebook.cell.problem import Problem, ProblemLine
from paimonlab.notebook.display.characters import cut, text_width
from paimonlab.spec.visible_text import visible

WIDTH = 100
"""Columns of an error block."""
MOST_LINES = 8
"""What a user sees of an error in a terminal, everything together."""


def text_lines(
    problem: Problem, *, most: int, prefix: str = "", has_help: bool = True
) -> Sequence[str]:
    """Write a problem as a few lines.

    Parameters
    ----------
    problem
        What is shown.
    most
        How many lines; a long message is truncated.
    prefix
        What the first line begins with.
    has_help
        Whether the last line says where help is.
    """
    below = [problem.place] if problem.place else []
    for line in [line for line in problem.lines if line.marked][:1]:
        below += pointer(line)
    help_lines = [help_of(problem)] if has_help else []
    room = most - len(below) - len(help_lines)
    hint = [line for part in problem.hint.split("\n") for line in _wrapped(part)]
    message = _wrapped(prefix + message_of(problem))
    room_of_hint = min(len(hint), max(room - 2, 1))
    message = _first(message, max(min(3, room - room_of_hint), 1) if hint else room)
    return [*message, *below, *_first(hint, room - len(message)), *help_lines]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(visible(text), WIDTH)


def _first(lines: list[str], room: int) -> list[str]:
    """Take the first lines; an ellipsis says that there are more."""
    if len(lines) <= room:
        return lines
    return [*lines[: room - 1], lines[room - 1][: WIDTH - 2] + " …"] if room > 0 else []


def message_of(problem: Problem) -> str:
    """Return what is wrong, with Spark's name of it."""
    return problem.message + (f" [{problem.condition}]" if problem.condition else "")


def help_of(problem: Problem) -> str:
    """Say where to find more."""
    trace = "; %paimon_trace shows the whole error" if problem.has_trace else ""
    return f"help: %paimon_help {problem.topic}{trace}"


def pointer(line: ProblemLine) -> list[str]:
    """Draw a line, and carets under what is marked in it."""
    gutter = f"{line.number:>4} | "
    before, marked = visible(line.before), visible(line.marked)
    shown = gutter + before + marked + visible(line.after)
    blank = " " * (len(gutter) - 2) + "| " + " " * text_width(before)
    return [cut(shown.rstrip(), WIDTH), (blank + "^" * max(text_width(marked), 1))[:WIDTH]]
