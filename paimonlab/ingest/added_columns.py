"""Columns that a table has beside those of its source: computed ones, and metadata.

The schema of a source becomes that of its rows here before anything is decided about it, so plans
and changes of schemas know nothing of where a column comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_scalar
from paimonlab.clock import local_now
from paimonlab.errors import DataError, SchemaError
from paimonlab.ingest.changes import RowChanges, SourceColumn, SourceSchema
from paimonlab.ingest.computed import BoundColumn, ComputedColumn, bound
from paimonlab.ingest.fitting import BadRow, FittedRows
from paimonlab.ingest.marking import MARK_TYPE
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot, with_nullable
from paimonlab.spec.types.text import parse_type

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock


_METADATA = "metadata of the source"
_MARK = "whether the source deleted the row"
NAMES: Mapping[str, DataType] = {
    "database_name": parse_type("STRING NOT NULL"),
    "table_name": parse_type("STRING NOT NULL"),
}
"""Metadata that every source has: where rows come from."""


class MetadataColumn(NamedTuple):
    """What the source knows of a row beside its values."""

    name: str
    """Of the column."""
    type: DataType
    of: str
    """What the source calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedColumns:
    """What is added to the rows of a table, after the columns of the source."""

    computed: tuple[ComputedColumn, ...] = ()
    metadata: tuple[MetadataColumn, ...] = ()
    """After the computed ones."""
    mark: str = ""
    """The last one, which says of rows that the source deleted them; empty: they are deleted here,
    too. `Target.take` gives it to rows."""
    keys: tuple[str, ...] = ()
    """Columns of metadata that are part of the key of rows that have one."""
    is_nullable: bool = False
    """Whether columns of the source become nullable, but for those of the key."""
    takes_texts: bool = False
    """Whether values become texts where the column of the table has become one."""
    own_keys: tuple[str, ...] = ()
    """The key that was chosen for the table; (): that of the source."""

    def __bool__(self) -> bool:
        """Whether there is anything to add."""
        return bool(self.computed or self.metadata or self.mark)

    def planned(self, schema: SourceSchema) -> SourceSchema:
        """Return a schema with what is added.

        Raises
        ------
        SchemaError
            If a column is missing that another one is computed from, or there are two of a name.
        UnsupportedError
            If a function does not take a type.
        """
        return self._extended(schema, lacks=False)

    def seen(self, schema: SourceSchema) -> SourceSchema:
        """Return a schema with what can be added to rows that have it; the rest is null there.

        Raises
        ------
        SchemaError, UnsupportedError
            As `planned`, but for missing columns.
        """
        return self._extended(schema, lacks=True)

    def _extended(self, schema: SourceSchema, *, lacks: bool) -> SourceSchema:
        if self.is_nullable:
            schema = self._nullable(schema)
        if not self:
            return schema
        types = {one.column.name: one.type for one in _bound(self.computed, schema, lacks)}
        added = [
            SourceColumn(name=column.name, type=types[column.name], source_type=_reason(column))
            for column in self.computed
            if column.name in types
        ]
        for column in self.metadata:
            if column.name in (*schema.names, *(computed.name for computed in self.computed)):
                raise SchemaError(
                    f"metadata column {column.name!r}: there is a column of this name already"
                )
            reason = _METADATA
            added.append(SourceColumn(name=column.name, type=column.type, source_type=reason))
        if self.mark:
            if self.mark in (*schema.names, *(column.name for column in added)):
                raise SchemaError(
                    f"on_delete = 'mark:{self.mark}': there is a column of this name already"
                )
            added.append(SourceColumn(name=self.mark, type=MARK_TYPE, source_type=_MARK))
        keys = (*schema.primary_keys, *self.keys) if schema.primary_keys else ()
        return replace(schema, columns=(*schema.columns, *added), primary_keys=keys)

    def _nullable(self, schema: SourceSchema) -> SourceSchema:
        keys = self.own_keys or schema.primary_keys
        columns = (
            column
            if column.name in keys
            else replace(column, type=with_nullable(column.type, nullable=True))
            for column in schema.columns
        )
        return replace(schema, columns=tuple(columns))

    def lost(self, before: SourceSchema | None, after: SourceSchema) -> str | None:
        """Say which column cannot be computed any more; None: all can as before.

        Parameters
        ----------
        before, after
            Of the source until here and from here on; before is None at the start.
        """
        if before is None or after.is_partial or after.is_unordered:
            return None
        for column in self.computed:
            needed = column.reads
            if needed is not None and before.column(needed) and not after.column(needed):
                return f"{column} needs column {needed!r}, which the source has no more"
        return None

    def reasons(self, schema: SourceSchema) -> dict[str, str]:
        """Say by name where columns come from; the schema is that of the source."""
        found = {}
        for column in self.computed:
            needed = schema.column(column.reads or "")
            kind = None if needed is None else needed.type
            is_instant = isinstance(kind, AtomicType) and kind.root is TypeRoot.TIMESTAMP_LTZ
            found[column.name] = f"{_reason(column)}{', in UTC' * is_instant}"
        found |= {column.name: _METADATA for column in self.metadata}
        return found | ({self.mark: _MARK} if self.mark else {})

    def origin(self, name: str) -> ComputedColumn | None:
        """Return the computed column at the end of what a computed column needs.

        None: there is no computed column of this name.
        """
        by_name = {column.name: column for column in self.computed}
        found = by_name.get(name)
        while found is not None and found.reads in by_name:
            found = by_name[found.reads]
        return found

    def rows(self, rows: FittedRows, table: str) -> Iterator[FittedRows | BadRow]:
        """Add columns to rows; those with values that a function does not take come by themselves.

        Parameters
        ----------
        rows
            As `fitted` makes them, of a schema that `seen` takes.
        table
            Name of the table, for messages.
        """
        if not self:
            yield rows
            return
        wall_millis = (local_now() - _EPOCH).total_seconds() * 1000
        columns = _bound(self.computed, rows.changes.schema, lacks=True)
        made, errors = _computed(rows, columns, int(wall_millis))
        made = self._with_metadata(made, table)
        start = 0
        for place in sorted(errors):
            if place > start:
                yield made.slice(start, place - start)
            yield BadRow(rows.slice(place, 1), f"{table}: {errors[place]}")
            start = place + 1
        if start < rows.rows.num_rows:
            yield made.slice(start, rows.rows.num_rows - start)

    def _with_metadata(self, rows: FittedRows, table: str) -> FittedRows:
        batch, changes = rows.rows, rows.changes
        for column in self.metadata:
            kind = to_arrow(column.type)
            array = _metadata(changes, column.of)
            if array is None:
                array = pa.nulls(batch.num_rows, kind)
            elif array.type != kind:
                raise DataError(
                    f"{table}: a source gave metadata {column.name!r} as {array.type}, it says "
                    f"{kind}"
                )
            batch = batch.add_column(batch.num_columns - 1, pa.field(column.name, kind), array)
        return replace(rows, rows=batch)


def _metadata(changes: RowChanges, name: str) -> pa.Array | None:
    """Return what is known of each row of a source; None: nothing."""
    found = changes.metadata.get(name)
    if found is not None or name not in NAMES:
        return found
    database, _, table = changes.table.partition(".")
    value = database if name == "database_name" else table
    return pa.repeat(arrow_scalar(value), changes.rows.num_rows)


def _reason(column: ComputedColumn) -> str:
    return f"computed: {column.text}"


@lru_cache(maxsize=256)
def _bound(
    columns: tuple[ComputedColumn, ...],
    schema: SourceSchema,
    lacks: bool,  # noqa: FBT001 - a key of the cache
) -> tuple[BoundColumn, ...]:
    return tuple(bound(columns, schema, lacks=lacks))


def _computed(
    rows: FittedRows, columns: Sequence[BoundColumn], wall_millis: int
) -> tuple[FittedRows, Mapping[int, str]]:
    """Compute columns; the first error of each row by its place."""
    batch, count = rows.rows, rows.rows.num_rows
    arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
    errors: dict[int, str] = {}
    unchanged = dict(rows.unchanged)
    place = batch.num_columns - 1  # before the kinds
    for column in columns:
        array, wrong = column.computed(arrays, count, wall_millis)
        arrays[column.column.name] = array
        field = pa.field(column.column.name, to_arrow(column.type))
        batch = batch.add_column(place, field, array)
        place += 1
        if column.column.reads in unchanged:
            unchanged[column.column.name] = unchanged[column.column.reads]
        if wrong is not None:
            needed = arrays[column.column.reads or ""]
            for bad in np.flatnonzero(wrong).tolist():
                errors.setdefault(bad, column.error(needed[bad].as_py()))
    return replace(rows, rows=batch, unchanged=unchanged), errors
