"""System tables: metadata of one table as rows, ``db.t$snapshots`` and the like.

Columns and texts are those of Java Paimon 1.3. A system table is a function from what a
table is, where it lies and a snapshot to an Arrow table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.system.system_table import (
        SYSTEM_TABLES,
        CatalogTable,
        SystemScan,
        SystemTable,
        open_system_table,
    )

__all__ = ["SYSTEM_TABLES", "CatalogTable", "SystemScan", "SystemTable", "open_system_table"]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    CatalogTable="system_table",
    SYSTEM_TABLES="system_table",
    SystemScan="system_table",
    SystemTable="system_table",
    open_system_table="system_table",
)
