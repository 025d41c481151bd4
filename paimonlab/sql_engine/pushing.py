"""Conditions that a scan takes: comparisons of a column with values of its own type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlglot import exp

from paimonlab.errors import PaimonError
from paimonlab.spec.predicates.predicate import Predicate, any_of, col
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.expressions import Translator
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, Scope, SqlColumn
from paimonlab.sql_engine.value import Value, read_text

_SIGNS: dict[type[exp.Expression], str] = {
    exp.EQ: "__eq__",
    exp.LT: "__lt__",
    exp.LTE: "__le__",
    exp.GT: "__gt__",
    exp.GTE: "__ge__",
}
_MIRRORED = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}
_SAFE = (exp.DateStrToDate, exp.Column, exp.Literal, exp.Neg, exp.Cast, exp.Paren, exp.Placeholder)
Pushed = tuple[Relation, Predicate]


def conditions(node: exp.Expression, scope: Scope, given: Given) -> Iterator[Pushed]:
    """Return what of a condition can be asked of single tables; each part is true of its rows.

    None of it is true of a row of nulls, so that it may be asked below an outer join.
    """
    for part in _parts(node):
        found = _condition(part, scope, given)
        if found is not None:
            yield found


def whole(node: exp.Expression, scope: Scope, given: Given) -> list[Predicate] | None:
    """Return a condition as predicates that are true together; None if a part is not one."""
    found = [_condition(part, scope, given) for part in _parts(node)]
    if any(part is None for part in found):
        return None
    return [part[1] for part in found if part is not None]


def _parts(node: exp.Expression) -> Iterator[exp.Expression]:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        yield from _parts(node.this)
        yield from _parts(node.expression)
    else:
        yield node


def _condition(node: exp.Expression, scope: Scope, given: Given) -> Pushed | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Or):
        left = _condition(node.this, scope, given)
        right = _condition(node.expression, scope, given)
        if left is None or right is None or left[0] is not right[0]:
            return None
        return left[0], any_of(left[1], right[1])
    if type(node) in _SIGNS:
        return _compared(node, scope, given)
    if isinstance(node, exp.Between):
        return _between(node, scope, given)
    if isinstance(node, exp.In) and not node.args.get("query"):
        return _member(node, scope, given)
    is_known = isinstance(node, exp.Not) and isinstance(node.this, exp.Is)
    if is_known and isinstance(node.this.expression, exp.Null):
        column = _column(_value(node.this.this, scope, given))
        return None if column is None else (column[0], col(column[1].name).is_not_null())
    return None


def _value(node: exp.Expression | None, scope: Scope, given: Given) -> Value | None:
    """Translate a column or a value, if it is one; nothing of it is remembered as read."""
    if not isinstance(node, _SAFE) or any(
        isinstance(one, exp.Placeholder) and not one.this for one in node.walk()
    ):
        return None
    own = Scope(scope.relations, None, scope.merged)
    try:
        return Translator(own, given, _refuse, allows="none").value(node)
    except PaimonError:
        return None


def _refuse(_node: exp.Expression, _scope: Scope) -> Any:
    raise NotTranslatedError("a query in a condition of a scan", "SELECT")


def _column(value: Value | None) -> tuple[Relation, SqlColumn] | None:
    if value is None or value.column is None or value.column[0].reading is None:
        return None
    return value.column


def constant(value: Value | None, kind: Kind | None) -> Any:
    """Return a value of the statement as `Table.scan` compares it with a column; None: not."""
    if value is None or kind is None or not value.is_literal:
        return None
    read = read_text(value, kind) or value
    given = read.literal
    is_number = type(given) is int and kinds.is_numeric(read.kind)
    if kinds.is_whole(kind) or kinds.is_decimal(kind):
        return given if is_number or (kinds.is_decimal(kind) and type(given) is Decimal) else None
    if kind == kinds.STRING:
        return given if type(given) is str else None
    if kind == kinds.DATE:
        return given if type(given) is date else None
    if kind == kinds.DOUBLE:
        return given if type(given) is float or is_number else None
    if kind in (kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP) and type(given) is datetime:
        is_instant = given.tzinfo is not None
        return given if is_instant == (kind == kinds.TIMESTAMP) else None
    return None


def _compared(node: exp.Expression, scope: Scope, given: Given) -> Pushed | None:
    sign = _SIGNS[type(node)]
    left, right = _value(node.this, scope, given), _value(node.expression, scope, given)
    if left is not None and left.is_literal:
        left, right, sign = right, left, _MIRRORED.get(sign, sign)
    column = _column(left)
    if column is None:
        return None
    value = constant(right, column[1].kind)
    if value is None:
        return None
    return column[0], getattr(col(column[1].name), sign)(value)


def _between(node: exp.Between, scope: Scope, given: Given) -> Pushed | None:
    column = _column(_value(node.this, scope, given))
    if column is None or set(node.args) - {"this", "low", "high"}:
        return None
    low = constant(_value(node.args["low"], scope, given), column[1].kind)
    high = constant(_value(node.args["high"], scope, given), column[1].kind)
    if low is None or high is None:
        return None
    named = col(column[1].name)
    return column[0], (named >= low) & (named <= high)


def _member(node: exp.In, scope: Scope, given: Given) -> Pushed | None:
    column = _column(_value(node.this, scope, given))
    if column is None:
        return None
    values = [constant(_value(one, scope, given), column[1].kind) for one in node.expressions]
    if not values or any(value is None for value in values):
        return None
    return column[0], col(column[1].name).is_in(values)
