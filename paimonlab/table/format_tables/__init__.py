"""Format tables: folders of CSV, JSON, text, Parquet or ORC files, which have no snapshots.

A catalog keeps their names and columns (`paimonlab.catalog.format_tables`). What is in the folder
is the table: reading lists it, writing adds files to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.format_tables import cleaning as cleaning
    from paimonlab.table.format_tables import format_table as format_table
    from paimonlab.table.format_tables import options as options

__getattr__, __dir__ = attributes_on_use(__name__, "cleaning", "format_table", "options")
