"""Rows that the source deleted and the table keeps, with a mark: ``on_delete="mark:<column>"``.

What a source tells of a deleted row may be its key alone. So what is null in it is taken from the
row that the table had; only if there is none it stays null.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.ingest.changes import KIND_TYPE
from paimonlab.ingest.fitting import FittedRows
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.text import parse_type

MARK_TYPE = parse_type("BOOLEAN")
_DELETE, _BEFORE, _AFTER = map(int, (RowKind.DELETE, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER))


def marked(rows: FittedRows, mark: str, keys: Collection[str]) -> FittedRows:
    """Mark deleted rows, which are still of the kind delete.

    An update that gives a row another key deletes the row of the old one, too.

    Parameters
    ----------
    rows
        With all other columns that are added.
    mark
        Name of the column, boolean; it is added, or replaced.
    keys
        Of the table.
    """
    batch = rows.rows
    if mark in batch.schema.names:
        batch = batch.drop_columns([mark])
    kinds = numpy_values(batch.column(rows.kind_column)).copy()
    moved = np.flatnonzero((kinds[:-1] == _BEFORE) & _differs(batch, keys))
    kinds[moved] = _DELETE
    is_deleted = kinds == _DELETE
    untold = {}
    if is_deleted.any():
        deleted = arrow_array(is_deleted)
        for name in batch.schema.names:
            if name in keys or name == rows.kind_column:
                continue
            mask = pc.and_(deleted, pc.is_null(batch.column(name)))
            if pc.any(mask).as_py():
                untold[name] = mask
    place = batch.schema.get_field_index(rows.kind_column)
    batch = batch.set_column(
        place, batch.schema.field(place), arrow_array(kinds.astype(np.int8)).cast(KIND_TYPE)
    )
    batch = batch.add_column(place, pa.field(mark, pa.bool_()), arrow_array(is_deleted))
    return replace(rows, rows=batch, untold=untold)


def _differs(batch: pa.RecordBatch, keys: Collection[str]) -> npt.NDArray[np.bool_]:
    """Return of which rows the next one has another key; shape (n - 1,)."""
    found = np.zeros(max(batch.num_rows - 1, 0), np.bool_)
    for name in keys:
        column = batch.column(name)
        other = pc.not_equal(column.slice(0, len(found)), column.slice(1))
        found |= numpy_values(pc.fill_null(other, True), zero_copy_only=False)  # noqa: FBT003
    return found


def kept(rows: FittedRows) -> pa.RecordBatch:
    """Return rows as the table takes them: those that were deleted are updated."""
    batch = rows.rows
    place = batch.schema.get_field_index(rows.kind_column)
    kinds = numpy_values(batch.column(place))
    kinds = np.where(kinds == _DELETE, _AFTER, kinds).astype(np.int8)
    return batch.set_column(place, batch.schema.field(place), arrow_array(kinds).cast(KIND_TYPE))
