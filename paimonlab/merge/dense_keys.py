"""Keys that are numbers close to each other: which run has the newest row of each, without sorting.

A table with a place for each number between the smallest and the largest key takes the number of
the run; the runs write it one after the other. Keys of a run are ascending, so that memory is
read and written in its order, some six times as fast as runs are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paimonlab.merge.groups import Mask
from paimonlab.merge.order import Keys

_MOST_PLACES = 16
"""Places of the table for each key: more would take more memory than sorting does."""


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
    if keys.dtype.kind not in "iu" or not len(keys):
        return None
    lowest, highest = int(keys.min()), int(keys.max())
    if highest - lowest >= _MOST_PLACES * len(keys):
        return None
    places = _places(keys, lowest)
    runs = np.split(places, np.cumsum(lengths)[:-1])
    numbers = range(len(runs) - 1, -1, -1) if is_first else range(len(runs))
    # What is not written is not read, so it need not be set either.
    latest = np.empty(highest - lowest + 1, np.uint8 if len(runs) <= 256 else np.uint32)
    for number in numbers:
        latest[runs[number]] = number
    return np.concatenate([latest[run] == number for number, run in enumerate(runs)])


def _places(keys: Keys, lowest: int) -> npt.NDArray[np.integer]:
    if keys.dtype.kind == "u":  # may be larger than any signed number
        return (keys - keys.dtype.type(lowest)).astype(np.intp, copy=False)
    return keys.astype(np.intp, copy=False) - lowest
