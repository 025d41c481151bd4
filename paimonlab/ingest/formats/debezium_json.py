"""Debezium's JSON, with and without the schema in each message.

An update is the old and the new row; one whose old row is not told replaces the row of its key. A
delete without old row deletes the row of the Kafka key. With the schema, which is the same text in
message after message, columns have its types; without it they are STRING, as in Paimon's actions.

Source: Debezium's documentation of change events; apache/paimon@1.3.1
``DebeziumJsonRecordParser``, whose text ``null`` for null and error for an update without old row
are not repeated.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Raw

from paimonlab.ingest.changes import Event, Truncated
from paimonlab.ingest.formats.connect_types import ConnectField, ReadColumn, read_columns
from paimonlab.ingest.formats.gathering import (
    DECODE_ERRORS,
    DELETE,
    INSERT,
    NULL,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Gathering,
    MessageError,
    Millis,
    RowsOf,
)
from paimonlab.ingest.formats.json_cells import JsonText
from paimonlab.ingest.formats.message_keys import key_object
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.spec.decoding import ready

ABSENT = Raw(b"")
_NO_PREFIX = b"\0"
"""No message begins so."""
_SCHEMA_FIRST = b'{"schema":'
_KINDS: Mapping[str | None, int] = {"c": INSERT, "r": INSERT, "u": UPDATE_AFTER, "d": DELETE}
_UPDATE = bytes((UPDATE_BEFORE, UPDATE_AFTER))
_MOST_SCHEMAS = 256
"""Remembered at a time."""

PLACEHOLDERS = (
    "__debezium_unavailable_value",
    "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
)
"""Of large values that PostgreSQL does not log when an update leaves them alone; as base64 too."""

_PUBLIC = (None, "", "public", "dbo")
"""Schemas of databases that tables are not named by."""


class Source(msgspec.Struct, gc=False):
    """Where a change was made."""

    db: str | None = None
    schema: str | None = None
    table: str | None = None
    ts_ms: Millis | None = None


class Envelope(msgspec.Struct, gc=False):
    """A message without schema, or the payload of one with it."""

    # In the order in which Debezium writes them, in which they are looked for first.
    before: Raw = NULL
    after: Raw = NULL
    source: Source | None = None
    op: str | None = None
    pkNames: tuple[str, ...] | None = None  # noqa: N815
    ddl: str | None = None
    schema: Raw = NULL
    payload: Raw = ABSENT


class _Schema(msgspec.Struct):
    fields: tuple[ConnectField, ...] = ()


class DebeziumJson:
    """Reads messages of one topic after the other; remembers the schema it saw last."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._declared = settings.read_columns
        self._envelope = msgspec.json.Decoder(ready(Envelope))
        self._prefix = _NO_PREFIX
        """What the last message with schema began with, up to the payload, if that comes last."""
        self._prefix_plan: Mapping[str, ReadColumn] | None = None
        """The columns of that schema."""
        self._plan: Mapping[str, ReadColumn] | None = None
        """The columns of the message that was read last; None: it has no schema."""
        self._plans: dict[bytes, Mapping[str, ReadColumn]] = {}

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        found = Gathering(messages)
        known: dict[tuple[object, ...], RowsOf] = {}
        place = 0
        while place < len(messages):
            self._take(found, known, messages, place)
            place = self._take_alike(found, known, messages, place + 1)
        yield from found.events()

    def _take(
        self,
        found: Gathering,
        known: dict[tuple[object, ...], RowsOf],
        messages: Messages,
        place: int,
    ) -> None:
        """Read one message, whatever it is, and add its rows."""
        value = messages.values[place]
        if value is None:
            return
        try:
            envelope = self._read(value)
            if envelope is not None:
                self._add(found, known, envelope, messages, place)
        except DECODE_ERRORS as error:
            found.unreadable(place, f"not a change event of Debezium: {error}")
        except MessageError as error:
            found.unreadable(place, str(error), error.table)

    def _take_alike(
        self,
        found: Gathering,
        known: dict[tuple[object, ...], RowsOf],
        messages: Messages,
        start: int,
    ) -> int:
        """Add rows of messages as long as they insert, update or delete rows of known tables.

        These are most messages, and nothing but what they need is done for each. They have the
        columns of the message that was read last.

        Returns
        -------
        int
            The place of the first message that is something else, or how many messages there are.
        """
        plan, prefix = self._plan, self._prefix
        size = 0 if plan is None else len(prefix)
        decode = self._envelope.decode
        database = schema = table = None
        of: RowsOf | None = None
        objects: list[JsonText] = []
        kinds, places, times = bytearray(), array("q"), array("q")
        for place in range(start, len(messages)):
            value = messages.values[place]
            if value is None:
                continue
            if size:
                if not (value.startswith(prefix) and value.endswith(b"}")):
                    return place
                value = value[size:-1]
            try:
                envelope = decode(value)
            except DECODE_ERRORS:
                return place
            source, kind = envelope.source, _KINDS.get(envelope.op)
            row = envelope.before if kind == DELETE else envelope.after
            if kind is None or source is None or row == NULL:
                return place
            if (
                of is None
                or source.table != table
                or source.db != database
                or source.schema != schema
            ):
                database, schema, table = source.db, source.schema, source.table
                of = known.get((database, schema, table, plan and id(plan)))
                if of is None:
                    return place
                objects, kinds, places, times = found.rows_of(of)
            millis = -1 if source.ts_ms is None else source.ts_ms
            if kind == UPDATE_AFTER and envelope.before != NULL:
                objects.append(envelope.before)
                kinds.append(UPDATE_BEFORE)
                places.append(place)
                times.append(millis)
            objects.append(row)
            kinds.append(kind)
            places.append(place)
            times.append(millis)
        return len(messages)

    def _read(self, value: bytes) -> Envelope | None:
        """Read one message; None: an empty payload, which is a tombstone with schema."""
        if value.startswith(self._prefix) and value.endswith(b"}"):
            self._plan = self._prefix_plan
            try:
                return self._envelope.decode(value[len(self._prefix) : -1])
            except DECODE_ERRORS:  # more than a payload
                self._prefix = _NO_PREFIX
        envelope = self._envelope.decode(value)
        if envelope.op is not None or envelope.payload == ABSENT:
            self._plan = None
            return envelope
        payload = bytes(envelope.payload)
        if payload == b"null":
            return None
        self._plan = self._plan_of(bytes(envelope.schema))
        if value.endswith(payload + b"}") and value.startswith(_SCHEMA_FIRST):
            self._prefix = value[: len(value) - len(payload) - 1]
            self._prefix_plan = self._plan
        else:
            self._prefix = _NO_PREFIX
        return self._envelope.decode(payload)

    def _plan_of(self, schema: bytes) -> Mapping[str, ReadColumn] | None:
        if schema == b"null":
            return None
        plan = self._plans.get(schema)
        if plan is None:
            fields = msgspec.json.decode(schema, type=ready(_Schema)).fields
            rows = {field.field: field.fields for field in fields if field.fields}
            columns = read_columns(rows.get("after") or rows.get("before") or ())
            plan = {name: self._declared.get(name, column) for name, column in columns.items()}
            if len(self._plans) >= _MOST_SCHEMAS:
                self._plans.clear()
            self._plans[schema] = plan
        return plan

    def _add(
        self,
        found: Gathering,
        known: dict[tuple[object, ...], RowsOf],
        envelope: Envelope,
        messages: Messages,
        place: int,
    ) -> None:
        op, source = envelope.op, envelope.source
        if op is None:
            if envelope.ddl is not None:
                return
            raise MessageError("a change event without 'op'")
        if source is None or source.table is None or source.db is None:
            if op == "m":
                return
            raise MessageError("a change event without 'source.db' and 'source.table'")
        where = (source.db, source.schema, source.table, self._plan and id(self._plan))
        of = known.get(where)
        if of is None:
            of = known[where] = self._rows_of(envelope, source, messages, place)
        if op == "t":
            at = messages.position(place)
            found.event(of.table, Truncated(table=of.table, position=at, reason="TRUNCATE"))
        else:
            millis = -1 if source.ts_ms is None else source.ts_ms
            self._add_rows(found, of, envelope, messages.keys[place], place, millis)

    def _add_rows(
        self,
        found: Gathering,
        of: RowsOf,
        envelope: Envelope,
        key: bytes | None,
        place: int,
        millis: int,
    ) -> None:
        op, before, after = envelope.op, envelope.before, envelope.after
        match op:
            case "u" if before != NULL:
                _told(after, "after", op, of)
                objects, kinds, places, times = found.rows_of(of)
                objects += (before, after)
                kinds += _UPDATE
                places.append(place)
                places.append(place)
                times.append(millis)
                times.append(millis)
            case "c" | "r":
                found.add(of, INSERT, _told(after, "after", op, of), place, millis)
            case "u":
                found.add(of, UPDATE_AFTER, _told(after, "after", op, of), place, millis)
            case "d":
                row = before if before != NULL else key_object(key)
                if row is None:
                    raise MessageError("a delete without 'before' and without a key", of.table)
                found.add(of, DELETE, row, place, millis)
            case "m":
                pass
            case _:
                raise MessageError(f"'op' is {op!r}, which is unknown", of.table)

    def _rows_of(
        self, envelope: Envelope, source: Source, messages: Messages, place: int
    ) -> RowsOf:
        assert source.db is not None
        assert source.table is not None
        keys = envelope.pkNames
        if keys is None:
            keys = self._settings.keys_of(messages.keys[place])
        return RowsOf(
            table=table_name(source.db, source.schema, source.table),
            columns=self._declared if self._plan is None else self._plan,
            keys=keys,
            is_partial=self._plan is None,
            placeholders=PLACEHOLDERS,
        )


def _told(row: Raw, name: str, op: str | None, of: RowsOf) -> Raw:
    if row == NULL:
        raise MessageError(f"a change event with 'op' {op!r} without {name!r}", of.table)
    return row


def table_name(database: str, schema: str | None, table: str) -> str:
    """Return ``database.table``, or ``database.schema.table`` if the schema is not the usual one.

    Examples
    --------
    >>> table_name("shop", "public", "orders"), table_name("shop", "old", "orders")
    ('shop.orders', 'shop.old.orders')
    """
    return f"{database}.{table}" if schema in _PUBLIC else f"{database}.{schema}.{table}"
