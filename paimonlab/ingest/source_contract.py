"""What every source must do, for the tests of whoever writes one.

`check_source` reads a source as jobs do, and more rudely: it stops half way, goes on from each kind
of position in a new object, wants no table, and waits when there is nothing. It needs no framework
of tests: what is wrong is an ``AssertionError`` that says what was promised.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    MetadataSource,
    Phase,
    RowChanges,
    Source,
    SourceSchema,
    SourceSchemaChange,
    Truncated,
    Unreadable,
    Waits,
)
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.arrow import to_arrow

_MOST_POSITIONS = 3
"""From how many positions in the midst reading goes on."""


def check_source(
    make: Callable[[], Source],
    *,
    add: Callable[[], object] | None = None,
    patience_seconds: float = 10.0,
) -> None:
    """Check that a source does what `paimonlab.ingest.Source` says.

    Give it few rows: they are compared as values of Python. Two tables, two transactions and a
    delete or an update find more than one row of one table.

    Parameters
    ----------
    make
        Makes a new source of the same data each time, as another process would.
    add
        Adds rows to the other system, which are to be read after all others; None: for sources
        that end.
    patience_seconds
        How long it may take until an event comes. Sources promise one second; a busy machine is
        forgiven more.

    Raises
    ------
    AssertionError
        If something is not as promised.
    PaimonError
        If the source raises it.

    Examples
    --------
    >>> from paimonlab.ingest import batches
    >>> check_source(lambda: batches([[{"id": 1}], [{"id": 2}]], table="app.t"))
    """
    _Check(make, add, patience_seconds).all()


@dataclass
class _Reading:
    """What was read up to the end, or until there was no more."""

    events: list[Event] = field(default_factory=list)

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Each row: table, kind and values, in order within a table."""
        return sorted(_rows(self.events), key=lambda row: row[0])

    @property
    def boundaries(self) -> list[tuple[int, Boundary]]:
        """With how many events come before each."""
        return [
            (count, event) for count, event in enumerate(self.events) if isinstance(event, Boundary)
        ]

    @property
    def last(self) -> Boundary:
        event = self.events[-1]
        assert isinstance(event, Boundary), "a reading ends with a boundary"
        return event

    def after(self, count: int) -> _Reading:
        return _Reading(self.events[count + 1 :])


@dataclass
class _Check:
    make: Callable[[], Source]
    add: Callable[[], object] | None
    patience_seconds: float

    def all(self) -> None:
        source = self.make()
        _require(bool(source.name) and "\n" not in source.name, "its name is one line", source.name)
        found = source.tables()
        _check_tables(found)
        whole = self.read(source, None)
        _check_events(whole.events, source)
        _check_first_schemas(whole.events, found)
        _require(bool(whole.rows), "there are rows to check it with", whole.events[-1])
        self.check_left_half_way(source, whole)
        self.check_resumed(whole)
        self.check_unwanted(whole)
        self.check_end(source, whole)
        source.close()

    def check_left_half_way(self, source: Source, whole: _Reading) -> None:
        """Stop at the first rows, then at the first boundary; begin again with the same object."""
        for kind in (RowChanges, Boundary):
            events = source.read(None, _all)
            for event in events:
                if isinstance(event, kind):
                    break
            _close(events)
        again = self.read(source, None)
        _require_same(again.rows, whole.rows, "a reading that was closed can begin again")

    def check_resumed(self, whole: _Reading) -> None:
        """Go on from positions in new objects, after the position was written and read."""
        boundaries = whole.boundaries
        places = np.linspace(0, len(boundaries) - 1, _MOST_POSITIONS + 1).astype(int)
        for count, boundary in (boundaries[place] for place in sorted({*places.tolist()})):
            source = self.make()
            rest = self.read(source, _through_json(boundary.position))
            wanted = whole.after(count)
            _require_same(rest.rows, wanted.rows, f"reading goes on after {boundary.position!r}")
            _require(
                rest.last.position == whole.last.position,
                "positions of the same place are equal",
                f"{rest.last.position!r} and {whole.last.position!r}",
            )
            source.close()

    def check_unwanted(self, whole: _Reading) -> None:
        """Want no table, then only one."""
        tables = sorted({row[0] for row in whole.rows})
        for wanted in ([], tables[:1]) if len(tables) > 1 else ([],):
            source = self.make()
            some = self.read(source, None, wanted.__contains__)
            for event in some.events:
                table = getattr(event, "table", None)
                _require(table is None or table in wanted, "only wanted tables are yielded", table)
            rows = [row for row in whole.rows if row[0] in wanted]
            _require_same(some.rows, rows, f"the rows of {wanted} are yielded")
            source.close()

    def check_end(self, source: Source, whole: _Reading) -> None:
        """Read on at the end: boundaries while there is nothing, then what is new."""
        position = whole.last.position
        source.acknowledge(position)
        events = source.read(position, _all)
        try:
            first = self._next(events)
            while not _is_end(first):
                _require(isinstance(first, Boundary), "nothing comes after the end", first)
                first = self._next(events)
            assert isinstance(first, Boundary), "an end is one"
            _require(first.position == position, "the end stays where it is", first.position)
            if first.phase is Phase.ENDED:
                _require(self.add is None, "a source that has ended yields no more", self.add)
                return
            idle = self._next(events)
            _require(isinstance(idle, Boundary), "a boundary comes while there is nothing", idle)
            if self.add is not None:
                self.add()
                self._read_new(events, source)
        finally:
            _close(events)

    def _read_new(self, events: Iterator[Event], source: Source) -> None:
        new: list[Event] = []
        end = time.monotonic() + self.patience_seconds
        while not (new and _is_end(new[-1]) and any(_rows(new))):
            new.append(self._next(events))
            _require(time.monotonic() < end, "what was added is read", new[-1])
        _check_events(new, source)
        source.acknowledge(_Reading(new).last.position)

    def read(
        self, source: Source, position: JsonValue, wanted: Callable[[str], bool] | None = None
    ) -> _Reading:
        """Read until there is no more."""
        found = _Reading()
        events = source.read(position, wanted or _all)
        try:
            while not (found.events and _is_end(found.events[-1])):
                event = self._next(events)
                if event is None:
                    # Without wanted tables there may be nothing to wait for.
                    _require(wanted is not None, "it goes on, or ends with Phase.ENDED", position)
                    break
                found.events.append(event)
        finally:
            _close(events)
        return found

    def _next(self, events: Iterator[Event]) -> Any:
        while True:
            began = time.monotonic()
            event = next(events, None)
            seconds = time.monotonic() - began
            _require(
                seconds <= self.patience_seconds,
                "an event or a boundary comes each second",
                f"{seconds:.1f} s",
            )
            if not isinstance(event, Waits):
                return event


def _check_tables(found: Mapping[str, SourceSchema]) -> None:
    for name, schema in found.items():
        _require("." in name, "tables are named database.table", name)
        names = schema.names
        _require(len({*names}) == len(names), f"no column of {name} comes twice", names)
        for key in (*schema.primary_keys, *schema.partition_keys):
            _require(key in names, f"keys of {name} are columns of it", key)
        _require(schema.arrow_schema is not None, f"columns of {name} have types", names)


def _check_events(events: Sequence[object], source: Source) -> None:
    known = source.metadata_types if isinstance(source, MetadataSource) else {}
    types = {name: to_arrow(kind) for name, kind in known.items()}
    for event in events:
        match event:
            case RowChanges():
                _check_rows(event, types if known else None)
            case Boundary():
                _through_json(event.position)
                _require(isinstance(event.phase, Phase), "a boundary says its phase", event)
            case Unreadable():
                beside = (event.raw, event.rows, event.kinds, event.positions)
                lengths = {len(one) for one in beside if one is not None}
                _require(lengths == {event.count}, "what is unreadable has one length", lengths)
                _require(not event.errors.null_count, "each unreadable row has its error", event)
            case SourceSchemaChange() | Truncated():
                _through_json(event.position)
                _require("\n" not in event.reason, "reasons are one line", event.reason)
            case _:
                _require(False, "events are those of paimonlab.ingest.Event", event)  # noqa: FBT003


def _check_rows(changes: RowChanges, metadata: Mapping[str, pa.DataType] | None) -> None:
    table = changes.table
    _require("." in table, "tables are named database.table", table)
    if changes.kinds is not None:
        kinds = changes.kinds
        _require(not kinds.null_count, f"each row of {table} has a kind", kinds)
        numbers = numpy_values(kinds)
        valid = bool(((numbers >= 0) & (numbers < len(SYMBOLS))).all())
        _require(valid, f"kinds of {table} are 0 to 3", numbers)
    changes.rows.validate(full=True)
    if metadata is None:
        return
    for name, array in changes.metadata.items():
        _require(
            metadata.get(name) == array.type,
            f"metadata of {table} has the types of metadata_types",
            f"{name} {array.type}",
        )


def _check_first_schemas(events: Sequence[Event], found: Mapping[str, SourceSchema]) -> None:
    seen = set[str]()
    for event in events:
        table = getattr(event, "table", None)
        if table is None or table in seen:
            continue
        seen.add(table)
        told = found.get(table)
        if not isinstance(event, RowChanges) or told is None:
            continue
        _require(told.refusal is None, f"no rows of {table} come, which is refused", told.refusal)
        partly = told.is_partial or event.schema.is_partial
        same = told.names == event.schema.names
        _require(
            {*event.schema.names} <= {*told.names} if partly else same,
            f"the first rows of {table} have the columns of tables()",
            f"{event.schema.names} and {told.names}",
        )
        _require(
            told.primary_keys == event.schema.primary_keys,
            f"the first rows of {table} have the key of tables()",
            f"{event.schema.primary_keys} and {told.primary_keys}",
        )


def _rows(events: Sequence[Event]) -> Iterator[tuple[str, str, str]]:
    for event in events:
        if not isinstance(event, RowChanges):
            continue
        count = event.rows.num_rows
        kinds = [0] * count if event.kinds is None else event.kinds.to_pylist()
        for kind, row in zip(kinds, event.rows.to_pylist(), strict=True):
            yield event.table, SYMBOLS[kind], repr(row)


def _through_json(position: JsonValue) -> JsonValue:
    """Write and read a position, as jobs keep it."""
    try:
        found: JsonValue = json.loads(json.dumps(position, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise AssertionError(
            f"promised: positions are JSON; found {position!r}: {error}"
        ) from error
    _require(found == position, "positions are the same after JSON", position)
    return found


def _is_end(event: Event | None) -> bool:
    return isinstance(event, Boundary) and event.phase in (Phase.CAUGHT_UP, Phase.ENDED)


def _all(_table: str) -> bool:
    return True


def _close(events: Iterator[Event]) -> None:
    close = getattr(events, "close", None)
    if close is not None:
        close()


def _require_same(
    found: list[tuple[str, str, str]], wanted: list[tuple[str, str, str]], promise: str
) -> None:
    if found != wanted:
        missing = [row for row in wanted if row not in found][:3]
        more = [row for row in found if row not in wanted][:3]
        raise AssertionError(
            f"promised: {promise}; read {len(found)} rows, not {len(wanted)}; "
            f"missing {missing}, too many {more}"
        )


def _require(condition: bool, promise: str, found: object) -> None:  # noqa: FBT001
    if not condition:
        raise AssertionError(f"promised: {promise}; found {found!r}")
