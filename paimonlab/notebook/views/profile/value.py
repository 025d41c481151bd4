"""What is in each column of a table or of a query, for display."""

from __future__ import annotations

import msgspec

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Shares of the rows for which `ProfileColumn.quantiles` has values."""


class FilesRead(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The files that stand for all of a table."""

    file_count: int
    of_files: int
    of_rows: int | None
    """Rows of the table; None: unknown, some are merged, deleted or ruled out."""


class ProfileColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column and what is in it. Long texts are truncated."""

    name: str
    type: str
    """As SQL writes it."""
    is_number: bool
    has_facts: bool
    """False: a nested column, of which only the nulls are counted."""
    null_count: int
    nan_count: int
    infinite_count: int
    distinct_count: int | None
    """Different values without NULL; None if values cannot be compared."""
    is_distinct_exact: bool
    low: str | None
    """The least value, NaN not among them; None if there is none."""
    high: str | None
    mean: float | None
    """Of the finite numbers; None if there are none."""
    standard_deviation: float | None
    quantiles: tuple[str, ...]
    """For each of `SHARES` the least value that so many do not exceed; empty without an order."""
    is_sampled: bool
    """Whether the quantiles are computed from some of the rows."""
    bins: tuple[int, ...]
    """Rows in equally wide ranges; empty: neither numbers nor times."""
    bin_starts: tuple[str, ...]
    """Where each range begins."""
    top: tuple[tuple[str, int], ...]
    """The most frequent values, if any occurs more than once."""
    top_error: int
    """A value occurs as often as `top` says, or up to so many times more."""
    shortest: int | None
    """Characters of the shortest text, bytes of the shortest binary value; None: no texts."""
    longest: int | None
    mean_length: float | None
    longest_text: str | None
    all_nulls: int | None = None
    """NULLs in all rows, where only some are read; None: unknown, or all are read."""
    all_low: str | None = None
    """The least value of all rows, where only some are read; None as before."""
    all_high: str | None = None


class Profile(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="profile", tag_field="kind"
):
    """All columns of some rows."""

    title: str
    """The table, or the first words of the query."""
    table: str
    """Empty for a query."""
    row_count: int
    """Those that were read."""
    columns: tuple[ProfileColumn, ...]
    notes: tuple[str, ...]
    """What was read, and what is not exact."""
    sample: FilesRead | None = None
    """None: all rows were read."""
    is_empty: bool = False
    """Whether the table has no rows."""

    def null_share(self, column: ProfileColumn) -> tuple[int, int]:
        """Return how many rows are NULL, of how many: of all rows if that is known."""
        if self.sample is None or column.all_nulls is None or self.sample.of_rows is None:
            return column.null_count, self.row_count
        return column.all_nulls, self.sample.of_rows
