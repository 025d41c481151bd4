"""Maxwell's JSON: an update has the old values of the columns that changed.

Rows of its bootstraps (``bootstrap-insert``) are rows; their begin and end, and statements
(``table-alter`` …), are none.

Source: Maxwell's documentation of its data format; apache/paimon@1.3.1 ``MaxwellRecordParser``,
which fails for the latter and makes the text ``null`` of null.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.gathering import (
    DELETE,
    INSERT,
    NULL,
    UPDATE_AFTER,
    Gathering,
    MessageError,
    Millis,
    RowsOf,
    gathered,
)
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.spec.decoding import ready

_NO_ROWS = ("bootstrap-start", "bootstrap-complete")
_STATEMENTS = ("table-", "database-")


class _Message(msgspec.Struct, gc=False):
    type: str | None = None
    data: Raw = NULL
    old: Raw = NULL
    database: str | None = None
    table: str | None = None
    ts: Millis | None = None
    primary_key_columns: tuple[str, ...] | None = None


class MaxwellJson:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(ready(_Message))
        self._known: dict[tuple[object, ...], RowsOf] = {}

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        return gathered(messages, self._decoder.decode, self._add, "a message of Maxwell")

    def _add(self, found: Gathering, message: _Message, place: int) -> None:
        kind = message.type or ""
        if kind in _NO_ROWS or kind.startswith(_STATEMENTS):
            return
        if message.database is None or message.table is None:
            raise MessageError("a message of Maxwell without 'database' and 'table'")
        where = (message.database, message.table, message.primary_key_columns)
        of = self._known.get(where)
        if of is None:
            of = self._known[where] = RowsOf(
                table=f"{message.database}.{message.table}",
                columns=self._settings.read_columns,
                keys=message.primary_key_columns or (),
            )
        if message.data == NULL:
            raise MessageError("a message of Maxwell without 'data'", of.table)
        millis = -1 if message.ts is None else message.ts * 1000
        match kind:
            case "insert" | "bootstrap-insert":
                found.add(of, INSERT, message.data, place, millis)
            case "delete":
                found.add(of, DELETE, message.data, place, millis)
            case "update":
                if message.old == NULL:
                    raise MessageError("an update without 'old'", of.table)
                found.add_old(of, message.data, message.old, place, millis)
                found.add(of, UPDATE_AFTER, message.data, place, millis)
            case _:
                raise MessageError(f"'type' is {kind!r}, which is unknown", of.table)
