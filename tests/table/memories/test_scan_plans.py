"""What is remembered of plans and schemas is read once, and never rows of another snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.scan.plan import plan
from paimonlab.storage.local import LocalFileIO
from paimonlab.table.memories import scan_plans


def test_the_rows_are_those_of_the_snapshot_whatever_happens(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT", "v": "INT"}, options={"bucket": "-1"})
    model: dict[int, list[int]] = {}
    now: list[int] = []
    for number in range(40):
        step = int(rng.integers(5))
        added = rng.integers(0, 50, 4).tolist()
        if step == 0:
            table.overwrite(pa.table({"k": pa.array(added, pa.int32())}))
            now = added
        elif step == 1:
            table.compact(full=True)
        elif step == 2 and len(model) > 3:
            there = [snapshot.id for snapshot in table.snapshots.list()]
            target = int(rng.choice(there[-3:]))
            table.maintenance.rollback_to(snapshot=target)
            now = model[target]
            model = {id: rows for id, rows in model.items() if id <= target}
        elif step == 3:
            table = catalog.alter_table("db.t", pl.AddColumn(f"c{number}", "INT"))
        else:
            table.write(pa.table({"k": pa.array(added, pa.int32())}))
            now = now + added
        snapshot = table.snapshot
        if snapshot is None:
            continue
        model[snapshot.id] = now
        for _ in range(2):
            assert sorted(table.scan(["k"]).to_arrow()["k"].to_pylist()) == sorted(now)
            assert table.scan(limit=3).to_arrow().num_rows == min(3, len(now))
        past = int(rng.choice(list(model)))
        rows = table.scan(["k"], snapshot=past).to_arrow()["k"].to_pylist()
        assert sorted(rows) == sorted(model[past])


def test_a_snapshot_is_planned_once_unless_options_say_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT"})
    for number in range(3):
        table.write(pa.table({"k": pa.array([number], pa.int32())}))
    made = []

    def counted(*args: Any, **keywords: Any) -> Any:
        made.append(args)
        return plan(*args, **keywords)

    monkeypatch.setattr(scan_plans, "plan", counted)

    for _ in range(3):
        assert len(table.scan().plan().splits) == 1
        assert table.scan(limit=2).to_arrow().num_rows == 2
        assert table.scan().count() == 3
    assert len(made) == 1
    apart = {"source.split.target-size": "1 b", "source.split.open-file-cost": "1 b"}
    assert len(table.scan(options=apart).plan().splits) == 3
    assert len(made) == 2
    for _ in range(2):  # files differ with each condition
        assert table.scan(where="k = 1").to_arrow().num_rows == 1
    assert len(made) == 4
    table.write(pa.table({"k": pa.array([3], pa.int32())}))
    assert table.scan().to_arrow().num_rows == 4
    assert len(made) == 5


def test_a_second_read_lists_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT"})
    table.write(pa.table({"k": pa.array([1], pa.int32())}))
    table.scan().to_arrow()
    listed = []
    names = LocalFileIO.list_names

    def counted(self: LocalFileIO, path: str) -> Sequence[str]:
        listed.append(path)
        return names(self, path)

    monkeypatch.setattr(LocalFileIO, "list_names", counted)

    assert table.scan(limit=1).to_arrow().num_rows == 1
    assert listed == []
    catalog.table("db.t").scan().to_arrow()
    assert listed, "a table that was just opened lists its schemas"
