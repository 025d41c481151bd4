"""Names of partitions."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.spec.schema.definition import TableSchema
from paimonlab.table.texts import partition_text


def partition_names(schema: TableSchema, partitions: pa.ChunkedArray) -> list[str]:
    """Write partitions as ``$files`` does; "" in a table without partitions."""
    fields = [schema.field(name) for name in schema.partition_keys]
    if not fields:
        return [""] * len(partitions)
    return [str(text) for text in partition_text(partitions.combine_chunks(), fields).to_pylist()]
