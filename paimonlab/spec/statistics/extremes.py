"""Smallest and largest values of many groups of values, in one pass over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_LONG_PIECE = 4096
"""Values from which a piece is looked at by itself: joining pieces copies them."""
_FEW_PIECES = 16
"""Pieces up to which one look at each costs less than setting up one look at all."""


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
    length = sum(map(len, pieces)) // len(pieces)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        if length < _LONG_PIECE:
            return _of_numbers(pieces, groups, group_count)
        each = [_of_numbers([piece], np.zeros(1, np.int64), 1) for piece in pieces]
    elif length < _LONG_PIECE and len(pieces) > _FEW_PIECES:
        return _of_others(pieces, groups, group_count)
    else:
        each = [_of_one(piece) for piece in pieces]
    if len(each) == group_count:
        low, high = (pa.concat_arrays(side) for side in zip(*each, strict=True))
        return low, high
    ends = [side for sides in each for side in sides]
    return extremes(ends, np.repeat(groups, 2), group_count)


def _of_one(piece: pa.Array) -> tuple[pa.Array, pa.Array]:
    found = pc.min_max(piece)
    return pa.repeat(found["min"], 1), pa.repeat(found["max"], 1)


def _of_numbers(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    joined, group_of = _joined(pieces, groups)
    kind = joined.type
    stored = joined
    if pa.types.is_temporal(kind):
        stored = joined.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    values: npt.NDArray[Any] = stored.to_numpy()
    is_missing = np.ones(group_count, np.bool_)
    low, high = np.zeros(group_count, values.dtype), np.zeros(group_count, values.dtype)
    if len(values):
        starts = np.flatnonzero(np.concatenate([[True], group_of[1:] != group_of[:-1]]))
        present = group_of[starts]
        is_missing[present] = False
        low[present] = np.minimum.reduceat(values, starts)
        high[present] = np.maximum.reduceat(values, starts)
    mask = is_missing if is_missing.any() else None
    return pa.array(low, mask=mask).view(kind), pa.array(high, mask=mask).view(kind)


def _of_others(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    joined, group_of = _joined(pieces, groups)
    table = pa.table([pa.array(group_of), joined], names=["group", "value"])
    found = table.group_by("group", use_threads=False).aggregate([("value", "min_max")])
    found = found.combine_chunks()
    places = np.full(group_count, -1)
    places[found.column("group").to_numpy()] = np.arange(found.num_rows)
    order = pa.array(places, mask=places < 0)
    bounds = found.column("value_min_max")
    ends = bounds.chunk(0) if bounds.num_chunks else bounds.combine_chunks()
    low, high = (ends.field(name).take(order) for name in ("min", "max"))
    return low, high


def _joined(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64]
) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Put the values that are not null one after the other; return the group of each, too."""
    joined = pa.concat_arrays(pieces) if len(pieces) > 1 else pieces[0]
    group_of = np.repeat(groups, np.fromiter(map(len, pieces), np.int64, len(pieces)))
    if joined.null_count:
        group_of = group_of[joined.is_valid().to_numpy(zero_copy_only=False)]
        joined = joined.drop_null()
    return joined, group_of
