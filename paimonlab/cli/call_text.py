"""A call of a procedure as a value: ``sys.compact(table => 'db.t')``, literals only."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """What a text calls, and with what."""

    procedure: str
    positional: tuple[object, ...]
    named: tuple[tuple[str, object], ...]


def parse_call(text: str) -> CallText:
    """Read a call in Spark's SQL, with or without CALL in front.

    Raises
    ------
    ValueError
        If it is something else, or a value is no literal.

    Examples
    --------
    >>> found = parse_call("CALL sys.create_tag('db.t', tag => 'x', snapshot => 3)")
    >>> found.procedure, found.positional, found.named
    ('create_tag', ('db.t',), (('tag', 'x'), ('snapshot', 3)))
    """
    body = text.strip().removesuffix(";")
    if body[:5].upper() == "CALL ":
        body = body[5:]
    try:
        parsed = sqlglot.parse_one(body, dialect="spark")
    except SqlglotError as error:
        raise _wrong(text) from error
    if not isinstance(parsed, exp.Dot) or parsed.this.name.lower() != "sys":
        raise _wrong(text)
    called = parsed.expression
    if not isinstance(parsed.this, exp.Identifier) or not isinstance(called, exp.Anonymous):
        raise _wrong(text)
    positional: list[object] = []
    named: list[tuple[str, object]] = []
    for argument in called.expressions:
        if isinstance(argument, exp.Kwarg):
            named.append((argument.this.name, _value(argument.expression)))
        elif named:
            raise ValueError(f"{argument.sql('spark')} stands behind an argument with a name")
        else:
            positional.append(_value(argument))
    return CallText(procedure=called.name, positional=tuple(positional), named=tuple(named))


def _wrong(text: str) -> ValueError:
    return ValueError(f"{text!r} is no call; write it as sys.compact(table => 'db.t')")


def _value(node: exp.Expr) -> object:
    """Return the value of a literal."""
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else _number(str(node.this))
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return _number(f"-{node.this.this}")
    if isinstance(node, exp.VarMap):
        keys = [_value(key) for key in node.args["keys"].expressions]
        return dict(zip(keys, map(_value, node.args["values"].expressions), strict=True))
    raise ValueError(f"{node.sql('spark')} is no literal: text in quotes, a number, true, null")


def _number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("-").isdecimal() else Decimal(text)
