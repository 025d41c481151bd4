"""Aggregate functions whose result is the value of one of the rows: they pick a row.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.aggregate``:
``FieldLastValueAgg``, ``FieldLastNonNullValueAgg``, ``FieldFirstValueAgg``,
``FieldFirstNonNullValueAgg``, ``FieldMaxAgg``, ``FieldMinAgg``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.merge.groups import NONE, Mask, Members, Positions
from paimonlab.merge.order import sort_keys


def is_valid(column: pa.Array) -> Mask | None:
    """Return (n,) where a column has values; None: everywhere."""
    if not column.null_count:
        return None
    valid: Mask = numpy_values(column.is_valid(), zero_copy_only=False)
    return valid


def with_values(column: pa.Array, members: Members) -> Members:
    """Leave rows without a value out."""
    valid = is_valid(column)
    return members if valid is None else members.keep(valid[members.positions])


def last_value(members: Members) -> Positions:
    """Pick the newest row of each group, none where it takes away."""
    return _unless_retract(members, members.last())


def last_non_null_value(column: pa.Array, members: Members) -> Positions:
    """Pick the newest row with a value, none where that row takes it away."""
    valued = with_values(column, members)
    return _unless_retract(valued, valued.last())


def _unless_retract(members: Members, picked: Positions) -> Positions:
    if members.is_retract is None or not len(members.positions):
        return picked
    last = np.maximum(members.ends - 1, 0)
    return np.where(members.is_retract[last], NONE, picked)


def greatest(column: pa.Array, members: Members) -> Positions:
    """Pick the first row with the greatest value of each group."""
    valued = with_values(column, members)
    return _extreme(_ranks(column, valued), valued)


def smallest(column: pa.Array, members: Members) -> Positions:
    """Pick the first row with the smallest value of each group."""
    valued = with_values(column, members)
    return _extreme(~_ranks(column, valued), valued)


def _extreme(ranks: npt.NDArray[np.int64], members: Members) -> Positions:
    picked = np.full(members.group_count, NONE, np.int64)
    filled = np.flatnonzero(members.lengths)
    if not len(filled):
        return picked
    best = np.maximum.reduceat(ranks, members.starts[filled])
    hits = np.flatnonzero(ranks == np.repeat(best, members.lengths[filled]))
    groups = members.groups[hits]
    is_first = np.concatenate([[True], groups[1:] != groups[:-1]])
    picked[groups[is_first]] = members.positions[hits[is_first]]
    return picked


def _ranks(column: pa.Array, members: Members) -> npt.NDArray[np.int64]:
    """Return (m,) numbers that compare as the values do."""
    values = column.take(arrow_array(members.positions))
    if pa.types.is_floating(column.type):
        return float_ranks(numpy_values(values)).astype(np.int64)
    codes = sort_keys([values])
    if codes.dtype.kind == "i":
        return codes.astype(np.int64)
    if codes.dtype.kind == "u":
        return (codes ^ np.uint64(1 << 63)).view(np.int64)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def float_ranks(values: npt.NDArray[np.floating]) -> npt.NDArray[np.signedinteger]:
    """Order floats as Java does: -0.0 before 0.0, every NaN equal and last.

    Applied to the bits of its result again, it gives the bits of the floats back.
    """
    width = values.dtype.itemsize * 8
    integer = np.int64 if width == 64 else np.int32
    same_nan = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return flipped(same_nan.view(integer))


def flipped(bits: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.signedinteger]:
    """Turn the magnitude of negative numbers around; the inverse of itself."""
    return bits ^ ((bits >> (bits.dtype.itemsize * 8 - 1)) & np.iinfo(bits.dtype).max)
