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
_LONG_DIGITS = 18
"""Digits of a decimal that fits into 64 bits."""


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
    if len(pieces) == group_count and _are_single(pieces, groups):
        values = pa.concat_arrays(pieces)
        return values, values
    if pa.types.is_boolean(kind):
        low, high = extremes([piece.cast(pa.int8()) for piece in pieces], groups, group_count)
        return low.cast(kind), high.cast(kind)
    if not _is_number(kind):
        return _of_others(pieces, groups, group_count)
    if _first_array(pieces) is None and sum(map(len, pieces)) > _LONG_PIECE * len(pieces):
        each = [
            _of_numbers([piece], np.zeros(1, np.int64), 1) if len(piece) > _LONG_PIECE else [piece]
            for piece in pieces
        ]
        pieces = [end for ends in each for end in ends]
        groups = np.repeat(groups, [*map(len, each)])
    return _of_numbers(pieces, groups, group_count)


def _are_single(pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64]) -> bool:
    """Whether each group has one value, which is both its smallest and its largest."""
    return all(len(piece) == 1 for piece in pieces) and bool((np.diff(groups) == 1).all())


def extremes_of_slices(
    values: pa.Array, lengths: npt.NDArray[np.int64]
) -> tuple[pa.Array, pa.Array]:
    """Find the smallest and the largest value of slices of an array, one after the other.

    Parameters
    ----------
    values
        n values of an atomic type.
    lengths : (s,) int64
        How many values each slice has; n together.

    Returns
    -------
    low, high : pyarrow.Array
        As `extremes` returns them, one per slice.

    Examples
    --------
    >>> low, high = extremes_of_slices(pa.array([3, None, 1, None]), np.array([3, 1]))
    >>> low.to_pylist(), high.to_pylist()
    ([1, None], [3, None])
    """
    kind = values.type
    if pa.types.is_boolean(kind):
        low, high = extremes_of_slices(values.cast(pa.int8()), lengths)
        return low.cast(kind), high.cast(kind)
    groups = np.arange(len(lengths))
    if _is_number(kind):
        return _of_joined(values, lengths, groups, len(lengths))
    starts = (np.cumsum(lengths) - lengths).tolist()
    slices = [values.slice(*where) for where in zip(starts, lengths.tolist(), strict=True)]
    return _of_others(slices, groups, len(lengths))


def _is_number(kind: pa.DataType) -> bool:
    """Whether numpy can compare the values: small decimals are integers, too."""
    if pa.types.is_decimal128(kind):
        return bool(kind.precision <= _LONG_DIGITS)
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
    )


def _of_others(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    low, high = list[pa.Array](), list[pa.Array]()
    ends = np.searchsorted(groups, np.arange(group_count), side="right").tolist()
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        if end == start + 1:
            found = pc.min_max(pieces[start])
        else:
            found = pc.min_max(pa.chunked_array(pieces[start:end], pieces[0].type))
        low.append(pa.repeat(found["min"], 1))
        high.append(pa.repeat(found["max"], 1))
    return pa.concat_arrays(low), pa.concat_arrays(high)


def _of_numbers(
    pieces: Sequence[pa.Array], groups: npt.NDArray[np.int64], group_count: int
) -> tuple[pa.Array, pa.Array]:
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    joined = _first_array(pieces)
    if joined is None:
        joined = pa.concat_arrays(pieces)
    return _of_joined(joined, lengths, groups, group_count)


def _of_joined(
    joined: pa.Array,
    lengths: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int64],
    group_count: int,
) -> tuple[pa.Array, pa.Array]:
    if joined.null_count:
        known = np.concatenate([[0], np.cumsum(numpy_values(joined.is_valid()))])
        ends = np.cumsum(lengths)
        lengths = known[ends] - known[ends - lengths]
        joined = joined.drop_null()
    present, starts = _starts_of(groups, lengths)
    values = _comparable(joined)
    is_missing = np.ones(group_count, np.bool_)
    low, high = np.zeros(group_count, values.dtype), np.zeros(group_count, values.dtype)
    if len(values):
        is_missing[present] = False
        low[present] = np.minimum.reduceat(values, starts)
        high[present] = np.maximum.reduceat(values, starts)
    mask = is_missing if is_missing.any() else None
    return _values(low, joined.type, mask), _values(high, joined.type, mask)


def _comparable(values: pa.Array) -> npt.NDArray[Any]:
    """Return values without nulls as numbers of numpy in the same order."""
    kind = values.type
    if pa.types.is_decimal128(kind):
        both = np.frombuffer(values.buffers()[1], np.int64) if len(values) else np.zeros(0, "i8")
        # The other half is the sign: there are no more digits.
        return both[2 * values.offset : 2 * (values.offset + len(values)) : 2]
    if pa.types.is_temporal(kind):
        values = values.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    found: npt.NDArray[Any] = numpy_values(values)
    return found


def _values(
    numbers: npt.NDArray[Any], kind: pa.DataType, mask: npt.NDArray[np.bool_] | None
) -> pa.Array:
    """Make values of numbers, the contrary of `_comparable`; null where the mask is True."""
    made = arrow_array(numbers, mask=mask)
    if not pa.types.is_decimal128(kind):
        return made.view(kind)
    both = np.stack([numbers, numbers >> 63], axis=1)
    return pa.Array.from_buffers(kind, len(numbers), [made.buffers()[0], pa.py_buffer(both)])


def _first_array(pieces: Sequence[pa.Array]) -> pa.Array | None:
    """Return the array that pieces are slices of, one after the other; None: there is none."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    buffers = pieces[-1].buffers()  # those of others may end with their own values
    place, end = [_address(buffer) for buffer in buffers], first.offset + len(first)
    for piece in pieces[1:]:
        if piece.offset != end or [_address(buffer) for buffer in piece.buffers()] != place:
            return None
        end += len(piece)
    return pa.Array.from_buffers(first.type, end - first.offset, buffers, offset=first.offset)


def _address(buffer: pa.Buffer | None) -> int:
    return 0 if buffer is None else buffer.address


def _starts_of(
    groups: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the groups that have values, and where those of each begin."""
    is_there = lengths > 0
    group_of, starts = groups[is_there], (np.cumsum(lengths) - lengths)[is_there]
    is_first = np.concatenate([[True], group_of[1:] != group_of[:-1]])[: len(group_of)]
    return group_of[is_first], starts[is_first]
