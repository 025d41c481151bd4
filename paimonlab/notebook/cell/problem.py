"""A statement that failed: what, where in the user's SQL, what to do."""

from __future__ import annotations

import msgspec

from paimonlab.secrets import masked, without_secrets
from paimonlab.spec.sql_text.tokens import line_and_column
from paimonlab.spec.visible_text import shortened

SHOWN_LINES = 12
"""Lines that are shown of a statement; of a longer one those around the marked ones."""
LINE_CHARACTERS = 93
MESSAGE_CHARACTERS = 4_000
TRACE_CHARACTERS = 20_000
_LINES_BEFORE = 4


class ProblemLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of the user's SQL; a long one is shortened around what is marked."""

    number: int
    """In the cell, counted from 1."""
    before: str
    marked: str
    """What is wrong on this line; empty if nothing is."""
    after: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An error of SQL, ready to be shown; secrets are hidden."""

    name: str
    """Of the error's class."""
    message: str
    condition: str
    """Spark's name of the error and its SQLSTATE; empty if Spark did not say it."""
    place: str
    """Which statement of how many; empty for the only one."""
    lines: tuple[ProblemLine, ...]
    hidden_line_count: int
    """Lines of the statement that are not among ``lines``."""
    hint: str
    topic: str
    """The page of ``%paimon_help`` that says more."""
    has_trace: bool
    """Whether ``%paimon_trace`` shows more than this."""
    trace: str
    """All of the error; empty if there is no more, or if outputs must be repeatable."""


def problem_lines(
    cell: str, statement: tuple[int, int], marked: tuple[int, int] | None
) -> tuple[tuple[ProblemLine, ...], int]:
    """Take the lines of a statement from its cell; return them and how many are left out.

    Parameters
    ----------
    cell
        The whole text.
    statement
        Offsets of its first character and after its last one.
    marked
        The same of the piece to point at; None if it is unknown.
    """
    first, _ = line_and_column(cell, statement[0])
    last, _ = line_and_column(cell, statement[1])
    if marked is not None:  # an error at the end may be after the last token
        marked_line, _ = line_and_column(cell, marked[0])
        first, last = min(first, marked_line), max(last, marked_line)
        shown = max(first, min(marked_line - _LINES_BEFORE, last - SHOWN_LINES + 1))
    else:
        shown = first
    texts = masked(cell).split("\n")
    numbers = range(shown, min(last, shown + SHOWN_LINES - 1) + 1)
    lines = tuple(_line(number, texts[number - 1], cell, marked) for number in numbers)
    return lines, last - first + 1 - len(lines)


def _line(number: int, text: str, cell: str, marked: tuple[int, int] | None) -> ProblemLine:
    if marked is None:
        return ProblemLine(number=number, before=_cut(text), marked="", after="")
    first, begin = line_and_column(cell, marked[0])
    last, end = line_and_column(cell, max(marked[1], marked[0] + 1))
    if not first <= number <= last:
        return ProblemLine(number=number, before=_cut(text), marked="", after="")
    begin = begin if number == first else len(text) - len(text.lstrip())
    end = end if number == last else len(text.rstrip())
    room = LINE_CHARACTERS
    start = max(0, min(begin - room // 3, len(text) - room + 1)) if len(text) > room else 0
    before = ("…" if start else "") + text[start:begin]
    piece = text[begin:end] or (" " if number == first else "")
    after = text[begin + len(piece) :]
    left = room - len(before)
    if len(piece) > left:
        piece, after = piece[: left - 1] + "…", ""
    elif len(piece) + len(after) > left:
        after = after[: left - len(piece) - 1] + "…"
    return ProblemLine(number=number, before=before, marked=piece, after=after)


def _cut(text: str) -> str:
    return shortened(text, LINE_CHARACTERS)


def bounded_trace(text: str) -> str:
    """Hide secrets of a trace, and leave out its middle if it is long."""
    safe = without_secrets(text)
    more = len(safe) - TRACE_CHARACTERS
    if more <= 0:
        return safe
    half = TRACE_CHARACTERS // 2
    return f"{safe[:half]}\n… {more:,} more characters …\n{safe[-half:]}"
