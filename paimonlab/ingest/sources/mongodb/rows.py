"""Rows of collections on their way to Arrow, and what cannot become one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from bson.errors import BSONError

from paimonlab.arrow_values import arrow_array
from paimonlab.ingest.changes import (
    KIND_TYPE,
    Event,
    RowChanges,
    SourceColumn,
    SourceSchema,
    Unreadable,
)
from paimonlab.ingest.formats.bson_values import cell_text
from paimonlab.ingest.sources.mongodb.values import (
    ID,
    Document,
    Row,
    decoded,
    id_text,
    kind_of_id,
    plain_value,
    row_of,
)
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.data_types import MAX_LENGTH, AtomicType, TypeRoot

_STRING = AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)
_UNKNOWN = -1
"""Of a time that is not told."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What becomes of a document."""

    ids: str
    paths: Mapping[str, Callable[[Document], Any]] = field(default_factory=dict)
    """Where the values of columns are; none: each member is one."""

    def row(self, document: Document) -> Row:
        """Return the columns of a document, or of its key alone.

        Raises
        ------
        ValueError
            If it has no ``_id``, or a value that is unknown.
        """
        if document.get(ID) is None:
            raise ValueError("a document without _id, which is its key")
        key = id_text(document[ID], self.ids)
        if not self.paths:
            return {ID: key, **row_of({name: document[name] for name in document if name != ID})}
        return {
            name: key if name == ID else cell_text(plain_value(value(document)))
            for name, value in self.paths.items()
        }


@dataclass(slots=True, eq=False)
class _Rows:
    rows: list[Row] = field(default_factory=list)
    kinds: bytearray = field(default_factory=bytearray)
    millis: array[int] = field(default_factory=lambda: array("q"))
    places: list[str] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=lambda: {ID: None})


@dataclass(kw_only=True)
class Gathered:
    """Rows that wait to be yielded."""

    reading: Reading
    kinds: dict[str, str]
    """Of which kind the ``_id`` of each collection were so far."""
    count: int = 0
    size_bytes: int = 0
    _parts: list[tuple[str, _Rows] | Event] = field(default_factory=list)
    _open: dict[str, _Rows] = field(default_factory=dict)

    def document(self, table: str, raw: bytes, place: str) -> None:
        """Add a document as it is."""
        self._add(table, RowKind.INSERT, lambda: decoded(raw), raw, place, _UNKNOWN)

    def change(
        self, table: str, kind: RowKind, document: Document, raw: bytes, place: str, millis: int
    ) -> None:
        """Add what a change made of a document; of one that was deleted the key."""
        self._add(table, kind, lambda: document, raw, place, millis)

    def event(self, event: Event) -> None:
        """Add an event that is about a table."""
        self._open.clear()
        self._parts.append(event)
        self.count += 1

    def unreadable(self, table: str | None, problem: str, raw: bytes, place: str) -> None:
        """Add what cannot become a row."""
        self.event(
            Unreadable(
                table=table,
                errors=arrow_array([problem], pa.string()),
                raw=arrow_array([raw], pa.binary()),
                positions=arrow_array([place], pa.string()),
            )
        )

    def _add(
        self,
        table: str,
        kind: RowKind,
        document: Callable[[], Document],
        raw: bytes,
        place: str,
        millis: int,
    ) -> None:
        self.size_bytes += len(raw)
        try:
            found = document()
            row = self.reading.row(found)
            self._check_kind(table, found[ID])
        except (ValueError, BSONError) as error:
            self.unreadable(table, str(error), raw, place)
            return
        rows = self._open.get(table)
        if rows is None:
            rows = self._open[table] = _Rows()
            self._parts.append((table, rows))
        rows.rows.append(row)
        rows.kinds.append(kind)
        rows.millis.append(millis)
        rows.places.append(place)
        rows.names.update(dict.fromkeys(row))
        self.count += 1

    def _check_kind(self, table: str, value: Any) -> None:
        if self.reading.ids != "text":
            return
        kind = kind_of_id(value)
        known = self.kinds.setdefault(table, kind)
        if kind != known:
            raise ValueError(
                f"its _id is of kind {kind}, others are {known}, and two of them may have the same "
                "text: begin anew with ids='extended'"
            )

    def events(self) -> Iterator[Event]:
        """Yield what waits, tables in the order in which they came."""
        parts, self._parts = self._parts, []
        self._open.clear()
        self.count = self.size_bytes = 0
        for part in parts:
            yield _changes(*part) if isinstance(part, tuple) else part


def _changes(table: str, found: _Rows) -> RowChanges:
    rows = found.rows
    names = tuple(found.names)
    arrays = [pa.array([row.get(name) for row in rows], pa.string()) for name in names]
    schema = schema_of(names)
    unknown = [millis == _UNKNOWN for millis in found.millis]
    changed = pa.array(
        [None if is_unknown else at for at, is_unknown in zip(found.millis, unknown, strict=True)],
        pa.timestamp("ms", tz="UTC"),
    )
    kinds = pa.array(list(found.kinds), KIND_TYPE) if any(found.kinds) else None
    return RowChanges(
        table=table,
        rows=pa.RecordBatch.from_arrays(arrays, schema=schema.arrow_schema),
        kinds=kinds,
        schema=schema,
        positions=pa.array(found.places, pa.string()),
        metadata={"op_ts": changed},
    )


def schema_of(names: tuple[str, ...]) -> SourceSchema:
    """Return the schema of a collection of which some columns were seen: all are STRING."""
    return SourceSchema(
        columns=tuple(SourceColumn(name=name, type=_STRING) for name in names),
        primary_keys=(ID,),
        is_partial=True,
    )
