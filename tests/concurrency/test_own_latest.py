"""Whether the last commit of this process is the latest, after others changed the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paimonlab as pl
from paimonlab.table.table import Table


def opened(folder: Path) -> Table:
    return pl.connect(folder).table("db.t")


def ids(table: Any) -> list[int]:
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def begun(folder: Path) -> Table:
    """Make a table of three commits of one process, which knows that they are its own."""
    catalog = pl.connect(folder)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"})
    for number in range(3):
        table.write([{"id": number}])
    assert table.snapshots.latest() == opened(folder).snapshots.latest()
    return table


def test_one_that_was_rolled_back_is_not(tmp_path: Path) -> None:
    ours = begun(tmp_path)
    opened(tmp_path).maintenance.rollback_to(snapshot=1)

    assert ours.snapshots.latest() == opened(tmp_path).snapshots.get(1)
    assert ids(ours) == [0]


def test_one_whose_id_others_gave_again_is_not(tmp_path: Path) -> None:
    ours, theirs = begun(tmp_path), opened(tmp_path)
    theirs.maintenance.rollback_to(snapshot=2)
    theirs.write([{"id": 7}])

    assert ours.snapshots.latest() == theirs.snapshots.latest()
    ours.write([{"id": 8}])
    assert ids(ours) == ids(theirs) == [0, 1, 7, 8]


def test_one_that_others_followed_is_not(tmp_path: Path) -> None:
    ours, theirs = begun(tmp_path), opened(tmp_path)
    theirs.write([{"id": 7}])
    theirs.write([{"id": 8}])
    theirs.maintenance.expire_snapshots(retain_max=1, retain_min=1)

    assert ours.snapshots.latest() == theirs.snapshots.latest()
    ours.write([{"id": 9}])
    assert ids(opened(tmp_path)) == [0, 1, 2, 7, 8, 9]
