"""What a Parquet reader may skip by: an over-approximation of a predicate."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from paimonlab.arrow_values import arrow_scalar
from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    And,
    Comparator,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Matches,
    Or,
    Predicate,
    Settled,
    TextMatch,
)

_COMPARE: dict[Comparator, Callable[[pc.Expression, pa.Scalar], pc.Expression]] = {
    Comparator.EQ: operator.eq,
    Comparator.NE: operator.ne,
    Comparator.LT: operator.lt,
    Comparator.LE: operator.le,
    Comparator.GT: operator.gt,
    Comparator.GE: operator.ge,
}
_MATCHED_BY_NAN = (Comparator.NE, Comparator.GT, Comparator.GE)


def to_arrow_filter(predicate: Predicate, arrow_schema: pa.Schema) -> pc.Expression | None:
    """Return an expression that is true wherever the predicate is.

    It may also be true elsewhere, so it only prunes: row groups whose statistics
    contradict it hold no wanted row. Decide rows with `evaluate`.

    Parameters
    ----------
    predicate
        Bound.
    arrow_schema
        The columns of the file. What compares a column that does not exist, or is there with
        another type than the literal, is left out.

    Returns
    -------
    pyarrow.compute.Expression | None
        None: every row group has to be read.

    Notes
    -----
    Writers leave NaN out of minimum and maximum, so of FLOAT and DOUBLE only comparisons
    stay that NaN does not satisfy.
    """
    match predicate:
        case And(parts):
            made = [to_arrow_filter(part, arrow_schema) for part in parts]
            kept = [part for part in made if part is not None]
            return functools.reduce(operator.and_, kept) if kept else None
        case Or(parts):
            return _all_or_nothing([to_arrow_filter(part, arrow_schema) for part in parts])
        case AlwaysFalse() | AlwaysNull() | Settled(_, False):
            return pc.scalar(False)  # noqa: FBT003
    column: str = getattr(predicate, "column", "")
    index = arrow_schema.get_field_index(column)
    return None if index < 0 else _leaf(predicate, arrow_schema.field(index).type, column)


def _all_or_nothing(parts: list[pc.Expression | None]) -> pc.Expression | None:
    if any(part is None for part in parts):
        return None
    return functools.reduce(operator.or_, parts)


def _leaf(  # noqa: PLR0911 - one return a case
    predicate: Predicate, arrow_type: pa.DataType, column: str
) -> pc.Expression | None:
    field = pc.field(column)
    match predicate:
        case Comparison(_, comparator, literal) if literal.scalar.type == arrow_type:
            if pt.is_floating(arrow_type) and comparator in _MATCHED_BY_NAN:
                return None
            return _COMPARE[comparator](field, literal.scalar)
        case In(_, literals) if literals[0].scalar.type == arrow_type:
            return functools.reduce(operator.or_, [field == each.scalar for each in literals])
        case Matches(_, TextMatch.STARTS_WITH, prefix) if pt.is_string(arrow_type):
            return _prefix_range(field, prefix)
        case IsNull():
            return field.is_null()
        case IsNotNull() | Settled():
            return field.is_valid()
    return None


def _prefix_range(field: pc.Expression, prefix: str) -> pc.Expression:
    after = after_prefix(prefix)
    at_least = field >= arrow_scalar(prefix)
    return at_least if after is None else at_least & (field < arrow_scalar(after))


def after_prefix(prefix: str) -> str | None:
    """Return the smallest text above all texts that begin with ``prefix``; None if there is none.

    Examples
    --------
    >>> after_prefix("abc")
    'abd'
    """
    for end in range(len(prefix) - 1, -1, -1):
        following = ord(prefix[end]) + 1
        if following == 0xD800:  # UTF-8 has no surrogates
            following = 0xE000
        if following <= 0x10FFFF:
            return prefix[:end] + chr(following)
    return None
