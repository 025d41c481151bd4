"""Putting neighbours into one split until it is large enough.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.BinPacking.packForOrdered``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def pack(
    group: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], target: int
) -> npt.NDArray[np.int64]:
    """Give each unit the number of its split.

    Parameters
    ----------
    group : (n,) int64
        Units of different groups never share a split; equal groups are adjacent.
    weights : (n,) int64
        Bytes.
    target
        A split is closed before it would become heavier; a single unit may be heavier.

    Returns
    -------
    (n,) int64
        From 0, ascending.

    Examples
    --------
    >>> pack(np.array([0, 0, 0, 1]), np.array([6, 4, 1, 1]), 10)
    array([0, 0, 1, 2])
    """
    splits = []
    split, filled = -1, 0
    previous: int | None = None
    for own, weight in zip(group.tolist(), weights.tolist(), strict=True):
        if own != previous or filled + weight > target:
            split, filled, previous = split + 1, 0, own
        filled += weight
        splits.append(split)
    return np.array(splits, np.int64)
