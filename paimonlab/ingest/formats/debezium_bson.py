"""Debezium's events of MongoDB: documents as extended JSON in strings.

All columns are STRING; the key is ``_id``. An update whose document before is not told replaces the
document of its key; a delete takes ``_id`` from the Kafka key.

Source: Debezium's documentation of its MongoDB connector; apache/paimon@1.3.1
``DebeziumBsonRecordParser``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.bson_values import document_row
from paimonlab.ingest.formats.gathering import (
    DECODE_ERRORS,
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Gathering,
    MessageError,
    Millis,
    RowsOf,
    gathered,
)
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.spec.decoding import ready

KEYS = ("_id",)


class _Source(msgspec.Struct, gc=False):
    db: str | None = None
    collection: str | None = None
    ts_ms: Millis | None = None


class _Envelope(msgspec.Struct, gc=False):
    op: str | None = None
    before: str | None = None
    after: str | None = None
    source: _Source | None = None


class _Value(_Envelope, gc=False):
    payload: _Envelope | None = None


class DebeziumBson:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(ready(_Value))
        self._known: dict[tuple[str, str], RowsOf] = {}
        self._messages: Messages

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        self._messages = messages
        return gathered(messages, self._decoder.decode, self._add, "a change event of MongoDB")

    def _add(self, found: Gathering, value: _Value, place: int) -> None:
        event: _Envelope = value if value.payload is None else value.payload
        source = event.source
        if event.op is None and source is None:
            return  # a tombstone with schema
        if source is None or source.db is None or source.collection is None:
            raise MessageError("a change event without 'source.db' and 'source.collection'")
        where = (source.db, source.collection)
        of = self._known.get(where)
        if of is None:
            columns = self._settings.read_columns
            of = RowsOf(table=".".join(where), columns=columns, keys=KEYS)
            self._known[where] = of
        millis = -1 if source.ts_ms is None else source.ts_ms
        if event.op in ("c", "r", "u"):
            if event.after is None:
                raise MessageError(
                    f"'op' {event.op!r} without 'after': let the connector look documents up "
                    "(capture.mode = change_streams_update_full)",
                    of.table,
                )
            after = self._row(event.after, of)  # first: without it there is no row before, either
            if event.op == "u" and event.before is not None:
                found.add(of, UPDATE_BEFORE, self._row(event.before, of), place, millis)
            kind = UPDATE_AFTER if event.op == "u" else INSERT
            found.add(of, kind, after, place, millis)
        elif event.op == "d":
            row = self._key(place) if event.before is None else self._row(event.before, of)
            if row is None:
                raise MessageError(
                    "a delete without 'before' and without 'id' in its key", of.table
                )
            found.add(of, DELETE, row, place, millis)
        else:
            raise MessageError(f"'op' is {event.op!r}, which is unknown", of.table)

    def _row(self, document: str, of: RowsOf) -> bytes:
        try:
            return document_row(document)
        except (ValueError, OverflowError, RecursionError) as error:
            raise MessageError(f"a document that is no extended JSON: {error}", of.table) from error

    def _key(self, place: int) -> bytes | None:
        key = self._messages.keys[place]
        if key is None:
            return None
        try:
            members = msgspec.json.decode(key, type=dict[str, Any])
            members = members.get("payload", members)
            return document_row(f'{{"_id":{members["id"]}}}')
        except (*DECODE_ERRORS, KeyError, TypeError, ValueError, OverflowError):
            return None
