"""``$row_tracking``: the rows of a table with their ids.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.RowTrackingTable``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.row_tracking import RowTrackingOptions, with_tracking
from paimonlab.table.reading.scan import Scan
from paimonlab.table.system.asking import AboutTable, ScanArguments

if TYPE_CHECKING:
    from paimonlab.table.table import Table


def columns(table: Table) -> pa.Schema:
    """Return the table's columns, ``_ROW_ID`` and ``_SEQUENCE_NUMBER``.

    Raises
    ------
    SchemaError
        If the rows of the table have no ids.
    """
    if not Options(table.options).slice(RowTrackingOptions).row_tracking:
        raise SchemaError(
            f"the rows of {table.name} have no ids: it was made without "
            "'row-tracking.enabled' = 'true'"
        )
    return with_tracking(table.schema).arrow_schema


def scan(table: AboutTable, asked: ScanArguments) -> Scan:
    """Read the rows, as `Table.scan` does."""
    return scan_of(table.table, asked)


def scan_of(table: Table, asked: ScanArguments) -> Scan:
    """Hand the arguments on to the scan of a table."""
    return table.scan(
        asked.columns,
        asked.where,
        limit=asked.limit,
        snapshot=asked.snapshot,
        tag=asked.tag,
        timestamp=asked.timestamp,
        watermark=asked.watermark,
        version=asked.version,
        options=asked.options,
    )
