"""Rows with ids and columns in files of their own, in the hands of both."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.interop.pair import SIDES, Pair, Side
from tests.java_values import java_rows, unordered

COLUMNS = {"a": "INT", "b": "STRING", "p": "INT"}
TRACKED = {"row-tracking.enabled": "true"}
EVOLVING = {**TRACKED, "data-evolution.enabled": "true"}
pytestmark = [pytest.mark.interop, pytest.mark.every_release]

IDS = ("_ROW_ID", "_SEQUENCE_NUMBER")


def rows_of(count: int, first: int = 0) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "a": pa.array(numbers, pa.int32()),
            "b": [None if number % 5 == 4 else f"b{number}" for number in numbers],
            "p": pa.array([number % 2 for number in numbers], pa.int32()),
        }
    )


def assert_same_ids(pair: Pair) -> list[str]:
    """Both read the same rows with the same ids; returns them."""
    pair.assert_same("db.t")
    table = pair.catalog.system_table("db.t$row_tracking")
    ours = table.scan().to_arrow()
    schema = pair.open("db.t").scan([*COLUMNS, *IDS]).schema
    fields = [schema.field(name) for name in ours.schema.names]
    mine = unordered(java_rows(ours, fields))
    assert mine == unordered(pair.java.rows("db.t$row_tracking"))
    return mine


@pytest.mark.parametrize("side", SIDES)
def test_ids_go_on_where_the_other_stopped(pair: Pair, side: Side) -> None:
    other: Side = "java" if side == "us" else "us"
    pair.create(side, "db.t", COLUMNS, options=TRACKED)
    for commit in range(3):
        pair.write(side, "db.t", rows_of(3, first=100 * commit))
        pair.write(other, "db.t", rows_of(2, first=100 * commit + 50))
        assert len(assert_same_ids(pair)) == 5 * (commit + 1)
    before = assert_same_ids(pair)

    pair.java("compact", table="db.t")

    kinds = [one["commitKind"] for one in pair.java("snapshots", table="db.t")]
    assert kinds[-1] == "COMPACT"
    assert assert_same_ids(pair) == before, "compaction keeps ids"
    pair.write("us", "db.t", rows_of(3, first=900))
    assert len(assert_same_ids(pair)) == 18


def test_java_reads_the_columns_we_write(pair: Pair) -> None:
    pair.create("us", "db.t", COLUMNS, partition=["p"], options=EVOLVING)
    pair.write("us", "db.t", rows_of(6))
    pair.write("java", "db.t", rows_of(4, first=6))
    table = pair.open("db.t")

    table.write_columns(pa.table({"_ROW_ID": [1, 7, 2], "b": ["new1", None, "new2"]}))
    table.write_columns(pa.table({"_ROW_ID": [2], "a": pa.array([-2], pa.int32())}))
    both: dict[str, Any] = {"_ROW_ID": [2, 3], "a": [-22, -33], "b": ["x", "y"]}
    table.write_columns(pa.table(both))

    found = assert_same_ids(pair)
    assert len(found) == 10
    pair.write("java", "db.t", rows_of(2, first=30))
    assert len(assert_same_ids(pair)) == 12
    columns = ["_ROW_ID", *COLUMNS]
    before = table.scan(columns).to_arrow().sort_by("_ROW_ID")
    assert table.compact(full=True).snapshot is not None
    assert len(assert_same_ids(pair)) == 12
    assert table.scan(columns).to_arrow().sort_by("_ROW_ID") == before
    table.write_columns(pa.table({"_ROW_ID": [2], "b": ["after"]}))
    assert len(assert_same_ids(pair)) == 12


def test_java_finds_the_ids_of_rows_we_changed(pair: Pair) -> None:
    pair.create("us", "db.t", COLUMNS, options=TRACKED)
    pair.write("us", "db.t", rows_of(6))
    pair.write("java", "db.t", rows_of(4, first=6))
    table = pair.open("db.t")

    table.update({"b": "'new'"}, where="a IN (2, 8)")
    table.delete("a IN (3, 9)")

    assert len(assert_same_ids(pair)) == 8
    pair.write("java", "db.t", rows_of(2, first=30))
    assert len(assert_same_ids(pair)) == 10
    merge = table.merge(rows_of(4, first=31), on="t.a = s.a")
    merge.when_matched_update().when_not_matched_insert().execute()
    before = assert_same_ids(pair)
    pair.java("compact", table="db.t")
    assert assert_same_ids(pair) == before
    pair.write("java", "db.t", rows_of(1, first=40))
    found = table.scan(["_ROW_ID"]).to_arrow()["_ROW_ID"].to_pylist()
    assert sorted(found) == [*range(3), *range(4, 9), *range(10, 16)], "only new rows use ids up"
    assert pair.java("snapshots", table="db.t")[-1]["nextRowId"] == 16
    kept = table.scan(["a"], "_ROW_ID IN (2, 8)").to_arrow()["a"].to_pylist()
    assert sorted(kept) == [2, 8]
