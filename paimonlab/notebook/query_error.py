"""A failed statement in at most eight lines: what, where in the user's SQL, what to do."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from paimonlab.errors import PaimonError
from paimonlab.notebook.display.characters import text_width, visible
from paimonlab.notebook.sql_text import line_and_column
from paimonlab.notebook.statements import Statement
from paimonlab.spec.secrets import masked, without_secrets

WIDTH = 100
"""Columns of an error block."""
_MESSAGE_LINES = 3


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a cell: offsets of the first character and behind the last one."""

    start: int
    end: int


class QueryError(PaimonError):
    """A statement that was refused or that failed.

    Parameters
    ----------
    message
        What is wrong, in a sentence or two.
    statement
        Which statement; its cell is shown.
    span
        The piece of the cell to point at; None when nobody knows.
    hint
        What to do about it.
    condition
        Spark's name of the error and its SQLSTATE, as in ``DIVIDE_BY_ZERO, 22012``.
    """

    def __init__(
        self,
        message: str,
        *,
        statement: Statement | None = None,
        span: Span | None = None,
        hint: str = "",
        condition: str = "",
    ) -> None:
        self.message = message
        self.statement = statement
        self.span = span
        self.hint = hint
        self.condition = condition
        super().__init__(message)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, prefix: str = "") -> list[str]:
        """Write the error as at most eight lines, the first of which begins with ``prefix``."""
        told = without_secrets(self.message)
        message = prefix + told + (f" [{self.condition}]" if self.condition else "")
        lines = textwrap.wrap(visible(message), WIDTH)
        if len(lines) > _MESSAGE_LINES:
            lines = [*lines[: _MESSAGE_LINES - 1], lines[_MESSAGE_LINES - 1][: WIDTH - 2] + " …"]
        if self.statement is not None and self.statement.count > 1:
            lines.append(self.statement.place)
        if self.statement is not None and self.span is not None:
            lines += _pointer(self.statement.cell, self.span)
        if self.hint:
            lines.append(
                textwrap.shorten(visible(without_secrets(self.hint)), WIDTH, placeholder=" …")
            )
        return lines

    def _render_traceback_(self) -> list[str]:
        """Tell IPython what to show instead of a traceback."""
        trace = ["%paimon_trace shows the whole error."] if self.__cause__ else []
        return [*self.lines(prefix=f"{type(self).__name__}: "), *trace]


def _pointer(cell: str, span: Span) -> list[str]:
    """Draw the line a span begins on, and carets under it."""
    number, column = line_and_column(cell, span.start)
    line = masked(cell).split("\n")[number - 1]
    length = min(max(span.end - span.start, 1), max(len(line) - column, 1))
    gutter = f"{number:>4} | "
    room = WIDTH - len(gutter)
    first = max(0, min(column - room // 3, len(line) - room + 1)) if len(line) > room else 0
    before = ("…" if first else "") + line[first:column]
    piece = visible(before)
    carets = "^" * max(text_width(visible(line[column : column + length])), 1)
    shown = _cut(piece + visible(line[column:]), room)
    blank = " " * text_width(piece)
    return [gutter + shown, (" " * (len(gutter) - 2) + "| " + blank + carets)[:WIDTH]]


def _cut(text: str, width: int) -> str:
    return text if text_width(text) <= width else text[: width - 1] + "…"
