"""Which files may hold rows that a predicate wants, judged by statistics of their columns."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from paimonlab.arrow_values import arrow_scalar, null_filled, numpy_values
from paimonlab.spec.predicates.file_filter import after_prefix
from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    AlwaysTrue,
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
    all_of,
    any_of,
)

Mask = npt.NDArray[np.bool_]

_MOST_SINGLE_LOOKS = 64
"""Values of an IN that are looked for one by one; of more all at once."""


class ColumnStats(NamedTuple):
    """Statistics of one column over n files; null is unknown everywhere.

    Minimum and maximum are bounds: a text may be cut, and NaN may lie outside of them.
    """

    min: pa.Array
    """(n,) of the column's Arrow type."""
    max: pa.Array
    """(n,) of the column's Arrow type."""
    null_count: pa.Array
    """(n,) int64"""
    row_count: pa.Array
    """(n,) int64"""


def may_match_stats(
    predicate: Predicate, stats: Mapping[str, ColumnStats], *, count: int | None = None
) -> Mask:
    """Tell which files may hold a row for which the predicate is true.

    Parameters
    ----------
    predicate
        Bound to the columns whose statistics these are.
    stats
        By column name; about a column without statistics nothing is known.
    count
        How many files there are; needed if ``stats`` may be empty.

    Returns
    -------
    (n,) bool
        False only if certainly no row matches.

    Examples
    --------
    >>> from paimonlab.spec.predicates.predicate import bind, col
    >>> from paimonlab.spec.schema.definition import Schema, new_table_schema
    >>> schema = new_table_schema(Schema({"a": "INT"}), time_millis=0)
    >>> i32, i64 = pa.int32(), pa.int64()
    >>> a = ColumnStats(
    ...     pa.array([1, 5, None], i32), pa.array([4, 9, None], i32),
    ...     pa.array([0, 0, 7], i64), pa.array([7, 7, 7], i64),
    ... )
    >>> may_match_stats(bind(col("a") > 4, schema.fields, "t"), {"a": a}).tolist()
    [False, True, False]
    """
    if count is None:
        if not stats:
            raise ValueError("without statistics the count of files must be given")
        count = len(next(iter(stats.values())).row_count)
    return _may_match(predicate, stats, count)


def doubts(predicate: Predicate) -> Predicate:
    """Return a predicate that is true wherever another one is not, and maybe elsewhere.

    Where statistics say that no row satisfies it, the other one is true of all rows: they need not
    be looked at.

    Parameters
    ----------
    predicate
        Bound.

    Examples
    --------
    >>> from paimonlab.spec.predicates.predicate import bind, col
    >>> from paimonlab.spec.schema.definition import Schema, new_table_schema
    >>> schema = new_table_schema(Schema({"a": "INT"}), time_millis=0)
    >>> print(doubts(bind(col("a") < 5, schema.fields, "t")))
    (a >= 5 OR a IS NULL)
    >>> print(doubts(bind(col("a").is_in([1, 2]), schema.fields, "t")))
    TRUE
    """
    match predicate:
        case And(parts):
            return any_of(*map(doubts, parts))
        case Or(parts):
            return all_of(*map(doubts, parts))
        case AlwaysTrue():
            return AlwaysFalse()
        case Comparison(column, comparator, literal):
            return any_of(Comparison(column, comparator.negated, literal), IsNull(column))
        case IsNotNull(column):
            return IsNull(column)
    return AlwaysTrue()


def _may_match(predicate: Predicate, stats: Mapping[str, ColumnStats], count: int) -> Mask:
    match predicate:
        case And(parts):
            masks = [_may_match(part, stats, count) for part in parts]
            return functools.reduce(np.logical_and, masks)
        case Or(parts):
            masks = [_may_match(part, stats, count) for part in parts]
            return functools.reduce(np.logical_or, masks)
        case AlwaysFalse() | AlwaysNull() | Settled(_, False):
            return np.zeros(count, np.bool_)
    # What stands under a NOT may be true for any value, but not for null.
    leaf = getattr(predicate, "part", predicate)
    column: str = getattr(leaf, "column", "")
    if column not in stats:
        return np.ones(count, np.bool_)
    return _leaf(predicate, stats[column])


def _leaf(predicate: Predicate, stats: ColumnStats) -> Mask:
    if isinstance(predicate, IsNull):
        return _unless(pc.equal(stats.null_count, arrow_scalar(0)))
    has_values = _unless(pc.equal(stats.null_count, stats.row_count))
    match predicate:
        case Comparison(_, comparator, literal):
            return has_values & _compare(comparator, literal.scalar, stats)
        case In():
            return has_values & _any_within(predicate.members, stats)
        case Matches(_, TextMatch.STARTS_WITH, prefix):
            return has_values & _may_start_with(prefix, stats)
        case IsNotNull():
            return has_values
    return has_values


def _unless(excluded: pa.Array) -> Mask:
    """Turn "certainly not" into "may be"; null is not certain."""
    return ~numpy_values(null_filled(excluded, False), zero_copy_only=False)


def _compare(  # noqa: PLR0911 - one return a case
    comparator: Comparator, value: pa.Scalar, stats: ColumnStats
) -> Mask:
    if pt.is_floating(value.type) and comparator in (
        Comparator.GT,
        Comparator.GE,
        Comparator.NE,
    ):
        return np.ones(len(stats.row_count), np.bool_)  # NaN may be there and matches
    match comparator:
        case Comparator.EQ:
            return _reaches_down_to(value, stats) & _reaches_up_to(value, stats)
        case Comparator.LT:
            return _unless(pc.greater_equal(stats.min, value))
        case Comparator.LE:
            return _reaches_down_to(value, stats)
        case Comparator.GT:
            return _unless(pc.less_equal(stats.max, value))
        case Comparator.GE:
            return _reaches_up_to(value, stats)
        case Comparator.NE:
            only = pc.and_(pc.equal(stats.min, value), pc.equal(stats.max, value))
            return _unless(only)


def _reaches_down_to(value: pa.Scalar, stats: ColumnStats) -> Mask:
    return _unless(pc.greater(stats.min, value))


def _reaches_up_to(value: pa.Scalar, stats: ColumnStats) -> Mask:
    return _unless(pc.less(stats.max, value))


def _any_within(values: pa.Array, stats: ColumnStats) -> Mask:
    if pt.is_integer(values.type) and stats.min.type == stats.max.type == values.type:
        return _any_number_within(values, stats)
    if len(values) > _MOST_SINGLE_LOOKS:
        if not pt.is_floating(values.type) and stats.min.type == stats.max.type == values.type:
            return _any_number_within(*_ranks(values, stats))
        ends = pc.min_max(values)
        return _reaches_down_to(ends["max"], stats) & _reaches_up_to(ends["min"], stats)
    looks = [_compare(Comparator.EQ, value, stats) for value in values]
    return functools.reduce(np.logical_or, looks)


def _any_number_within(values: pa.Array, stats: ColumnStats) -> Mask:
    """Look all values up at once; unknown ends may reach any of them."""
    sorted_values = np.sort(numpy_values(values))
    low = np.searchsorted(sorted_values, _numbers(stats.min), side="left")
    high = np.searchsorted(sorted_values, _numbers(stats.max), side="right")
    first = np.where(_is_known(stats.min), low, 0)
    after = np.where(_is_known(stats.max), high, len(values))
    return first < after


def _ranks(values: pa.Array, stats: ColumnStats) -> tuple[pa.Array, ColumnStats]:
    """Put numbers in the place of values and ends that compare as they do."""
    every = pa.concat_arrays([values, stats.min, stats.max])
    ranks = pc.rank(every, tiebreaker="dense").cast(pa.int64())
    low = ranks.slice(len(values), len(stats.min))
    high = ranks.slice(len(values) + len(stats.min))
    unknown = arrow_scalar(None, pa.int64())
    return ranks.slice(0, len(values)), stats._replace(
        min=pc.if_else(stats.min.is_valid(), low, unknown),
        max=pc.if_else(stats.max.is_valid(), high, unknown),
    )


def _numbers(values: pa.Array) -> npt.NDArray[np.integer]:
    return numpy_values(null_filled(values, 0))


def _is_known(values: pa.Array) -> Mask:
    return numpy_values(values.is_valid(), zero_copy_only=False)


def _may_start_with(prefix: str, stats: ColumnStats) -> Mask:
    after = after_prefix(prefix)
    low = _reaches_up_to(arrow_scalar(prefix), stats)
    return low if after is None else low & _unless(pc.greater_equal(stats.min, arrow_scalar(after)))
