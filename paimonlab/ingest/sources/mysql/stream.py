"""The binary log: rows of transactions in columns, and what statements do to tables.

What was read of transactions that are not at their end yet waits in memory, unless it is too much.
A connection that was lost is made again at the end of the last transaction.

Source: MySQL Source Code Documentation, "COM_BINLOG_DUMP", "Replication Protocol"; MariaDB
Knowledge Base, "3-Binlog Network Stream".
"""

from __future__ import annotations

import random
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    SourceSchema,
    SourceSchemaChange,
    Truncated,
    Waits,
    no_rows,
)
from paimonlab.ingest.sources import losses
from paimonlab.ingest.sources.losses import Patience, TornError
from paimonlab.ingest.sources.mysql.columns import TableInfo
from paimonlab.ingest.sources.mysql.connection import GONE, Connection, ServerError
from paimonlab.ingest.sources.mysql.events import (
    DELETES,
    HEADER,
    INSERTS,
    UPDATES,
    DamagedEventError,
    EventType,
    LogTable,
    log_table,
    mariadb_gtid,
    rows_part,
    statement,
    table_name,
    xa_name,
)
from paimonlab.ingest.sources.mysql.gathered_rows import Group
from paimonlab.ingest.sources.mysql.log_tables import (
    Charsets,
    TableRows,
    table_info,
    table_rows,
)
from paimonlab.ingest.sources.mysql.losses import is_loss
from paimonlab.ingest.sources.mysql.positions import MariaDbGtids, MySqlGtids, Place, Position
from paimonlab.ingest.sources.mysql.statements import Change, Kind, Meaning, meaning_of
from paimonlab.ingest.sources.mysql.table_changes import TableChanges
from paimonlab.ingest.sources.mysql.wire import Packets

_DUMP, _DUMP_GTID = 0x12, 0x1E
_THROUGH_GTID = 4
_HEARTBEAT_NANOS = 100_000_000
_WAIT_SECONDS = 0.5
_SILENT_SECONDS = 30.0
"""Without a heartbeat, before the connection is taken for lost."""
_QUIET_SECONDS = 5.0
_BATCH_BYTES = 4 << 20
_BATCH_SECONDS = 0.2
_MOST_MAPS = 10_000
_MISSING = 1236
"""Code of an error of the server: what was asked for is not in its log."""
_ROWS = frozenset((*INSERTS, *UPDATES, *DELETES))
_REFUSED = {
    EventType.PARTIAL_UPDATE: "parts of JSON: SET GLOBAL binlog_row_value_options = ''",
    EventType.TRANSACTION_PAYLOAD: (
        "compressed transactions: SET GLOBAL binlog_transaction_compression = OFF"
    ),
    EventType.TAGGED_GTID: "transactions with tagged GTIDs",
}


class Surroundings(Protocol):
    """What a stream asks of its source."""

    name: str
    zone: str
    mapping: frozenset[str]

    def connect(self) -> Connection:
        """Make another connection."""
        ...

    def wants(self, table: str) -> bool:
        """Whether a table is read."""
        ...

    def infos(self, connection: Connection, tables: list[str]) -> Mapping[str, TableInfo]:
        """Look at tables as they are now."""
        ...


class Stream:
    """Reads the log from a position on."""

    def __init__(
        self,
        around: Surroundings,
        position: Position,
        charsets: Charsets,
        *,
        is_mariadb: bool,
        tables: TableChanges,
    ) -> None:
        self._around = around
        self._is_mariadb = is_mariadb
        self._position = position
        self._place = position.place
        self._file = position.place.file
        self._server = position.server
        self._gtids = MariaDbGtids(position.gtids) if is_mariadb else MySqlGtids(position.gtids)
        self._gtid: tuple[object, ...] | None = None
        self._tables = tables
        self._charsets = charsets
        self._maps: dict[bytes, Group | None] = {}
        self._numbers: dict[int, Group | None] = {}
        self._open: dict[str, Group] = {}
        self._bytes = 0
        self._in_transaction = False
        self._is_alone = False
        self._checksum = 0
        """Bytes after each event."""
        self._transaction = 0
        """Counts them."""
        self._rows_of: set[str] = set()
        self._old_rows_of: set[str] = set()
        """Tables of which the transaction has rows; those whose rows were read later."""
        self._two_phases = dict(position.prepared)
        self._is_torn = False
        """Whether rows of a transaction that is not at its end were yielded."""
        self._is_new_place = False
        """Whether the place is that of another server, which did not tell its own yet."""
        self._log_end: tuple[int, int] | None = None
        """Where the log of that server ended when it was asked."""
        self._seen: int | None = None
        self._heard = 0.0
        """When the server said something last."""
        self._told = time.monotonic()
        self._quiet: tuple[Place, Boundary] | None = None
        """The boundary at which nothing came any more, and its place."""

    # Connections

    def events(self) -> Iterator[Event]:
        """Yield what comes, without end.

        Raises
        ------
        SourceError
            If the server fails, or what comes next is not in its log any more.
        """
        patience = Patience(self._around.name)
        while True:
            before = self._heard
            try:
                yield from self._follow()
            except (*GONE, ServerError) as error:
                self._check_lost(error)
                waits = patience.waits(error, has_heard=self._heard > before)
            else:
                raise AssertionError("a log has no end")
            yield from self._left_over()
            yield self._boundary(Phase.STREAM)
            yield waits
            time.sleep(losses.WAIT_SECONDS)

    def _check_lost(self, error: Exception) -> None:
        """Raise what another connection would not mend."""
        code = getattr(error, "code", None)
        if code == _MISSING:
            raise SourceError(
                self._around.name,
                f"what comes after {self._place} is not in the log any more: {error}. Rows that "
                "changed since cannot be told; begin a job of another name, which reads all rows "
                "again, and let the server keep its logs for longer than a job may rest "
                "(binlog_expire_logs_seconds)",
            ) from error
        if not is_loss(error):
            raise error
        if self._is_torn:
            raise TornError(
                self._around.name,
                f"the connection was lost in the midst of a large transaction ({error}); it is "
                "read again",
            ) from error

    def _left_over(self) -> Iterator[Event]:
        """Yield the rows of whole transactions; the others are read again."""
        self._quiet = None
        for group in self._open.values():
            group.drop(self._transaction)
        yield from self._flushed()
        self._is_torn = False
        self._maps.clear()
        self._numbers.clear()
        self._in_transaction = self._is_alone = False
        self._rows_of.clear()
        self._old_rows_of.clear()
        self._gtid = None

    def _follow(self) -> Iterator[Event]:
        connection = self._around.connect()
        try:
            self._ask(connection)
            reader = connection.reader(_WAIT_SECONDS)
            heard = time.monotonic()
            while True:
                found = reader.read()
                if found is None:
                    silent = time.monotonic() - heard
                    if silent > _SILENT_SECONDS:
                        raise ConnectionError("the server says nothing any more")
                    yield from self._idle()
                    if silent > _QUIET_SECONDS:
                        yield Waits(what=f"the server, which says nothing for {silent:.0f} s")
                    continue
                heard = self._heard = time.monotonic()
                yield from self._take(found, connection)
        finally:
            connection.close()

    def _ask(self, connection: Connection) -> None:
        """Ask for the log from the place on."""
        connection.run("SET @master_binlog_checksum = @@global.binlog_checksum")
        self._checksum = 0
        connection.run(f"SET @master_heartbeat_period = {_HEARTBEAT_NANOS}")
        if self._is_mariadb:
            connection.run("SET @mariadb_slave_capability = 4")
        server = random.getrandbits(31) | 1 << 30
        is_other = connection.server != self._server
        if is_other and (not self._position_gtids() or self._position.read):
            raise SourceError(
                self._around.name,
                f"this is another server than the one whose log was read up to {self._place}, and "
                "its transactions have no numbers (GTIDs) by which to go on: begin a job of "
                "another name",
            )
        self._is_new_place, self._log_end = is_other, None
        if not is_other:
            self._file = self._place.file
            file = self._place.file.encode()
            head = self._place.at.to_bytes(4, "little") + bytes(2) + server.to_bytes(4, "little")
            connection.command(_DUMP, head + file)
            return
        self._server = connection.server
        if self._is_mariadb:
            state = connection.text(self._position_gtids())
            connection.run(f"SET @slave_connect_state = {state}")
            connection.run("SET @slave_gtid_strict_mode = 0")
            connection.command(
                _DUMP, (4).to_bytes(4, "little") + bytes(2) + server.to_bytes(4, "little")
            )
            return
        assert isinstance(self._gtids, MySqlGtids), "MySQL numbers them so"
        known = self._gtids.to_bytes()
        head = _THROUGH_GTID.to_bytes(2, "little") + server.to_bytes(4, "little") + bytes(4)
        tail = (4).to_bytes(8, "little") + len(known).to_bytes(4, "little") + known
        connection.command(_DUMP_GTID, head + tail)

    def _position_gtids(self) -> str:
        return str(self._gtids)

    def _idle(self) -> Iterator[Event]:
        """Say that nothing came for a while."""
        if not self._in_transaction:
            yield from self._flushed()
        if self._open:  # in the midst of a transaction there is no boundary
            table = next(iter(self._open.values())).table
            yield no_rows(table.name, table.schema)
        elif not self._is_torn:
            yield self._boundary(Phase.STREAM)

    # Events

    def _take(self, found: Packets, connection: Connection) -> Iterator[Event]:
        """Take the events of some packets."""
        data = found.data
        for start, last in zip(found.starts, found.ends, strict=True):
            if data[start]:
                if data[start] == 0xFF:
                    raise connection.problem(data[start:last])
                raise ConnectionError("the server ended the log")
            kind = data[start + 5]
            end = last - self._checksum
            if kind in _ROWS:
                yield from self._take_rows(kind, data[start + 1 : end])
            elif kind == EventType.TABLE_MAP:
                yield from self._take_map(data[start + 1 + HEADER : end])
            elif kind == EventType.XID:
                yield from self._end(data[start + 1 : end])
            elif kind == EventType.MARIADB_GTID:
                gtid = mariadb_gtid(data[start + 1 : end])
                self._gtid = (gtid.domain, gtid.server, gtid.number)
                self._in_transaction, self._is_alone = True, gtid.is_alone
            elif kind in _OTHERS:
                whole = kind in (EventType.FORMAT, EventType.ROTATE)
                yield from _OTHERS[kind](self, data[start + 1 : last if whole else end])
        if not self._in_transaction and self._is_due():
            yield from self._flushed()
            yield self._boundary(Phase.STREAM)

    def _take_map(self, body: bytes) -> Iterator[Event]:
        number = int.from_bytes(body[:6], "little")
        if body in self._maps:
            self._numbers[number] = self._maps[body]
            return
        _, name = table_name(body)
        group = None
        if self._around.wants(name):
            changes, rows = self._rows_as_told(name, log_table(body, is_mariadb=self._is_mariadb))
            if changes:
                yield from self._flushed()
                yield from changes
            group = None if rows is None else Group(rows)
        if len(self._maps) >= _MOST_MAPS:
            self._maps.clear()
        self._maps[body] = self._numbers[number] = group

    def _rows_as_told(
        self, name: str, table: LogTable
    ) -> tuple[Sequence[SourceSchemaChange], TableRows | None]:
        """Return what changed of a table, and how its rows are read; None: they cannot be."""
        around = self._around
        try:
            info = table_info(table, self._tables.declared.get(name, {}), self._charsets)
            changes, schema, info = self._tables.seen(info, around.mapping, self._here)
            if schema.refusal is not None:
                return changes, None
            rows = table_rows(table, info, schema, self._charsets, around.zone, around.mapping)
        except UnsupportedError as error:
            schema = SourceSchema(columns=(), primary_keys=table.keys, refusal=str(error))
            return list(self._tables.refused(name, schema, self._here)), None
        return changes, rows

    def _take_rows(self, kind: int, event: bytes) -> Iterator[Event]:
        number = int.from_bytes(event[HEADER : HEADER + 6], "little")
        try:
            group = self._numbers[number]
        except KeyError:
            raise DamagedEventError("rows of a table that the log did not describe") from None
        if group is None:
            return
        name = group.table.name
        place = self._after(event)
        if self._is_old(name, place):
            self._old_rows_of.add(name)
            return
        self._rows_of.add(name)
        part = rows_part(kind, event)
        if not part.is_whole:
            raise SourceError(
                self._around.name,
                f"{name} at {place}: rows are not whole in the log: SET GLOBAL binlog_row_image = "
                "'FULL', and end the sessions that are open. What came before can be gone on from "
                "only by a job of another name, which reads all rows again",
            )
        if self._open.get(name) is not group:
            yield from self._begin(group)
        seconds = int.from_bytes(event[:4], "little")
        group.add(kind, part.data, seconds, place, self._transaction)
        self._bytes += len(part.data)
        if self._bytes >= _BATCH_BYTES:
            yield from self._flushed()

    def _begin(self, group: Group) -> Iterator[Event]:
        """Let rows of a table wait, after those of it that have other columns."""
        if group.table.name in self._open:
            yield from self._flushed()
        self._open[group.table.name] = group

    def _is_old(self, table: str, place: Place) -> bool:
        """Whether the rows of a table were read at that place or later."""
        read = self._position.read.get(table)
        return read is not None and place.order <= min(rows.place.order for rows in read)

    def _after(self, event: bytes) -> Place:
        return Place(file=self._file, at=int.from_bytes(event[13:17], "little"))

    @property
    def _here(self) -> JsonValue:
        return {"file": self._file, "pos": self._place.at}

    # Ends of transactions

    def _end(self, event: bytes) -> Iterator[Event]:
        """End a transaction."""
        self._in_transaction = self._is_alone = False
        self._transaction += 1
        self._rows_of.clear()
        self._old_rows_of.clear()
        self._place = self._after(event)
        self._is_new_place = False
        if self._gtid is not None:
            self._gtids.add(*self._gtid)  # type: ignore[arg-type]  # each kind has its own parts
            self._gtid = None
        self._seen = int.from_bytes(event[:4], "little") * 1000
        if self._is_due():
            yield from self._flushed()
            yield self._boundary(Phase.STREAM)

    def _is_due(self) -> bool:
        is_old = time.monotonic() - self._told >= _BATCH_SECONDS
        return is_old or self._bytes >= _BATCH_BYTES or self._is_torn

    def _flushed(self) -> Iterator[Event]:
        """Yield the rows that wait."""
        groups = list(self._open.values())
        self._open.clear()
        self._bytes = 0
        self._is_torn = self._is_torn or any(group.has(self._transaction) for group in groups)
        # Tables may become one table, in which a row can go from one of them to the other.
        is_ordered = len(groups) > 1
        for group in groups:
            read = self._position.read.get(group.table.name, ())
            yield from group.events(read, is_ordered=is_ordered)
            group.clear()
        if is_ordered:
            yield no_rows(groups[-1].table.name, groups[-1].table.schema)

    def _boundary(self, phase: Phase) -> Boundary:
        self._told = time.monotonic()
        self._is_torn = False
        position = self._position.moved(self._place, str(self._gtids))
        self._position = replace(self._tables.noted(position), prepared=dict(self._two_phases))
        if not self._is_new_place and self._position.server != self._server:
            self._position = self._position.on(self._server)
        return Boundary(position=self._position.to_json(), phase=phase, seen_millis=self._seen)

    # Other events

    def _heartbeat(self, event: bytes) -> Iterator[Event]:
        if self._in_transaction:
            return
        if self._quiet is not None and self._quiet[0] is self._place:
            self._told = time.monotonic()
            yield self._quiet[1]
            return
        if self._is_new_place and not self._is_at_end(event):
            return
        yield from self._flushed()
        if self._tables.altered:
            yield from self._look_again()
        found = self._boundary(Phase.CAUGHT_UP)
        self._quiet = None if self._tables.altered else (self._place, found)
        yield found

    def _is_at_end(self, event: bytes) -> bool:
        """Whether a heartbeat is of the end of the log.

        MySQL sends some, too, as it passes over transactions whose numbers are known: what was the
        end at the first of them has to be passed.
        """
        if self._log_end is None:
            connection = self._around.connect()
            try:
                self._log_end = connection.place().order
            finally:
                connection.close()
        return self._after(event).order >= self._log_end

    def _look_again(self) -> Iterator[Event]:
        """Look at tables that statements changed, if the log has nothing that came after."""
        connection = self._around.connect()
        try:
            infos = self._around.infos(connection, list(self._tables.altered))
            if connection.place() != self._place or self._is_new_place:
                return
        finally:
            connection.close()
        for change in self._tables.looked_at(infos, self._around.mapping, self._here):
            self._maps.clear()
            yield change

    def _rotate(self, event: bytes) -> Iterator[Event]:
        # The first one comes before anything says whether events have checksums.
        if zlib.crc32(event[:-4]).to_bytes(4, "little") == event[-4:]:
            event = event[:-4]
        self._file = event[HEADER + 8 :].decode("utf-8").rstrip("\0")
        at = int.from_bytes(event[HEADER : HEADER + 8], "little")
        if not self._in_transaction and not self._is_new_place:
            self._place = Place(file=self._file, at=at)
        yield from ()

    def _format(self, event: bytes) -> Iterator[Event]:
        """Begin a file: numbers of tables may come again."""
        self._checksum = 4 if event[-5] == 1 else 0
        self._maps.clear()
        self._numbers.clear()
        yield from ()

    def _mysql_gtid(self, event: bytes) -> Iterator[Event]:
        server = event[HEADER + 1 : HEADER + 17].hex()
        shown = "-".join((server[:8], server[8:12], server[12:16], server[16:20], server[20:]))
        self._gtid = (shown, int.from_bytes(event[HEADER + 17 : HEADER + 25], "little"))
        yield from ()

    def _prepared(self, event: bytes) -> Iterator[Event]:
        """End the first half of an XA transaction, which may be rolled back yet."""
        is_whole = event[HEADER] != 0
        if not is_whole and self._rows_of:
            names = ", ".join(sorted(self._rows_of))
            raise UnsupportedError(
                f"{self._around.name}: an XA transaction in two phases, prepared at "
                f"{self._after(event)}, which changes {names}",
                "it may be rolled back after others were committed. Let it end, resnapshot what "
                "it changes, and commit in one phase (XA COMMIT … ONE PHASE) from here on",
            )
        if not is_whole:
            self._two_phases[xa_name(event)] = tuple(sorted(self._old_rows_of))
        yield from self._end(event)

    def _second_phase(self, event: bytes, meaning: Meaning) -> None:
        """Make sure that what is committed was in rows that were read, or in none of the tables."""
        place = self._after(event)
        tables = self._two_phases.pop(meaning.xa, None)
        if meaning.kind is Kind.XA_ROLLBACK:
            return
        if tables is None:
            tables = tuple(filter(self._around.wants, self._tables.names()))
        lacking = [table for table in tables if not self._is_old(table, place)]
        if lacking:
            raise SourceError(
                self._around.name,
                f"an XA transaction in two phases is committed at {place}, and was prepared before "
                f"rows were read: {', '.join(lacking)} may lack what it changed; resnapshot",
            )

    def _incident(self, event: bytes) -> Iterator[Event]:
        raise SourceError(
            self._around.name,
            f"the server notes at {self._after(event)} that its log lacks events: begin a job of "
            "another name, which reads all rows again",
        )

    def _refused(self, event: bytes) -> Iterator[Event]:
        raise UnsupportedError(
            f"{self._around.name}: the log at {self._after(event)}", _REFUSED[EventType(event[4])]
        )

    def _statement(self, event: bytes) -> Iterator[Event]:
        found = statement(event[4], event)
        meaning = meaning_of(found.text, found.database)
        if meaning.xa:
            self._second_phase(event, meaning)
        match meaning.kind:
            case Kind.BEGIN:
                self._in_transaction = True
                return
            case Kind.COMMIT:
                yield from self._end(event)
                return
            case Kind.ROLLBACK | Kind.SAVEPOINT:
                self._roll_back(event, found.text)
                if meaning.kind is Kind.ROLLBACK:
                    yield from self._end(event)
                return
            case Kind.ROWS:
                self._check_logged(event, found.text, found.database)
            case Kind.TABLES:
                yield from self._tables_changed(event, meaning.changes, found.text)
            case Kind.OTHER:
                pass
        if self._is_alone or not self._in_transaction:
            yield from self._end(event)

    def _roll_back(self, event: bytes, text: str) -> None:
        if self._is_torn or re.search(r"\bTO\b", text, re.IGNORECASE):
            raise SourceError(
                self._around.name, f"the log rolls rows back at {self._after(event)}: {text[:80]}"
            )
        for group in self._open.values():
            group.drop(self._transaction)

    def _check_logged(self, event: bytes, text: str, database: str) -> None:
        """Make sure that rows of no table that is read are in the log as a statement."""
        try:
            names = [
                f"{table.db or database}.{table.name}"
                for table in sqlglot.parse_one(text, read="mysql").find_all(exp.Table)
            ]
        except SqlglotError:
            names = []
        if names and not any(self._around.wants(name) for name in names):
            return
        raise SourceError(
            self._around.name,
            f"rows were changed at {self._after(event)} by a session that logs statements, not "
            f"rows ({' '.join(text.split())[:80]}): SET GLOBAL binlog_format = 'ROW', end the "
            "sessions that are open, and begin a job of another name, which reads all rows again",
        )

    def _tables_changed(
        self, event: bytes, changes: tuple[Change, ...], text: str
    ) -> Iterator[Event]:
        place = self._after(event)
        yield from self._flushed()
        if not self._is_torn:  # a statement is a transaction of its own
            yield self._boundary(Phase.STREAM)
        self._maps.clear()
        reason = " ".join(text.split())[:500]
        position: JsonValue = {"file": place.file, "pos": place.at}
        new_names = {change.new_name for change in changes}
        for change in changes:
            if self._is_old(change.table, place):
                continue
            if change.verb == "truncate":
                if self._around.wants(change.table):
                    yield Truncated(table=change.table, position=position, reason=reason)
                continue
            if change.rows_come and self._around.wants(change.table):
                raise SourceError(
                    self._around.name,
                    f"{change.table} at {place}: rows came into it of which the log has none "
                    f"({reason[:200]}): begin a job of another name, which reads all rows again",
                )
            yield from self._tables.changed(
                change,
                self._around.wants,
                position,
                reason,
                is_replaced=change.table in new_names,
                is_read=change.new_name is not None and self._is_old(change.new_name, place),
            )


# ruff: noqa: SLF001 - the same module
_OTHERS: dict[int, Callable[[Stream, bytes], Iterator[Event]]] = {
    EventType.QUERY: Stream._statement,
    EventType.QUERY_COMPRESSED: Stream._statement,
    EventType.HEARTBEAT: Stream._heartbeat,
    EventType.ROTATE: Stream._rotate,
    EventType.FORMAT: Stream._format,
    EventType.GTID: Stream._mysql_gtid,
    EventType.XA_PREPARE: Stream._prepared,
    EventType.INCIDENT: Stream._incident,
    EventType.PARTIAL_UPDATE: Stream._refused,
    EventType.TRANSACTION_PAYLOAD: Stream._refused,
    EventType.TAGGED_GTID: Stream._refused,
}
"""What to do with events that are rare."""
