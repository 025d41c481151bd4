"""Debezium's events and plain rows in Avro, with schemas from a registry.

Source: Confluent's wire format; apache/paimon@1.3.1 ``DebeziumAvroRecordParser``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import Event, Truncated
from paimonlab.ingest.formats.avro_columns import (
    AvroError,
    RecordReader,
    Schema,
    json_row,
    record_reader,
)
from paimonlab.ingest.formats.connect_types import ReadColumn
from paimonlab.ingest.formats.debezium_json import PLACEHOLDERS, table_name
from paimonlab.ingest.formats.gathering import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Gathering,
    MessageError,
    RefusedTableError,
    RowsOf,
    gathered,
)
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.registry import HEADER, MAGIC
from paimonlab.ingest.formats.settings import FormatSettings


class _Records:
    """Records in Confluent's wire format."""

    def __init__(self, settings: FormatSettings, name: str) -> None:
        if settings.registry is None:
            raise UnsupportedError(
                f"format = {name!r} without a schema registry", "give registry='http://host:port'"
            )
        self._registry = settings.registry
        self._readers: dict[int, RecordReader] = {}

    def read(self, data: bytes) -> tuple[int, dict[str, Any]]:
        """Read a record and the number of its schema."""
        if len(data) < HEADER or data[0] != MAGIC:
            raise MessageError("not in a schema registry's wire format: a zero byte is not first")
        number = int.from_bytes(data[1:HEADER], "big")
        try:
            return number, self.reader(number).read(data[HEADER:])
        except AvroError as error:
            raise MessageError(f"not a record of schema {number}: {error}") from error

    def reader(self, number: int) -> RecordReader:
        """Return the reader of a schema."""
        found = self._readers.get(number)
        if found is None:
            found = self._readers[number] = record_reader(self._registry.schema(number))
        return found


def _columns(
    reader: RecordReader, row: Schema, settings: FormatSettings, table: str
) -> dict[str, ReadColumn]:
    try:
        return reader.columns(row, settings.read_columns)
    except UnsupportedError as error:
        raise RefusedTableError(table, str(error)) from error


class DebeziumAvro:
    """Reads messages of one topic after the other; remembers schemas it saw."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._records = _Records(settings, "debezium-avro")
        self._known: dict[tuple[object, ...], RowsOf] = {}
        self._messages: Messages

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        self._messages = messages
        return gathered(messages, self._records.read, self._add, "a change event of Debezium")

    def _add(self, found: Gathering, read: tuple[int, dict[str, Any]], place: int) -> None:
        number, record = read
        op, source = record.get("op"), record.get("source")
        if op == "m":
            return
        if not isinstance(source, dict) or source.get("db") is None or source.get("table") is None:
            raise MessageError("a change event without 'source.db' and 'source.table'")
        table = table_name(source["db"], source.get("schema"), source["table"])
        before, after = record.get("before"), record.get("after")
        millis = source.get("ts_ms")
        millis = millis if isinstance(millis, int) else -1
        of = self._rows_of(number, table, place)
        if op in ("c", "r", "u"):
            if after is None:
                raise MessageError(f"a change event with 'op' {op!r} without 'after'", table)
            if op == "u" and before is not None:
                found.add(of, UPDATE_BEFORE, json_row(before), place, millis)
            kind = UPDATE_AFTER if op == "u" else INSERT
            found.add(of, kind, json_row(after), place, millis)
        elif op == "d":
            row = before if before is not None else self._key(place)
            if row is None:
                raise MessageError("a delete without 'before' and without a key", table)
            found.add(of, DELETE, json_row(row), place, millis)
        elif op == "t":
            at = self._messages.position(place)
            found.event(table, Truncated(table=table, position=at, reason="TRUNCATE"))
        else:
            raise MessageError(f"'op' is {op!r}, which is unknown", table)

    def _rows_of(self, number: int, table: str, place: int) -> RowsOf:
        key = self._messages.keys[place]
        key_number = key[:HEADER] if key is not None else None
        where = (number, table, key_number)
        of = self._known.get(where)
        if of is None:
            reader = self._records.reader(number)
            row = reader.field(reader.given, "after") or reader.field(reader.given, "before")
            if row is None:
                raise MessageError(f"schema {number} has neither 'after' nor 'before'", table)
            columns = _columns(reader, row, self._settings, table)
            keys = self._key(place)
            of = self._known[where] = RowsOf(
                table=table,
                columns=columns,
                keys=tuple(keys or ()),
                is_partial=False,
                placeholders=PLACEHOLDERS,
            )
        return of

    def _key(self, place: int) -> dict[str, Any] | None:
        """Return the columns of the Kafka key; None if it has none."""
        key = self._messages.keys[place]
        if key is None or self._settings.key_format == "none":
            return None
        try:
            return self._records.read(key)[1]
        except MessageError:
            return None


class PlainAvro:
    """Reads rows of one topic after the other: each message is a row of one table."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._fixed: RecordReader | None = None
        self._records: _Records | None = None
        if settings.avro_schema is not None:
            self._fixed = record_reader(json.loads(settings.avro_schema))
        else:
            self._records = _Records(settings, "avro")
        self._known: dict[int, RowsOf] = {}
        self._messages: Messages

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows of messages."""
        self._messages = messages
        self._known = {}
        return gathered(messages, self._read, self._add, "a record of Avro")

    def _read(self, data: bytes) -> tuple[int, dict[str, Any]]:
        if self._records is not None:
            return self._records.read(data)
        assert self._fixed is not None
        try:
            return 0, self._fixed.read(data)
        except AvroError as error:
            raise MessageError(f"not a record of the given schema: {error}") from error

    def _add(self, found: Gathering, read: tuple[int, dict[str, Any]], place: int) -> None:
        number, record = read
        of = self._known.get(number)
        if of is None:
            reader = self._fixed if self._records is None else self._records.reader(number)
            assert reader is not None
            table = self._messages.table
            columns = _columns(reader, reader.given, self._settings, table)
            keys = self._settings.keys_of(self._messages.keys[place])
            of = self._known[number] = RowsOf(
                table=table, columns=columns, keys=keys, is_partial=False
            )
        found.add(of, INSERT, json_row(record), place)
