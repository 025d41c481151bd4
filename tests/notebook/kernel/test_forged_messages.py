"""Messages that no front end of ours sends: nothing is raised, logged, run or kept for ever."""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.notebook.kernel import front_ends, selection
from paimonlab.notebook.kernel.front_ends import COMM, FrontEnds
from paimonlab.notebook.kernel.selection import ERROR_CHARACTERS, SELECTIONS_KEPT, Selections
from paimonlab.table.table import Table
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS, marked_table
from tests.notebook.kernel.test_progress import FakeKernel
from tests.notebook.results.test_result import make

FORGED = 3_000
"""Messages through each door."""
DOORS = ("a view", "a widget", "a comm", "the front end")
_LARGE = "x" * 10_000_000
_WORDS = ("rows", "start", "count", "whole", "by", "search", "filters", "descending", "snapshot")
_KEYS = (
    *("id", "number", "selected", "request", "listens", "complete", "code", "offset", *_WORDS),
    *("range", "partition", "bucket", "file", "__proto__", "constructor", "__class__", "kind"),
    *("compact", "delete", "drop_table", "expire", "rollback", "sql", "yes", "dry_run"),
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return marked_table(tmp_path_factory.mktemp("warehouse"))


class Forger:
    """Makes messages; the same seed makes the same ones."""

    def __init__(self, seed: int, ids: list[str]) -> None:
        self._random = random.Random(seed)
        self._ids = ids

    def message(self) -> Any:
        """Make one: mostly nearly right, sometimes anything."""
        pick = self._random
        if pick.random() < 0.1:
            return self._value(0)
        made: dict[str, Any] = {
            "id": pick.choice([*self._ids, *self._ids, "view-9999", "", None, 7, "__proto__"]),
            "number": pick.choice([1, -1, 2**70, None, "1", [], {}, 1.5, True]),
        }
        kind = pick.choice(
            ["selected", "request", "listens", "complete", "stop", "both", "neither"]
        )
        if kind in {"selected", "both"}:
            made["selected"] = self._object()
        if kind in {"request", "both"}:
            made["request"] = self._question()
        if kind in {"listens", "both"}:
            made["listens"] = self._value(1)
        if kind in {"stop", "both"}:
            made["stop"] = pick.choice([*self._ids, self._value(1)])
        if kind in {"complete", "both"}:
            code = pick.choice(["%paimon SELECT ", _LARGE[:2_000_000], self._value(1)])
            made["complete"] = {"code": code, "offset": pick.choice([0, -1, 10**12, "3", None])}
        if pick.random() < 0.3:
            made[pick.choice(_KEYS)] = self._value(0)
        return made

    def _question(self) -> Any:
        pick = self._random
        rows = {"by": pick.choice([0, -1, 99, "a", None]), "search": self._value(2)}
        asked = {"rows": rows, "start": pick.choice([0, -5, 10**15, "0"]), "count": 10}
        return pick.choice([asked, self._object(), self._value(0)])

    def _object(self) -> Any:
        pick = self._random
        return {pick.choice(_KEYS): self._value(1) for _ in range(pick.randrange(5))}

    def _value(self, depth: int) -> Any:
        pick = self._random
        kind = pick.randrange(9 if depth < 3 else 6)
        if pick.random() < 0.002:
            return _LARGE
        plain = (None, pick.choice([True, False]), pick.choice([0, -1, 2**63, 10**400]), 1.5)
        if kind < 4:
            return plain[kind]
        if kind < 6:
            return pick.choice(strings())
        if kind == 6:
            return [self._value(depth + 1) for _ in range(pick.randrange(4))]
        if kind == 7:
            nested: Any = 1
            for _ in range(300):
                nested = [nested]
            return nested
        return {pick.choice(_KEYS): self._value(depth + 1) for _ in range(pick.randrange(4))}


def doors(table: Table, heard: Selections) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield what takes messages, by name."""
    view = VIEWS["timeline"](table)
    widget = view.widget()
    opened: list[Any] = []
    manager = SimpleNamespace(register_target=lambda _name, target: opened.append(target))
    selection.register(manager)
    handlers: list[Any] = []
    comm = SimpleNamespace(on_msg=handlers.append, send=json.dumps)
    opened[0](comm, {})
    kernel = FakeKernel()
    ends = FrontEnds(kernel, lambda _code, offset: {"start": offset, "end": offset, "items": []})

    def to_widget(message: Any) -> None:
        widget._heard(widget, message, [])
        widget._chose({"new": message})

    yield "a view", heard.hear
    yield "a widget", to_widget
    yield "a comm", lambda message: handlers[0]({"content": {"data": message}})
    yield (
        "the front end",
        lambda message: ends.handle_msg(
            {"header": {"session": message}, "content": {"comm_id": COMM, "data": message}}
        ),
    )


@pytest.mark.parametrize("door", DOORS)
def test_forged_messages_do_nothing(
    door: str, table: Table, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED", random.randrange(2**32)))
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201
    heard = Selections()
    monkeypatch.setattr("paimonlab.notebook.display.drawn.selections", lambda: heard)
    monkeypatch.setattr("paimonlab.notebook.kernel.widget.selections", lambda: heard)
    monkeypatch.setattr(selection, "selections", lambda: heard)
    result = make(pa.table({"a": list(range(5_000)), "b": ["x"] * 5_000})).view
    other = VIEWS["travel"](table)
    forger = Forger(seed, [result.id, other.id])
    before = sorted(path for path in Path(table.path).rglob("*"))
    snapshot = table.snapshot

    take = dict(doors(table, heard))[door]
    with caplog.at_level(logging.INFO):
        for _ in range(FORGED):
            reply = take(forger.message())
            if reply is not None:
                _check(reply)

    assert caplog.records == []
    assert sorted(path for path in Path(table.path).rglob("*")) == before
    opened = pl.connect(Path(table.path).parents[1]).table(table.name)
    assert isinstance(opened, Table)
    assert opened.snapshot == snapshot
    assert len(heard._chosen) <= SELECTIONS_KEPT
    assert dict(doors(table, heard)).keys() == set(DOORS)


def _check(reply: dict[str, Any]) -> None:
    assert reply.keys() in ({"number", "reply"}, {"number", "error"})
    assert reply["number"] is None or type(reply["number"]) is int
    assert len(reply.get("error", "")) <= ERROR_CHARACTERS


def test_a_widget_asks_its_own_view_only(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Selections()
    monkeypatch.setattr("paimonlab.notebook.kernel.widget.selections", lambda: heard)
    widget = VIEWS["timeline"](table).widget()
    asked: list[Any] = []

    def answer(request: Any) -> dict[str, Any]:
        asked.append(request)
        return {}

    heard.answer("view-other", answer)

    widget._heard(widget, {"id": "view-other", "number": 1, "request": {}}, [])

    assert asked == []


def test_what_was_chosen_is_not_kept_for_ever() -> None:
    heard = Selections()
    for number in range(SELECTIONS_KEPT + 10):
        heard.hear({"id": f"view-{number}", "selected": {"snapshot": number}})

    assert len(heard._chosen) == SELECTIONS_KEPT
    assert heard.of("view-0").snapshot is None
    assert heard.of(f"view-{SELECTIONS_KEPT + 9}").snapshot == SELECTIONS_KEPT + 9


def test_sessions_that_listen_are_not_kept_for_ever() -> None:
    ends = FrontEnds(FakeKernel(), lambda *_: {})
    for number in range(front_ends.LISTENING_KEPT + 10):
        ends.handle_msg(
            {"header": {"session": f"s{number}"}, "content": {"data": {"listens": True}}}
        )

    assert len(ends._listening) == front_ends.LISTENING_KEPT


def test_a_front_end_stops_a_watch_and_no_other_view() -> None:
    asked: list[Any] = []

    def answer(request: Any) -> dict[str, Any]:
        asked.append(request)
        return {}

    selection.selections().answer("view-watch", answer)
    ends = FrontEnds(FakeKernel(), lambda *_: {})

    for view_id in ("view-watch", "view-unknown", 7, None):
        content = {"data": {"stop": view_id}}
        ends.handle_msg({"content": content, "header": {"session": "a"}})

    assert asked == [{"stop": True}]
