"""Keys that move from one partition to another: changes applied in their order give the table."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl

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
    log = pl.connect(tmp_path / "warehouse").table("db.t$audit_log")
    between = {"incremental-between": f"0,{latest}"}
    apply(log.scan(options=between).to_arrow().to_pylist(), state)
    assert state == final, told
    old = by_key(table.scan(snapshot=first).to_arrow().to_pylist())
    apply(table.changes(first, latest, mode="diff").to_arrow().to_pylist(), old)
    assert old == final, told
