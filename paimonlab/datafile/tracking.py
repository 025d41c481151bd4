"""Row ids and commit numbers of rows: from the file where it has them, else made.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.DataFileRecordReader``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS, TRACKING_FIELDS
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import ROW_ID, SEQUENCE_NUMBER


def fields_in_file(
    fields: Sequence[DataField], names: Collection[str], write_cols: Collection[str] | None
) -> tuple[DataField, ...]:
    """List what a file of an append table holds.

    Parameters
    ----------
    fields
        Columns of the schema it was written with.
    names
        Columns that are in the file.
    write_cols
        What metadata says that it holds; None: all columns.

    Returns
    -------
    tuple of DataField
        Those of ``fields`` that were written, and the tracking columns if they are there.
    """
    own = [
        field
        for field in fields
        if field.name not in TRACKING_COLUMNS and (write_cols is None or field.name in write_cols)
    ]
    return (*own, *(field for field in TRACKING_FIELDS if field.name in names))


def tracked(rows: pa.RecordBatch, meta: DataFileMeta, start: int) -> pa.RecordBatch:
    """Fill in the tracking columns where the file has no value.

    Parameters
    ----------
    rows
        Rows of a file; of the columns `TRACKING_COLUMNS` all, some or none.
    meta
        The file.
    start
        Position of the first row in the file.

    Notes
    -----
    A row without an id in a file without ids gets none.
    """
    names = rows.schema.names
    for name in TRACKING_COLUMNS.intersection(names):
        column = rows.column(name)
        if column.null_count:
            made = _made(name, meta, start, rows.num_rows)
            if made is not None:
                filled = pc.coalesce(column, made)
                rows = rows.set_column(names.index(name), rows.schema.field(name), filled)
    return rows


def _made(name: str, meta: DataFileMeta, start: int, count: int) -> pa.Array | pa.Scalar | None:
    if name == SEQUENCE_NUMBER:
        return arrow_scalar(meta.max_sequence_number, pa.int64())
    if name == ROW_ID and meta.first_row_id is not None:
        first = meta.first_row_id + start
        return arrow_array(np.arange(first, first + count, dtype=np.int64))
    return None
