"""Merge engine ``deduplicate``: the newest row of a key wins.

Source: https://paimon.apache.org/docs/master/primary-key-table/merge-engine/ and
apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.DeduplicateMergeFunction``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.merge.order import Keys, as_numpy, sort_keys
from paimonlab.spec.fields import SEQUENCE_NUMBER
from paimonlab.spec.row_kind import RowKind


def deduplicate(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    """Keep the row with the highest sequence number of every key.

    Deletes are rows like any other here: a winning ``-D`` stays in the result, because
    only a compaction to the top level or a read may drop it (`winners`).

    Parameters
    ----------
    rows
        n rows in any order: the columns of ``key``, ``_SEQUENCE_NUMBER`` (int64) and any
        others. Of rows that agree in key and sequence number the last one wins, so pass
        older runs first.
    key
        Names of the trimmed primary key columns, at least one.

    Returns
    -------
    pyarrow.Table
        m <= n rows sorted by ``key``, one per distinct key, same schema as ``rows``.
    """
    keys = sort_keys([rows[name] for name in key])
    return rows.take(pa.array(newest(keys, [as_numpy(rows[SEQUENCE_NUMBER])])))


def newest(keys: Keys, sequences: Sequence[Keys] = ()) -> npt.NDArray[np.int64]:
    """Find the newest row of every key.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys (`sort_keys`), in any order; sorted runs one behind the other sort
        fastest.
    sequences
        What decides among rows of one key, most significant first: (n,) codes of the
        sequence fields, then sequence numbers. Where all are equal, or none is given, the
        last row wins.

    Returns
    -------
    (m,) int64
        Positions of the winning rows, in the order of their keys.

    Examples
    --------
    >>> newest(np.array([7, 9, 7]))
    array([2, 1])
    >>> newest(np.array([7, 9, 7]), [np.array([5, 0, 4])])
    array([0, 1])
    """
    order, is_last = _by_age(keys, sequences)
    return order[np.flatnonzero(is_last)]


def winners(
    keys: Keys,
    *,
    sequences: Sequence[Keys] = (),
    kinds: npt.NDArray[np.int8] | None = None,
) -> npt.NDArray[np.bool_]:
    """Mark the rows that a reader of the table sees.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys of sorted runs one behind the other, oldest run first.
    sequences
        As in `newest`.
    kinds : (n,) int8 or None
        ``_VALUE_KIND`` of every row; None: no row is a delete.

    Returns
    -------
    (n,) bool
        True for the newest row of each key, unless it is a ``-U`` or ``-D``.

    Examples
    --------
    >>> winners(np.array([1, 2, 1]), kinds=np.array([0, 0, 3], np.int8))
    array([False,  True, False])
    """
    order, is_last = _by_age(keys, sequences)
    is_winner = np.empty(len(keys), np.bool_)
    is_winner[order] = is_last
    if kinds is not None:
        is_winner &= is_add(kinds)
    return is_winner


def _by_age(
    keys: Keys, sequences: Sequence[Keys]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Sort rows by key and age; mark the last of each key."""
    order = np.argsort(keys, kind="stable")
    is_last = ends_of_groups(keys[order])
    if not sequences or is_last.all():
        return order, is_last
    # Only keys with more than one row need to look at their sequences.
    is_contested = ~(is_last & np.concatenate([[True], is_last[:-1]]))
    contested = order[is_contested]
    groups = np.cumsum(is_last)[is_contested] - is_last[is_contested]
    rank = np.lexsort([*(sequence[contested] for sequence in reversed(sequences)), groups])
    # lexsort is stable and groups are adjacent already, so positions keep their group.
    order[is_contested] = contested[rank]
    return order, is_last


def is_add(kinds: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Mark the rows of kind ``+I`` and ``+U``."""
    return (kinds != RowKind.UPDATE_BEFORE) & (kinds != RowKind.DELETE)


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
