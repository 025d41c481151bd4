"""Aliyun's JSON (DTS and Dataworks): one change a message, with types and keys.

An update is a message with the row before and one with the row after, or one with both.

Source: apache/paimon@1.3.1 ``AliyunRecordParser`` and its test messages; ``ddl`` is looked at where
messages have it, in ``payload``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.connect_types import ReadColumn
from paimonlab.ingest.formats.gathering import (
    DELETE,
    INSERT,
    NULL,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Gathering,
    MessageError,
    Millis,
    RefusedTableError,
    RowsOf,
    gathered,
)
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.mysql_columns import mysql_column
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.spec.decoding import ready

_KINDS = {
    "INSERT": (INSERT, "after"),
    "DELETE": (DELETE, "before"),
    "UPDATE_BEFORE": (UPDATE_BEFORE, "before"),
    "UPDATE_AFTER": (UPDATE_AFTER, "after"),
}


class _Row(msgspec.Struct, gc=False):
    dataColumn: Raw = NULL  # noqa: N815


class _Time(msgspec.Struct, gc=False):
    eventTime: Millis | None = None  # noqa: N815


class _Payload(msgspec.Struct, gc=False):
    op: str | None = None
    before: _Row | None = None
    after: _Row | None = None
    ddl: Raw = NULL
    timestamp: _Time | None = None


class _Message(msgspec.Struct, gc=False):
    schema: Raw = NULL
    payload: _Payload | None = None
    ddl: Raw = NULL


class _Column(msgspec.Struct):
    name: str
    type: str


class _Source(msgspec.Struct):
    dbName: str  # noqa: N815
    tableName: str  # noqa: N815


class _Schema(msgspec.Struct):
    source: _Source
    dataColumn: tuple[_Column, ...] = ()  # noqa: N815
    primaryKey: tuple[str, ...] | None = ()  # noqa: N815


class AliyunJson:
    """Reads messages of one topic after the other; remembers schemas it saw."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(ready(_Message))
        self._known: dict[bytes, RowsOf] = {}

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        return gathered(messages, self._decoder.decode, self._add, "a message of Aliyun")

    def _add(self, found: Gathering, message: _Message, place: int) -> None:
        payload = message.payload
        if _is_told(message.ddl) or (payload is not None and _is_told(payload.ddl)):
            return
        if payload is None or message.schema == NULL:
            raise MessageError("a message of Aliyun without 'schema' and 'payload'")
        of = self._rows_of(bytes(message.schema))
        kind, side = _KINDS.get(payload.op or "", (INSERT, ""))
        if not side:
            raise MessageError(f"'op' is {payload.op!r}, which is unknown", of.table)
        row: _Row | None = getattr(payload, side)
        if row is None or row.dataColumn == NULL:
            raise MessageError(f"'op' {payload.op!r} without '{side}.dataColumn'", of.table)
        millis = payload.timestamp.eventTime if payload.timestamp else None
        changed = -1 if millis is None or millis < 0 else millis
        if kind == UPDATE_AFTER and payload.before and payload.before.dataColumn != NULL:
            found.add(of, UPDATE_BEFORE, payload.before.dataColumn, place, changed)
        found.add(of, kind, row.dataColumn, place, changed)

    def _rows_of(self, text: bytes) -> RowsOf:
        of = self._known.get(text)
        if of is None:
            schema = msgspec.json.decode(text, type=ready(_Schema))
            declared, mapping = self._settings.read_columns, self._settings.type_mapping
            table = f"{schema.source.dbName}.{schema.source.tableName}"
            try:
                columns: dict[str, ReadColumn] = {
                    column.name: declared.get(column.name)
                    or mysql_column(column.name, column.type, mapping)
                    for column in schema.dataColumn
                }
            except UnsupportedError as error:
                raise RefusedTableError(table, str(error)) from error
            of = self._known[text] = RowsOf(
                table=table,
                columns=columns,
                keys=schema.primaryKey or (),
                is_partial=False,
            )
        return of


def _is_told(ddl: Raw) -> bool:
    return bytes(ddl) not in (b"null", b"false", b'""')
