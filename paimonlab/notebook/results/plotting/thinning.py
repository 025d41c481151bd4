"""Fewer points that look like all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paimonlab.notebook.results.profiling.mixing import mixed

M4_POINTS = 4
"""Points kept of a range: the first, the last, the least, the largest."""

_Places = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


def thinned(x: _Floats, y: _Floats, most: int) -> _Places:
    """Choose points of a line whose picture is that of all.

    Parameters
    ----------
    x : (n,)
        Rising.
    y : (n,)
        NaN: a gap.
    most
        How many; at least `M4_POINTS`.

    Returns
    -------
    (k,) indexes, rising, k <= most
        Of each of equally wide ranges of x the first and last point, and those with the least
        and the largest y. Source: U. Jugel and others, "M4", 2014.
    """
    if len(x) <= most:
        return np.arange(len(x))
    count = most // M4_POINTS
    apart = x[-1] - x[0]
    share = np.zeros(len(x)) if not apart else (x - x[0]) / apart
    ranges = np.minimum((share * count).astype(np.int64), count - 1)
    starts = np.flatnonzero(np.diff(ranges, prepend=-1))
    ends = np.append(starts[1:], len(x)) - 1
    # Within a range, rows in order of y: the outer ones are the least and the largest.
    order = np.lexsort((np.nan_to_num(y, nan=np.inf), ranges))
    least = order[starts]
    order = np.lexsort((np.nan_to_num(y, nan=-np.inf), ranges))
    largest = order[ends]
    return np.unique(np.concatenate([starts, ends, least, largest]))


def sampled(rows: _Places, most: int) -> _Places:
    """Choose rows evenly, the same ones every time; they stay in their order."""
    if len(rows) <= most:
        return rows
    keys = mixed(rows.astype(np.uint64))
    return np.sort(rows[np.argsort(keys, kind="stable")[:most]])
