"""Rows that a compaction has merged into others already.

Where compaction looks for older rows of its keys, a row that it writes holds all that deeper
levels say of the key; yet they still hold their rows.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.LookupMergeFunction``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paimonlab.merge.groups import Members

_DEEPEST = np.int8(np.iinfo(np.int8).max)


def without_deeper_levels(members: Members, levels: npt.NDArray[np.int8]) -> Members:
    """Leave out the rows of levels below the first one, above level 0, that has the key.

    Parameters
    ----------
    members
        Rows by key, no group empty.
    levels : (n,) int8
        Level of the file of every row, at the positions that ``members`` holds.

    Examples
    --------
    >>> rows = Members.of(np.array([7, 7, 7, 8]))
    >>> without_deeper_levels(rows, np.array([5, 3, 0, 5], np.int8)).positions
    array([1, 2, 3])
    """
    ordered = levels[members.positions]
    above = np.where(ordered > 0, ordered, _DEEPEST)
    first = np.minimum.reduceat(above, members.starts) if len(above) else above
    return members.keep((ordered <= 0) | (ordered == np.repeat(first, members.lengths)))
