"""Rows of a source as a table takes them, and which of them it cannot take."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.datafile.casts import atomic_cast
from paimonlab.errors import DataError
from paimonlab.ingest.changes import RowChanges
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import AtomicType, is_text
from paimonlab.spec.types.text import format_type
from paimonlab.write.rows import align

_RETRACTS = [int(kind) for kind in RowKind if kind.is_retract]


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """Where each row comes from that was put among rows of other tables; see `log_order`."""

    parts: tuple[FittedRows, ...]
    part: npt.NDArray[np.int64]
    """Shape (n,): in which of the parts each row was."""
    place: npt.NDArray[np.int64]
    """Shape (n,): and where there."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedRows:
    """Rows of a source with the names that the table has for its columns."""

    rows: pa.RecordBatch
    """Columns of the source that the table has, then the kind of each row (int8)."""
    kind_column: str
    """Name of the last column."""
    changes: RowChanges
    """Where they come from; of rows with origins of their own some of them."""
    first: int = 0
    """The place of the first row among those, or among the origins."""
    origins: Origins | None = None
    """None: all come from the same batch."""
    unchanged: Mapping[str, pa.Array] = dataclasses.field(default_factory=dict)
    """By column: in which rows its value is that of the row before; see `RowChanges`."""
    untold: Mapping[str, pa.Array] = dataclasses.field(default_factory=dict)
    """By column: in which rows that are marked as deleted it is null since the source may not have
    told it."""

    @property
    def size_bytes(self) -> int:
        """Memory that they take."""
        return self.rows.nbytes

    @property
    def origin(self) -> tuple[RowChanges, int]:
        """Where the first row comes from, and its place there."""
        if self.origins is None:
            return self.changes, self.first
        part = self.origins.parts[self.origins.part[self.first]]
        changes, first = part.origin
        return changes, first + int(self.origins.place[self.first])

    def slice(self, start: int, count: int) -> FittedRows:
        """Return some of the rows."""
        return replace(
            self,
            rows=self.rows.slice(start, count),
            first=self.first + start,
            unchanged={name: mask.slice(start, count) for name, mask in self.unchanged.items()},
            untold={name: mask.slice(start, count) for name, mask in self.untold.items()},
        )

    def with_values(self, columns: Mapping[str, pa.Array]) -> FittedRows:
        """Return the rows with other values of columns, all of which are known."""
        rows = self.rows
        for name, column in columns.items():
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, pa.field(name, column.type), column)
        return replace(self, rows=rows, unchanged={}, untold={})

    def renamed(self, old: str, new: str) -> FittedRows:
        """Return the rows with another name for a column, if they have it."""
        names = [new if name == old else name for name in self.rows.schema.names]
        return replace(
            self,
            rows=self.rows.rename_columns(names),
            unchanged={new if name == old else name: mask for name, mask in self.unchanged.items()},
            untold={new if name == old else name: mask for name, mask in self.untold.items()},
        )

    def without(self, name: str) -> FittedRows:
        """Return the rows without a column, if they have it."""
        if name not in self.rows.schema.names:
            return self
        return replace(
            self,
            rows=self.rows.drop_columns([name]),
            unchanged={other: mask for other, mask in self.unchanged.items() if other != name},
            untold={other: mask for other, mask in self.untold.items() if other != name},
        )


def fitted(changes: RowChanges) -> FittedRows:
    """Put the kinds of rows beside the rows."""
    name = "_rowkind"
    while name in changes.schema.names:
        name = f"_{name}"
    kinds = changes.kinds
    if kinds is None:
        kinds = arrow_array(np.zeros(changes.rows.num_rows, np.int8))
    rows = changes.rows.append_column(pa.field(name, pa.int8(), nullable=False), kinds)
    return FittedRows(rows=rows, kind_column=name, changes=changes, unchanged=changes.unchanged)


def retracts(changes: RowChanges) -> bool:
    """Say whether rows are updated or deleted."""
    if changes.kinds is None:
        return False
    return bool(np.any(numpy_values(changes.kinds) != int(RowKind.INSERT)))


def with_values_in_deletes(rows: FittedRows, schema: TableSchema) -> FittedRows:
    """Fill what a delete lacks beside its key in columns that are NOT NULL.

    Of a deleted row a source may know the key alone; what stands in its other columns does not
    matter to tables with a key.

    Parameters
    ----------
    rows
        Of a table with a primary key.
    schema
        Of the table.
    """
    batch = rows.rows
    is_retract = None
    for field in schema.fields:
        place = batch.schema.get_field_index(field.name)
        if field.type.nullable or field.name in schema.primary_keys or place < 0:
            continue
        column = batch.column(place)
        if not column.null_count:
            continue
        if is_retract is None:
            kinds = batch.column(rows.kind_column)
            is_retract = pc.is_in(kinds, arrow_array(_RETRACTS, pa.int8()))
        value = _some_value(column.type)
        if value is None:
            continue
        empty = pc.and_(is_retract, pc.is_null(column))
        filled = pc.if_else(empty, value, column)
        batch = batch.set_column(place, batch.schema.field(place), filled)
    return replace(rows, rows=batch)


def with_texts(rows: FittedRows, schema: TableSchema) -> FittedRows:
    """Make texts of values of columns that are texts in the table and were something else.

    They are those that older rows of the table are read as.

    Parameters
    ----------
    rows
        Of any table.
    schema
        Of the table.

    Raises
    ------
    DataError
        If values of a type have no text.
    """
    batch = rows.rows
    for field in schema.fields:
        place = batch.schema.get_field_index(field.name)
        target = field.type
        if place < 0 or not is_text(target):
            continue
        array = batch.column(place)
        told = rows.changes.schema.column(field.name)
        source = from_arrow(array.type) if told is None else told.type
        if is_text(source):
            continue
        if not (isinstance(source, AtomicType) and isinstance(target, AtomicType)):
            raise DataError(f"column {field.name!r}: {format_type(source)} has no text")
        cast = atomic_cast(source, target, column=field.name)
        assert cast is not None, "they differ"
        text = cast(array)
        batch = batch.set_column(place, pa.field(field.name, text.type), text)
    return rows if batch is rows.rows else replace(rows, rows=batch)


def _some_value(arrow_type: pa.DataType) -> pa.Scalar | None:
    """Return zero, or what is empty; None of types that have parts."""
    kinds = pa.types
    if kinds.is_string(arrow_type) or kinds.is_binary(arrow_type):
        return arrow_scalar("" if kinds.is_string(arrow_type) else b"", arrow_type)
    if kinds.is_nested(arrow_type):
        return None
    return pa.Array.from_buffers(arrow_type, 1, [None, pa.py_buffer(bytes(16))])[0]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that a table does not take."""

    rows: FittedRows
    """That row alone."""
    error: str
    place: int | None = None
    """From which place on, among the rows that wait, others came after it; None: unknown."""


def sorted_out(rows: FittedRows, schema: TableSchema, table: str) -> Iterator[FittedRows | BadRow]:
    """Tell rows that a table takes from those it does not, in their order.

    Whole batches are tried first, then halves of those that are refused: n rows with one bad one
    take some log n tries.

    Parameters
    ----------
    rows
        What the table refused.
    schema, table
        Its schema, and its name for messages.
    """
    count = rows.rows.num_rows
    if not count:
        return
    try:
        align(rows.rows, schema, table=table, row_kinds=rows.kind_column)
    except DataError as error:
        if count == 1:
            yield BadRow(rows, str(error))
            return
        half = count // 2
        yield from sorted_out(rows.slice(0, half), schema, table)
        yield from sorted_out(rows.slice(half, count - half), schema, table)
    else:
        yield rows
