"""Messages as test cases write them, and events drawn on lines."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator

from paimonlab.ingest.changes import (
    Event,
    RowChanges,
    SourceSchemaChange,
    Truncated,
    Unreadable,
)
from paimonlab.ingest.formats.messages import Messages, messages_of
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.text import format_type


def messages(text: str, topic: str = "topic") -> Messages:
    """Read one message a line: ``VALUE``, or ``KEY => VALUE``; ``null`` as a value: a tombstone."""
    keys: list[bytes | None] = []
    values: list[bytes | None] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        key, arrow, value = line.strip().partition(" => ")
        keys.append(key.encode() if arrow else None)
        body = value if arrow else key
        values.append(None if body == "null" else body.encode())
    return messages_of(values, keys=keys, topic=topic)


def drawn(events: Iterable[Event]) -> str:
    """Draw events, a blank between all words."""
    return " ".join(" ".join(_lines(events)).split())


def _lines(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        match event:
            case RowChanges():
                yield from _changes(event)
            case Unreadable():
                assert event.positions is not None
                for error, at in zip(
                    event.errors.to_pylist(), event.positions.to_pylist(), strict=True
                ):
                    yield f"unreadable {event.table} @{at['offset']}: {error}"
            case Truncated():
                assert isinstance(event.position, dict)
                yield f"truncated {event.table} @{event.position['offset']}"
            case SourceSchemaChange():
                assert isinstance(event.position, dict)
                assert event.after is not None
                yield f"refused @{event.position['offset']}: {event.after.refusal}"
            case _:
                raise AssertionError(event)


def _changes(changes: RowChanges) -> Iterator[str]:
    schema = changes.schema
    columns = [
        column.name
        + ("* " if column.name in schema.primary_keys else " ")
        + format_type(column.type)
        for column in schema.columns
    ]
    yield f"{changes.table} ({', '.join(columns)})"
    kinds = [0] * changes.rows.num_rows if changes.kinds is None else changes.kinds.to_pylist()
    for kind, row in zip(kinds, changes.rows.to_pylist(), strict=True):
        yield f"{SYMBOLS[kind]}[{', '.join(map(_value, row.values()))}]"


def _value(value: object) -> str:
    match value:
        case None:
            return "null"
        case bytes():
            return f"x'{value.hex()}'"
        case bool():
            return str(value).lower()
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat(" ") + ("Z" if value.tzinfo else "")
        case list():
            return "[" + " ".join(map(_value, value)) + "]"
        case _:
            return str(value)
