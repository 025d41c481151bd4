"""What was typed into the table of a result, carried out: on Arrow, and as SQL.

The browser does the same on the rows that it has (``results/table/filters.js``). A filter is

- ``null`` or ``not null``;
- ``>``, ``>=``, ``<``, ``<=``, ``=`` or ``!=`` and a value of the column: a number, ``true``,
  ``2026-01-31``, ``2026-01-31 12:00``, ``0x00ff``, or text, which may be in ``'``;
- else a piece of the text that is shown, in upper or lower case.

NULL passes ``null`` only. NaN is above all numbers, as in SQL. Text is compared by code points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.results.row_query.on_arrow import Rows
    from paimonlab.notebook.results.row_query.sql import SqlColumn, conditions, order, query_sql

__all__ = ["Rows", "SqlColumn", "conditions", "order", "query_sql"]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    Rows="on_arrow",
    **dict.fromkeys(("SqlColumn", "conditions", "order", "query_sql"), "sql"),
)
