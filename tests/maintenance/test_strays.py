"""Snapshots below the chain: those of commits that came too late."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import paimonlab as pl
from paimonlab.maintenance.retention import Retention
from paimonlab.maintenance.snapshot_expiry import ChangelogKeeping, expire, plan_expiry
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from paimonlab.table.upkeep.history import history_of


def _table(path: Path) -> Table:
    catalog = pl.connect(path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "INT"}, options={"write-only": "true"})
    for number in range(7):
        table.write(pa.table({"a": pa.array([number], pa.int32())}))
    return table


def test_what_others_went_back_to_is_no_stray_any_more(tmp_path: Path) -> None:
    table = _table(tmp_path)
    table.tags.create("two", snapshot=2)
    table.maintenance.expire_snapshots(retain_max=3, retain_min=1)
    history = history_of(definition_of(table), store_of(table))
    stray = Path(history.layout.snapshot(2))
    stray.write_bytes(Path(history.layout.snapshot(5)).read_bytes().replace(b":5,", b":2,", 1))
    retention = Retention(retain_max=9, retain_min=9, older_than_millis=0)
    plan = plan_expiry(history, retention, ChangelogKeeping())
    assert plan.strays == (2,)

    stray.unlink()  # by whoever made it
    table.maintenance.rollback_to(tag="two")
    expire(plan, history)

    assert table.snapshots.ids() == [2]
    assert sorted(table.scan().to_arrow()["a"].to_pylist()) == [0, 1]
