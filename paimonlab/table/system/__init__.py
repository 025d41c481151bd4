"""System tables: metadata of one table as rows, ``db.t$snapshots`` and the like.

Columns and texts are those of Java Paimon 1.3. A system table is a function from what a
table is, where it lies and a snapshot to an Arrow table.
"""

from __future__ import annotations

from paimonlab.table.system.system_table import (
    SYSTEM_TABLES,
    CatalogTable,
    SystemScan,
    SystemTable,
    system_table,
)

__all__ = ["SYSTEM_TABLES", "CatalogTable", "SystemScan", "SystemTable", "system_table"]
