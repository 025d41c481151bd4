"""Merge engines ``deduplicate`` and ``first-row``: the newest or the oldest row of a key wins.

Source: https://paimon.apache.org/docs/master/primary-key-table/merge-engine/ and
apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.DeduplicateMergeFunction``,
``…FirstRowMergeFunction``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError
from paimonlab.merge.dense_keys import in_key_order, in_last_run
from paimonlab.merge.groups import Mask, by_age
from paimonlab.merge.order import Keys, as_numpy, sort_keys
from paimonlab.spec.merge_engine import EngineKind, MergeEngine
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER

DEDUPLICATE = MergeEngine()
_ADVICE = "merge-engine 'first-row' cannot apply them; the option 'ignore-delete' ignores them"


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
    return rows.take(arrow_array(newest(keys, [as_numpy(rows[SEQUENCE_NUMBER])])))


def oldest(keys: Keys) -> npt.NDArray[np.int64]:
    """Find the first row of every key, in the order of the keys.

    Examples
    --------
    >>> oldest(np.array([7, 9, 7]))
    array([0, 1])
    """
    close = in_key_order(keys, is_first=True)
    if close is not None:
        return close
    order, is_last = by_age(keys, ())
    return order[np.flatnonzero(np.concatenate([[True], is_last[:-1]])[: len(keys)])]


def newest(keys: Keys, sequences: Sequence[Keys] = ()) -> npt.NDArray[np.int64]:
    """Find the newest row of every key.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys (`sort_keys`), in any order; sorted runs one after the other sort
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
    close = None if sequences else in_key_order(keys)
    if close is not None:
        return close
    order, is_last = by_age(keys, sequences)
    return order[np.flatnonzero(is_last)]


def winners(
    keys: Keys,
    *,
    sequences: Sequence[Keys] = (),
    kinds: npt.NDArray[np.int8] | None = None,
    engine: MergeEngine = DEDUPLICATE,
    run_lengths: Sequence[int] | None = None,
) -> npt.NDArray[np.bool_]:
    """Mark the rows that a reader of the table sees.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys of sorted runs one after the other, oldest run first.
    sequences
        As in `newest`.
    kinds : (n,) int8 or None
        ``_VALUE_KIND`` of every row; None: no row is a delete.
    engine
        ``deduplicate`` or ``first-row``.
    run_lengths
        How many rows each run has, if no run has a key twice; None: unknown.

    Returns
    -------
    (n,) bool
        True for the newest row of each key, or the oldest one, unless it is a ``-U`` or ``-D``.

    Raises
    ------
    DataError
        If ``first-row`` meets a delete among the rows of a key.

    Examples
    --------
    >>> winners(np.array([1, 2, 1]), kinds=np.array([0, 0, 3], np.int8))
    array([False,  True, False])
    """
    if kinds is not None and engine.ignore_delete:
        return _among(is_add(kinds), keys, sequences, engine)
    if run_lengths is not None and not sequences:
        is_winner = _by_run(keys, run_lengths, kinds, engine)
        if is_winner is not None:
            return is_winner
    order, is_last = by_age(keys, sequences)
    is_winner = np.empty(len(keys), np.bool_)
    if engine.kind is EngineKind.FIRST_ROW:
        is_first = np.concatenate([[True], is_last[:-1]])[: len(keys)]
        if kinds is not None and (~is_add(kinds[order]) & ~(is_first & is_last)).any():
            raise DataError(f"a key has rows of kind -U or -D: {_ADVICE}")
        is_winner[order] = is_first
    else:
        is_winner[order] = is_last
    if kinds is not None:
        is_winner &= is_add(kinds)
    return is_winner


def _by_run(
    keys: Keys,
    run_lengths: Sequence[int],
    kinds: npt.NDArray[np.int8] | None,
    engine: MergeEngine,
) -> Mask | None:
    """Mark the winners by the run they are in alone; None: that takes looking at more."""
    is_first = engine.kind is EngineKind.FIRST_ROW
    if is_first and kinds is not None:
        return None
    is_winner = in_last_run(keys, run_lengths, is_first=is_first)
    if is_winner is not None and kinds is not None:
        is_winner &= is_add(kinds)
    return is_winner


def _among(
    mask: npt.NDArray[np.bool_], keys: Keys, sequences: Sequence[Keys], engine: MergeEngine
) -> npt.NDArray[np.bool_]:
    """Mark the winners among some of the rows."""
    is_winner = np.zeros(len(keys), np.bool_)
    narrowed = [sequence[mask] for sequence in sequences]
    is_winner[mask] = winners(keys[mask], sequences=narrowed, engine=engine)
    return is_winner


def is_add(kinds: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Mark the rows of kind ``+I`` and ``+U``."""
    return (kinds != RowKind.UPDATE_BEFORE) & (kinds != RowKind.DELETE)
