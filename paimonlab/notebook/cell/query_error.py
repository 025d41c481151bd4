"""A statement that was refused or that failed: what, where in the user's SQL, what to do."""

from __future__ import annotations

import textwrap
import traceback

from paimonlab.errors import (
    ArgumentError,
    BranchNotFoundError,
    ColumnNotFoundError,
    DatabaseNotFoundError,
    PaimonError,
    ProcedureNotFoundError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
)
from paimonlab.notebook.cell.problem import (
    MESSAGE_CHARACTERS,
    Problem,
    ProblemLine,
    bounded_trace,
    problem_lines,
)
from paimonlab.notebook.cell.problem_text import MOST_LINES, WIDTH, text_lines
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.cell.topics import Topic, topic_of
from paimonlab.secrets import without_secrets
from paimonlab.spec.sql_text.tokens import Span
from paimonlab.spec.visible_text import visible


class QueryError(PaimonError):
    """A statement that was refused or that failed.

    Parameters
    ----------
    message
        What is wrong, in a sentence or two.
    topic
        The page of ``%paimon_help`` that says more.
    statement
        Which statement; its cell is shown.
    span
        The piece of the cell to point at; None if it is unknown.
    hint
        What to do about it.
    condition
        Spark's name of the error and its SQLSTATE, as in ``DIVIDE_BY_ZERO, 22012``.
    """

    def __init__(
        self,
        message: str,
        *,
        topic: Topic,
        statement: Statement | None = None,
        span: Span | None = None,
        hint: str = "",
        condition: str = "",
    ) -> None:
        self.message = message
        self.topic = topic
        self.statement = statement
        self.span = span
        self.hint = hint
        self.condition = condition
        self.is_shown = False
        super().__init__(message)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def problem(self, *, has_trace: bool = False) -> Problem:
        """Return what is shown of the error, without secrets.

        Parameters
        ----------
        has_trace
            Whether everything that Spark reported is wanted as well.
        """
        statement = self.statement
        lines: tuple[ProblemLine, ...] = ()
        hidden = 0
        if statement is not None:
            marked = None if self.span is None else (self.span.start, self.span.end)
            ends = (statement.start, statement.tokens[-1].end)
            lines, hidden = problem_lines(statement.cell, ends, marked)
        return Problem(
            name=type(self).__name__,
            message=_bounded(self.message),
            condition=self.condition,
            place=statement.place if statement is not None and statement.count > 1 else "",
            lines=lines,
            hidden_line_count=hidden,
            hint=_bounded(self.hint),
            topic=self.topic,
            has_trace=self.__cause__ is not None,
            trace=bounded_trace(whole_trace(self)) if has_trace and self.__cause__ else "",
        )

    def lines(self) -> list[str]:
        """Write the error as at most eight lines; as one if all of it was shown before."""
        if self.is_shown:
            return [self._line("")]
        return list(text_lines(self.problem(), most=MOST_LINES, has_help=False))

    def shown(self) -> QueryError:
        """Return what is raised instead when a block with all of it is right above."""
        error = QueryError(self.message, topic=self.topic, condition=self.condition)
        error.is_shown = True
        return error

    def _line(self, prefix: str) -> str:
        message = visible(prefix + without_secrets(self.message))
        message = textwrap.shorten(message, WIDTH, placeholder=" …")[:WIDTH]
        whole = f"{message} [{visible(self.condition)}]"
        return whole if self.condition and len(whole) <= WIDTH else message

    def _render_traceback_(self) -> list[str]:
        """Tell IPython what to show instead of a traceback."""
        prefix = f"{type(self).__name__}: "
        if self.is_shown:
            return [self._line(prefix)]
        return list(text_lines(self.problem(), most=MOST_LINES, prefix=prefix))


def check_query(option: str, statement: Statement, topic: Topic) -> None:
    """Refuse an option that is about the rows of a query beside any other statement.

    Raises
    ------
    QueryError
        If the statement is not a query.
    """
    if not statement.is_query:
        message = f"{option} is for queries, and {statement.title} is not one."
        raise QueryError(message, topic=topic, statement=statement)


def of_paimon(error: PaimonError, statement: Statement) -> QueryError:
    """Point at what an error of ours is about."""
    if isinstance(error, QueryError):
        return error
    span = _named_span(error, statement)
    topic = topic_of(error, "sql")
    hint = ""
    if isinstance(error, DatabaseNotFoundError) and statement.tokens[0].text.upper() == "CREATE":
        hint = f"CREATE DATABASE {error.database} makes it."
    return QueryError(str(error), topic=topic, statement=statement, span=span, hint=hint)


def whole_trace(error: BaseException) -> str:
    """Write an error with its traceback and where it came from; secrets are not hidden."""
    return "".join(traceback.format_exception(error))


def _named_span(error: PaimonError, statement: Statement) -> Span | None:
    """Find the last place where the name of what an error is about is written."""
    for name in _named(error):
        for token in reversed(statement.tokens):
            if token.text.strip("`'\"").lower() == name.lower():
                return Span(token.start, token.end)
    return None


def _named(error: PaimonError) -> list[str]:
    """Name what an error is about, as a statement may write it."""
    match error:
        case ColumnNotFoundError():
            return [error.column]
        case TableNotFoundError():
            return [error.table.rpartition(".")[2].rpartition("$")[2], error.table]
        case ArgumentError():
            return [error.problem.partition(" ")[0], error.procedure]
        case ProcedureNotFoundError():
            return [error.procedure]
    return missing_name(error)


def missing_name(error: PaimonError) -> list[str]:
    """Return the name or id of the snapshot, tag or branch that a table does not have."""
    match error:
        case SnapshotNotFoundError():
            return [error.asked]
        case TagNotFoundError():
            return [error.tag]
        case BranchNotFoundError():
            return [error.branch]
    return []


def _bounded(text: str) -> str:
    safe = without_secrets(text)
    return safe if len(safe) <= MESSAGE_CHARACTERS else safe[: MESSAGE_CHARACTERS - 1] + "…"
