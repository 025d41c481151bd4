"""Keys that move from one partition to another: changes applied in their order give the table."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab as pl
from paimonlab.datafile.reader import DataFile
from paimonlab.read import difference
from paimonlab.read.changed_rows import read_changes
from paimonlab.scan.change_splits import Fate
from paimonlab.table.inside import store_of

SEED = int(os.environ.get("PAIMONLAB_SEED", "1"))
COLUMNS = {"p": "STRING", "k": "INT", "v": "INT"}
ARROW = pa.schema([("p", pa.string()), ("k", pa.int32()), ("v", pa.int32())])
Row = dict[str, Any]


def create(folder: Path, producer: str) -> pl.Table:
    catalog = pl.connect(folder / "warehouse")
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        COLUMNS,
        partition_keys=["p"],
        primary_keys=["k"],
        options={
            "bucket": "-1",
            "dynamic-bucket.target-row-num": "5",
            "changelog-producer": producer,
            "write-buffer-size": "1 b",  # several files of a bucket in one commit
        },
    )


def write(table: pl.Table, rows: Iterable[tuple[str, Row]]) -> None:
    """Commit rows in two batches, so that a key may move, go and come in one commit."""
    kinds, values = zip(*rows, strict=True)
    data = pa.Table.from_pylist([*values], ARROW).append_column("kind", pa.array(kinds))
    half = data.num_rows // 2
    table.write(pa.concat_tables([data.slice(0, half), data.slice(half)]), row_kinds="kind")


def random_rows(random_: random.Random) -> list[tuple[str, Row]]:
    return [
        (
            random_.choice(["+I", "+I", "+U", "-D"]),
            {"p": random_.choice("abc"), "k": random_.randrange(8), "v": random_.randrange(100)},
        )
        for _ in range(random_.randint(1, 14))
    ]


def apply(rows: Iterable[Row], state: dict[int, Row]) -> None:
    for row in rows:
        kind = row.pop("rowkind")
        if kind in ("+I", "+U"):
            state[row["k"]] = row
        elif kind == "-D":
            state.pop(row["k"], None)


def by_key(rows: Iterable[Row]) -> dict[int, Row]:
    return {row["k"]: row for row in rows}


@pytest.mark.parametrize("producer", ["none", "input", "lookup", "full-compaction"])
def test_changes_applied_in_order_are_the_table(tmp_path: Path, producer: str) -> None:
    random_ = random.Random(f"{SEED}, {producer}")
    told = f"PAIMONLAB_SEED={SEED}, {producer}"
    table = create(tmp_path, producer)
    write(table, [("+I", {"p": "a", "k": 0, "v": 0})])
    if producer == "full-compaction":
        table.compact(full=True)
    first = table.snapshots.latest_id()
    assert first is not None
    state: dict[int, Row] = {}
    follower = table.follow(until=None)
    for step in range(10):
        while (batch := follower.poll()) is not None:
            apply(batch.data.to_pylist(), state)
        assert state == by_key(table.scan().to_arrow().to_pylist()), f"{told}, step {step}"
        write(table, random_rows(random_))
        if producer == "full-compaction":
            table.compact(full=True)
    latest = table.snapshots.latest_id()
    assert latest is not None

    final = by_key(table.scan().to_arrow().to_pylist())
    for rows in (
        table.changes(0, latest).to_arrow(),
        table.changes(0, latest).to_batches().read_all(),
    ):
        state = {}
        apply(rows.to_pylist(), state)
        assert state == final, told
    state = {}
    log = pl.connect(tmp_path / "warehouse").system_table("db.t$audit_log")
    between = {"incremental-between": f"0,{latest}"}
    apply(log.scan(options=between).to_arrow().to_pylist(), state)
    assert state == final, told
    old = by_key(table.scan(snapshot=first).to_arrow().to_pylist())
    apply(table.changes(first, latest, mode="diff").to_arrow().to_pylist(), old)
    assert old == final, told


@pytest.fixture
def moved(tmp_path: Path) -> pl.Table:
    """Return a table whose second commit moves a key, deletes one, changes one and adds one."""
    table = create(tmp_path, "none")
    write(table, [("+I", {"p": "a", "k": key, "v": key}) for key in range(4)])
    write(
        table,
        [
            ("+I", {"p": "b", "k": 0, "v": 10}),
            ("-D", {"p": "a", "k": 1, "v": 1}),
            ("+I", {"p": "a", "k": 2, "v": 12}),
            ("+I", {"p": "a", "k": 7, "v": 17}),
        ],
    )
    return table


def ends(table: pl.Table) -> tuple[int, int]:
    latest = table.snapshots.latest_id()
    assert latest is not None
    first = next(
        one
        for one in range(1, latest + 1)
        if len(table.scan(snapshot=one).to_arrow().filter(pc.field("p") == "a")) == 4
    )
    return first, latest


def test_of_keys_that_are_gone_no_values_are_compared(
    moved: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("values were compared")

    monkeypatch.setattr(difference, "encode", refuse)
    changes = moved.changes(*ends(moved), mode="diff")
    gone = [split for split in changes.splits if split.fate is Fate.GONE]

    found = read_changes(gone, changes.read_plan(), store_of(moved).file_io, threads=1).read_all()

    assert found.sort_by("k").to_pylist() == [
        {"rowkind": "-D", "p": "a", "k": 0, "v": 0},
        {"rowkind": "-D", "p": "a", "k": 1, "v": 1},
    ]
    with pytest.raises(AssertionError, match="values were compared"):
        changes.to_arrow()


def test_of_keys_that_are_gone_only_what_is_asked_for_is_read(
    moved: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[str] = set()
    batches = DataFile.batches

    def watched(self: DataFile, fields: Any, **others: Any) -> Any:
        read.update(field.name for field in fields)
        return batches(self, fields, **others)

    monkeypatch.setattr(DataFile, "batches", watched)
    first, latest = ends(moved)
    for where, values in ((None, set()), ("v < 1", {"v"})):
        changes = moved.changes(first, latest, mode="diff", columns=["k"], where=where)
        gone = [split for split in changes.splits if split.fate is Fate.GONE]
        read.clear()
        found = read_changes(
            gone, changes.read_plan(), store_of(moved).file_io, threads=1
        ).read_all()

        wanted = {0, 1} if where is None else {0}
        assert {row["k"] for row in found.to_pylist()} == wanted
        assert read & {"p", "v"} == values
    read.clear()
    moved.changes(first, latest, mode="diff", columns=["k"]).to_arrow()
    assert {"p", "v"} <= read, "what is there is compared whole"


def test_new_rows_of_a_difference_are_found_without_those_that_are_gone(
    moved: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    fates: list[Fate] = []
    compare = difference.read_difference

    def watched(split: Any, *others: Any) -> Any:
        fates.append(split.fate)
        return compare(split, *others)

    monkeypatch.setattr("paimonlab.read.changed_rows.read_difference", watched)

    found = moved.changes(*ends(moved), mode="diff").inserts().read_all()

    assert found.sort_by("k").to_pylist() == [
        {"p": "b", "k": 0, "v": 10},
        {"p": "a", "k": 2, "v": 12},
        {"p": "a", "k": 7, "v": 17},
    ]
    assert set(fates) == {Fate.PRESENT}
