"""Batches of rows that Python makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeAlias

import pyarrow as pa

from paimonlab.clock import now_millis
from paimonlab.errors import IngestStateError
from paimonlab.ingest.changes import Boundary, Event, JsonValue, Phase, RowChanges, SourceSchema
from paimonlab.ingest.sources.columns import (
    check_declared,
    fitted_to,
    schema_of,
    split_kinds,
)
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.write import frames

Batches: TypeAlias = Iterable[Any] | Callable[[int], Iterable[Any]]
"""What `Table.write` takes, again and again; None among them: there is nothing now. A function is
called with how many batches to leave out."""


class BatchSource:
    """Reads what an iterator of Python yields: `batches` makes it.

    The position is the number of batches. So a run that goes on needs the same batches again, from
    there on: from a function that is told how many to leave out, or from something that can be
    iterated anew.
    """

    def __init__(
        self,
        made: Batches,
        *,
        table: str,
        columns: Any = None,
        primary_keys: Sequence[str] = (),
        row_kinds: str | None = None,
    ) -> None:
        if "." not in table:
            raise ValueError(f"table = {table!r}: give database.table")
        self._made = made
        self._table = table
        self._primary_keys = tuple(primary_keys)
        self._row_kinds = row_kinds
        self._declared = None if columns is None else declared_schema(columns, primary_keys)
        self._running: Iterator[Any] | None = None
        self._taken = 0

    @property
    def name(self) -> str:
        """Say what it is."""
        return f"batches of {self._table}"

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the columns that were declared, or those of the first batch."""
        if self._declared is not None:
            return {self._table: self._declared}
        if self._running is None:
            self._running, self._taken = iter(self._from(0)), 0
        before: list[Any] = []
        for batch in self._running:
            before.append(frames.at_hand(batch, table=self._table))
            if batch is not None:
                break
        self._running = chain(before, self._running)
        if not before or before[-1] is None:
            return {}
        columns = frames.schema_of(before[-1], table=self._table)
        if columns is None:
            kind = type(before[-1]).__name__
            raise TypeError(f"{self._table}: a batch is a {kind}, which does not speak Arrow")
        return {self._table: self._schema(columns)}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield the batches after a number of them; see `Source.read`."""
        if not wanted(self._table):
            return
        done = _number(position)
        running = self._running
        if running is None or self._taken != done:
            running = iter(self._from(done))
        self._running, self._taken = running, done
        for batch in running:
            if batch is None:
                yield Boundary(position=self._taken, phase=Phase.CAUGHT_UP)
                continue
            # Until its boundary is yielded, a run that begins again has to read it again.
            self._running = chain(self._again(batch), running)
            yield from self._changes(batch)
            self._running = running
            self._taken += 1
            yield Boundary(position=self._taken, phase=Phase.STREAM, seen_millis=now_millis())
        self._running = None
        yield Boundary(position=self._taken, phase=Phase.ENDED)

    def acknowledge(self, position: JsonValue) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close the iterator, if it can be."""
        close = getattr(self._running, "close", None)
        self._running = None
        if close is not None:
            close()

    def _from(self, count: int) -> Iterable[Any]:
        if callable(self._made):
            return self._made(count)
        made = iter(self._made)
        if made is self._made and self._taken and count != self._taken:
            raise IngestStateError(
                self._table,
                f"its iterator has given {self._taken} batches and cannot go back to {count}: give "
                "a function that makes it",
            )
        return islice(made, count - (self._taken if made is self._made else 0), None)

    def _again(self, batch: Any) -> Iterator[Any]:
        if isinstance(batch, pa.RecordBatchReader):
            raise IngestStateError(
                self._table,
                "a batch that can be read only once was left half way: make the source anew",
            )
        yield batch

    def _changes(self, batch: Any) -> Iterator[RowChanges]:
        known = () if self._declared is None else self._declared.names
        reader = frames.batches_of(batch, known, table=self._table)
        for given in reader:
            rows, kinds = split_kinds(given, self._row_kinds, place=self._table)
            schema = self._declared or self._schema(rows.schema)
            if self._declared is not None:
                check_declared(rows.schema, schema, place=self._table)
            yield RowChanges(
                table=self._table,
                rows=fitted_to(rows, schema, table=self._table),
                kinds=kinds,
                schema=schema,
            )

    def _schema(self, columns: pa.Schema) -> SourceSchema:
        fields = [field for field in columns if field.name != self._row_kinds]
        return schema_of(pa.schema(fields), self._primary_keys, is_partial=True)


def batches(
    made: Batches,
    *,
    table: str = "python.batches",
    columns: Any = None,
    primary_keys: Sequence[str] = (),
    row_kinds: str | None = None,
) -> BatchSource:
    """Make a source of batches that Python makes.

    Parameters
    ----------
    made
        An iterable of what `Table.write` takes, or a function that returns one and is told how
        many batches were read before. None among the batches says that there is nothing now.
    table
        ``database.table``: what the source calls its table.
    columns
        Names with Paimon's types, or an Arrow schema; None: as the batches have them. A column
        that appears in a later batch is added to the table.
    primary_keys
        Columns whose values name a row; () for rows that are only added.
    row_kinds
        Name of a column with ``+I -U +U -D`` or 0..3, which is not stored; None: all are ``+I``.

    Examples
    --------
    >>> source = batches([[{"id": 1}], [{"id": 2}]], table="app.events")
    >>> [str(column) for column in source.tables()["app.events"].columns]
    ['id BIGINT']
    """
    return BatchSource(
        made, table=table, columns=columns, primary_keys=primary_keys, row_kinds=row_kinds
    )


def declared_schema(columns: Any, primary_keys: Sequence[str]) -> SourceSchema:
    """Return columns that a user gave as the schema of a source.

    Parameters
    ----------
    columns
        Names with Paimon's types, or an Arrow schema.
    primary_keys
        Columns of the key.
    """
    made = new_table_schema(Schema(columns, primary_keys=primary_keys), time_millis=0)
    schema = schema_of(arrow_schema(made.fields), primary_keys, shows_arrow=False)
    of_type = {field.name: field.type for field in made.fields}
    return replace(
        schema,
        columns=tuple(replace(column, type=of_type[column.name]) for column in schema.columns),
    )


def _number(position: JsonValue) -> int:
    if position is None:
        return 0
    if not isinstance(position, int) or isinstance(position, bool) or position < 0:
        raise ValueError(f"{position!r} is no position of batches: it is a number of them")
    return position
