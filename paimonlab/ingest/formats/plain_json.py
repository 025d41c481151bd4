"""Plain JSON: each message is a row of one table, named after the topic.

Source: apache/paimon@1.3.1 ``JsonRecordParser``, whose text ``null`` for null is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.gathering import INSERT, Gathering, RowsOf, gathered
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings


class PlainJson:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(Raw)

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows of messages."""
        settings = self._settings
        first = next((key for key in messages.keys if key is not None), None)
        of = RowsOf(
            table=messages.table,
            columns=settings.read_columns,
            keys=settings.keys_of(first),
        )

        def add(found: Gathering, row: Raw, place: int) -> None:
            found.add(of, INSERT, row, place)

        return gathered(messages, self._decoder.decode, add, "JSON")
