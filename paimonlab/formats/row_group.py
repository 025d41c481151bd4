"""A part of a data file that can be read, or skipped, by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Where the rows of a row group, stripe or run of blocks are in their file."""

    index: int
    first_row: int
    row_count: int
    size_bytes: int
    """Of all columns, encoded but not compressed; where that is unknown, as they are stored."""
