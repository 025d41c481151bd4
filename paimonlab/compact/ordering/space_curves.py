"""Positions of rows on a curve through the space of several columns.

Rows that are near each other on the curve have similar values in all columns, so files that
hold pieces of it have narrow ranges in all of them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.sort.zorder.ZOrderByteUtils``,
``…sort.hilbert.HilbertIndexer``; J. Skilling, Programming the Hilbert curve, 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt


def zorder(columns: Sequence[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Interleave the bits of several columns, the most significant ones first.

    Parameters
    ----------
    columns
        (n, w) bytes each, w may differ; a column that has no bits left is left out.

    Returns
    -------
    (n, sum of w) uint8
    """
    widths = [8 * column.shape[1] for column in columns]
    starts = np.cumsum([0, *widths])
    order = [
        starts[number] + bit
        for bit in range(max(widths))
        for number, width in enumerate(widths)
        if bit < width
    ]
    bits = np.unpackbits(np.concatenate(columns, axis=1), axis=1)
    return np.packbits(bits[:, order], axis=1)


def hilbert(points: Sequence[npt.NDArray[np.uint64]], bits: int) -> npt.NDArray[np.uint8]:
    """Find the positions of points on the Hilbert curve.

    Parameters
    ----------
    points
        d >= 2 coordinates of n points, (n,) each, below ``2**bits``.
    bits
        Bits of a coordinate, at most 63.

    Returns
    -------
    (n, ceil(bits * d / 8)) uint8
        Bytes that order as the positions: the bits of the number, zeros in front.
    """
    axes = _transposed(points, bits)
    shifts = np.arange(bits - 1, -1, -1, dtype=np.uint64)
    bit_matrix = (np.stack(axes, axis=1)[:, None, :] >> shifts[None, :, None]) & np.uint64(1)
    flat = bit_matrix.reshape(len(axes[0]), -1).astype(np.uint8)
    in_front = -flat.shape[1] % 8
    return np.packbits(np.pad(flat, ((0, 0), (in_front, 0))), axis=1)


def _transposed(
    points: Sequence[npt.NDArray[np.uint64]], bits: int
) -> list[npt.NDArray[np.uint64]]:
    """Turn coordinates into the bits of positions, spread over as many numbers."""
    axes = [np.array(axis, np.uint64) for axis in points]
    first, last = axes[0], axes[-1]
    for bit in range(bits - 1, 0, -1):
        lower = np.uint64((1 << bit) - 1)
        for axis in axes:
            is_set = (axis >> np.uint64(bit)) & np.uint64(1) == 1
            swapped = np.where(is_set, np.uint64(0), (first ^ axis) & lower)
            first ^= np.where(is_set, lower, swapped)
            # For the first axis itself there is nothing to exchange.
            if axis is not first:
                axis ^= swapped  # noqa: PLW2901 - in place
    for before, axis in pairwise(axes):
        axis ^= before  # noqa: PLW2901 - in place
    turned = np.zeros_like(first)
    for bit in range(bits - 1, 0, -1):
        is_set = (last >> np.uint64(bit)) & np.uint64(1) == 1
        turned ^= np.where(is_set, np.uint64((1 << bit) - 1), np.uint64(0))
    for axis in axes:
        axis ^= turned  # noqa: PLW2901 - in place
    return axes
