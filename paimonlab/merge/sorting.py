"""Positions of rows in the order of their keys: stable, and quick for keys in no order.

Sorting numbers takes a fraction of the time of sorting positions by what they refer to, since
processors compare several at once. So a key and the position of its row become one number
wherever 64 bits have room for both: equal keys then stay in the order of their positions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paimonlab.merge.order import Keys

_FEW_RUNS = 16
"""Ascending runs of keys up to which merging them takes less time."""
_WORD_BITS = 64


def sorted_positions(keys: Keys) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Sort rows by key; those of equal keys stay in their order.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys (`sort_keys`).

    Returns
    -------
    order : (n,) int64
        Positions of the rows.
    is_last : (n,) bool
        Whether the row at that place of ``order`` is the last of its key.

    Examples
    --------
    >>> sorted_positions(np.array([7, 9, 7]))
    (array([0, 2, 1]), array([False,  True,  True]))
    """
    packed = _with_positions(keys)
    if packed is None:
        order = np.argsort(keys, kind="stable")
        return order, ends_of_groups(keys[order])
    packed.sort()
    bits = np.uint64(_position_bits(keys))
    is_last = ends_of_groups(packed >> bits)
    packed &= (np.uint64(1) << bits) - np.uint64(1)
    return packed.view(np.int64), is_last


def ends_of_groups(keys: Keys) -> npt.NDArray[np.bool_]:
    """Mark the last row of each group of equal rows.

    Parameters
    ----------
    keys : (n,)
        Equal ones adjacent.

    Returns
    -------
    (n,) bool
        True where the next row differs, and on the last row.
    """
    is_end = np.ones(len(keys), np.bool_)
    np.not_equal(keys[:-1], keys[1:], out=is_end[:-1])
    return is_end


def _with_positions(keys: Keys) -> npt.NDArray[np.uint64] | None:
    """Put each key, counted from the smallest, in front of its position.

    Returns
    -------
    (n,) uint64 or None
        None: there is no room for both, or the keys are in order but for a few places.
    """
    if keys.dtype.kind not in "iu" or len(keys) <= _FEW_RUNS:
        return None
    if np.count_nonzero(keys[1:] < keys[:-1]) < _FEW_RUNS:
        return None
    lowest, bits = int(keys.min()), _position_bits(keys)
    if (int(keys.max()) - lowest).bit_length() + bits > _WORD_BITS:
        return None
    # Differences of words are right whatever their sign, once they are taken modulo 2**64.
    packed: npt.NDArray[np.uint64] = keys.astype(np.uint64)
    packed -= np.uint64(lowest % (1 << _WORD_BITS))
    packed <<= np.uint64(bits)
    packed |= np.arange(len(keys), dtype=np.uint64)
    return packed


def _position_bits(keys: Keys) -> int:
    return (len(keys) - 1).bit_length()
