"""The rows of a SQL statement, with a summary of each column."""

from __future__ import annotations

from typing import Any

import msgspec

from paimonlab.notebook.results.column_kinds import ColumnKind


class ResultCells(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the texts of some rows of a column do not show."""

    exact: tuple[tuple[int, str], ...]
    """Rows, counted from 0, whose text is shown in quotes or with escapes, and that text."""
    cut: tuple[int, ...]
    """Rows whose cell has only the beginning."""
    trees: list[Any] | None
    """Nested values, as `paimonlab.notebook.display.trees` writes them."""


class ResultColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column of a result, and what is in it."""

    name: str
    type: str
    """As SQL writes it."""
    value: ColumnKind
    """Which kind of values it has: how they are compared, and written in SQL."""
    is_number: bool
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
    zone: str | None
    """Time zone that moments are shown in."""
    cells: ResultCells
    """More about the cells of the shown rows."""


class ResultRows(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="result", tag_field="kind"
):
    """The rows that are shown, and counts of those that are not."""

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[str | None, ...], ...]
    """The first rows: cells as text, NULL as null; the kernel has more."""
    row_count: int
    """Rows that were fetched."""
    has_more_rows: bool
    """Whether there are more rows than were fetched."""
    summarised_count: int
    """Rows, from the first on, that the columns are summarised over."""
    footer: str
