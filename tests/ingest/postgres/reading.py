"""Reads a source of PostgreSQL in tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from paimonlab.ingest.changes import Boundary, Event, JsonValue, Phase, RowChanges
from paimonlab.ingest.sources.postgresql.source import PostgresSource
from paimonlab.spec.row_kind import SYMBOLS

if TYPE_CHECKING:
    from typing import Self

SECONDS = 60


class Reader:
    """A reading that goes on while the test writes."""

    def __init__(self, source: PostgresSource, position: JsonValue = None) -> None:
        self.source = source
        self.position = position
        self.events: Iterator[Event] = source.read(position, lambda _: True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.events.close()  # type: ignore[attr-defined]

    def until(self, enough: Callable[[list[Event]], bool]) -> list[Event]:
        """Read events until there are enough, and up to a boundary."""
        found: list[Event] = []
        end = time.monotonic() + SECONDS
        for event in self.events:
            assert time.monotonic() < end, found[-5:]
            if not isinstance(event, Boundary):
                found.append(event)
                continue
            self.position = event.position
            if enough(found) and (found or event.phase is Phase.CAUGHT_UP):
                return found
        raise AssertionError("the source ended")

    def caught_up(self) -> list[Event]:
        """Read up to the first boundary at which all was read that there was."""
        found: list[Event] = []
        end = time.monotonic() + SECONDS
        for event in self.events:
            assert time.monotonic() < end, found[-5:]
            if not isinstance(event, Boundary):
                found.append(event)
                continue
            self.position = event.position
            if event.phase is Phase.CAUGHT_UP:
                return found
        raise AssertionError("the source ended")

    def rows(self, count: int) -> list[tuple[str, dict[str, Any]]]:
        """Read that many rows: kind and values of each."""
        return rows_of(self.until(lambda found: len(rows_of(found)) >= count))


def rows_of(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    """Return kinds and values of all rows."""
    found = []
    for event in events:
        if isinstance(event, RowChanges):
            count = event.rows.num_rows
            kinds = [0] * count if event.kinds is None else event.kinds.to_pylist()
            found += [
                (SYMBOLS[kind], row)
                for kind, row in zip(kinds, event.rows.to_pylist(), strict=True)
            ]
    return found
