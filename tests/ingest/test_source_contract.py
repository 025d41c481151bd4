"""What sources promise: ours keep it, and one that breaks a promise is found out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.ingest import batches, files, table_changes
from paimonlab.ingest.changes import (
    KIND_TYPE,
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceSchema,
)
from paimonlab.ingest.source_contract import check_source
from paimonlab.ingest.sources import files as file_source
from paimonlab.ingest.sources import tables as table_source
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource, rows

KEYED = source("id BIGINT NOT NULL, v STRING KEY(id)")


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for new files and snapshots more often."""
    for module in (file_source, table_source):
        monkeypatch.setattr(module, "_POLL_SECONDS", 0.02)


def test_batches_of_python() -> None:
    made = [
        [{"op": "+I", "id": 1, "v": "a"}, {"op": "+I", "id": 2, "v": None}],
        [{"op": "-D", "id": 1, "v": "a"}],
        [{"op": "+U", "id": 2, "v": "c"}],
    ]

    check_source(lambda: batches(made, table="app.t", primary_keys=["id"], row_kinds="op"))
    check_source(lambda: batches(lambda count: made[count:], table="app.t", row_kinds="op"))


def test_files_that_arrive(tmp_path: Path) -> None:
    def put(name: str, text: str) -> None:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        os.utime(path, (time.time() - 60,) * 2)

    put("a.csv", "id,v\n1,a\n2,\n")
    put("b.json", '{"id": 3, "v": "c"}\n{"id": 4, "v": "d"}\n')
    put("c.csv", "id,v\n5,e\n")

    check_source(
        lambda: files(tmp_path, table="in.t", columns={"id": "BIGINT", "v": "STRING"}),
        add=lambda: put("d.csv", "id,v\n6,f\n"),
    )


def test_tables_of_paimon(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    options: dict[str, Any] = {"bucket": 1, "changelog-producer": "input"}
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    catalog.create_database("db")
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options=options)
    table.write([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])

    check_source(
        lambda: table_changes(catalog.table("db.t")),
        add=lambda: table.write([{"id": 2, "v": "c"}]),
    )


# Sources that break a promise


@dataclass
class _Log(ScriptedSource):
    """Keeps all promises."""

    ends: Phase = Phase.ENDED

    def changed(self, event: Event) -> Event:
        return event

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        return map(self.changed, super().read(position, wanted))


def _log(kind: type[_Log] = _Log, **told: Any) -> _Log:
    script = [
        rows("a.t", KEYED, "+I 1 a", "+I 2 b"),
        "|",
        rows("b.t", KEYED, "+I 7 x"),
        rows("a.t", KEYED, "-U 1 a", "+U 1 c"),
        "|",
        rows("a.t", KEYED, "-D 2 -"),
        "|",
    ]
    return kind(script, {"a.t": KEYED, "b.t": KEYED}, **told)


class _YieldsAll(_Log):
    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        return super().read(position, lambda _: True)


class _GoesBack(_Log):
    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        at = 0 if position == 2 else position
        return super().read(at, wanted)


class _LeavesOut(_Log):
    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        at = 4 if position == 2 else position
        return super().read(at, wanted)


class _NamesPlacesAnew(_Log):
    places = 0

    def changed(self, event: Event) -> Event:
        if not isinstance(event, Boundary):
            return event
        _NamesPlacesAnew.places += 1
        return replace(event, position={"at": event.position, "now": self.places})

    def read(self, position: Any, wanted: Callable[[str], bool]) -> Iterator[Event]:
        return super().read(None if position is None else position["at"], wanted)


class _HasTuples(_Log):
    def changed(self, event: Event) -> Event:
        position: Any = ("a", 1)
        return replace(event, position=position) if isinstance(event, Boundary) else event


class _HasSets(_Log):
    def changed(self, event: Event) -> Event:
        position: Any = {"a"}
        return replace(event, position=position) if isinstance(event, Boundary) else event


class _LosesRows(_Log):
    """Has one iterator for all readings, as sockets have."""

    running: Iterator[Event] | None = None

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        if self.running is None or position is not None:
            self.running = super().read(position, wanted)
        for event in self.running:
            if isinstance(event, Boundary) and event.phase is Phase.ENDED:
                self.running = None
            yield event


class _StopsInSilence(_Log):
    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        for event in super().read(position, wanted):
            if isinstance(event, Boundary) and event.phase is Phase.ENDED:
                return
            yield event


class _IsSlow(_Log):
    def changed(self, event: Event) -> Event:
        time.sleep(0.05)
        return event


class _SaysNothingAtItsEnd(_Log):
    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        yield from super().read(position, wanted)
        yield rows("a.t", KEYED, "+I 9 z")


class _SeesNothingNew(_Log):
    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        yield from super().read(position, wanted)
        while True:
            yield Boundary(position=len(self.script), phase=Phase.CAUGHT_UP)


class _HasOtherKinds(_Log):
    def changed(self, event: Event) -> Event:
        if not isinstance(event, RowChanges):
            return event
        return replace(event, kinds=pa.array([7] * event.rows.num_rows, KIND_TYPE))


class _HasTwoLines(_Log):
    @property
    def name(self) -> str:
        return "a\nlog"


class _HasOtherTables(_Log):
    def tables(self) -> Mapping[str, SourceSchema]:
        return {"a.t": source("id BIGINT NOT NULL KEY(id)")}


class _HasOtherKeys(_Log):
    def tables(self) -> Mapping[str, SourceSchema]:
        return {"a.t": source("id BIGINT NOT NULL, v STRING")}


@dataclass
class _TellsOtherTypes(_Log):
    metadata_types: Mapping[str, DataType] = field(
        default_factory=lambda: {"op_ts": parse_type("BIGINT")}
    )

    def changed(self, event: Event) -> Event:
        if not isinstance(event, RowChanges):
            return event
        return replace(event, metadata={"op_ts": pa.array(["now"] * event.rows.num_rows)})


def test_a_source_that_keeps_all_promises() -> None:
    check_source(_log)


@pytest.mark.parametrize(
    ("kind", "told", "promise"),
    [
        (_YieldsAll, {}, "only wanted tables are yielded"),
        (_GoesBack, {}, "reading goes on after 2"),
        (_LeavesOut, {}, "reading goes on after 2"),
        (_NamesPlacesAnew, {}, "positions of the same place are equal"),
        (_HasTuples, {}, "positions are the same after JSON"),
        (_HasSets, {}, "positions are JSON"),
        (_LosesRows, {}, "a reading that was closed can begin again"),
        (_StopsInSilence, {}, "it goes on, or ends with Phase.ENDED"),
        (_SaysNothingAtItsEnd, {"ends": Phase.CAUGHT_UP}, "a boundary comes while there is noth"),
        (_HasOtherKinds, {}, "kinds of a.t are 0 to 3"),
        (_HasTwoLines, {}, "its name is one line"),
        (_HasOtherTables, {}, "the first rows of a.t have the columns of tables"),
        (_HasOtherKeys, {}, "the first rows of a.t have the key of tables"),
        (_TellsOtherTypes, {}, "metadata of a.t has the types of metadata_types"),
    ],
)
def test_a_broken_promise_is_named(kind: type[_Log], told: dict[str, Any], promise: str) -> None:
    with pytest.raises(AssertionError, match="promised: ") as caught:
        check_source(lambda: _log(kind, **told))

    assert str(caught.value).startswith(f"promised: {promise}")


def test_a_source_that_lets_wait_is_named() -> None:
    with pytest.raises(AssertionError, match="an event or a boundary comes each second"):
        check_source(lambda: _log(_IsSlow), patience_seconds=0.01)


def test_rows_that_are_added_have_to_come() -> None:
    told = {"ends": Phase.CAUGHT_UP}

    check_source(lambda: _log(_SeesNothingNew, **told))
    with pytest.raises(AssertionError, match="promised: what was added is read"):
        check_source(lambda: _log(_SeesNothingNew, **told), add=list, patience_seconds=0.05)
    with pytest.raises(AssertionError, match="a source that has ended yields no more"):
        check_source(_log, add=list)


def test_a_source_without_rows_is_not_checked_in_vain() -> None:
    with pytest.raises(AssertionError, match="there are rows to check it with"):
        check_source(lambda: _Log([], {}))
