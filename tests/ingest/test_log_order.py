"""Rows of tables that took turns in a log are in its order again: a list of them is the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import DataError
from paimonlab.ingest.changes import RowChanges
from paimonlab.ingest.fitting import FittedRows, fitted
from paimonlab.ingest.log_order import in_log_order
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource, rows

SCHEMAS = ("id INT NOT NULL, v STRING", "v STRING, id INT NOT NULL", "id INT NOT NULL, n BIGINT")


def _ordered(changes: RowChanges, numbers: Sequence[int]) -> RowChanges:
    return dataclasses.replace(changes, order=pa.array(numbers, pa.int64()))


def _seen(found: Sequence[FittedRows], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return of each row what it has, from which table and which row of its batch it is."""
    seen = []
    for batch in found:
        for place, row in enumerate(batch.rows.to_pylist()):
            changes, first = batch.slice(place, 1).origin
            values = [row.get(name) for name in names]
            seen.append((*values, row["_rowkind"], changes.table, first))
    return seen


@pytest.mark.parametrize("kinds", [SCHEMAS[:1], SCHEMAS[:2], SCHEMAS])
@pytest.mark.parametrize("defaults", [[], ["n"]])
def test_rows_of_tables_that_take_turns(
    rng: np.random.Generator, kinds: Sequence[str], defaults: list[str]
) -> None:
    waiting: list[FittedRows] = []
    model: list[tuple[Any, ...]] = []
    number = 0
    for _ in range(12):
        if rng.random() < 0.3:
            whole = rows("d.whole", SCHEMAS[0], "+I 5 x", "+I 6 y")
            waiting.append(fitted(whole))
            model += [(5, "x", None, 0, "d.whole", 0), (6, "y", None, 0, "d.whole", 1)]
            continue
        events = rng.integers(3, size=rng.integers(1, 40))
        drawn: dict[int, list[tuple[str, int]]] = {}
        for event in events.tolist():
            number += 1
            kind = source(kinds[event % len(kinds)])
            for _ in range(rng.integers(1, 3)):  # rows of one event have one number
                key = int(rng.integers(9))
                values = {"id": key, "v": f"v{number}", "n": number}
                texts = " ".join(str(values[name]) for name in kind.names)
                mine = drawn.setdefault(event, [])
                shown = [values[name] if name in kind.names else None for name in ("id", "v", "n")]
                model.append((*shown, 0, f"d.t{event}", len(mine)))
                mine.append((f"+I {texts}", number))
        for event, told in drawn.items():
            made = rows(f"d.t{event}", kinds[event % len(kinds)], *(text for text, _ in told))
            waiting.append(fitted(_ordered(made, [one for _, one in told])))
    found = in_log_order(waiting, defaults)
    assert _seen(found, ("id", "v", "n")) == model
    if len(kinds) == 1:
        assert len(found) <= len(waiting)
    missing = {name for batch in found for name in ("n",) if name not in batch.rows.schema.names}
    assert missing or not defaults or len(kinds) < 3


def test_rows_that_are_in_order_already_stay_as_they_are() -> None:
    first = fitted(_ordered(rows("d.a", SCHEMAS[0], "+I 1 a", "+I 2 b"), [1, 2]))
    second = fitted(_ordered(rows("d.b", SCHEMAS[2], "+I 1 7"), [3]))
    assert in_log_order([first, second]) == [first, second]


def test_order_is_not_told_beside_values_that_did_not_change() -> None:
    made = rows("d.a", SCHEMAS[0], "+I 1 a")
    with pytest.raises(DataError, match="order of rows"):
        dataclasses.replace(made, order=pa.array([1], pa.int32()))
    with pytest.raises(DataError, match="order of rows"):
        dataclasses.replace(_ordered(made, [1]), unchanged={"v": pa.array([True])})


@pytest.mark.parametrize("max_bytes", [1, 1 << 20])
def test_a_row_goes_from_a_shard_to_another_and_back(tmp_path: Path, max_bytes: int) -> None:
    """Also where the rows are more than the memory: those that belong together are waited for."""
    schema = dataclasses.replace(source(SCHEMAS[0]), primary_keys=("id",))
    one = rows("d1.t", schema, "+I 1 a", "-D 1 a", "+I 1 c", "+I 3 long")
    two = rows("d2.t", schema, "+I 1 b", "-D 1 b", "+I 2 x", "+U 3 -")
    script = [
        _ordered(one, [1, 2, 5, 7]),
        _ordered(two, [3, 4, 6, 8]),
        rows("d2.t", schema),
        rows("d1.t", schema, "+I 4 d"),
        "|",
    ]
    origin = ScriptedSource(script, {"d1.t": schema, "d2.t": schema})
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        origin,
        into="ods",
        name="j",
        metadata=["database_name"],
        max_bytes=max_bytes,
        options={"bucket": 1},
    )
    job.run(until="caught-up")
    found = catalog.table("ods.t").scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["v"], row["database_name"]) for row in found if row["v"]) == [
        (1, "c", "d1"),
        (2, "x", "d2"),
        (4, "d", "d1"),
    ]
    assert [row["database_name"] for row in found if row["id"] == 3] == ["d2"]


def test_a_row_that_is_set_aside_is_known_by_its_own_table(tmp_path: Path) -> None:
    """The last one has a later row of its key; of the first it is known that it has none."""
    schema = dataclasses.replace(source("id INT NOT NULL, v VARCHAR(2)"), primary_keys=("id",))
    one = rows("d1.t", schema, "+I 1 a", "+I 1 long", "+I 2 z")
    two = rows("d2.t", schema, "+I 2 b", "+I 2 longer", "+I 3 c")
    script = [_ordered(one, [1, 5, 6]), _ordered(two, [2, 3, 4]), rows("d2.t", schema), "|"]
    origin = ScriptedSource(script, {"d1.t": schema, "d2.t": schema})
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(origin, into="ods", name="j", max_dead=9)
    job.run(until="caught-up")
    dead = catalog.table("ods.j__dead").scan().to_arrow().to_pylist()
    told = sorted((row["source_table"], row["position"], row["row"]) for row in dead)
    assert told == [
        ("d1.t", '"row 1"', '{"id": 1, "v": "long"}'),
        ("d2.t", '"row 1"', '{"id": 2, "v": "longer"}'),
    ]
    replayed = job.replay(lambda letter: letter.row and {**letter.row, "v": "ok"})
    assert (replayed.rows, replayed.changed) == (1, 1)
    found = catalog.table("ods.t").scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in found) == [(1, "ok"), (2, "z"), (3, "c")]
