"""Smallest and largest values of many groups of values, numbers in one pass over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values

_LONG_PIECE = 4096
"""Values from which a piece is looked at by itself: joining pieces copies them."""


def extremes(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    """Find the smallest and the largest value of each group.

    Parameters
    ----------
    pieces
        p arrays of one atomic type.
    groups : (p,) int64
        Which group each piece belongs to, ascending.
    group_count
        Number of groups; pieces are numbered below it.

    Returns
    -------
    low, high : pyarrow.Array
        Of the type of the pieces, ``group_count`` each; null where a group has no value but
        null. NaN where a group has a NaN.

    Examples
    --------
    >>> pieces = [pa.array([3, None, 1]), pa.array([2]), pa.array([None], pa.int64())]
    >>> low, high = extremes(pieces, np.array([0, 0, 2]), 3)
    >>> low.to_pylist(), high.to_pylist()
    ([1, None, None], [3, None, None])
    """
    kind = pieces[0].type
    if pa.types.is_boolean(kind):
        low, high = extremes([piece.cast(pa.int8()) for piece in pieces], groups, group_count)
        return low.cast(kind), high.cast(kind)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
        return _of_others(pieces, groups, group_count)
    if sum(map(len, pieces)) > _LONG_PIECE * len(pieces):
        each = [_of_numbers([piece], np.zeros(1, np.int64), 1) for piece in pieces]
        pieces = [end for ends in each for end in ends]
        groups = np.repeat(groups, 2)
    return _of_numbers(pieces, groups, group_count)


def _of_others(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    low, high = list[pa.Array](), list[pa.Array]()
    ends = np.searchsorted(groups, np.arange(group_count), side="right").tolist()
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        found = pc.min_max(pa.chunked_array(pieces[start:end], pieces[0].type))
        low.append(pa.repeat(found["min"], 1))
        high.append(pa.repeat(found["max"], 1))
    return pa.concat_arrays(low), pa.concat_arrays(high)


def _of_numbers(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    joined, group_of = _joined(pieces, groups)
    kind = joined.type
    stored = joined
    if pa.types.is_temporal(kind):
        stored = joined.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    values: npt.NDArray[Any] = numpy_values(stored)
    is_missing = np.ones(group_count, np.bool_)
    low, high = np.zeros(group_count, values.dtype), np.zeros(group_count, values.dtype)
    if len(values):
        starts = np.flatnonzero(np.concatenate([[True], group_of[1:] != group_of[:-1]]))
        present = group_of[starts]
        is_missing[present] = False
        low[present] = np.minimum.reduceat(values, starts)
        high[present] = np.maximum.reduceat(values, starts)
    mask = is_missing if is_missing.any() else None
    return arrow_array(low, mask=mask).view(kind), arrow_array(high, mask=mask).view(kind)


def _joined(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64]
) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Put the values that are not null one after the other; return the group of each, too."""
    joined = pa.concat_arrays(pieces) if len(pieces) > 1 else pieces[0]
    group_of = np.repeat(groups, np.fromiter(map(len, pieces), np.int64, len(pieces)))
    if joined.null_count:
        group_of = group_of[numpy_values(joined.is_valid())]
        joined = joined.drop_null()
    return joined, group_of
