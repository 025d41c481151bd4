"""Predicates as SQL text: ``amount > 10 AND day IN (DATE '2024-01-01', NULL)``.

The dialect is Spark's: names in back-quotes, texts in quotes with backslash escapes, ``1.5`` a
decimal and ``1.5e0`` a double. Columns are compared with constants; functions are
``startswith``, ``endswith``, ``contains``, ``isnull``, ``isnotnull`` and ``isnan``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import sqlglot
from sqlglot import exp

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.literals import Moment, parse_moment
from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    AlwaysTrue,
    Comparator,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Matches,
    Not,
    Predicate,
    TextMatch,
)
from paimonlab.spec.sql_text.guesses import guess
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.spec.sql_text.trees import Node, parsed

_DAY_NANOS = 86_400 * 10**9

_COMPARATORS: Mapping[type[Any], Comparator] = {
    exp.EQ: Comparator.EQ,
    exp.NEQ: Comparator.NE,
    exp.LT: Comparator.LT,
    exp.LTE: Comparator.LE,
    exp.GT: Comparator.GT,
    exp.GTE: Comparator.GE,
}
_DECIDE: Mapping[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQ: operator.eq,
    Comparator.NE: operator.ne,
    Comparator.LT: operator.lt,
    Comparator.LE: operator.le,
    Comparator.GT: operator.gt,
    Comparator.GE: operator.ge,
}
_MATCHES: Mapping[type[Any], TextMatch] = {
    exp.StartsWith: TextMatch.STARTS_WITH,
    exp.EndsWith: TextMatch.ENDS_WITH,
    exp.Contains: TextMatch.CONTAINS,
    exp.Like: TextMatch.LIKE,
}


def parse_predicate(text: str, values: Mapping[str, Any] | None = None) -> Predicate:
    """Parse the text of a predicate; it is not bound to columns yet.

    Parameters
    ----------
    text
        The condition.
    values
        What ``:name`` stands for: plain Python values, taken as they are.

    Raises
    ------
    SchemaError
        If the text is not a predicate; the message shows where.
    UnsupportedError
        If it cannot be evaluated: functions, arithmetic, a comparison of two columns.

    Examples
    --------
    >>> print(parse_predicate("5 < a AND NOT `b c` IN ('x', NULL) OR flag"))
    ((a > 5 AND NOT b c IN ('x', None)) OR flag = True)
    """
    return _Reader(text, values or {}).predicate(_parse(text))


def parse_what_prunes(text: str) -> Predicate | None:
    """Parse the parts of a condition that are predicates; the others may be true of any row.

    Parameters
    ----------
    text
        Parts joined by AND, of which some may be beyond `parse_predicate`.

    Returns
    -------
    Predicate or None
        True of every row for which the condition is true; None: nothing is known.

    Examples
    --------
    >>> print(parse_what_prunes("a > 5 AND lower(s) = 'x'"), parse_what_prunes("a > 1 OR b = c"))
    a > 5 None
    """
    return _supported_part(_Reader(text, {}), _parse(text))


def _supported_part(reader: _Reader, node: Node) -> Predicate | None:
    node = _bare(node)
    if isinstance(node, exp.And):
        left, right = (_supported_part(reader, side) for side in (node.left, node.right))
        return right if left is None else left if right is None else left & right
    try:
        return reader.predicate(node)
    except UnsupportedError:
        return None


def _parse(text: str) -> Node:
    try:
        return parsed(text)
    except sqlglot.ParseError as error:
        first = error.errors[0] if error.errors else {}
        problem = str(first.get("description") or "an expression is missing")
        if problem.startswith("Required keyword"):
            problem = "something is missing"
        raise _fault(text, _error_offset(text, first), problem) from None
    except sqlglot.errors.TokenError:
        raise _fault(text, len(text), "a quote is not closed") from None
    except RecursionError:
        raise _fault(text, 0, "it is nested too deep") from None


def _error_offset(text: str, error: Mapping[str, Any]) -> int:
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: (error.get("line") or len(lines)) - 1])
    column = error.get("col")
    return len(text) if column is None else before + column - len(error.get("highlight") or "")


def _fault(text: str, offset: int, problem: str) -> SchemaError:
    meant = guess(tokenize(text), offset)
    lines = [
        f"cannot read the condition: {problem}, {_caret(text, offset)}",
        *([meant] * bool(meant)),
    ]
    return SchemaError("\n".join(lines))


def _caret(text: str, offset: int) -> str:
    """Show the line of a place with a caret under it."""
    offset = min(max(offset, 0), len(text))
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:].split("\n", 1)[0]
    return f"at position {offset}\n  {line}\n  {' ' * (offset - start)}^"


class _Reader:
    def __init__(self, text: str, values: Mapping[str, Any]) -> None:
        self.text = text
        self.values = values

    def offset(self, node: Node) -> int:
        starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
        return min(starts, default=0)

    def refused(self, node: Node, what: str) -> UnsupportedError:
        return UnsupportedError(what, _caret(self.text, self.offset(node)))

    def faulty(self, node: Node, problem: str) -> SchemaError:
        return _fault(self.text, self.offset(node), problem)

    def predicate(self, node: Node) -> Predicate:
        joined = self.joined(node)
        if joined is not None:
            return joined
        if type(node) in _COMPARATORS:
            return self.comparison(node, _COMPARATORS[type(node)])
        if type(node) in _MATCHES:
            return self.match(node, "\\")
        read = _READERS.get(type(node))
        if read is None:
            raise self.refused(node, f"{node.sql('spark')!r} as a condition")
        return read(self, node)

    def joined(self, node: Node) -> Predicate | None:
        match node:
            case exp.Paren():
                return self.predicate(node.this)
            case exp.And():
                return self.predicate(node.left) & self.predicate(node.right)
            case exp.Or():
                return self.predicate(node.left) | self.predicate(node.right)
            case exp.Not():
                return Not(self.predicate(node.this))
        return None

    def comparison(self, node: Node, comparator: Comparator) -> Predicate:
        left, right = _bare(node.this), _bare(node.expression)
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            text = f"'{right.name}'"
            raise self.refused(node, f"a comparison of two columns (a text is quoted: {text})")
        if isinstance(left, exp.Column):
            return self.compared(left, comparator, right)
        if isinstance(right, exp.Column):
            return self.compared(right, comparator.mirrored, left)
        return self.decided(node, comparator, self.constant(left), self.constant(right))

    def compared(self, column: exp.Column, comparator: Comparator, constant: Node) -> Predicate:
        return Comparison(self.name(column), comparator, Literal(self.constant(constant)))

    def decided(self, node: Node, comparator: Comparator, left: Any, right: Any) -> Predicate:
        if left is None or right is None:
            return AlwaysNull()
        if type(left) is not type(right) and not (_is_number(left) and _is_number(right)):
            raise self.faulty(node, f"{left!r} and {right!r} cannot be compared")
        if isinstance(left, Moment):
            left, right = left.nanos, right.nanos
        return AlwaysTrue() if _DECIDE[comparator](left, right) else AlwaysFalse()

    def match(self, node: Node, escape: str) -> Predicate:
        pattern = self.constant(node.expression)
        if pattern is None:
            return AlwaysNull()
        if not isinstance(pattern, str):
            raise self.faulty(node.expression, f"{pattern!r} is not a text to match")
        match = _MATCHES[type(node)]
        if match is TextMatch.LIKE and escape != "\\":
            pattern = _with_backslashes(pattern, escape)
        return Matches(self.name(node.this), match, pattern)

    def escaped(self, node: Node) -> Predicate:
        escape = self.constant(node.expression)
        if not isinstance(node.this, exp.Like) or not isinstance(escape, str) or len(escape) != 1:
            raise self.faulty(node.expression, "ESCAPE needs one character after LIKE")
        return self.match(node.this, escape)

    def is_(self, node: Node) -> Predicate:
        name = self.name(node.this)
        if isinstance(node.expression, exp.Null):
            return IsNull(name)
        if isinstance(node.expression, exp.Boolean):
            same = Comparison(name, Comparator.EQ, Literal(bool(node.expression.this)))
            return IsNotNull(name) & same
        raise self.refused(node, f"{node.sql('spark')!r} as a condition")

    def null_safe(self, node: Node) -> Predicate:
        left, right = _bare(node.this), _bare(node.expression)
        column, constant = (left, right) if isinstance(left, exp.Column) else (right, left)
        name = self.name(column)
        value = self.constant(constant)
        if value is None:
            return IsNull(name)
        return IsNotNull(name) & Comparison(name, Comparator.EQ, Literal(value))

    def between(self, node: Node) -> Predicate:
        column = _bare(node.this)
        if not isinstance(column, exp.Column):
            raise self.refused(node, "BETWEEN of anything but a column")
        low = self.compared(column, Comparator.GE, node.args["low"])
        return low & self.compared(column, Comparator.LE, node.args["high"])

    def in_(self, node: Node) -> Predicate:
        if node.args.get("query") is not None:
            raise self.refused(node, "IN with a query")
        if not node.expressions:
            raise self.faulty(node, "IN needs values in parentheses")
        values = tuple(Literal(self.constant(each)) for each in node.expressions)
        return In(self.name(node.this), values)

    def flag(self, node: Node) -> Predicate:
        return Comparison(self.name(node), Comparator.EQ, Literal(value=True))

    def truth(self, node: Node) -> Predicate:
        return AlwaysTrue() if node.this else AlwaysFalse()

    def null(self, _node: Node) -> Predicate:
        return AlwaysNull()

    def is_nan(self, node: Node) -> Predicate:
        name = self.name(node.this)  # isnan(null) is false
        same = Comparison(name, Comparator.EQ, Literal(float("nan")))
        return IsNotNull(name) & same

    def function(self, node: Node) -> Predicate:
        made = {"isnull": IsNull, "isnotnull": IsNotNull}.get(node.name.lower())
        if made is None or len(node.expressions) != 1:
            raise self.refused(node, f"the function {node.name}")
        return made(self.name(node.expressions[0]))

    def name(self, node: Node) -> str:
        node = _bare(node)
        if not isinstance(node, exp.Column):
            raise self.refused(node, f"{node.sql('spark')!r} in place of a column")
        if node.args.get("table") is not None:
            raise self.refused(node, f"{node.sql('spark')!r}: a field inside a column")
        return node.name

    def constant(self, node: Node) -> Any:
        node = _bare(node)
        try:
            return self.value(node)
        except (ValueError, InvalidOperation):
            problem = f"{node.sql('spark')} has no such value"
            raise self.faulty(node, problem) from None

    def value(self, node: Node) -> Any:
        match node:
            case exp.Null():
                return None
            case exp.Boolean():
                return bool(node.this)
            case exp.Literal():
                return str(node.this) if node.is_string else _number(str(node.this))
            case exp.Placeholder() if str(node.this) in self.values:
                return self.values[str(node.this)]
            case exp.HexString():
                return bytes.fromhex(str(node.this))
            case exp.Neg() | exp.Cast() | exp.TryCast():
                return self.negated(node) if isinstance(node, exp.Neg) else self.cast(node)
            case exp.Concat():
                raise self.refused(node, "two texts side by side (write \\' for a quote in a text)")
        raise self.refused(node, f"{node.sql('spark')!r} in place of a constant")

    def negated(self, node: Node) -> Any:
        value = self.value(_bare(node.this))
        if not _is_number(value):
            raise self.faulty(node, "only numbers can be negative")
        return -value

    def cast(self, node: Node) -> Any:
        value = self.value(_bare(node.this))
        if value is None:
            return None
        cast = _CASTS.get(str(node.args["to"].this.value))
        if cast is None or not isinstance(value, cast[0]):
            raise self.refused(node, f"the cast {node.sql('spark')}")
        return cast[1](value)


def _bare(node: Node) -> Node:
    return node.unnest()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _number(text: str) -> int | float | Decimal:
    if "e" in text.lower():
        return float(text)
    return Decimal(text) if "." in text else int(text)


def _moment(text: str, *, is_date: bool) -> Moment:
    moment = parse_moment(text)
    if moment is None or (is_date and moment.is_instant):
        raise ValueError(text)
    nanos = moment.nanos // _DAY_NANOS * _DAY_NANOS if is_date else moment.nanos
    return Moment(nanos, moment.is_instant)


_CASTS: Mapping[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), ((int, str), int)),
    **dict.fromkeys(("FLOAT", "DOUBLE"), ((int, float, Decimal, str), float)),
    **dict.fromkeys(("TEXT", "VARCHAR"), ((str,), str)),
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ"),
        ((str,), lambda text: _moment(text, is_date=False)),
    ),
    "DATE": ((str,), lambda text: _moment(text, is_date=True)),
    "DECIMAL": ((int, Decimal, str), Decimal),
    "BINARY": ((str,), str.encode),
}
"""By type: what it is made from, and how."""


def _with_backslashes(pattern: str, escape: str) -> str:
    """Rewrite a LIKE pattern that has another escape character."""
    made, characters = "", iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, "")
            made += following if following == escape and escape not in "%_" else "\\" + following
        else:
            made += "\\\\" if character == "\\" else character
    return made


_READERS: Mapping[type[Any], Callable[[_Reader, Node], Predicate]] = {
    exp.Escape: _Reader.escaped,
    exp.Is: _Reader.is_,
    exp.NullSafeEQ: _Reader.null_safe,
    exp.Between: _Reader.between,
    exp.In: _Reader.in_,
    exp.Column: _Reader.flag,
    exp.Boolean: _Reader.truth,
    exp.Null: _Reader.null,
    exp.IsNan: _Reader.is_nan,
    exp.Anonymous: _Reader.function,
}
