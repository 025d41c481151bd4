"""Names of partitions."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.spec.schema.definition import TableSchema
from paimonlab.table.texts import names_of_partitions


def partition_names(schema: TableSchema, partitions: pa.ChunkedArray) -> list[str]:
    """Write partitions as ``dt=2026-01-01/h=7``; "" in a table without partitions."""
    return names_of_partitions(partitions.combine_chunks(), schema)
