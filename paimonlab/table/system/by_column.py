"""System tables that are computed column by column: only wanted columns, of wanted rows only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.spec.predicates.predicate import Predicate, columns, evaluate

Make = Callable[[pa.Table], pa.Array | pa.ChunkedArray]
"""Computes a column of some of the rows that a table is made of."""


@dataclass(frozen=True, slots=True)
class ByColumn:
    """Rows of a system table, before its columns are computed."""

    source: pa.Table
    """One row for each row of the table."""
    schema: pa.Schema
    make: Mapping[str, Make]
    """By name of a column of ``schema``."""

    def select(
        self, names: Sequence[str], predicate: Predicate | None = None, limit: int | None = None
    ) -> pa.Table:
        """Compute columns of the rows for which a predicate is true, of at most ``limit`` rows."""
        source = self.source
        if predicate is not None:
            asked = [name for name in self.schema.names if name in columns(predicate)]
            source = source.filter(evaluate(predicate, self._columns(source, asked)))
        if limit is not None:
            source = source.slice(0, limit)
        return self._columns(source, names)

    def only(self, names: Sequence[str]) -> ByColumn:
        """Return the same rows with fewer columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        return ByColumn(self.source, schema, {name: self.make[name] for name in names})

    def _columns(self, source: pa.Table, names: Sequence[str]) -> pa.Table:
        if not names:
            return source.select([])
        source = source.combine_chunks()
        schema = pa.schema([self.schema.field(name) for name in names])
        return pa.Table.from_arrays([self.make[name](source) for name in names], schema=schema)
