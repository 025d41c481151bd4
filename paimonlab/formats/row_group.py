"""A part of a data file that can be read, or skipped, by itself."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from msgspec import Struct


class RowGroup(Struct, frozen=True):
    """Where the rows of a row group, stripe or run of blocks are in their file."""

    index: int
    first_row: int
    row_count: int
    size_bytes: int
    """Of all columns, encoded but not compressed; where that is unknown, as they are stored."""


def rows_within(parts: Iterable[tuple[int, int]], most_bytes: int) -> int:
    """Choose how many rows to read at once so that they take no more than so many bytes, about.

    Parameters
    ----------
    parts
        Rows and bytes of the parts of a file, or of files, in the order in which they are read.
    most_bytes
        What the rows should take.

    Returns
    -------
    int
        At least 1. Each stretch of parts of that many bytes counts as one, so that a part of few
        rows, most of whose bytes are not values, says nothing about the others.

    Examples
    --------
    >>> rows_within([(1000, 8000), (1, 500), (1000, 64000)], 8000)
    124
    """
    least = sys.maxsize
    rows = size = 0
    for part_rows, part_bytes in parts:
        rows += part_rows
        size += part_bytes
        if size >= most_bytes:
            least = min(least, rows * most_bytes // size)
            rows = size = 0
    return max(1, least)
