"""Finding sorted keys among many that are sorted: what is read grows with the keys asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.merge.order import one_array, sort_keys
from paimonlab.read.lookup_stores.store_file import StoredBatch, StoreFile, pieces
from paimonlab.spec.distinct_integers import distinct_integers

Positions = npt.NDArray[np.int64]

_FAN_OUT = 16
"""Into how many ranges each step of a search divides one."""


def find_in(store: StoreFile, asked: pa.Table) -> tuple[Positions, Positions]:
    """Find keys in a store, as `find_keys` does; keys that its filters rule out are not searched.

    A key that is not there is thus found not to be by reading some bits of it.
    """
    if store.filters is None or store.key_filter is None:
        return find_keys(store.keys, asked)
    ours, ends = _codes(asked, store.filters.last_keys)
    segments = np.searchsorted(ends, ours)
    left = np.arange(np.searchsorted(segments, len(ends)))
    may_have = store.key_filter.may_have(
        store.filters, asked.slice(0, len(left)), segments[: len(left)]
    )
    left = left[may_have]
    if len(left) == asked.num_rows:
        return find_keys(store.keys, asked)
    found, positions = find_keys(store.keys, asked.take(arrow_array(left)))
    return left[found], positions


def find_keys(stored: Sequence[StoredBatch], asked: pa.Table) -> tuple[Positions, Positions]:
    """Find keys in batches of keys.

    Parameters
    ----------
    stored
        Batches of keys, sorted within and among them, no two alike; with the columns of ``asked``.
    asked
        k keys, sorted, no two alike.

    Returns
    -------
    found : (m,) int64
        Which of the keys were found, ascending.
    positions : (m,) int64
        Where, counted from the first row of the first batch.
    """
    found, positions = [], []
    for chosen, first_row, at, is_there in _searched(stored, asked):
        within = np.flatnonzero(is_there)
        found.append(chosen.start + within)
        positions.append(first_row + at[within])
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *found]), np.concatenate([empty, *positions])


def find_ranks(stored: Sequence[StoredBatch], asked: pa.Table) -> Positions:
    """Count the stored keys that are less than each of some.

    Parameters
    ----------
    stored, asked
        As `find_keys` takes them.

    Returns
    -------
    (k,) int64
    """
    ranks = np.full(asked.num_rows, sum(batch.rows.num_rows for batch in stored), np.int64)
    for chosen, first_row, at, _ in _searched(stored, asked):
        ranks[chosen] = first_row + at
    return ranks


def _searched(
    stored: Sequence[StoredBatch], asked: pa.Table
) -> Iterator[tuple[slice, int, Positions, npt.NDArray[np.bool_]]]:
    """Search the keys that are not greater than all that are stored, batch by batch.

    Yields
    ------
    chosen : slice
        Which of the keys.
    first_row : int
        First row of the batch.
    at : (n,) int64
        How many keys of the batch are less than each.
    is_there : (n,) bool
        Whether the next one equals it.
    """
    filled = [batch for batch in stored if batch.rows.num_rows]
    if not filled or not asked.num_rows:
        return
    last_keys = [batch.rows.slice(batch.rows.num_rows - 1) for batch in filled]
    ours, ends = _codes(asked, pa.Table.from_batches(last_keys))
    of_batch = np.searchsorted(ends, ours)
    for number, chosen in pieces(of_batch[of_batch < len(filled)]):
        batch = filled[number]
        at, is_there = _in_batch(batch.rows, asked.slice(chosen.start, chosen.stop - chosen.start))
        yield chosen, batch.first_row, at, is_there


def _in_batch(rows: pa.RecordBatch, asked: pa.Table) -> tuple[Positions, npt.NDArray[np.bool_]]:
    """Search keys, none of which is greater than the last of the batch."""
    if asked.num_columns == 1 and _is_stored_as_sorted(rows.column(0).type):
        theirs = sort_keys([rows.column(0)])  # not a copy
        ours = sort_keys([asked.column(0)])
        at = np.searchsorted(theirs, ours)
        return at, theirs[at] == ours
    return _narrowed(rows, asked)


def _is_stored_as_sorted(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_temporal(kind)


def _narrowed(rows: pa.RecordBatch, asked: pa.Table) -> tuple[Positions, npt.NDArray[np.bool_]]:
    """Narrow the range of each key down, all keys at once.

    Codes of keys compare only when they are made together, so each step takes what bounds the
    smaller ranges and encodes that with the keys.
    """
    count = rows.num_rows
    step = 1
    while step * _FAN_OUT < count:
        step *= _FAN_OUT
    low = np.zeros(asked.num_rows, np.int64)
    width = -(-count // step)
    while True:
        bounds = distinct_integers(low)[:, None] + np.arange(width) * step
        bounds = bounds[bounds < count]
        ours, theirs = _codes(asked, rows.take(arrow_array(bounds)))
        at = np.maximum(np.searchsorted(theirs, ours, side="right") - 1, 0)
        low = bounds[at]
        if step == 1:
            is_there = theirs[at] == ours
            # The one that is at most the key, or the next if it is less.
            return low + np.searchsorted(theirs, ours) - at, is_there
        step, width = step // _FAN_OUT, _FAN_OUT


def _codes(
    asked: pa.Table, others: pa.Table | pa.RecordBatch
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]:
    """Encode two lots of keys so that they compare."""
    codes = sort_keys(
        [
            pa.concat_arrays([one_array(asked.column(name)), one_array(others.column(name))])
            for name in asked.column_names
        ]
    )
    return codes[: asked.num_rows], codes[asked.num_rows :]
