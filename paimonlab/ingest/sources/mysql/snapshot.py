"""Rows of tables as they all were at one moment, and the place of the log that this moment is.

One transaction reads all tables. Nothing is locked in MariaDB, which says where in the log a
transaction began; MySQL is locked for the moment between both.

Source: MariaDB Knowledge Base, "START TRANSACTION" (``binlog_snapshot_file``); MySQL Reference
Manual, "FLUSH TABLES WITH READ LOCK".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Boundary, Event, Phase, RowChanges, SourceSchema, no_rows
from paimonlab.ingest.sources.mysql.batches import Batch
from paimonlab.ingest.sources.mysql.columns import TableInfo, read_type
from paimonlab.ingest.sources.mysql.connection import Connection
from paimonlab.ingest.sources.mysql.log_values import Values
from paimonlab.ingest.sources.mysql.positions import Place, Position, ReadRows
from paimonlab.ingest.sources.mysql.snapshot_values import reader, selected
from paimonlab.ingest.sources.mysql.spans import Places
from paimonlab.ingest.sources.mysql.text_rows import text_columns
from paimonlab.ingest.sources.mysql.values_as_text import as_texts
from paimonlab.ingest.sources.mysql.wire import Packets
from paimonlab.ingest.sources.silence import Silence
from paimonlab.spec.types.data_types import AtomicType, TypeRoot

_QUERY = 3
_WAIT_SECONDS = 0.5
_BATCH_BYTES = 4 << 20
_BATCH_SECONDS = 0.5
_EOF, _ERROR = 0xFE, 0xFF
_LONGEST_EOF = 8
_WHOLE = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
LTZ = pa.timestamp("ms", tz="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where the log was when rows were as they are read."""

    place: Place
    gtids: str


def begin(connection: Connection) -> Moment:
    """Begin the transaction that reads rows.

    Raises
    ------
    SourceError
        If the server refuses.
    """
    connection.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    if connection.is_mariadb:
        connection.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        rows = connection.rows("SHOW STATUS LIKE 'binlog_snapshot_%'")
        told = {str(name).lower(): str(value) for name, value in rows}
        file = told.get("binlog_snapshot_file", "")
        if not file:
            raise SourceError(connection.name, "it has no binary log: start it with --log-bin")
        place = Place(file=file, at=int(told["binlog_snapshot_position"]))
        return Moment(place=place, gtids=connection.gtids_at(place))
    connection.run("FLUSH TABLES WITH READ LOCK")
    try:
        connection.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        place = connection.place()
        return Moment(place=place, gtids=connection.gtids_at(place))
    finally:
        connection.run("UNLOCK TABLES")


def resumable_key(table: TableInfo, schema: SourceSchema) -> str | None:
    """Return the key by which reading a table can go on in its midst: one whole number.

    None: the table is read from its begin again. The server compares other keys in ways that are
    its own.
    """
    if len(table.keys) != 1:
        return None
    column = schema.column(table.keys[0])
    assert column is not None, "keys are columns"
    is_whole = isinstance(column.type, AtomicType) and column.type.root in _WHOLE
    return column.name if is_whole else None


@dataclass(kw_only=True)
class TableReading:
    """Reads the rows of one table in a transaction."""

    connection: Connection
    info: TableInfo
    schema: SourceSchema
    zone: str
    moment: Moment
    connect: Callable[[], Connection]
    """Makes another connection, by which the server is asked why it is silent."""
    position: Position
    """What was read so far, without this table's rows of this transaction."""

    def events(self) -> Iterator[Event]:
        """Yield rows, with boundaries where reading can go on.

        Raises
        ------
        SourceError, OSError
            If the server fails, or the connection to it.
        """
        key = resumable_key(self.info, self.schema)
        done = self.position.read.get(self.info.name, ())
        last = done[-1].up_to if done else None
        statement = self._statement(key, last)
        readers = []
        for told, column in zip(self.info.columns, self.schema.columns, strict=True):
            kind = read_type(told, column.type)
            read = reader(told.type, kind, self.zone)
            readers.append(read if kind is column.type else as_texts(read, kind, told.type))
        silence = Silence(self.connection.name, self._doing)
        for found in self._rows(statement):
            if found is None:
                yield self._nothing()
                if waits := silence.waits(f"rows of {self.info.name}"):
                    yield waits
                continue
            silence.heard()
            data, starts = found
            texts = text_columns(data, starts, len(readers))
            columns = [read(values) for read, values in zip(readers, texts, strict=True)]
            yield from self._batch(columns, len(starts))
            if key is not None:
                place = self.schema.names.index(key)
                last = int(pc.max(columns[place].array).as_py())
                yield Boundary(position=self._at(last).to_json(), phase=Phase.SNAPSHOT)
        self.position = self._at(None)

    def _doing(self) -> str | None:
        other = self.connect()
        try:
            return other.doing(self.connection.process)
        finally:
            other.close()

    def _at(self, up_to: int | None) -> Position:
        name = self.info.name
        parts = (
            *self.position.read.get(name, ()),
            ReadRows(up_to=up_to, place=self.moment.place),
        )
        outline = "" if up_to is None else self.info.digest
        return replace(self.position, read={**self.position.read, name: parts}, outline=outline)

    def _statement(self, key: str | None, last: int | None) -> str:
        columns = ", ".join(selected(column.name, column.type) for column in self.info.columns)
        database, _, table = self.info.name.partition(".")
        name = f"{quoted(database)}.{quoted(table)}"
        words = [f"SELECT {columns} FROM {name}"]  # noqa: S608 - names are quoted
        if key is not None:
            if last is not None:
                words.append(f"WHERE {quoted(key)} > {last}")
            words.append(f"ORDER BY {quoted(key)}")
        return " ".join(words)

    def _batch(self, columns: Sequence[Values], count: int) -> Iterator[Event]:
        zeros = np.zeros(count, np.int64)
        batch = Batch(
            table=self.info.name,
            schema=self.schema,
            columns=columns,
            kinds=np.zeros(count, np.int8),
            positions=pa.DictionaryArray.from_arrays(
                arrow_array(zeros.astype(np.int32)),
                arrow_array([str(self.moment.place)], pa.string()),
            ),
            metadata={"op_ts": arrow_array(zeros).cast(LTZ)},
        )
        yield from batch.events()

    def _nothing(self) -> RowChanges:
        """Say that nothing came for a while: there is no boundary in the midst of a table."""
        return no_rows(self.info.name, self.schema)

    def _rows(self, statement: str) -> Iterator[tuple[bytes, Places] | None]:
        """Ask, and yield rows as they arrive; None: none did for a while."""
        self.connection.command(_QUERY, statement.encode())
        packets = self.connection.reader(_WAIT_SECONDS)
        head: int | None = None
        """How many packets are still to come before the rows."""
        pieces = _Pieces()
        while True:
            found = packets.read()
            if found is None:
                yield pieces.taken() if pieces.count else None
                continue
            if head is None:
                head = self._columns(found) + 2
            skipped = min(head, len(found.starts))
            head -= skipped
            is_end = skipped < len(found.starts) and self._is_end(found)
            pieces.add(found, skipped, len(found.starts) - is_end)
            if pieces.count and (is_end or pieces.is_due()):
                yield pieces.taken()
            if is_end:
                return

    def _columns(self, found: Packets) -> int:
        """Return how many columns the first packet says that there are."""
        start, end = found.starts[0], found.ends[0]
        if found.data[start] == _ERROR:
            raise self.connection.problem(found.data[start:end])
        return int.from_bytes(found.data[start + (end - start > 1) : end], "little")

    def _is_end(self, found: Packets) -> bool:
        """Whether the last packet ends the result.

        Raises
        ------
        SourceError
            If it is an error.
        """
        start, end = found.starts[-1], found.ends[-1]
        first = found.data[start]
        if first == _ERROR:
            raise self.connection.problem(found.data[start:end])
        return first == _EOF and end - start <= _LONGEST_EOF


class _Pieces:
    """Packets with rows that wait until they are enough for a batch."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._starts: list[Places] = []
        self._size = 0
        self._began = time.monotonic()
        self.count = 0

    def add(self, packets: Packets, first: int, end: int) -> None:
        if first >= end:
            return
        self._data.append(packets.data)
        self._starts.append(np.array(packets.starts[first:end], np.int64) + self._size)
        self._size += len(packets.data)
        self.count += end - first

    def is_due(self) -> bool:
        is_old = time.monotonic() - self._began > _BATCH_SECONDS
        return self._size >= _BATCH_BYTES or is_old

    def taken(self) -> tuple[bytes, Places]:
        found = b"".join(self._data), np.concatenate(self._starts)
        self._data, self._starts, self._size, self.count = [], [], 0, 0
        self._began = time.monotonic()
        return found


def quoted(name: str) -> str:
    """Write a name into a statement."""
    return f"`{name.replace('`', '``')}`"
