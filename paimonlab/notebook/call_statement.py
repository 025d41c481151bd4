"""``CALL sys.procedure(argument => value, …)`` as a value: what a statement says, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from paimonlab.notebook.parameters import Bound, Values, bind
from paimonlab.notebook.query_error import QueryError, Span
from paimonlab.notebook.sql_strings import string_value
from paimonlab.notebook.sql_text import Token, TokenKind
from paimonlab.notebook.statements import Statement

_NUMBER = re.compile(r"(\d+)[lL]?|\d+\.\d*|\.\d+")
_CONSTANTS: Mapping[str, Any] = {"TRUE": True, "FALSE": False, "NULL": None}
_FORM = "CALL sys.compact(table => 'db.t'): literals and :parameters only; see %paimon_help call"


@dataclass(frozen=True, slots=True)
class GivenArgument:
    """One argument of a call."""

    name: str | None
    """None: it is given by its place."""
    value: Any
    """Text, int, Decimal, bool, None, or the value of a parameter."""
    span: Span
    """All of it, name and value."""


@dataclass(frozen=True, slots=True)
class CallStatement:
    """A call of a procedure."""

    statement: Statement
    name: tuple[str, ...]
    """The parts of the procedure's name: ``sys``, ``compact``."""
    name_span: Span
    arguments: tuple[GivenArgument, ...]


def is_call(statement: Statement) -> bool:
    """Tell whether a statement calls a procedure."""
    return statement.tokens[0].text.upper() == "CALL"


def parse_call(statement: Statement, args: Values) -> CallStatement:
    """Read a statement that begins with CALL.

    Parameters
    ----------
    statement
        The statement.
    args
        Values of the parameters.

    Raises
    ------
    QueryError
        If it is not of that form, if a value is neither a literal nor a parameter, or if a
        parameter has no value.
    """
    return _Parser(statement, bind(statement, args)).call()


class _Parser:
    """Reads the tokens of a statement from left to right."""

    def __init__(self, statement: Statement, values: Bound) -> None:
        self._statement = statement
        self._tokens = statement.tokens
        self._named = values if isinstance(values, dict) else {}
        self._in_order: Iterator[Any] = iter(values if isinstance(values, list) else ())
        self._place = 0

    def call(self) -> CallStatement:
        """Read all of it."""
        self._place = 1
        first = self._place
        name = [self._name("the name of a procedure")]
        while self._take("."):
            name.append(self._name("the name of a procedure"))
        name_span = Span(self._tokens[first].start, self._tokens[self._place - 1].end)
        self._expect("(")
        arguments: list[GivenArgument] = []
        if not self._take(")"):
            arguments.append(self._argument())
            while self._take(","):
                arguments.append(self._argument())
            self._expect(")")
        if self._peek() is not None:
            self._refuse("nothing more")
        return CallStatement(self._statement, tuple(name), name_span, tuple(arguments))

    def _argument(self) -> GivenArgument:
        begin = self._place
        name = None
        if self._is_named():
            name = self._name("the name of an argument")
            self._place += 2
        value = self._value()
        span = Span(self._tokens[begin].start, self._tokens[self._place - 1].end)
        return GivenArgument(name, value, span)

    def _is_named(self) -> bool:
        equals, greater = self._peek(1), self._peek(2)
        return (
            equals is not None
            and greater is not None
            and (equals.text, greater.text) == ("=", ">")
            and equals.end == greater.start
        )

    def _value(self) -> Any:
        token = self._peek()
        if token is None:
            self._refuse("a value")
        if token.kind is TokenKind.STRING:
            return self._string(token)
        if token.text == ":":
            return self._parameter()
        if token.text == "?":
            self._place += 1
            return next(self._in_order)
        if token.kind is TokenKind.WORD and token.text.upper() in _CONSTANTS:
            after = self._peek(1)
            if after is None or after.text in {",", ")"}:
                self._place += 1
                return _CONSTANTS[token.text.upper()]
        return self._number()

    def _string(self, token: Token) -> str:
        text = string_value(token.text)
        if text is None:
            self._refuse("the quote closed")
        self._place += 1
        return text

    def _parameter(self) -> Any:
        token = self._peek(1)
        if token is None or token.text not in self._named:
            self._refuse("a parameter, as :name")
        self._place += 2
        return self._named[token.text]

    def _number(self) -> int | Decimal:
        sign = -1 if self._take("-") else 1
        begin = self._place
        while (token := self._peek()) is not None and self._is_glued(begin):
            if token.text != "." and token.kind is not TokenKind.WORD:
                break
            self._place += 1
        text = "".join(token.text for token in self._tokens[begin : self._place])
        match = _NUMBER.fullmatch(text)
        if match is None:
            self._place = begin
            self._refuse("a literal or a :parameter")
        return sign * (int(match[1]) if match[1] else Decimal(text))

    def _is_glued(self, begin: int) -> bool:
        here = self._place
        return here == begin or self._tokens[here - 1].end == self._tokens[here].start

    def _name(self, wanted: str) -> str:
        token = self._peek()
        if token is None or token.kind not in {TokenKind.WORD, TokenKind.QUOTED}:
            self._refuse(wanted)
        self._place += 1
        if token.kind is TokenKind.QUOTED:
            return token.text[1:-1].replace("``", "`")
        return token.text

    def _peek(self, ahead: int = 0) -> Token | None:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def _take(self, symbol: str) -> bool:
        token = self._peek()
        if token is not None and token.kind is TokenKind.SYMBOL and token.text == symbol:
            self._place += 1
            return True
        return False

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            self._refuse(symbol)

    def _refuse(self, wanted: str) -> NoReturn:
        token = self._peek()
        last = self._tokens[-1]
        at = Span(last.start, last.end) if token is None else Span(token.start, token.end)
        found = "the end" if token is None else token.text
        raise QueryError(
            f"A call needs {wanted} here, and this is {found}.",
            topic="call",
            statement=self._statement,
            span=at,
            hint=_FORM,
        )
