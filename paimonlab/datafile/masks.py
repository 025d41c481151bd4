"""Some rows of a file: shares of its row groups, positions and masks."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array
from paimonlab.formats.row_group import RowGroup

Mask: TypeAlias = npt.NDArray[np.bool_]

_BLOCK_ROWS = 1 << 16
_LARGE_ROWS = 1 << 15
"""Of a row group whose columns several threads decode in less time than one."""


class Positioned(NamedTuple):
    """Rows and where they are in their file."""

    start: int
    """Position of the first row in the file."""
    rows: pa.RecordBatch


class Portion(NamedTuple):
    """Row groups that are read in one go."""

    groups: Sequence[RowGroup]
    is_last: bool = False
    """Whether other threads may have nothing to read meanwhile."""


class Share(Protocol):
    """What of a file a reader of it reads."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to read, so that the file need not be opened."""

    def of(self, groups: Sequence[RowGroup]) -> Iterable[Portion]:
        """Choose row groups, those together that are read in one go."""

    def end(self) -> None:
        """Say that no row of the file is wanted, so that no other thread looks again."""


class Whole(Struct, frozen=True):
    """All row groups, or the first ones.

    >>> groups = [RowGroup(0, 0, 10, 1), RowGroup(1, 10, 10, 1), RowGroup(2, 20, 10, 1)]
    >>> [[group.index for group in some.groups] for some in Whole(first_rows=15).of(groups)]
    [[0, 1]]
    """

    first_rows: int | None = None
    """Rows of the file after which row groups are left out; None: none are."""
    is_over: bool = False

    def of(self, groups: Sequence[RowGroup]) -> Iterable[Portion]:
        """Return the row groups."""
        most = self.first_rows
        return [Portion([one for one in groups if most is None or one.first_row < most])]

    def end(self) -> None:
        """Do nothing: nobody else reads the file."""


class Turns:
    """Row groups of a file that several threads read: who is free takes the next one.

    All of them are given the same row groups. Shares that are fixed before would be read to the end
    by a thread that is slow, while others wait.

    Parameters
    ----------
    last
        How many of the row groups are read while other threads may have nothing to read.

    Examples
    --------
    >>> groups = [RowGroup(0, 0, 10, 1), RowGroup(1, 10, 10, 1), RowGroup(2, 20, 10, 1)]
    >>> turns = Turns(last=1)
    >>> one, other = iter(turns.of(groups)), iter(turns.of(groups))
    >>> [next(taking).groups[0].index for taking in (one, other, one)]
    [0, 1, 2]
    >>> list(other), turns.is_over
    ([], True)

    Columns of the last large row groups may be decoded by several threads:

    >>> large = [RowGroup(0, 0, 1 << 17, 1), RowGroup(1, 1 << 17, 1 << 17, 1)]
    >>> [portion.is_last for portion in Turns(last=1).of(large)]
    [False, True]

    A file that an index rules out is looked at by one of them:

    >>> turns = Turns(last=1)
    >>> turns.end()
    >>> turns.is_over
    True
    """

    def __init__(self, last: int) -> None:
        self._last = last
        self._lock = threading.Lock()
        self._taken = 0
        self.is_over = False

    def of(self, groups: Sequence[RowGroup]) -> Iterator[Portion]:
        """Take row groups one by one, until none is left."""
        while True:
            with self._lock:
                turn = self._taken
                self._taken += 1
                self.is_over = self._taken >= len(groups)
            if turn >= len(groups):
                return
            is_large = groups[turn].row_count >= _LARGE_ROWS
            is_last = is_large and turn >= len(groups) - self._last
            yield Portion(groups[turn : turn + 1], is_last)

    def end(self) -> None:
        """Leave nothing to other threads."""
        self.is_over = True


WHOLE = Whole()
"""All of a file."""


def first_of(mask: Mask, limit: int) -> Mask:
    """Return a mask of the first rows that another one has.

    Parameters
    ----------
    mask : (row_count,) bool
        Of a file.
    limit
        How many rows, at least 1.

    Examples
    --------
    >>> first_of(np.array([False, True, True]), 1).tolist()
    [False, True, False]
    """
    places = np.flatnonzero(mask)
    if len(places) <= limit:
        return mask
    # Memory that is zeros is not touched: the rest of a large file costs nothing.
    first = np.zeros(len(mask), np.bool_)
    first[places[:limit]] = True
    return first


def filtered(rows: pa.RecordBatch, mask: Mask) -> pa.RecordBatch:
    """Keep the rows where ``mask`` is true; all of them without a copy."""
    return rows if mask.all() else rows.filter(arrow_array(mask))


def kept_rows(rows: pa.RecordBatch, keep: Mask, start: int) -> pa.RecordBatch:
    """Keep rows by a mask of the file, whose position ``start`` the first of them has."""
    return filtered(rows, keep[start : start + rows.num_rows])


def columns_by_name(rows: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the columns by their names."""
    return dict(zip(rows.schema.names, rows.columns, strict=True))


def end_of(keep: Mask) -> int:
    """Return the position after the last row to keep.

    >>> end_of(np.array([False, True, False])), end_of(np.array([False]))
    (2, 0)
    """
    for end in range(len(keep), 0, -_BLOCK_ROWS):
        start = max(end - _BLOCK_ROWS, 0)
        if keep[start:end].any():  # many times faster than a search from the end
            return start + int(np.flatnonzero(keep[start:end])[-1]) + 1
    return 0


def contiguous(groups: Sequence[RowGroup]) -> list[list[RowGroup]]:
    """Group row groups that follow each other."""
    ranges: list[list[RowGroup]] = []
    for group in groups:
        if ranges and ranges[-1][-1].index + 1 == group.index:
            ranges[-1].append(group)
        else:
            ranges.append([group])
    return ranges
