"""A source with rows and a log, in memory: what servers of databases do, and a dict as a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from paimonlab.ingest.changes import Boundary, Event, JsonValue, Phase, SourceSchema
from tests.ingest.drawing import source
from tests.ingest.scripted import rows

KEYED = "id BIGINT NOT NULL, v STRING KEY(id)"
PLAIN = "id BIGINT, v STRING"


@dataclass
class Shop:
    """Tables ``a.…`` whose rows are ``(id, v)``; the position is a place of the log."""

    schemas: dict[str, str]
    log: list[tuple[str, str, tuple[Any, ...]]] = field(default_factory=list)
    """Table, kind, row."""
    rows_of: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    patterns: list[str] = field(default_factory=lambda: [".*"])
    during_rows: Callable[[int], None] = lambda _: None
    """Called with the number of each batch of rows that were read."""
    refused: dict[str, str] = field(default_factory=dict)
    """Why tables cannot be read."""
    rows_batch: int = 2
    began_at: list[JsonValue] = field(default_factory=list)

    name = "shop"

    def insert(self, table: str, *given: tuple[Any, ...], logged: bool = True) -> None:
        """Insert rows."""
        for row in given:
            self.rows_of.setdefault(table, []).append(row)
            if logged:
                self.log.append((table, "+I", row))

    def delete(self, table: str, row: tuple[Any, ...], *, logged: bool = True) -> None:
        """Delete a row; what is not logged is as what a server's own tools do."""
        self.rows_of[table].remove(row)
        if logged:
            self.log.append((table, "-D", row))

    def tables(self) -> Mapping[str, SourceSchema]:
        return {
            name: replace(source(text), refusal=self.refused.get(name))
            for name, text in self.schemas.items()
            if self._offers(name)
        }

    def include(self, pattern: str) -> None:
        if pattern not in self.patterns:
            self.patterns.append(pattern)

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        at: Any = position
        return {**at, "unread": sorted({*at["unread"], *tables})}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        self.began_at.append(position)
        at: dict[str, Any] = {"at": len(self.log), "unread": sorted(self.schemas), "read": {}}
        if isinstance(position, dict):
            given: Any = position
            at = {**given, "read": dict(given["read"])}
        number = 0
        for table in list(at["unread"]):
            if not (self._offers(table) and wanted(table)) or table in self.refused:
                continue
            moment, found = len(self.log), list(self.rows_of.get(table, ()))
            for start in range(0, len(found), self.rows_batch):
                part = found[start : start + self.rows_batch]
                yield self._changes(table, [("+I", row) for row in part])
                number += 1
                self.during_rows(number)
                yield Boundary(position=dict(at), phase=Phase.SNAPSHOT)
            at = {**at, "read": {**at["read"], table: moment}}
            at["unread"] = [other for other in at["unread"] if other != table]
            yield Boundary(position=dict(at), phase=Phase.SNAPSHOT)
        yield Boundary(position=dict(at), phase=Phase.STREAM)
        while True:
            while at["at"] < len(self.log):
                table, kind, row = self.log[at["at"]]
                is_known = at["read"].get(table, 0) > at["at"]
                at["at"] += 1
                is_read = self._offers(table) and wanted(table) and table not in self.refused
                if not is_known and is_read:
                    yield self._changes(table, [(kind, row)])
                yield Boundary(position=dict(at), phase=Phase.STREAM)
            yield Boundary(position=dict(at), phase=Phase.CAUGHT_UP)

    def acknowledge(self, position: JsonValue) -> None:
        pass

    def close(self) -> None:
        pass

    def _offers(self, table: str) -> bool:
        return any(re.fullmatch(pattern, table) for pattern in self.patterns)

    def _changes(self, table: str, changes: list[tuple[str, tuple[Any, ...]]]) -> Event:
        width = len(source(self.schemas[table]).columns)
        lines = [
            " ".join([kind, *(str(value) for value in (*row, "-")[:width])])
            for kind, row in changes
        ]
        return rows(table, self.schemas[table], *lines)
