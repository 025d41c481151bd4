"""What a call of a procedure says: ``CALL sys.compact(table => 'db.t')`` read from its tokens.

The counterpart of `paimonlab.spec.sql_text.call_text`, which writes it. Names and values only:
which procedures there are, and what they take, is not known here.

Source: apache/spark v4.3.0 ``SqlBaseParser.g4`` (``CALL``, ``functionArgument``,
``namedArgumentExpression``, ``constant``); of expressions only literals and maps of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

from msgspec import Struct

from paimonlab.errors import PaimonError
from paimonlab.spec.sql_text.strings import string_value
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

_NUMBER = re.compile(r"(\d+)[lL]?|\d+\.\d*|\.\d+")
_CONSTANTS: Mapping[str, Any] = {"TRUE": True, "FALSE": False, "NULL": None}
_TIMES = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"})
"""What stands before the text of a time, which procedures take as that text."""


class Placeholder(Struct, frozen=True):
    """A parameter in the place of a value."""

    name: str | None
    """That of ``:name``; None: it is a ``?``."""


class GivenArgument(Struct, frozen=True):
    """One argument of a call."""

    name: str | None
    """None: it is given by its place."""
    value: Any
    """Text, int, Decimal, bool, None, a dict of those, or a `Placeholder`."""
    span: Span
    """All of it, name and value."""


class Call(Struct, frozen=True, kw_only=True):
    """A call of a procedure."""

    name: tuple[str, ...]
    """The parts of the procedure's name: ``sys``, ``compact``."""
    name_span: Span
    arguments: tuple[GivenArgument, ...]
    """Those without a name come first."""

    @property
    def procedure(self) -> str:
        """The last part of the name."""
        return self.name[-1]

    @property
    def positional(self) -> tuple[Any, ...]:
        """The values of positional arguments."""
        return tuple(argument.value for argument in self.arguments if argument.name is None)

    @property
    def named(self) -> tuple[tuple[str, Any], ...]:
        """Names and values of named arguments; a name may occur twice."""
        return tuple(
            (argument.name, argument.value)
            for argument in self.arguments
            if argument.name is not None
        )


class CallSyntaxError(PaimonError, ValueError):
    """A text that is not a call.

    Parameters
    ----------
    message
        What is wrong, in a sentence.
    span
        The piece of the text to point at.
    """

    def __init__(self, message: str, span: Span) -> None:
        self.span = span
        super().__init__(message)


def parse_call(tokens: Sequence[Token], *, has_parameters: bool = False) -> Call:
    """Read a call, with or without CALL in front.

    Parameters
    ----------
    tokens
        All of it, without the ``;`` that ends it.
    has_parameters
        Whether ``:name`` and ``?`` may stand for values; they become a `Placeholder`.

    Raises
    ------
    CallSyntaxError
        If it has another form, if a value is not a literal, or if a positional argument follows a
        named one.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> call = parse_call(tokenize("CALL sys.create_tag('db.t', tag => 'x', snapshot => 3)"))
    >>> call.name, call.positional, call.named
    (('sys', 'create_tag'), ('db.t',), (('tag', 'x'), ('snapshot', 3)))
    """
    return _Parser(tokens, has_parameters=has_parameters).call()


class _Parser:
    """Reads the tokens of a call from left to right."""

    def __init__(self, tokens: Sequence[Token], *, has_parameters: bool) -> None:
        self._tokens = tokens
        self._has_parameters = has_parameters
        self._place = 0

    def call(self) -> Call:
        """Read all of it."""
        if self._is_word("CALL"):
            self._place += 1
        first = self._place
        name = [self._name("the name of a procedure")]
        while self._take("."):
            name.append(self._name("the name of a procedure"))
        name_span = self._span_from(first)
        self._expect("(")
        arguments: list[GivenArgument] = []
        if not self._take(")"):
            arguments.append(self._argument(behind=None))
            while self._take(","):
                arguments.append(self._argument(behind=arguments[-1]))
            self._expect(")")
        if self._peek() is not None:
            self._refuse("the end")
        return Call(name=tuple(name), name_span=name_span, arguments=tuple(arguments))

    def _argument(self, *, behind: GivenArgument | None) -> GivenArgument:
        begin = self._place
        name = None
        if self._is_named():
            name = self._name("the name of an argument")
            self._place += 2
        value = self._value()
        span = self._span_from(begin)
        if name is None and behind is not None and behind.name is not None:
            text = "".join(token.text for token in self._tokens[begin : self._place])
            raise CallSyntaxError(f"{text} has no name, but follows an argument with a name.", span)
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
        if self._has_parameters:
            if self._is_symbol(":"):
                return self._parameter()
            if self._take("?"):
                return Placeholder(None)
        following = self._peek(1)
        if self._is_word("MAP") and following is not None and following.text == "(":
            return self._map()
        return self._literal("a literal or a :parameter" if self._has_parameters else "a literal")

    def _parameter(self) -> Placeholder:
        colon, name = self._tokens[self._place], self._peek(1)
        is_name = name is not None and name.kind is TokenKind.WORD and not name.text[0].isdigit()
        if name is None or not is_name or name.start != colon.end:
            self._refuse("a parameter, as :name")
        self._place += 2
        return Placeholder(name.text)

    def _map(self) -> dict[Any, Any]:
        self._place += 1
        self._expect("(")
        entries: dict[Any, Any] = {}
        while not self._take(")"):
            if entries:
                self._expect(",")
            begin = self._place
            key = self._literal("a literal")
            if key is None or key in entries:
                self._place = begin
                self._refuse("a new key that is not NULL")
            self._expect(",")
            entries[key] = self._literal("a literal")
        return entries

    def _literal(self, wanted: str) -> Any:
        token = self._peek()
        if token is None:
            self._refuse("a value")
        if token.kind is TokenKind.STRING:
            return self._string(token)
        following = self._peek(1)
        is_text_next = following is not None and following.kind is TokenKind.STRING
        if is_text_next and token.kind is TokenKind.WORD and token.text.upper() in _TIMES:
            self._place += 1
            return self._string(self._tokens[self._place])
        is_alone = following is None or following.text in {",", ")"}
        if is_alone and token.kind is TokenKind.WORD and token.text.upper() in _CONSTANTS:
            self._place += 1
            return _CONSTANTS[token.text.upper()]
        return self._number(wanted)

    def _string(self, token: Token) -> str:
        text = string_value(token.text)
        if text is None:
            self._refuse("a closing quote")
        self._place += 1
        return text

    def _number(self, wanted: str) -> int | Decimal:
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
            self._refuse(wanted)
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
        index = self._place + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def _is_word(self, word: str) -> bool:
        token = self._peek()
        return token is not None and token.kind is TokenKind.WORD and token.text.upper() == word

    def _is_symbol(self, symbol: str) -> bool:
        token = self._peek()
        return token is not None and token.kind is TokenKind.SYMBOL and token.text == symbol

    def _take(self, symbol: str) -> bool:
        is_there = self._is_symbol(symbol)
        self._place += is_there
        return is_there

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            self._refuse(symbol)

    def _span_from(self, begin: int) -> Span:
        """Return where the tokens from ``begin`` up to here stand."""
        return Span(self._tokens[begin].start, self._tokens[self._place - 1].end)

    def _refuse(self, wanted: str) -> NoReturn:
        token = self._peek()
        given = "the end" if token is None else token.text
        pointed_at = self._tokens[-1] if token is None and self._tokens else token
        span = Span(pointed_at.start, pointed_at.end) if pointed_at is not None else Span(0, 0)
        raise CallSyntaxError(f"A call needs {wanted} here, not {given}.", span)
