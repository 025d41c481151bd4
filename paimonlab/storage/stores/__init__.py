"""Warehouses that are not on a local disk: objects by their keys, through obstore.

Knows requests, what their answers mean and which of them are in doubt. Must not know Paimon's
files. See ``docs/stores.md`` and ADR 0015.
"""

from __future__ import annotations

from paimonlab.storage.stores.object_file_io import ObjectFileIO
from paimonlab.storage.stores.opening import keys_in, open_warehouse

__all__ = ["ObjectFileIO", "keys_in", "open_warehouse"]
