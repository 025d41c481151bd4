"""A source that plays a list of events; the position is the place after a boundary in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from paimonlab.ingest.changes import (
    KIND_TYPE,
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceSchema,
    SourceSchemaChange,
)
from paimonlab.spec.row_kind import SYMBOLS
from tests.ingest.drawing import source


class BrokenError(Exception):
    """Raised where a test wants it."""


@dataclass
class ScriptedSource:
    script: Sequence[Any]
    """Events; ``|`` is a boundary, an exception is raised."""
    schemas: Mapping[str, SourceSchema]
    acknowledged: list[JsonValue] = field(default_factory=list)
    began_at: list[JsonValue] = field(default_factory=list)
    is_closed: bool = False
    ends: Phase = Phase.CAUGHT_UP

    @property
    def name(self) -> str:
        return "script"

    def tables(self) -> Mapping[str, SourceSchema]:
        return self.schemas

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        self.began_at.append(position)
        start = position if isinstance(position, int) else 0
        for place, event in enumerate(self.script[start:], start + 1):
            if isinstance(event, BaseException):
                raise event
            if event == "|":
                yield Boundary(position=place, phase=Phase.STREAM, seen_millis=1)
            elif isinstance(event, Boundary) or wanted(event.table):
                yield event
        yield Boundary(position=len(self.script), phase=self.ends)

    def acknowledge(self, position: JsonValue) -> None:
        self.acknowledged.append(position)

    def close(self) -> None:
        self.is_closed = True


def rows(table: str, schema: SourceSchema | str, *drawn: str) -> RowChanges:
    """Make rows: ``+I 1 a`` is an insert of two values; ``-`` is null."""
    made = source(schema) if isinstance(schema, str) else schema
    kinds = [SYMBOLS.index(text.split()[0]) for text in drawn]
    columns = []
    for place, kind in enumerate(made.arrow_schema.types, 1):
        texts = [text.split()[place] for text in drawn]
        values = pa.array([None if text == "-" else text for text in texts], pa.string())
        columns.append(values.cast(kind))
    names = list(made.names)
    return RowChanges(
        table=table,
        rows=pa.RecordBatch.from_arrays(columns, names=names),
        kinds=pa.array(kinds, KIND_TYPE),
        schema=made,
        positions=pa.array([f"row {place}" for place in range(len(drawn))]),
    )


def change(table: str, before: str, after: str | None, reason: str = "ALTER") -> SourceSchemaChange:
    """Say that a table of the source was altered."""
    return SourceSchemaChange(
        table=table,
        before=source(before),
        after=None if after is None else source(after),
        position=None,
        reason=reason,
    )
