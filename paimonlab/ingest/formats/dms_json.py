"""JSON of AWS DMS: old values of an update are beside the new ones as ``BI_<column>``.

Control records (``create-table``, ``add-column`` …) are no rows.

Source: AWS's documentation of Kafka as a target of DMS; apache/paimon@1.3.1 ``DMSRecordParser``.
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
    UPDATE_BEFORE,
    Gathering,
    MessageError,
    RowsOf,
    gathered,
)
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.spec.decoding import ready

OLD_PREFIX = "BI_"
_OLD = b'"BI_'


class _Metadata(msgspec.Struct, gc=False, rename="kebab"):
    record_type: str | None = None
    operation: str | None = None
    schema_name: str | None = None
    table_name: str | None = None


class _Message(msgspec.Struct, gc=False):
    metadata: _Metadata
    data: Raw = NULL


class DmsJson:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(ready(_Message))
        self._messages: Messages
        self._known: dict[str, RowsOf] = {}

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        self._messages = messages
        self._known = {}
        return gathered(messages, self._decoder.decode, self._add, "a message of AWS DMS")

    def _add(self, found: Gathering, message: _Message, place: int) -> None:
        metadata = message.metadata
        if metadata.record_type != "data":
            return
        if metadata.schema_name is None or metadata.table_name is None:
            raise MessageError("a message of AWS DMS without 'schema-name' and 'table-name'")
        table = f"{metadata.schema_name}.{metadata.table_name}"
        of = self._known.get(table)
        if of is None:
            of = self._known[table] = RowsOf(
                table=table,
                columns=self._settings.read_columns,
                keys=self._keys(place),
                old_prefix=OLD_PREFIX,
            )
        row = message.data
        if row == NULL:
            raise MessageError("a message of AWS DMS without 'data'", table)
        match metadata.operation:
            case "load" | "insert":
                found.add(of, INSERT, row, place)
            case "delete":
                found.add(of, DELETE, row, place)
            case "update":
                if _OLD in bytes(row):
                    found.add(of, UPDATE_BEFORE, row, place)
                found.add(of, UPDATE_AFTER, row, place)
            case operation:
                raise MessageError(f"'operation' is {operation!r}, which is unknown", table)

    def _keys(self, place: int) -> tuple[str, ...]:
        """DMS's own keys of messages are text; only one that is asked for names columns."""
        if self._settings.key_format != "json":
            return ()
        return self._settings.keys_of(self._messages.keys[place])
