"""Canal's JSON: rows of MySQL as text, with the types that MySQL names.

One message has several rows; an update has the old values of the columns that changed, by the same
place in another list. Statements (``isDdl``) are not rows: what they change shows in the types of
the rows that follow; TRUNCATE is an event.

Source: Canal's ``FlatMessage``; apache/paimon@1.3.1 ``CanalRecordParser``, whose error
for two equal rows in one update is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import Event, Truncated
from paimonlab.ingest.formats.connect_types import ReadColumn
from paimonlab.ingest.formats.gathering import (
    DELETE,
    INSERT,
    NULL,
    UPDATE_AFTER,
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

_STATEMENTS = frozenset({"QUERY", "CREATE", "ALTER", "ERASE", "RENAME", "CINDEX", "DINDEX"})
"""Types that are statements; Canal and its forks do not always mark them."""


class _Message(msgspec.Struct, gc=False):
    type: str | None = None
    data: list[Raw] | None = None
    old: list[Raw] | None = None
    database: str | None = None
    table: str | None = None
    pkNames: tuple[str, ...] | None = None  # noqa: N815
    mysqlType: Raw = NULL  # noqa: N815
    isDdl: bool | None = None  # noqa: N815
    es: Millis | None = None
    sql: str | None = None


class CanalJson:
    """Reads messages of one topic after the other; remembers types it saw."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(ready(_Message))
        self._known: dict[tuple[object, ...], RowsOf] = {}
        self._messages: Messages

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        self._messages = messages
        return gathered(messages, self._decoder.decode, self._add, "a message of Canal")

    def _add(self, found: Gathering, message: _Message, place: int) -> None:
        kind = message.type or ""
        if kind == "TRUNCATE":
            table, reason = self._table(message), message.sql or kind
            at = self._messages.position(place)
            found.event(table, Truncated(table=table, position=at, reason=reason))
        elif not message.isDdl and kind not in _STATEMENTS:
            self._add_rows(found, kind, message, place)

    def _add_rows(self, found: Gathering, kind: str, message: _Message, place: int) -> None:
        if message.data is None:
            raise MessageError("a message of Canal without 'data'")
        of = self._rows_of(message)
        millis = -1 if message.es is None else message.es
        match kind:
            case "INSERT" | "ROW":
                for row in message.data:
                    found.add(of, INSERT, row, place, millis)
            case "DELETE":
                for row in message.data:
                    found.add(of, DELETE, row, place, millis)
            case "UPDATE":
                if message.old is None or len(message.old) != len(message.data):
                    raise MessageError("an UPDATE without 'old' for each row of 'data'", of.table)
                for row, old in zip(message.data, message.old, strict=True):
                    found.add_old(of, row, old, place, millis)
                    found.add(of, UPDATE_AFTER, row, place, millis)
            case _:
                raise MessageError(f"'type' is {kind!r}, which is unknown", of.table)

    def _table(self, message: _Message) -> str:
        if message.table is None:
            return self._messages.table
        return f"{message.database or self._messages.database}.{message.table}"

    def _rows_of(self, message: _Message) -> RowsOf:
        where = (message.database, message.table, message.pkNames, bytes(message.mysqlType))
        of = self._known.get(where)
        if of is None or message.table is None:
            types = msgspec.json.decode(message.mysqlType, type=dict[str, str] | None)
            declared = self._settings.read_columns
            mapping = self._settings.type_mapping
            columns: dict[str, ReadColumn] = {}
            try:
                for name, text in (types or {}).items():
                    columns[name] = declared.get(name) or mysql_column(name, text, mapping)
            except UnsupportedError as error:
                raise RefusedTableError(self._table(message), str(error)) from error
            of = self._known[where] = RowsOf(
                table=self._table(message),
                columns=columns if types else declared,
                keys=message.pkNames or (),
                is_partial=not types,
            )
        return of
