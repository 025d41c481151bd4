"""Aggregate functions that compute with numbers, a whole column at a time.

Integers wrap around, as in Java. Floats are added in the order of the rows. Decimals of up to
18 digits may leave their precision as long as 64 bits hold them; others become null when they do.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.aggregate``: ``FieldSumAgg``,
``FieldProductAgg``, ``FieldBoolAndAgg``, ``FieldBoolOrAgg``; and
``org.apache.paimon.utils.DecimalUtils``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.merge.groups import Mask, Members
from paimonlab.merge.order import decimal_words
from paimonlab.merge.picking import flipped, float_ranks, with_values

Numbers = npt.NDArray[Any]

_SHORT = 64
"""Groups up to this length are added row by row, all groups together."""
_MASK_32 = np.int64((1 << 32) - 1)


def total(column: pa.Array, members: Members) -> tuple[pa.Array, Mask]:
    """Add the values of each group; rows that take away are subtracted.

    Returns
    -------
    values : (g,) of the column's type
        Null where a group has no values.
    is_open : (g,) bool
        Where the sum may leave what its type holds on the way, so that order matters: there
        ``values`` mean nothing.
    """
    valued = with_values(column, members)
    if pa.types.is_decimal128(column.type):
        return _decimal_total(column, valued)
    numbers = _signed(_numbers(column)[valued.positions], valued)
    totals = _reduced(np.add, numbers, valued)
    return _as_column(totals, valued, column.type), np.zeros(members.group_count, np.bool_)


def product(column: pa.Array, members: Members) -> pa.Array:
    """Multiply the values of each group: integers or floats, no row takes away."""
    valued = with_values(column, members)
    numbers = _numbers(column)[valued.positions]
    return _as_column(_reduced(np.multiply, numbers, valued), valued, column.type)


def every(column: pa.Array, members: Members) -> pa.Array:
    """Return whether all values of each group are true."""
    return _logical(np.logical_and, column, members)


def some(column: pa.Array, members: Members) -> pa.Array:
    """Return whether a value of each group is true."""
    return _logical(np.logical_or, column, members)


def is_numeric_extreme(kind: pa.DataType) -> bool:
    """Whether `extreme` takes a type."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)


def extreme(column: pa.Array, members: Members, *, greatest: bool) -> pa.Array:
    """Find the greatest or smallest value of each group: numbers and times."""
    valued = with_values(column, members)
    values = _numbers(column)[valued.positions]
    is_float = values.dtype.kind == "f"
    ranks = float_ranks(values) if is_float else values
    best = _scattered((np.maximum if greatest else np.minimum).reduceat, ranks, valued)
    extremes = flipped(best).view(values.dtype) if is_float else best
    return _as_column(extremes, valued, column.type)


def _numbers(column: pa.Array) -> Numbers:
    """Return (n,) the numbers of a column, anything at nulls."""
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    if column.null_count:
        column = null_filled(column, False if pa.types.is_boolean(kind) else 0)
    numbers: Numbers = numpy_values(column, zero_copy_only=False)
    return numbers


def _signed(numbers: Numbers, members: Members) -> Numbers:
    if members.is_retract is None or not members.is_retract.any():
        return numbers
    return np.where(members.is_retract, -numbers, numbers)


def _reduced(ufunc: np.ufunc, numbers: Numbers, members: Members) -> Numbers:
    with np.errstate(over="ignore", invalid="ignore"):
        if numbers.dtype.kind == "f" and members.lengths.max(initial=0) > 2:
            return _in_order(ufunc, numbers, members)
        return _scattered(
            lambda values, starts: ufunc.reduceat(values, starts, dtype=values.dtype),
            numbers,
            members,
        )


def _scattered(reduceat: Any, numbers: Numbers, members: Members) -> Numbers:
    """Reduce each group with rows; groups without have a 0."""
    filled = members.lengths > 0
    if filled.all() and len(filled):
        reduced: Numbers = reduceat(numbers, members.starts)
        return reduced
    totals = np.zeros(members.group_count, numbers.dtype)
    if filled.any():
        totals[filled] = reduceat(numbers, members.starts[filled])
    return totals


def _in_order(ufunc: np.ufunc, numbers: Numbers, members: Members) -> Numbers:
    """Reduce from the first row to the last: the rounding of floats depends on it."""
    totals = np.zeros(members.group_count, numbers.dtype)
    starts, lengths = members.starts, members.lengths
    groups = np.flatnonzero(lengths)
    totals[groups] = numbers[starts[groups]]
    for row in range(1, min(int(lengths.max(initial=0)), _SHORT)):
        groups = groups[lengths[groups] > row]
        totals[groups] = ufunc(totals[groups], numbers[starts[groups] + row])
    for group in np.flatnonzero(lengths > _SHORT):
        start, end = starts[group], starts[group] + lengths[group]
        rest = np.concatenate([totals[group : group + 1], numbers[start + _SHORT : end]])
        totals[group] = ufunc.accumulate(rest)[-1]
    return totals


def _logical(ufunc: np.ufunc, column: pa.Array, members: Members) -> pa.Array:
    valued = with_values(column, members)
    values = _numbers(column)[valued.positions]
    return _as_column(_scattered(ufunc.reduceat, values, valued), valued, column.type)


def _as_column(values: Numbers, members: Members, kind: pa.DataType) -> pa.Array:
    is_null = members.lengths == 0
    mask = is_null if is_null.any() else None
    array = arrow_array(np.ascontiguousarray(values), mask=mask)
    return array.view(kind) if pa.types.is_temporal(kind) else array.cast(kind)


def _decimal_total(column: pa.Array, members: Members) -> tuple[pa.Array, Mask]:
    words = decimal_words(column)[members.positions]
    negative = members.is_retract
    is_compact = column.type.precision <= 18
    low = words[:, 0]
    # Close enough to tell whether a sum can get near the limit, whatever the order.
    sizes = np.abs(words[:, 1].astype(np.float64) * 2.0**64 + low.view(np.uint64))
    if is_compact:
        sizes = np.abs(low.astype(np.float64))
    limit = 9.2e18 if is_compact else 0.99 * 10.0**column.type.precision
    is_open = _scattered(np.add.reduceat, sizes, members) >= limit
    with np.errstate(over="ignore"):
        if is_compact:
            totals = _scattered(np.add.reduceat, _signed(low, members), members)
            high = totals >> 63
        else:
            parts = (
                low & _MASK_32,
                (low >> 32) & _MASK_32,
                words[:, 1] & _MASK_32,
                words[:, 1] >> 32,
            )
            sums = [
                _scattered(
                    np.add.reduceat, part if negative is None else _signed(part, members), members
                )
                for part in parts
            ]
            for word in range(3):
                sums[word + 1] = sums[word + 1] + (sums[word] >> 32)
                sums[word] = sums[word] & _MASK_32
            totals = sums[0] | (sums[1] << 32)
            high = sums[2] | (sums[3] << 32)
    return decimals(np.stack([totals, high], axis=1), members.lengths > 0, column.type), is_open


def decimals(words: npt.NDArray[np.int64], is_valid: Mask, kind: pa.DataType) -> pa.Array:
    """Make a DECIMAL column of (n, 2) little-endian words."""
    validity = None
    if not is_valid.all():
        validity = pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(words))
    return pa.Array.from_buffers(kind, len(words), [validity, data])
