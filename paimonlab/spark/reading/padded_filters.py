"""What filters on columns of CHAR(n) say of values as they are stored.

Spark compares such a value padded with blanks, which none of its own filters for files can say:
without this, every query for one value of a CHAR(n) would read all files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.filter_values import texts_in_set
from paimonlab.spec.predicates.predicate import AlwaysFalse, Predicate, all_of, any_of, col

_BLANK = " "
_MOST_RANGES = 1000
"""Values of an IN that choose files one by one; of more the least and the greatest do."""


def padded_predicate(bridge: Bridge, expressions: Any, names: Mapping[str, str]) -> Predicate:
    """Translate equalities of padded columns.

    Parameters
    ----------
    bridge
        The session.
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
        _translated(bridge, expressions.apply(place), names) for place in range(expressions.size())
    )
    return all_of(*(predicate for predicate in translated_all if predicate is not None))


def _translated(bridge: Bridge, expression: Any, names: Mapping[str, str]) -> Predicate | None:
    kind = expression.getClass().getSimpleName()
    if kind == "EqualTo":
        sides = (expression.left(), expression.right())
        for padded, other in (sides, sides[::-1]):
            name = names.get(_padded_column(padded))
            if name is not None:
                return _equals(name, [other])
    elif kind == "In":
        name = names.get(_padded_column(expression.value()))
        if name is not None:
            return _equals(name, _items(expression.list()))
    elif kind == "InSet":
        name = names.get(_padded_column(expression.child()))
        if name is not None:
            return _is_any(name, texts_in_set(bridge, expression))
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
    ends = [(text.rstrip(_BLANK), text) for text in texts]
    if len(ends) > _MOST_RANGES:
        ends = [(min(low for low, _ in ends), max(texts))]
    ranges = [all_of(col(name) >= low, col(name) <= high) for low, high in ends]
    return any_of(*ranges) if ranges else AlwaysFalse()
