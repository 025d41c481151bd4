"""Names -> tables, and the definition of tables.

Knows databases, tables, their folders and their definition. Must not know Spark or notebooks.
"""

from __future__ import annotations

from paimonlab.catalog.connect import connect
from paimonlab.catalog.filesystem import Catalog

__all__ = ["Catalog", "connect"]
