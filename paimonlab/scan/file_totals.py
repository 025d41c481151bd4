"""Sums over the files of each partition or bucket, by numpy.

``pyarrow.Table.group_by`` loads ``pyarrow.dataset`` and, where it is installed, pandas: that takes
longer than most sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

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
    groups = Groups.of(entries, keys)
    columns = {name: groups.first(entries[name]) for name in keys}
    for name in ("row_count", "file_size_bytes"):
        columns[name] = arrow_array(groups.sums(numpy_values(entries[name])))
    columns["file_count"] = arrow_array(groups.counts)
    columns["creation_time_millis"] = groups.latest(entries["creation_time_millis"])
    columns["total_buckets"] = groups.last(entries["total_buckets"])
    return pa.table(columns)


def distinct(entries: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the values of columns of entries that occur together, each once."""
    groups = Groups.of(entries, keys)
    return pa.table({name: groups.first(entries[name]) for name in keys})


class Groups(Struct, frozen=True):
    """Rows that have the same values in some columns, g groups of n rows."""

    order: npt.NDArray[np.int64]
    """(n,) row numbers, those of a group together and ascending."""
    starts: npt.NDArray[np.int64]
    """(g,) where in the order each group begins."""

    @classmethod
    def of(cls, entries: pa.Table, keys: Sequence[str]) -> Self:
        """Find the groups of rows with equal keys."""
        group = group_codes([codes(entries[name]) for name in keys])
        order = np.argsort(group, kind="stable")
        is_first = np.ones(order.size, np.bool_)
        is_first[1:] = group[order[1:]] != group[order[:-1]]
        return cls(order, np.flatnonzero(is_first))

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """(g,) rows of each group."""
        return np.diff(np.append(self.starts, self.order.size)).astype(np.int64)

    def by_first_row(self) -> npt.NDArray[np.int64]:
        """Return (g,) numbers of groups, in the order of their first rows."""
        return np.argsort(self.order[self.starts], kind="stable")

    def first(self, column: pa.ChunkedArray) -> pa.Array:
        """Return the values of the first row of each group."""
        return one_array(column).take(arrow_array(self.order[self.starts]))

    def last(self, column: pa.ChunkedArray) -> pa.Array:
        """Return the values of the last row of each group."""
        ends = self.starts + self.counts - 1
        return one_array(column).take(arrow_array(self.order[ends]))

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Add up (n,) numbers, or count (n,) truths, of each group."""
        numbers = values.astype(np.int64) if values.dtype == np.bool_ else values
        return np.add.reduceat(numbers[self.order], self.starts) if self.starts.size else numbers

    def greatest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the greatest of the (n,) numbers of each group."""
        return np.maximum.reduceat(values[self.order], self.starts) if self.starts.size else values

    def different(self, values: npt.NDArray[Any], where: npt.NDArray[np.bool_]) -> Any:
        """Count the different ones of the (n,) numbers of each group that count."""
        group = np.empty(self.order.size, np.int64)
        group[self.order] = np.repeat(np.arange(self.starts.size), self.counts)
        order = np.lexsort((values[where], group[where]))
        groups, numbers = group[where][order], values[where][order]
        is_new = np.ones(order.size, np.bool_)
        is_new[1:] = (groups[1:] != groups[:-1]) | (numbers[1:] != numbers[:-1])
        return np.bincount(groups[is_new], minlength=self.starts.size).astype(np.int64)

    def latest(self, column: pa.ChunkedArray) -> pa.Array:
        """Return the greatest value of each group; null where all are null."""
        unknown = np.iinfo(np.int64).min
        latest = self.greatest(numpy_values(null_filled(column, unknown)))
        return arrow_array(latest, pa.int64(), mask=latest == unknown)
