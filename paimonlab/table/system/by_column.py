"""System tables that are computed column by column: only wanted columns, of wanted rows only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from paimonlab.arrow_values import empty_table
from paimonlab.spec.predicates.predicate import (
    Predicate,
    all_of,
    columns,
    evaluate,
    split_and,
)

Make = Callable[[pa.Table], pa.Array | pa.ChunkedArray]
"""Computes a column of some of the rows that a table is made of."""
Keep = Callable[[pa.Table], pa.Table]


class Source(Protocol):
    """The rows that a table is made of, one for each of its rows."""

    @property
    def schema(self) -> pa.Schema:
        """Names and types of their columns."""
        ...

    def all(self, keep: Keep) -> pa.Table:
        """Return the rows that ``keep`` leaves."""
        ...

    def pieces(self, keep: Keep) -> Iterator[pa.Table]:
        """Yield the same rows, in the same order, as they are found."""
        ...


@dataclass(frozen=True, slots=True)
class ByColumn:
    """Rows of a system table, before its columns are computed."""

    source: Source
    schema: pa.Schema
    make: Mapping[str, Make]
    """By name of a column of ``schema``."""
    early: frozenset[str] = frozenset()
    """Columns that tell the source which rows it need not find."""

    def select(
        self, names: Sequence[str], predicate: Predicate | None = None, limit: int | None = None
    ) -> pa.Table:
        """Compute columns of the rows for which a predicate is true, of at most ``limit`` rows."""
        parts = () if predicate is None else split_and(predicate)
        is_early = [columns(part) <= self.early for part in parts]
        early = all_of(*(part for part, is_ in zip(parts, is_early, strict=True) if is_))
        late = all_of(*(part for part, is_ in zip(parts, is_early, strict=True) if not is_))

        def keep(rows: pa.Table) -> pa.Table:
            return self._filtered(rows, early)

        if limit is None:
            return self._columns(self._filtered(self.source.all(keep), late), names)
        found = list(_first(limit, (self._filtered(p, late) for p in self.source.pieces(keep))))
        rows = pa.concat_tables(found) if found else empty_table(self.source.schema)
        return self._columns(rows, names)

    def only(self, names: Sequence[str]) -> ByColumn:
        """Return the same rows with fewer columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        make = {name: self.make[name] for name in names}
        return ByColumn(self.source, schema, make, self.early.intersection(names))

    def _filtered(self, rows: pa.Table, predicate: Predicate) -> pa.Table:
        asked = [name for name in self.schema.names if name in columns(predicate)]
        if not rows.num_rows or not (asked or split_and(predicate)):
            return rows
        return rows.filter(evaluate(predicate, self._columns(rows, asked)))

    def _columns(self, source: pa.Table, names: Sequence[str]) -> pa.Table:
        if not names:
            return source.select([])
        source = source.combine_chunks()
        schema = pa.schema([self.schema.field(name) for name in names])
        return pa.Table.from_arrays([self.make[name](source) for name in names], schema=schema)


def _first(limit: int, pieces: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield pieces until there are so many rows."""
    left = limit
    while left > 0 and (piece := next(pieces, None)) is not None:
        yield piece.slice(0, left)
        left -= piece.num_rows
