"""What ``%%paimon --stream`` runs: a query over a stream, and the table that its rows go to."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

OutputMode = Literal["append", "update", "complete"]
StreamState = Literal["running", "ended", "failed"]


class StreamStatement(Struct, frozen=True):
    """A query, and where its rows go."""

    query: Statement
    sink: str | None
    """Name of a table; None: the notebook shows the newest rows."""
    replaces: bool
    """Whether each batch replaces all rows of the table."""


def stream_statement(statement: Statement) -> StreamStatement:
    """Divide ``INSERT INTO t SELECT … FROM STREAM s`` into its query and its table.

    Raises
    ------
    QueryError
        If the statement is not a query over a stream, or an ``INSERT`` of one by name alone.

    Examples
    --------
    >>> from paimonlab.notebook.cell.statements import split
    >>> made = stream_statement(split("INSERT INTO db.t SELECT * FROM STREAM s")[0])
    >>> made.sink, made.query.text
    ('db.t', 'SELECT * FROM STREAM s')
    """
    words = [token.text.upper() for token in statement.tokens]
    if "STREAM" not in words:
        raise QueryError(
            "Nothing in this statement is a stream.",
            topic="streams",
            statement=statement,
            hint="Write FROM STREAM db.t: the rows of the table, and then what each commit adds.",
        )
    if statement.is_query:
        return StreamStatement(statement, None, replaces=False)
    if words[0] != "INSERT" or words[1] not in ("INTO", "OVERWRITE"):
        raise _refused(statement, statement.tokens[0])
    begin = 3 if words[2] == "TABLE" else 2
    end = begin
    while end < len(words) and (end == begin or words[end - 1] == "." or words[end] == "."):
        end += 1
    rest = statement.tokens[end:]
    if not rest or rest[0].text.upper() not in ("SELECT", "WITH", "FROM", "TABLE"):
        raise _refused(statement, rest[0] if rest else statement.tokens[-1])
    first, last = statement.tokens[begin], statement.tokens[end - 1]
    return StreamStatement(
        Statement(statement.cell, rest, statement.number, statement.count),
        statement.cell[first.start : last.end],
        replaces=words[1] == "OVERWRITE",
    )


def _refused(statement: Statement, token: Token) -> QueryError:
    word = token.text.upper() if token.kind is TokenKind.WORD else token.text
    return QueryError(
        f"{word} is not supported in a stream.",
        topic="streams",
        statement=statement,
        span=Span(token.start, token.end),
        hint="SELECT …, INSERT INTO t SELECT … and INSERT OVERWRITE t SELECT … are; columns are "
        "found by name. foreachBatch of a DataFrame runs any statement for each batch.",
    )
