"""Columns and what could not be read of them, as events of a source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.ingest.changes import (
    KIND_TYPE,
    Event,
    RowChanges,
    SourceSchema,
    Unreadable,
)
from paimonlab.ingest.sources.mysql.log_values import Values
from paimonlab.spec.row_kind import RowKind

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = map(int, RowKind)

Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Rows of one table and schema, in the order of the source."""

    table: str
    schema: SourceSchema
    columns: Sequence[Values]
    kinds: Kinds
    """Shape (n,)."""
    positions: pa.Array
    metadata: Mapping[str, pa.Array]
    order: pa.Array | None = None
    """As in `RowChanges`."""

    def events(self) -> Iterator[Event]:
        """Yield the rows, and those that have a value which cannot be held.

        What was wrong with the old values of a row does not matter, unless they are its key: they
        are null then. An update of which one image is left out is none of the rows.
        """
        errors = self._errors()
        arrays = [values.array for values in self.columns]
        rows = pa.RecordBatch.from_arrays(arrays, schema=self.schema.arrow_schema)
        if not errors:
            if rows.num_rows:
                yield self._changes(rows, self.kinds, None)
            return
        bad = np.zeros(len(self.kinds), np.bool_)
        bad[list(errors)] = True
        left = bad.copy()
        left[1:] |= bad[:-1] & (self.kinds[:-1] == UPDATE_BEFORE)
        left[:-1] |= bad[1:] & (self.kinds[1:] == UPDATE_AFTER)
        kept = np.flatnonzero(~left)
        if len(kept):
            wanted = arrow_array(kept, pa.int64())
            yield self._changes(rows.take(wanted), self.kinds[kept], wanted)
        yield self._unreadable(rows, errors)

    def _errors(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for column, values in zip(self.schema.columns, self.columns, strict=True):
            is_key = column.name in self.schema.primary_keys
            for row, text in values.errors.items():
                if is_key or self.kinds[row] in (INSERT, UPDATE_AFTER):
                    found.setdefault(row, f"column {column.name!r}: {text}")
        return found

    def _changes(self, rows: pa.RecordBatch, kinds: Kinds, kept: pa.Array | None) -> RowChanges:
        positions, order, metadata = self.positions, self.order, self.metadata
        if kept is not None:
            positions = positions.take(kept)
            order = None if order is None else order.take(kept)
            metadata = {name: values.take(kept) for name, values in metadata.items()}
        return RowChanges(
            table=self.table,
            rows=rows,
            kinds=arrow_array(kinds, KIND_TYPE) if kinds.any() else None,
            schema=self.schema,
            positions=positions,
            order=order,
            metadata=metadata,
        )

    def _unreadable(self, rows: pa.RecordBatch, errors: Mapping[int, str]) -> Unreadable:
        places = sorted(errors)
        wanted = arrow_array(np.array(places, np.int64), pa.int64())
        texts = [json.dumps(row, default=str) for row in rows.take(wanted).to_pylist()]
        return Unreadable(
            table=self.table,
            errors=arrow_array([errors[place] for place in places], pa.string()),
            raw=pa.nulls(len(places), pa.binary()),
            rows=arrow_array(texts, pa.string()),
            kinds=arrow_array(self.kinds[places], KIND_TYPE),
            positions=self.positions.take(wanted),
        )
