"""The condition of a query without Spark: its text, and the values in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.notebook.cell.parameters import Bound
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import SentText, Statement
from paimonlab.spec import predicates
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.sql_text.guesses import guess
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

_PLACE = re.compile(r"(.*?)[,:] at position (\d+)\n", re.DOTALL)
_WORD = re.compile(r"\w+|.", re.DOTALL)


class Taken(Struct, frozen=True):
    """The value of a parameter."""

    value: Any
    token_count: int
    """Tokens that the parameter takes."""


class Given:
    """The values of a statement, taken one after the other as its parameters come."""

    def __init__(self, values: Bound) -> None:
        self._named: Mapping[str, Any] = values if isinstance(values, dict) else {}
        self._in_order: Iterator[Any] = iter(values if isinstance(values, list) else ())

    def take(self, tokens: Sequence[Token], index: int) -> Taken | None:
        """Return the value of the parameter that begins at a token; None if none does."""
        token = tokens[index] if index < len(tokens) else None
        if token is None or token.kind is not TokenKind.SYMBOL:
            return None
        if token.text == "?":
            return Taken(next(self._in_order), 1)
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.text == ":" and after is not None and after.text in self._named:
            return Taken(self._named[after.text], 2)
        return None


class Condition(Struct, frozen=True):
    """What follows WHERE."""

    statement: Statement
    sent: SentText
    """With ``:p0``, ``:p1``, … in place of the parameters."""
    values: Mapping[str, Any]

    def predicate(self) -> Predicate:
        """Parse the condition.

        Raises
        ------
        QueryError
            If it is not a condition, or one that cannot be evaluated; it points at the place.
        """
        try:
            return predicates.sql.parse_predicate(self.sent.text, self.values)
        except (SchemaError, UnsupportedError) as error:
            match = _PLACE.match(str(error))
            message, offset = (match[1], int(match[2])) if match else (str(error), 0)
            begin = self.sent.cell_offset(offset)
            word = _WORD.match(self.statement.cell, begin)
            is_unread = isinstance(error, SchemaError) and message.startswith("cannot read")
            raise QueryError(
                message.removesuffix(" is not supported") + " is not supported without Spark"
                if isinstance(error, UnsupportedError)
                else message,
                topic="without spark",
                statement=self.statement,
                span=Span(begin, begin + len(word[0]) if word else begin + 1),
                hint=guess(self.statement.tokens, begin) if is_unread else "",
            ) from error


class ConditionText:
    """Puts a condition together, token by token."""

    def __init__(self, statement: Statement, given: Given) -> None:
        self._statement = statement
        self._given = given
        self._parts: list[str] = []
        self._pieces: list[tuple[int, int]] = []
        self._length = 0
        self._end = 0
        self._values: dict[str, Any] = {}

    def take(self, index: int) -> int:
        """Add what begins at a token of the statement; return how many tokens that is.

        Raises
        ------
        QueryError
            If it is a list.
        """
        tokens = self._statement.tokens
        token = tokens[index]
        taken = self._given.take(tokens, index)
        last = tokens[index + (taken.token_count if taken else 1) - 1]
        if self._parts:
            self._add(self._statement.cell[self._end : token.start], self._end)
        if taken is None:
            self._add(token.text, token.start)
        else:
            self._check(taken.value, Span(token.start, last.end))
            name = f"p{len(self._values)}"
            self._values[name] = taken.value
            self._add(f":{name}", token.start)
        self._end = last.end
        return taken.token_count if taken else 1

    def made(self) -> Condition:
        """Return all that was added."""
        sent = SentText("".join(self._parts), tuple(self._pieces))
        return Condition(self._statement, sent, self._values)

    def _add(self, text: str, origin: int) -> None:
        self._pieces.append((self._length, origin))
        self._parts.append(text)
        self._length += len(text)

    def _check(self, value: Any, span: Span) -> None:
        if isinstance(value, list):
            raise QueryError(
                "A list as a parameter is not supported without Spark.",
                topic="without spark",
                statement=self._statement,
                span=span,
                hint="Write a parameter for each of its values: IN (?, ?).",
            )
