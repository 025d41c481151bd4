"""``$statistics``: what ANALYZE left.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.StatisticTable``.
"""

from __future__ import annotations

import re

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table
from paimonlab.metadata.statistics import StatisticsStore
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore

_KEY = re.compile(r'^(\s*"(?:[^"\\]|\\.)*"): ', re.MULTILINE)
"""A key of a document with a line for each."""

STATISTICS = pa.schema(
    [
        pa.field("snapshot_id", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("mergedRecordCount", pa.int64()),
        pa.field("mergedRecordSize", pa.int64()),
        pa.field("colstat", pa.string()),
    ]
)


def statistics(
    _definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> pa.Table:
    """``$statistics``: one row if the snapshot has statistics, those of columns as JSON."""
    if snapshot is None or snapshot.statistics is None:
        return empty_table(STATISTICS)
    files = StatisticsStore(store.file_io, store.layout)
    stored = files.read(snapshot.statistics, referrer=snapshot.file_name)
    columns = msgspec.json.format(msgspec.json.encode(stored.columns), indent=2).decode()
    row = (
        stored.snapshot_id,
        stored.schema_id,
        stored.merged_record_count,
        stored.merged_record_size,
        _spaced(columns),
    )
    arrays = [
        arrow_array([value], field.type) for value, field in zip(row, STATISTICS, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=STATISTICS)


def _spaced(document: str) -> str:
    """Set spaces where Jackson's printer does."""
    return "{ }" if document == "{}" else _KEY.sub(r"\1 : ", document)
