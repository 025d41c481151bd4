"""Messages of Debezium (with schema) and Canal about the same changes of the same tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
Message: TypeAlias = tuple[bytes, bytes | None]
"""Key and value."""


@dataclass(frozen=True)
class Kind:
    """A type of MySQL, and what Debezium says of it."""

    mysql: str
    connect: str
    name: str | None = None
    parameters: Mapping[str, str] | None = None

    def field(self, column: str) -> dict[str, Any]:
        """Return the field of Connect's schema."""
        told: dict[str, Any] = {"field": column, "type": self.connect, "optional": column != "id"}
        if self.name is not None:
            told |= {"name": self.name, "version": 1}
        if self.parameters is not None:
            told["parameters"] = self.parameters
        return told


@dataclass(frozen=True)
class Change:
    """A row that was inserted, updated or deleted."""

    database: str
    table: str
    kinds: Mapping[str, Kind]
    before: Row | None
    after: Row | None

    @property
    def key(self) -> bytes:
        """The key of its message."""
        row = self.after or self.before
        assert row is not None
        return json.dumps({"id": row["id"]}).encode()


def debezium(change: Change) -> list[Message]:
    """Write it as Debezium does; a deleted row has a tombstone."""
    fields = [kind.field(name) for name, kind in change.kinds.items()]
    sides = [
        {"field": side, "type": "struct", "optional": True, "fields": fields}
        for side in ("before", "after")
    ]
    op = "c" if change.before is None else "d" if change.after is None else "u"
    payload = {
        "before": change.before,
        "after": change.after,
        "source": {"db": change.database, "table": change.table, "ts_ms": 1_700_000_000_000},
        "op": op,
        "ts_ms": 1_700_000_000_001,
    }
    told = {"schema": {"type": "struct", "fields": sides}, "payload": payload}
    found: list[Message] = [(change.key, json.dumps(told).encode())]
    return [*found, (change.key, None)] if op == "d" else found


def canal(change: Change) -> list[Message]:
    """Write it as Canal does, values as texts; and once more that a table was altered."""
    before, after = _texts(change.before), _texts(change.after)
    told: dict[str, Any] = {
        "data": [before if after is None else after],
        "old": None,
        "type": "INSERT" if before is None else "DELETE" if after is None else "UPDATE",
        "isDdl": False,
        "database": change.database,
        "table": change.table,
        "pkNames": ["id"],
        "mysqlType": {name: kind.mysql for name, kind in change.kinds.items()},
        "es": 1_700_000_000_000,
        "ts": 1_700_000_000_001,
        "sql": "",
    }
    if before is not None and after is not None:
        told["old"] = [{name: text for name, text in before.items() if after.get(name) != text}]
    return [(change.key, json.dumps(told).encode())]


def altered(database: str, table: str, statement: str) -> Message:
    """Write a statement as Canal does."""
    told = {"data": None, "isDdl": True, "type": "ALTER", "sql": statement}
    return b"{}", json.dumps(told | {"database": database, "table": table}).encode()


def _texts(row: Row | None) -> dict[str, str | None] | None:
    if row is None:
        return None
    return {name: None if value is None else str(value) for name, value in row.items()}


FORMATS: Mapping[str, Callable[[Change], Sequence[Message]]] = {
    "debezium-json": debezium,
    "canal-json": canal,
}
