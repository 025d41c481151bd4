"""The rows of a SQL statement, with a summary of each column."""

from __future__ import annotations

from typing import Any

import msgspec


class ResultColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column of a result, and what is in it."""

    name: str
    type: str
    """As SQL writes it."""
    is_number: bool
    """Whether its cells are numbers, to be compared as such."""
    null_count: int
    nan_count: int
    distinct_count: int | None
    """Different values, NULL not among them; None where values cannot be compared."""
    low: str | None
    """The least value; None if there is none, or values have no order."""
    high: str | None
    bins: tuple[int, ...]
    """Rows in each of equally wide ranges between ``low`` and ``high``; empty: no numbers."""
    top: tuple[tuple[str, int], ...]
    """The most frequent texts and how often each occurs."""
    ranks: tuple[int, ...] | None
    """Order of the shown rows by this column; None: as the cells are written."""
    trees: list[Any] | None
    """Nested values of the shown rows, as `paimonlab.notebook.display.trees` writes them."""


class ResultRows(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="result", tag_field="kind"
):
    """The rows that are shown, and counts of those that are not."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[str | None, ...], ...]
    """Cells as text, NULL as null."""
    row_count: int
    """Rows that were fetched."""
    has_more_rows: bool
    """Whether there are more rows than were fetched."""
    summarised_count: int
    """Rows, from the first on, that the columns are summarised over."""
    footer: str
