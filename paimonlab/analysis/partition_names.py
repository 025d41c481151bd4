"""How partitions are called."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.table.parts import TableParts
from paimonlab.table.system.texts import partition_text


def partition_names(parts: TableParts, partitions: pa.ChunkedArray) -> list[str]:
    """Write partitions as ``$files`` does; "" in a table without partitions."""
    fields = [parts.schema.field(name) for name in parts.schema.partition_keys]
    if not fields:
        return [""] * len(partitions)
    return [str(text) for text in partition_text(partitions.combine_chunks(), fields).to_pylist()]
