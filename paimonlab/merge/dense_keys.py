"""Keys that are numbers close to each other: which row of each is the newest, without sorting.

A table with a place for each number between the smallest and the largest key takes the number of
the run; the runs write it one after the other. Keys of a run are ascending, so that memory is
read and written in its order, some six times as fast as runs are sorted. Of keys in any order the
table takes the positions of their rows, and then has them in the order of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paimonlab.merge.groups import Mask, Positions
from paimonlab.merge.order import Keys

_MOST_PLACES = 16
"""Places of the table for each key: more would take more memory than sorting does."""
_MOST_PLACES_OF_POSITIONS = 8
"""The same of a table of positions, which are four times as large as numbers of runs."""
_MOST_POSITIONS = 1 << 31


def in_last_run(keys: Keys, lengths: Sequence[int], *, is_first: bool = False) -> Mask | None:
    """Mark the row of each key that is in the last run with the key.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys (`sort_keys`) of runs one after the other, no key twice in a run.
    lengths
        How many rows each run has.
    is_first
        Look for the first run with the key instead.

    Returns
    -------
    (n,) bool or None
        None: the keys are not numbers, or too far from each other.

    Examples
    --------
    >>> in_last_run(np.array([7, 9, 7]), [2, 1])
    array([False,  True,  True])
    """
    ends = _close_ends(keys, _MOST_PLACES)
    if ends is None:
        return None
    lowest, highest = ends
    places = _places(keys, lowest)
    runs = np.split(places, np.cumsum(lengths)[:-1])
    numbers = range(len(runs) - 1, -1, -1) if is_first else range(len(runs))
    # What is not written is not read, so it need not be set either.
    latest = np.empty(highest - lowest + 1, np.uint8 if len(runs) <= 256 else np.uint32)
    for number in numbers:
        latest[runs[number]] = number
    return np.concatenate([latest[run] == number for number, run in enumerate(runs)])


def in_key_order(keys: Keys, *, is_first: bool = False) -> Positions | None:
    """Find the last row of each key, in the order of the keys.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys (`sort_keys`), in any order.
    is_first
        Find the first row of each key instead.

    Returns
    -------
    (m,) int64 or None
        Positions of the rows. None: the keys are not numbers, or too far from each other.

    Examples
    --------
    >>> in_key_order(np.array([7, 5, 7])), in_key_order(np.array([7, 5, 7]), is_first=True)
    (array([1, 2]), array([1, 0]))
    """
    ends = _close_ends(keys, _MOST_PLACES_OF_POSITIONS)
    if ends is None or len(keys) > _MOST_POSITIONS:
        return None
    lowest, highest = ends
    places = _places(keys, lowest)
    positions = np.arange(len(keys), dtype=np.int32)
    rows = np.full(highest - lowest + 1, -1, np.int32)
    if is_first:
        places, positions = places[::-1], positions[::-1]
    rows[places] = positions  # of those for one place the last stays
    if len(rows) > len(keys) or rows.min() < 0:
        rows = rows[rows >= 0]
    return rows.astype(np.int64)


def _close_ends(keys: Keys, most_places: int) -> tuple[int, int] | None:
    """Return the smallest and the largest key, if they are numbers with few between them."""
    if keys.dtype.kind not in "iu" or not len(keys):
        return None
    lowest, highest = int(keys.min()), int(keys.max())
    return None if highest - lowest >= most_places * len(keys) else (lowest, highest)


def _places(keys: Keys, lowest: int) -> npt.NDArray[np.integer]:
    if keys.dtype.kind == "u":  # may be larger than any signed number
        return (keys - keys.dtype.type(lowest)).astype(np.intp, copy=False)
    return keys.astype(np.intp, copy=False) - lowest
