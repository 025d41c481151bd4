"""JSON of Oracle GoldenGate: whole rows before and after.

Updates that have only some columns (GoldenGate's compressed updates) keep the other values that are
known of the row: those of ``before``. Truncations are events.

Source: Oracle GoldenGate's JSON formatter; apache/paimon@1.3.1 ``OggRecordParser``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from paimonlab.ingest.changes import Event, Truncated
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


class _Message(msgspec.Struct, gc=False):
    op_type: str | None = None
    table: str | None = None
    before: Raw = NULL
    after: Raw = NULL
    primary_keys: tuple[str, ...] | None = None


class OggJson:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(ready(_Message))
        self._known: dict[tuple[object, ...], RowsOf] = {}
        self._messages: Messages

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        self._messages = messages
        return gathered(messages, self._decoder.decode, self._add, "a message of GoldenGate")

    def _add(self, found: Gathering, message: _Message, place: int) -> None:
        if message.table is None or "." not in message.table:
            raise MessageError(f"'table' is {message.table!r}, not SCHEMA.TABLE")
        where = (message.table, message.primary_keys)
        of = self._known.get(where)
        if of is None:
            of = self._known[where] = RowsOf(
                table=message.table,
                columns=self._settings.read_columns,
                keys=message.primary_keys or (),
            )
        before, after, kind = message.before, message.after, message.op_type
        if kind == "T":
            at = self._messages.position(place)
            found.event(of.table, Truncated(table=of.table, position=at, reason="TRUNCATE"))
        elif kind == "I" and after != NULL:
            found.add(of, INSERT, after, place)
        elif kind == "D" and before != NULL:
            found.add(of, DELETE, before, place)
        elif kind == "U" and NULL not in (before, after):
            _require_whole(before, after, of.table)
            found.add(of, UPDATE_BEFORE, before, place)
            found.add(of, UPDATE_AFTER, after, place)
        elif kind in ("I", "D", "U"):
            raise MessageError(f"'op_type' {kind!r} without the row before or after", of.table)
        else:
            raise MessageError(f"'op_type' is {kind!r}, which is unknown", of.table)


def _require_whole(before: Raw, after: Raw, table: str) -> None:
    """Refuse updates that lack columns: which row they replace, or by what, is unknown."""
    old, new = (msgspec.json.decode(row, type=dict[str, Raw]) for row in (before, after))
    if old.keys() != new.keys():
        odd = min(old.keys() ^ new.keys())
        raise MessageError(
            f"an update has column {odd!r} only before or after: GoldenGate must write whole rows "
            "(uncompressed updates, all columns logged)",
            table,
        )
