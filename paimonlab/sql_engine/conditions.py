"""Conditions to DuckDB's SQL, with Spark's NULL."""

from __future__ import annotations

import re

from msgspec.structs import replace
from sqlglot import exp

from paimonlab.sql_engine import arithmetic, functions, kinds
from paimonlab.sql_engine.kinds import spark_type
from paimonlab.sql_engine.protocols import Translating
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import NOT_WRITTEN, Value, cast, together

_ESCAPES = re.compile(r"\\(.)", re.DOTALL)


def inverted(translator: Translating, node: exp.Not) -> Value:
    """Translate NOT."""
    inner = node.this
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        value = translator.value(inner.this)
        return Value(f"({value.text} IS NOT NULL)", kinds.BOOLEAN, f"({value.name} IS NOT NULL)")
    value = translator.truth(inner, "NOT")
    return Value(f"(NOT {value.text})", kinds.BOOLEAN, f"(NOT {value.name})")


def unequal(translator: Translating, node: exp.NEQ) -> Value:
    """Translate ``<>``."""
    left, right = translator.sides(node)
    return arithmetic.compare("<>", left, right, name=f"(NOT ({left.name} = {right.name}))")


def distinct_from(translator: Translating, node: exp.NullSafeNEQ) -> Value:
    """Translate IS DISTINCT FROM."""
    same = arithmetic.compare("<=>", *translator.sides(node))
    return Value(f"(NOT {same.text})", kinds.BOOLEAN, f"(NOT {same.name})")


def joined(translator: Translating, node: exp.And | exp.Or) -> Value:
    """Translate AND and OR."""
    word = "AND" if isinstance(node, exp.And) else "OR"
    left, right = translator.truth(node.this, word), translator.truth(node.expression, word)
    return Value(
        f"({left.text} {word} {right.text})",
        kinds.BOOLEAN,
        f"({left.name} {word} {right.name})",
    )


def tested(translator: Translating, node: exp.Is) -> Value:
    """Translate IS NULL, IS TRUE."""
    value = translator.value(node.this)
    if isinstance(node.expression, exp.Null):
        text = arithmetic.truth_beside_null(f"{value.text} IS NULL")
        return Value(text, kinds.BOOLEAN, f"({value.name} IS NULL)")
    if isinstance(node.expression, exp.Boolean):
        arithmetic.truth(value, "IS")
        word = "true" if node.expression.this else "false"
        text = f"({value.text} IS NOT DISTINCT FROM {word})"
        return Value(text, kinds.BOOLEAN, f"({value.name} <=> {word})")
    hint = "IS is followed by NULL, TRUE or FALSE; values are compared with ="
    raise NotTranslatedError("IS with such an operand", "IS", hint)


def between(translator: Translating, node: exp.Between) -> Value:
    """Translate BETWEEN."""
    check_parts(node, "this", "low", "high")
    value, low, high = map(translator.value, (node.this, node.args["low"], node.args["high"]))
    begin = arithmetic.compare(">=", value, low)
    end = arithmetic.compare("<=", value, high)
    name = f"between({value.name}, {low.name}, {high.name})"
    return Value(f"({begin.text} AND {end.text})", kinds.BOOLEAN, name)


def member(translator: Translating, node: exp.In) -> Value:
    """Translate IN."""
    check_parts(node, "this", "expressions", "query")
    query = node.args.get("query")
    if query is not None:
        return _member_of_query(translator, node, query)
    value = translator.value(node.this)
    values = [translator.value(part) for part in node.expressions]
    same = together([value, *values], "IN")
    if not kinds.is_comparable(same[0].kind) or not values:
        raise NotTranslatedError(f"IN of {spark_type(same[0].kind)}", "IN")
    names = ", ".join(one.name for one in values)
    texts = ", ".join(one.text for one in same[1:])
    return Value(f"({same[0].text} IN ({texts}))", kinds.BOOLEAN, f"({value.name} IN ({names}))")


def _member_of_query(translator: Translating, node: exp.In, query: exp.Expression) -> Value:
    """Translate ``IN (SELECT …)``."""
    if node not in translator.members:
        raise NotTranslatedError("IN of a query that is not a condition of WHERE", "IN")
    inner = query.this if isinstance(query, exp.Subquery) else query
    if isinstance(node.this, exp.Tuple):
        return _row_member(translator, node, inner)
    value = translator.value(node.this)
    text, types = translator.query(inner, translator.scope)
    if len(types) != 1:
        raise NotTranslatedError("IN of a query of several columns", "IN")
    mine, other = together([value, Value("q.o", types[0], "")], "IN")
    inside = f"SELECT {other.text} FROM ({text}) AS q(o)"
    return Value(f"({mine.text} IN ({inside}))", kinds.BOOLEAN, f"({value.name} IN (listquery()))")


def _row_member(translator: Translating, node: exp.In, inner: exp.Expression) -> Value:
    """Translate ``(a, b) IN (SELECT …)``.

    A row is one of the others if all its values are equal to those of it, and none of them if each
    other one has a value that is known to differ. Which of the two is wanted follows from where the
    condition stands.
    """
    values = [translator.value(part) for part in node.this.expressions]
    text, types = translator.query(inner, translator.scope)
    if len(types) != len(values):
        raise NotTranslatedError(f"IN of {len(values)} values and {len(types)} columns", "IN")
    tests = []
    for number, (value, kind) in enumerate(zip(values, types, strict=True)):
        mine, other = together([value, Value(f"q.o{number}", kind, "")], "IN")
        if not kinds.is_comparable(mine.kind):
            raise NotTranslatedError(f"IN of {spark_type(mine.kind)}", "IN")
        tests.append(f"{mine.text} = {other.text}")
    if _is_inverted(node):
        tests = [f"({test}) IS NOT FALSE" for test in tests]
    columns = ", ".join(f"o{number}" for number in range(len(types)))
    found = f"SELECT 1 FROM ({text}) AS q({columns}) WHERE {' AND '.join(tests)}"
    names = ", ".join(f"{value.name}, {value.name}" for value in values)
    return Value(f"EXISTS ({found})", kinds.BOOLEAN, f"(named_struct({names}) IN (listquery()))")


def _is_inverted(node: exp.Expression) -> bool:
    """Tell whether a condition that `where_members` returned is what NOT is about."""
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Not)


def like(translator: Translating, node: exp.Like | exp.ILike) -> Value:
    """Translate LIKE and ILIKE with patterns that the statement has."""
    check_parts(node, "this", "expression", "negate")
    if isinstance(node.expression, exp.Any | exp.All):
        return _like_some(translator, node)
    value, pattern = translator.sides(node)
    text = _fits(value, pattern, is_blind=isinstance(node, exp.ILike))
    name = f"{value.name} LIKE {pattern.name}"
    if isinstance(node, exp.ILike):
        name = f"ilike({value.name}, {pattern.name})"
    if node.args.get("negate"):
        return Value(f"(NOT {text})", kinds.BOOLEAN, f"(NOT {name})")
    return Value(text, kinds.BOOLEAN, name)


def _fits(value: Value, pattern: Value, *, is_blind: bool) -> str:
    is_pattern = pattern.is_literal and pattern.kind == kinds.STRING
    if kinds.is_whole(value.kind) or value.kind == kinds.DATE:
        value = replace(cast(value, kinds.STRING), literal=NOT_WRITTEN)
    if value.kind != kinds.STRING or not is_pattern:
        raise NotTranslatedError("LIKE without a pattern in the statement", "LIKE")
    escaped = _ESCAPES.sub("", str(pattern.literal))
    wrong = [mark for mark in _ESCAPES.findall(str(pattern.literal)) if mark not in "%_\\"]
    if wrong or "\\" in escaped:
        raise NotTranslatedError("LIKE with another escape than \\%, \\_ and \\\\", "LIKE")
    if not is_blind:
        return f"({value.text} LIKE {pattern.text} ESCAPE '\\')"
    lower = functions.call("lower", [value])
    small = functions.call("lower", [pattern])
    return f"({lower.text} LIKE {small.text} ESCAPE '\\')"


def _like_some(translator: Translating, node: exp.Expression) -> Value:
    """Translate LIKE ANY and LIKE ALL."""
    inner = node.expression.this
    is_any = isinstance(node.expression, exp.Any)
    parts = inner.expressions if isinstance(inner, exp.Tuple) else [inner.this]
    value = translator.value(node.this)
    if isinstance(node, exp.ILike) or node.args.get("negate") or not parts:
        raise NotTranslatedError("such a LIKE ANY", "LIKE")
    tests = [_fits(value, translator.value(one), is_blind=False) for one in parts]
    text = f"({(' OR ' if is_any else ' AND ').join(tests)})"
    return Value(text, kinds.BOOLEAN, f"{'likeany' if is_any else 'likeall'}({value.name})")


def where_members(node: exp.Expression, *, is_required: bool = True) -> list[exp.Expression]:
    """Return the ``IN (SELECT …)`` of a condition of which it does not matter why it is not true.

    Elsewhere Spark answers FALSE where the standard has NULL.

    Parameters
    ----------
    node
        The condition.
    is_required
        Whether a row is left out if it is not true, whatever else is true of it.
    """
    if isinstance(node, exp.Paren):
        return where_members(node.this, is_required=is_required)
    if isinstance(node, exp.And | exp.Or):
        is_both = is_required and isinstance(node, exp.And)
        sides = (node.this, node.expression)
        return [found for side in sides for found in where_members(side, is_required=is_both)]
    if isinstance(node, exp.Not) and is_required:
        inner = node.this
        while isinstance(inner, exp.Paren):
            inner = inner.this
        return [inner] if isinstance(inner, exp.In) else []
    return [node] if isinstance(node, exp.In) else []
