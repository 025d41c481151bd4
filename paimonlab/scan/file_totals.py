"""Sums over the files of each partition or bucket, by numpy.

``pyarrow.Table.group_by`` loads ``pyarrow.dataset`` and, where it is installed, pandas: that takes
longer than most sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values, one_array
from paimonlab.scan.entries import codes, group_codes


def totals(entries: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Sum up the files that have the same keys.

    Parameters
    ----------
    entries
        Additions of files (`ENTRY_SCHEMA`).
    keys
        ``partition``, or ``partition`` and ``bucket``.

    Returns
    -------
    pyarrow.Table
        A row for each of the keys that occur, with the sums ``row_count`` and ``file_size_bytes``,
        ``file_count``, the latest ``creation_time_millis`` (null: of no file is one known) and the
        ``total_buckets`` of the last file.
    """
    order, starts = _groups(entries, keys)
    ends = np.append(starts, order.size)[1:]
    columns = {name: _taken(entries[name], order[starts]) for name in keys}
    for name in ("row_count", "file_size_bytes"):
        values = numpy_values(entries[name])[order]
        columns[name] = arrow_array(np.add.reduceat(values, starts) if starts.size else values)
    columns["file_count"] = arrow_array((ends - starts).astype(np.int64))
    columns["creation_time_millis"] = _latest(entries["creation_time_millis"], order, starts)
    columns["total_buckets"] = _taken(entries["total_buckets"], order[ends - 1])
    return pa.table(columns)


def distinct(entries: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the values of columns of entries that occur together, each once."""
    order, starts = _groups(entries, keys)
    return pa.table({name: _taken(entries[name], order[starts]) for name in keys})


def _groups(
    entries: pa.Table, keys: Sequence[str]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return an order in which rows of equal keys are together, and where in it each group begins.

    Equal rows stay in their order.
    """
    group = group_codes([codes(entries[name]) for name in keys])
    order = np.argsort(group, kind="stable")
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = group[order[1:]] != group[order[:-1]]
    return order, np.flatnonzero(is_first)


def _taken(column: pa.ChunkedArray, rows: npt.NDArray[np.int64]) -> pa.Array:
    return one_array(column).take(arrow_array(rows))


def _latest(
    column: pa.ChunkedArray,
    order: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
) -> pa.Array:
    unknown = np.iinfo(np.int64).min
    values = numpy_values(null_filled(column, unknown))[order]
    latest = np.maximum.reduceat(values, starts) if starts.size else values
    return arrow_array(latest, pa.int64(), mask=latest == unknown)
