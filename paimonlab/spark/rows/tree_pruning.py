"""What of a condition of Spark's rules out files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from paimonlab.spark.rows.expression_trees import (
    CAST,
    COLUMN,
    DECIMAL,
    INTEGERS,
    LITERAL,
    SAME_AS_CHILD,
    Columns,
    Tree,
    name_of,
)
from paimonlab.spec.predicates.predicate import Predicate, all_of, any_of, col

_MOST_LISTED = 1000
"""An IN with more values rules out nothing."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def pruning(tree: Tree, columns: Columns) -> Predicate | None:
    """Return a condition that is true wherever a tree is; None: it may be true anywhere.

    Not bound.
    """
    if tree.kind in SAME_AS_CHILD:
        return pruning(tree.children[0], columns)
    if tree.kind in ("And", "Or"):
        sides = [pruning(child, columns) for child in tree.children]
        known = [side for side in sides if side is not None]
        if tree.kind == "And":
            return all_of(*known) if known else None
        return any_of(*known) if len(known) == len(sides) else None
    return _of_column(tree, columns)


def _of_column(tree: Tree, columns: Columns) -> Predicate | None:
    """Translate what is said of one column."""
    compare = _COMPARISONS.get(tree.kind)
    if compare is not None:
        return _compared(tree, columns)
    if not tree.children or tree.children[0].kind != COLUMN:
        return None
    name = col(name_of(tree.children[0], columns))
    if tree.kind in ("IsNull", "IsNotNull"):
        return name.is_null() if tree.kind == "IsNull" else name.is_not_null()
    if tree.kind != "In" or len(tree.children) > _MOST_LISTED:
        return None
    values = [_constant(child) for child in tree.children[1:]]
    return None if None in values else name.is_in(values)


def _compared(tree: Tree, columns: Columns) -> Predicate | None:
    left, right = tree.children
    if left.kind != COLUMN:
        left, right = right, left
        compare = _COMPARISONS[_MIRRORED.get(tree.kind, tree.kind)]
    else:
        compare = _COMPARISONS[tree.kind]
    value = _constant(right)
    if left.kind != COLUMN or value is None:
        return None
    return compare(col(name_of(left, columns)), value)


def _constant(tree: Tree) -> Any:
    """Return the value of a constant as Python has it; None: it is none, NULL, or of floats."""
    if tree.kind == CAST and tree.type in INTEGERS and tree.children[0].type in INTEGERS:
        value = _constant(tree.children[0])
        width = INTEGERS[tree.type].bit_width - 1
        return value if value is not None and -(1 << width) <= value < 1 << width else None
    if tree.kind != LITERAL or tree.detail is None:
        return None
    if DECIMAL.fullmatch(tree.type):
        return Decimal(tree.detail)
    read = _VALUES.get(tree.type)
    try:
        return None if read is None else read(tree.detail)
    except OverflowError:  # a year that Python's calendar does not have
        return None


def _instant(micros: str) -> datetime:
    return _EPOCH + timedelta(microseconds=int(micros))


_VALUES: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(INTEGERS, int),
    "date": lambda days: date(1970, 1, 1) + timedelta(days=int(days)),
    "string": str,
    "timestamp": _instant,
    "timestamp_ntz": lambda micros: _instant(micros).replace(tzinfo=None),
}
_MIRRORED = {
    "GreaterThan": "LessThan",
    "GreaterThanOrEqual": "LessThanOrEqual",
    "LessThan": "GreaterThan",
    "LessThanOrEqual": "GreaterThanOrEqual",
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], Predicate]] = {
    "EqualTo": lambda name, value: name == value,
    "GreaterThan": lambda name, value: name > value,
    "GreaterThanOrEqual": lambda name, value: name >= value,
    "LessThan": lambda name, value: name < value,
    "LessThanOrEqual": lambda name, value: name <= value,
}
