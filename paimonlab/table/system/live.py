"""The live files of a snapshot as one Arrow table."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.scan.live_files import live_entries
from paimonlab.spec.manifest import ENTRY_SCHEMA
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.parts import TableParts


def files_of(parts: TableParts, snapshot: Snapshot | None) -> pa.Table:
    """All entries of live files, one row a file, columns as `ENTRY_SCHEMA`."""
    if snapshot is None:
        return ENTRY_SCHEMA.empty_table()
    return live_entries(snapshot, parts.manifests)
