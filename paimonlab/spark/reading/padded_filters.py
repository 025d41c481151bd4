"""What filters on columns of CHAR(n) say of values as they are stored.

Spark compares such a value padded with blanks, which none of its own filters for files can say:
without this, every query for one value of a CHAR(n) would read all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paimonlab.spec.predicates.predicate import AlwaysFalse, Predicate, all_of, any_of, col

_BLANK = " "
_MAX_VALUES = 100
"""An IN with more values prunes nothing: each is two calls to the JVM."""


def padded_predicate(expressions: Any, names: Mapping[str, str]) -> Predicate:
    """Translate equalities of padded columns.

    Parameters
    ----------
    expressions
        A Scala ``Seq`` of Catalyst expressions that hold together.
    names
        Columns of the scan and what they are called in the result.

    Returns
    -------
    Predicate
        Not bound; true wherever the expressions are, and always so if they say nothing of a
        padded column.
    """
    translated_all = (
        _translated(expressions.apply(place), names) for place in range(expressions.size())
    )
    return all_of(*(predicate for predicate in translated_all if predicate is not None))


def _translated(expression: Any, names: Mapping[str, str]) -> Predicate | None:
    kind = expression.getClass().getSimpleName()
    if kind == "EqualTo":
        sides = (expression.left(), expression.right())
        for padded, other in (sides, sides[::-1]):
            name = names.get(_padded_column(padded))
            if name is not None:
                return _equals(name, [other])
    elif kind == "In":
        name = names.get(_padded_column(expression.value()))
        if name is not None and expression.list().size() <= _MAX_VALUES:
            return _equals(name, _items(expression.list()))
    elif kind == "InSet":
        name = names.get(_padded_column(expression.child()))
        if name is not None and expression.hset().size() <= _MAX_VALUES:
            return _is_any(
                name,
                [str(value) for value in _items(expression.hset().toSeq()) if value is not None],
            )
    return None


def _padded_column(expression: Any) -> str:
    """Return the column of ``readSidePadding(column, n)``; "" for anything else."""
    if expression.getClass().getSimpleName() != "StaticInvoke":
        return ""
    if expression.functionName() != "readSidePadding":
        return ""
    column = expression.arguments().apply(0)
    return str(column.name()) if column.getClass().getSimpleName() == "AttributeReference" else ""


def _items(values: Any) -> Iterator[Any]:
    return (values.apply(place) for place in range(values.size()))


def _equals(name: str, values: Any) -> Predicate | None:
    texts = []
    for value in values:
        if value.getClass().getSimpleName() != "Literal":
            return None
        if value.value() is not None:  # equal to nothing
            texts.append(str(value.value()))
    return _is_any(name, texts)


def _is_any(name: str, texts: list[str]) -> Predicate:
    """Say that a value is one of these: as stored it lies between the bare and the padded one."""
    ranges = [all_of(col(name) >= text.rstrip(_BLANK), col(name) <= text) for text in texts]
    return any_of(*ranges) if ranges else AlwaysFalse()
