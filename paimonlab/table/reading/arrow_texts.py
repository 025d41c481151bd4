"""Expressions of pyarrow that predicates can say: read from their text, and proven by it.

pyarrow shows no parts of an expression. Its text is read, an expression is made of what was read,
and only if that is the same expression the reading counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.spec.predicates.predicate import Not, Predicate, col

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\.)*")
    |(?P<day>\d{4}-\d\d-\d\d)(?![\w-])
    |(?P<number>-?\d+)(?![\w.])
    |(?P<sign>==|!=|<=|>=|<|>)
    |(?P<option>,\s\{nan_is_null=false\})
    |(?P<word>\w+)
    |(?P<mark>[()])
    )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_SIGNS = {
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
}
_Both: TypeAlias = tuple[pc.Expression, Predicate]


class _NotKnownError(Exception):
    """The text has something else."""


def read_expression(where: pc.Expression, schema: pa.Schema) -> Predicate | None:
    """Return the predicate that an expression is; None if it is beyond predicates.

    Parameters
    ----------
    where
        The expression.
    schema
        Columns that it may read.

    Examples
    --------
    >>> schema = pa.schema([("id", pa.int64()), ("s", pa.string())])
    >>> print(read_expression((pc.field("id") > 2) & ~(pc.field("s") == "a"), schema))
    (id > 2 AND NOT s = 'a')
    >>> read_expression(pc.utf8_lower(pc.field("s")) == "a", schema) is None
    True
    """
    text = str(where)
    for is_typed in (False, True):
        try:
            made, predicate = _Reader(text, schema, is_typed=is_typed).whole()
        except (_NotKnownError, RecursionError):
            return None
        if made.equals(where):
            return predicate
    return None


class _Reader:
    def __init__(self, text: str, schema: pa.Schema, *, is_typed: bool) -> None:
        self._schema = schema
        self._is_typed = is_typed
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None or found.lastgroup is None:
                raise _NotKnownError
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()
        self._next = 0

    def whole(self) -> _Both:
        both = self._expression()
        if self._next != len(self._tokens):
            raise _NotKnownError
        return both

    def _take(self, *kinds: str) -> str:
        if self._next == len(self._tokens) or self._tokens[self._next][0] not in kinds:
            raise _NotKnownError
        self._next += 1
        return self._tokens[self._next - 1][1]

    def _mark(self, mark: str) -> None:
        if self._take("mark") != mark:
            raise _NotKnownError

    def _expression(self) -> _Both:
        kind, text = self._tokens[self._next] if self._next < len(self._tokens) else ("", "")
        if kind == "mark":
            return self._in_brackets()
        if text in ("invert", "is_null", "is_valid"):
            return self._called()
        raise _NotKnownError

    def _in_brackets(self) -> _Both:
        self._mark("(")
        after = self._tokens[self._next + 1][0] if self._next + 1 < len(self._tokens) else ""
        both = self._comparison() if after == "sign" else self._joined()
        self._mark(")")
        return both

    def _joined(self) -> _Both:
        left, right = self._expression, self._expression
        (first, known), word, (second, other) = left(), self._take("word"), right()
        if word == "and":
            return first & second, known & other
        if word == "or":
            return first | second, known | other
        raise _NotKnownError

    def _comparison(self) -> _Both:
        name, sign = self._column(), _SIGNS[self._take("sign")]
        value = self._value(self._schema.field(name).type)
        kind = self._schema.field(name).type
        other = pa.scalar(value, kind) if self._is_typed else value
        return getattr(pc.field(name), sign)(other), getattr(col(name), sign)(value)

    def _column(self) -> str:
        name = self._take("word", "number")
        if name not in self._schema.names:
            raise _NotKnownError
        return name

    def _value(self, kind: pa.DataType) -> int | str | date:
        makers: list[tuple[str, Callable[[pa.DataType], bool], Callable[[str], int | str | date]]]
        makers = [
            ("number", pa.types.is_integer, int),
            ("day", pa.types.is_date32, date.fromisoformat),
            ("text", pa.types.is_string, _unescaped),
        ]
        for token, fits, make in makers:
            if self._tokens[self._next][0] == token and fits(kind):
                return make(self._take(token))
        raise _NotKnownError

    def _called(self) -> _Both:
        word = self._take("word")
        self._mark("(")
        if word == "invert":
            made, known = self._expression()
            both: _Both = (~made, Not(known))
        else:
            name = self._column()
            if word == "is_null":
                self._take("option")
                both = (pc.field(name).is_null(), col(name).is_null())
            else:
                both = (pc.field(name).is_valid(), col(name).is_not_null())
        self._mark(")")
        return both


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text[1:-1])
