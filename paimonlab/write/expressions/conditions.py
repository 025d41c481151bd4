"""Comparisons, truth values, and expressions that choose between others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.spec.predicates.like import like_regex
from paimonlab.write.expressions.coercion import common_type, converted
from paimonlab.write.expressions.expression import Expression

_COMPARE: dict[str, Callable[[pa.Array, pa.Array], pa.Array]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def comparison(operator: str, left: Expression, right: Expression) -> Expression:
    """Compare two values; NaN equals NaN and is above all other numbers."""
    one, two = comparable(operator, left, right)

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        if pa.types.is_null(one.type):
            return pa.nulls(rows.num_rows, pa.bool_())
        return _COMPARE[operator](one.evaluate(rows), two.evaluate(rows))

    return Expression(pa.bool_(), evaluate, f"({left.text} {operator} {right.text})")


def comparable(operator: str, left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Give two values one type whose order, and equality, is that of SQL."""
    target = common_type([left, right], operator)
    if pa.types.is_nested(target):
        raise UnsupportedError(f"{operator} of {target}", f"({left.text} {operator} {right.text})")
    one, two = (converted(side, target, is_explicit=False) for side in (left, right))
    if not pa.types.is_floating(target):
        return one, two
    return _ranked(one), _ranked(two)


def _ranked(value: Expression) -> Expression:
    return Expression(pa.int64(), lambda rows: _ordered(value.evaluate(rows)), value.text)


def _ordered(numbers: pa.Array) -> pa.Array:
    """Give floats whole numbers in their order, NaN last, both zeros alike."""
    values = numpy_values(null_filled(numbers.cast(pa.float64()), 0.0)) + 0.0
    bits = np.where(np.isnan(values), np.float64("nan"), values).view(np.int64)
    ranks = np.where(bits < 0, np.int64(-(2**63)) - bits, bits)
    is_null = numpy_values(numbers.is_null()) if numbers.null_count else None
    return arrow_array(ranks, pa.int64(), mask=is_null)


def null_safe_equal(left: Expression, right: Expression) -> Expression:
    """Compare two values; null equals null."""
    same = comparison("=", left, right)

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        both = pc.and_(left.evaluate(rows).is_null(), right.evaluate(rows).is_null())
        return pc.or_(both, null_filled(same.evaluate(rows), False))

    return Expression(pa.bool_(), evaluate, f"({left.text} <=> {right.text})")


def joined(operator: str, parts: Sequence[Expression]) -> Expression:
    """Join truth values by AND or OR."""
    join = pc.and_kleene if operator == "AND" else pc.or_kleene
    truths = [truth(part) for part in parts]
    text = f"({f' {operator} '.join(part.text for part in parts)})"
    return Expression(
        pa.bool_(),
        lambda rows: functools.reduce(join, [part.evaluate(rows) for part in truths]),
        text,
    )


def negated(part: Expression) -> Expression:
    """Return the opposite of a truth value."""
    value = truth(part)
    return Expression(
        pa.bool_(), lambda rows: pc.invert(value.evaluate(rows)), f"(NOT {part.text})"
    )


def truth(part: Expression) -> Expression:
    """Require a truth value.

    Raises
    ------
    UnsupportedError
        If it is something else.
    """
    if not pa.types.is_boolean(part.type) and not pa.types.is_null(part.type):
        raise UnsupportedError(
            f"{part.text}, which is {part.type}, as a condition",
            "a condition is true or false, such as id = 5 or name LIKE 'A%'",
        )
    return converted(part, pa.bool_(), is_explicit=False)


def is_null(part: Expression) -> Expression:
    """Test for null."""
    return Expression(
        pa.bool_(), lambda rows: part.evaluate(rows).is_null(), f"({part.text} IS NULL)"
    )


def like(value: Expression, pattern: str) -> Expression:
    """Match a text: ``%`` any text, ``_`` one character, a backslash escapes."""
    if not pa.types.is_string(value.type):
        raise UnsupportedError(f"LIKE of {value.type}", value.text)
    regex = like_regex(pattern)
    return Expression(
        pa.bool_(),
        lambda rows: pc.match_substring_regex(value.evaluate(rows), pattern=regex),
        f"({value.text} LIKE {pattern!r})",
    )


def case(
    branches: Sequence[tuple[Expression, Expression]], otherwise: Expression, text: str
) -> Expression:
    """Choose the value of the first branch whose condition is true.

    A value is computed only for the rows that take it, so it may be wrong for others.
    """
    target = common_type([*(value for _, value in branches), otherwise], "CASE")
    values = [
        (truth(condition), converted(value, target, is_explicit=False))
        for condition, value in branches
    ]
    last = converted(otherwise, target, is_explicit=False)

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        open_rows = np.arange(rows.num_rows)
        places: list[npt.NDArray[np.int64]] = []
        pieces: list[pa.Array] = []
        for condition, value in values:
            if not len(open_rows):
                break
            part = rows.take(arrow_array(open_rows))
            takes = numpy_values(null_filled(condition.evaluate(part), False))
            places.append(open_rows[takes])
            pieces.append(value.evaluate(part.filter(arrow_array(takes))))
            open_rows = open_rows[~takes]
        places.append(open_rows)
        pieces.append(last.evaluate(rows.take(arrow_array(open_rows))))
        order = np.argsort(np.concatenate(places), kind="stable")
        return pa.concat_arrays(pieces).take(arrow_array(order))

    return Expression(target, evaluate, text)


def coalesce(parts: Sequence[Expression]) -> Expression:
    """Choose the first value that is not null; later ones are computed where they are needed."""
    text = f"coalesce({', '.join(part.text for part in parts)})"
    branches = [(negated(is_null(part)), part) for part in parts[:-1]]
    if not branches:
        return parts[0]
    return case(branches, parts[-1], text)
