"""Rows that tables have at one moment of the log, by binary COPY in the snapshot of that moment.

The snapshot lives as long as the connection that made it. A table that was rewritten between the
moment and its copy (TRUNCATE, some forms of ALTER TABLE) would look empty to the snapshot: it is
found out, and copied again at a later moment.

Source: PostgreSQL's documentation, ``CREATE_REPLICATION_SLOT``, "Caveats" of MVCC.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Event
from paimonlab.ingest.sources.postgresql import catalog
from paimonlab.ingest.sources.postgresql.batches import Decoded
from paimonlab.ingest.sources.postgresql.catalog import Layout, Published, ServerTable, Types
from paimonlab.ingest.sources.postgresql.cells import Bytes, copied_cells, is_end, without_head
from paimonlab.ingest.sources.postgresql.connections import (
    Connection,
    ServerError,
    lsn_of,
    quoted,
    quoted_text,
)
from paimonlab.ingest.sources.postgresql.types import selected
from paimonlab.ingest.sources.postgresql.values import of_binary, of_text

_NO_RIGHT = "42501"
_GONE = "42P01"
_NO_SLOT = "53400"
_BATCH_BYTES = 8 << 20


class RewrittenError(Exception):
    """A table was rewritten, altered or dropped since the moment of the snapshot."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A place of the log, and the snapshot of all that was committed before it."""

    lsn: int
    snapshot: str


def made_slot(server: Connection, slot: str, *, temporary: bool) -> Generator[None, None, Moment]:
    """Create a slot; yield each half second that it takes, return where it begins.

    The server waits for transactions that are open.

    Raises
    ------
    SourceError
        If it cannot be made.
    """
    kind = " TEMPORARY" if temporary else ""
    command = f"CREATE_REPLICATION_SLOT {quoted(slot)}{kind} LOGICAL pgoutput EXPORT_SNAPSHOT"
    try:
        yield from server.asked(command)
    except ServerError as error:
        if error.state != _NO_SLOT:
            raise
        raise SourceError(
            server.name,
            f"{error.problem}: drop slots that nobody needs, or raise max_replication_slots "
            "(copying tables takes one more for a while)",
        ) from error
    ((_, lsn, snapshot, _),) = server.answer
    return Moment(lsn_of(str(lsn)), str(snapshot))


@dataclass(kw_only=True)
class Copy:
    """Copies tables as they were at a moment."""

    server: Connection
    """Its own: the copies are one transaction."""
    moment: Moment
    types: Types
    database: str
    drops_specials: bool

    def begin(
        self, oids: Sequence[int], other: Connection
    ) -> Generator[None, None, list[ServerTable]]:
        """Return tables as they were at the moment, and let nobody alter them.

        Yields each half second that others alter one.

        Parameters
        ----------
        oids
            Of the tables.
        other
            A connection that sees tables as they are now.

        Raises
        ------
        RewrittenError
            If one is not there any more, or has other files than it had.
        """
        server = self.server
        server.rows("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        server.rows(f"SET TRANSACTION SNAPSHOT {quoted_text(self.moment.snapshot)}")
        wanted = set(oids)
        found = [table for table in catalog.tables(server, self.types) if table.oid in wanted]
        for table in found:
            try:
                yield from server.asked(f"LOCK TABLE {table.sql_name} IN ACCESS SHARE MODE")
            except ServerError as error:
                raise self._explained(error, table) from error
        # The function sees files as they are now, the table those of the snapshot.
        moved = server.rows(
            """
            SELECT c.relname FROM pg_class c
            WHERE c.relkind = 'r' AND (c.oid = ANY ($1::oid[]) OR c.oid IN (
                SELECT p.relid FROM unnest($1::oid[]) AS t(oid), pg_partition_tree(t.oid) p))
              AND c.relfilenode <> 0
              AND pg_relation_filenode(c.oid) IS DISTINCT FROM c.relfilenode""",
            "{" + ",".join(map(str, sorted(wanted))) + "}",
        )
        now = {table.oid: table for table in catalog.tables(other, self.types)}
        if moved or len(found) < len(wanted) or any(now.get(one.oid) != one for one in found):
            raise RewrittenError
        return found

    def _explained(self, error: ServerError, table: ServerTable) -> Exception:
        if error.state == _GONE:
            return RewrittenError()
        if error.state == _NO_RIGHT:
            return SourceError(
                self.server.name,
                f"{error.problem}: let somebody who may do so run GRANT SELECT ON "
                f"{table.sql_name} TO its user (and GRANT USAGE ON SCHEMA {quoted(table.schema)}); "
                "rows must not be hidden by policies",
            )
        return error

    def rows(
        self, table: ServerTable, layout: Layout, published: Published
    ) -> Iterator[Event | None]:
        """Yield all rows of a table; None each half second without any.

        Raises
        ------
        RewrittenError
            If it was altered since the moment.
        SourceError
            If rights are missing.
        """
        statement, is_binary = self._statement(table, layout, published)
        waiting: list[Any] = []
        size, is_first = 0, True
        try:
            for messages in self.server.copied(statement):
                if is_first and messages:
                    messages[0] = without_head(messages[0])
                    is_first = False
                if messages and is_end(messages[-1]):
                    messages.pop()
                waiting += [message for message in messages if len(message)]
                size += sum(map(len, messages))
                if size >= _BATCH_BYTES:
                    yield from self._decoded(table, layout, is_binary, waiting)
                    waiting, size = [], 0
                elif not messages:
                    yield None
        except ServerError as error:
            raise self._explained(error, table) from error
        if waiting:
            yield from self._decoded(table, layout, is_binary, waiting)

    def _statement(
        self, table: ServerTable, layout: Layout, published: Published
    ) -> tuple[str, list[bool]]:
        parts = [
            selected(quoted(column.name), column.oid, kind, self.types.known)
            for column, kind in zip(layout.columns, layout.kinds, strict=True)
        ]
        # Rows of tables that inherit from it are published as theirs.
        only = "" if table.kind == "p" else "ONLY "
        where = "" if published.row_filter is None else f" WHERE {published.row_filter}"
        columns = ", ".join(expression for expression, _ in parts)
        query = f"SELECT {columns} FROM {only}{table.sql_name}{where}"  # noqa: S608 - names are quoted
        return f"COPY ({query}) TO STDOUT (FORMAT binary)", [is_binary for _, is_binary in parts]

    def _decoded(
        self, table: ServerTable, layout: Layout, is_binary: Sequence[bool], rows: list[Any]
    ) -> Iterator[Event]:
        found = copied_cells(Bytes.of(rows), len(layout.columns))
        arrays, problems = [], []
        for cells, column, kind, binary in zip(
            found, layout.columns, layout.kinds, is_binary, strict=True
        ):
            if binary:
                array, wrong = of_binary(cells, kind, drops_specials=self.drops_specials)
            else:
                texts = cells.texts(pa.string())
                array, wrong = of_text(texts, kind, drops_specials=self.drops_specials)
            arrays.append(array)
            problems.append((column.name, wrong))
        yield from Decoded(
            table=table.full_name,
            database=self.database,
            layout=layout,
            columns=arrays,
            problems=problems,
            lsn=self.moment.lsn,
        ).events()
