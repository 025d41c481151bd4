"""Reading whole Parquet files, through what scans read them with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_MANY_ROWS = 1 << 20


def read_table(file_io: FileIO, path: str, fields: Sequence[DataField], **options: Any) -> pa.Table:
    """Read columns of a file at once."""
    batches = read_batches(file_io, path, fields, batch_rows=_MANY_ROWS, **options)
    return pa.Table.from_batches(batches, arrow_schema(fields))


def read_batches(
    file_io: FileIO, path: str, fields: Sequence[DataField], **options: Any
) -> list[pa.RecordBatch]:
    """Read columns of a file piece by piece."""
    with ParquetInput(file_io, path) as file:
        return list(file.batches(fields, **options))
