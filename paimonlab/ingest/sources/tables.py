"""Another Paimon table: its rows, then what each commit changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from paimonlab.arrow_values import one_array
from paimonlab.errors import IngestStateError, UnsupportedError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    Held,
    JsonValue,
    Phase,
    RowChanges,
    SourceColumn,
    SourceSchema,
    SourceSchemaChange,
)
from paimonlab.ingest.sources.column_names import DROPPED, schema_changes
from paimonlab.ingest.sources.columns import kinds_from
from paimonlab.scan.following import Position
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.text import format_type
from paimonlab.table.following.follower import ChangeBatch, Follower
from paimonlab.table.table import Table

_POLL_SECONDS = 0.5


@dataclass(slots=True)
class TableSource:
    """Follows a table: `table_changes` makes it.

    The position is that of a follower, and the schema with which it reads.
    """

    table: Table
    consumer: str | None = None
    start: str = "latest-full"

    @property
    def name(self) -> str:
        """Say what it is."""
        return f"table {self.table.name}"

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the table's columns."""
        self.table.refresh()
        return {self.table.name: source_schema(self.table.schema)}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield its rows, then its changes; see `Source.read`."""
        if not wanted(self.table.name):
            return
        at, schema = _read_position(position, self.table)
        self.table.refresh()
        if schema is not None:
            yield from self._changed(schema, position)
        while True:
            start: Any = self.start if at is None else at
            with self.table.follow(start) as follower:
                at = yield from self._follow(follower)
            before = self.table.schema
            self.table.refresh()
            yield from self._changed(before, self._position(at))

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return the position before all rows; see `RereadableSource`.

        Raises
        ------
        UnsupportedError
            If only what changes is read.
        """
        del position, tables
        if self.start != "latest-full":
            raise UnsupportedError(
                f"reading {self.name} anew with start = {self.start!r}", "use start='latest-full'"
            )
        return None

    def acknowledge(self, position: JsonValue) -> None:
        """Let the table's consumer move, so that what is still to be read does not expire."""
        at, _ = _read_position(position, self.table)
        if self.consumer is not None and at is not None and at.snapshot_id > 0:
            self.table.consumers.reset(self.consumer, at.snapshot_id)

    @property
    def address(self) -> Mapping[str, JsonValue]:
        """The words of the source in a file of a job, and the folder of the table.

        Which of two catalogs has a table of that name, the folder tells; see `HoldingSource`.
        """
        if self.consumer is None:
            return {}
        return {
            "type": "table",
            "table": self.table.name,
            "consumer": self.consumer,
            "start": self.start,
            "path": self.table.path,
        }

    def holds(self) -> Sequence[Held]:
        """Return the consumer, which keeps snapshots of the table from expiry."""
        if self.consumer is None:
            return []
        name, consumer = self.table.name, self.consumer
        by_hand = f"CALL sys.reset_consumer(table => '{name}', consumer_id => '{consumer}')"
        return [Held(what=f"consumer {consumer}", where=f"table {name}", by_hand=by_hand)]

    def held(self) -> Sequence[Held]:
        """Return the consumer, if it is there."""
        return self.holds() if self.consumer in self.table.consumers.list() else []

    def drop(self) -> Mapping[str, str]:
        """Delete the consumer: the table may expire what it has not read."""
        if self.consumer is not None and self.held():
            self.table.consumers.delete(self.consumer)
        return {}

    def close(self) -> None:
        """Do nothing: a consumer keeps its place for the next run."""

    def _follow(self, follower: Follower) -> Generator[Event, None, Position]:
        """Yield changes until the schema of the table is another; return the place after them."""
        schema = source_schema(self.table.schema)
        read_until = 0
        while True:
            at = follower.position
            batch = follower.poll()
            if batch is not None:
                if batch.snapshot_id > read_until and self._has_new_schema():
                    return at  # rows of new columns are read again, with these
                read_until = batch.snapshot_id
                yield self._rows(batch, schema)
                yield self._boundary(batch)
                continue
            yield Boundary(position=self._position(follower.position), phase=Phase.CAUGHT_UP)
            if self._has_new_schema():
                return follower.position
            time.sleep(_POLL_SECONDS)

    def _has_new_schema(self) -> bool:
        latest = self.table.schemas.latest()
        return latest is not None and latest.id != self.table.schema.id

    def _rows(self, batch: ChangeBatch, schema: SourceSchema) -> RowChanges:
        data = batch.data.combine_chunks()
        kinds = kinds_from(one_array(data.column(0)), table=self.table.name)
        rows = data.drop_columns([data.schema.names[0]]).to_batches()
        assert len(rows) == 1, "rows in one piece"
        return RowChanges(table=self.table.name, rows=rows[0], kinds=kinds, schema=schema)

    def _boundary(self, batch: ChangeBatch) -> Boundary:
        snapshot = self.table.snapshots.latest()
        is_snapshot = batch.is_full and not batch.is_last
        seen = snapshot.time_millis if snapshot and snapshot.id == batch.snapshot_id else None
        return Boundary(
            position=self._position(batch.position),
            phase=Phase.SNAPSHOT if is_snapshot else Phase.STREAM,
            seen_millis=seen,
            behind=None if snapshot is None else max(snapshot.id - batch.snapshot_id, 0),
            behind_unit="snapshots",
            is_whole=batch.is_last,
        )

    def _position(self, at: Position) -> JsonValue:
        return {"follow": msgspec.to_builtins(at), "schema": self.table.schema.id}

    def _changed(self, before: TableSchema, position: JsonValue) -> Iterator[SourceSchemaChange]:
        """Say what became of the columns, if anything did: options change schemas, too."""
        after = self.table.schema
        new = {field.id: field.name for field in after.fields}
        names = {field.name: new.get(field.id, DROPPED) for field in before.fields}
        yield from schema_changes(
            self.table.name,
            source_schema(before),
            source_schema(after),
            {old: name for old, name in names.items() if old != name},
            position,
            f"schema {after.id} in place of schema {before.id}",
        )


def table_changes(
    table: Table, *, consumer: str | None = None, start: str = "latest-full"
) -> TableSource:
    """Make a source of a table of any catalog.

    Parameters
    ----------
    table
        What is followed; see `Table.follow` for what its changes are.
    consumer
        Name of a consumer of that table which holds back what was not read yet; None: snapshots
        expire as the table's options say, and a job that is too late fails.
    start
        ``latest-full``: all rows, then changes; ``latest``: only what changes from now on.
    """
    if start not in ("latest-full", "latest"):
        raise ValueError(f"start = {start!r}: it is latest-full or latest")
    return TableSource(table, consumer, start)


def source_schema(schema: TableSchema) -> SourceSchema:
    """Return the columns of a table as the schema of a source."""
    return SourceSchema(
        columns=tuple(
            SourceColumn(
                name=field.name,
                type=field.type,
                source_type=format_type(field.type),
                comment=field.description,
                default_value=field.default_value,
            )
            for field in schema.fields
        ),
        primary_keys=schema.primary_keys,
        partition_keys=schema.partition_keys,
        comment=schema.comment,
    )


def _read_position(position: JsonValue, table: Table) -> tuple[Position | None, TableSchema | None]:
    if position is None:
        return None, None
    if not isinstance(position, dict) or "follow" not in position:
        raise IngestStateError(table.name, f"{position!r} is no position of a table")
    schema = position.get("schema")
    found = table.schemas.get(schema) if isinstance(schema, int) else None
    return msgspec.convert(position["follow"], Position), found
