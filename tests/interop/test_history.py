"""Tags, branches, rollback, scan modes and changes in the hands of both."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import PaimonError
from paimonlab.spec.schema.schema_changes import SetOption
from paimonlab.table.table import Table
from tests.interop.oracle import JavaError
from tests.interop.pair import KIND, Pair
from tests.java_values import java_rows, unordered

pytestmark = pytest.mark.interop

COLUMNS = {"k": "INT NOT NULL", "v": "STRING"}
TWO_BUCKETS = {"bucket": "2"}


def rows(*keys: int, v: str = "x", kind: str = "+I") -> pa.Table:
    count = len(keys)
    return pa.table({"k": pa.array(keys, pa.int32()), "v": [v] * count, KIND: [kind] * count})


@pytest.fixture
def table(pair: Pair) -> str:
    pair.create("java", "db.t", COLUMNS, pk=["k"], options=TWO_BUCKETS)
    for number, side in enumerate(("us", "java", "us", "java")):
        pair.write(side, "db.t", rows(number, v=f"v{number}"))  # type: ignore[arg-type]
    return "db.t"


def same_at(pair: Pair, name: str, options: Mapping[str, str]) -> None:
    ours = pair.our_rows(name, options=options)
    assert unordered(ours) == unordered(pair.java_rows(name, options=dict(options))), options


def test_tags_of_each_other(pair: Pair, table: str) -> None:
    ours = pair.open(table)
    ours.tags.create("ours", snapshot=1)
    ours.tags.create("brief", snapshot=2, time_retained=timedelta(hours=2))
    pair.java("tag", table=table, name="javas", snapshot=3)
    pair.java("tag", table=table, name="javas brief", snapshot=3, seconds=60)

    known = {"ours": 1, "brief": 2, "javas": 3, "javas brief": 3}
    assert pair.java("tags", table=table) == known
    assert {name: tag.id for name, tag in ours.tags.list().items()} == known
    assert pair.java("tag_lifetimes", table=table) == {"brief": 7200, "javas brief": 60}
    for name in known:
        same_at(pair, table, {"scan.tag-name": name})
    ours.tags.delete("javas")
    ours.tags.rename("javas brief", "2")
    ours.tags.replace("ours", snapshot=4)
    pair.java("delete_tag", table=table, name="brief")
    assert pair.java("tags", table=table) == {"2": 3, "ours": 4}
    same_at(pair, table, {"scan.version": "2"})


def test_tags_outlive_snapshots_and_take_their_files_along(pair: Pair, table: str) -> None:
    ours = pair.open(table)
    for snapshot_id in (1, 2, 3):
        ours.tags.create(f"t{snapshot_id}", snapshot=snapshot_id)
    pair.java("compact", table=table)
    pair.write("java", table, rows(9))
    assert pair.java("expire", table=table, kept=1) > 0

    for name in ("t1", "t2", "t3"):
        same_at(pair, table, {"scan.tag-name": name})
    ours.tags.delete("t2")
    for name in ("t1", "t3"):
        same_at(pair, table, {"scan.tag-name": name})
    pair.java("delete_tag", table=table, name="t1")
    same_at(pair, table, {"scan.tag-name": "t3"})
    ours.tags.delete("t3")
    pair.assert_same(table)


def test_branches_of_each_other(pair: Pair, table: str) -> None:
    ours = pair.open(table)
    ours.tags.create("two", snapshot=2)
    ours.branches.create("ours", tag="two")
    pair.java("create_branch", table=table, name="javas", tag="two")
    ours.branches.create("empty")
    pair.java("create_branch", table=table, name="javas_empty")

    names = ["empty", "javas", "javas_empty", "ours"]
    assert sorted(pair.java("branches", table=table)) == names == ours.branches.list()
    for name in names:
        branch = f"{table}$branch_{name}"
        pair.assert_same(branch)
        pair.write("java", branch, rows(20, v="java"))
        pair.write("us", branch, rows(21, v="us"))
        pair.assert_same(branch)
    pair.assert_same(table)
    ours.branches.delete("javas_empty")
    pair.java("delete_branch", table=table, name="empty")
    assert sorted(pair.java("branches", table=table)) == ["javas", "ours"] == ours.branches.list()


@pytest.mark.parametrize("side", ["us", "java"])
def test_a_fast_forward_of_either(pair: Pair, table: str, side: str) -> None:
    ours = pair.open(table)
    ours.tags.create("two", snapshot=2)
    ours.branches.create("dev", tag="two")
    pair.write("us", f"{table}$branch_dev", rows(30, v="dev"))
    pair.write("java", f"{table}$branch_dev", rows(31, v="dev"))

    if side == "us":
        ours.branches.fast_forward("dev")
    else:
        pair.java("fast_forward", table=table, name="dev")

    pair.assert_same(table)
    assert unordered(pair.our_rows(table)) == unordered(pair.our_rows(f"{table}$branch_dev"))
    pair.write("java", table, rows(32, v="on"))
    pair.write("us", table, rows(33, v="on"))
    pair.assert_same(table)
    pair.assert_same(f"{table}$branch_dev")


@pytest.mark.parametrize("side", ["us", "java"])
def test_a_rollback_of_either(pair: Pair, table: str, side: str) -> None:
    ours = pair.open(table)
    ours.tags.create("three", snapshot=3)
    pair.java("compact", table=table)
    pair.write("java", table, rows(40))

    if side == "us":
        ours.maintenance.rollback_to(snapshot=3)
    else:
        pair.java("rollback", table=table, snapshot=3)

    assert [one["id"] for one in pair.java("snapshots", table=table)] == [1, 2, 3]
    for snapshot_id in (1, 2, 3):
        same_at(pair, table, {"scan.snapshot-id": str(snapshot_id)})
    same_at(pair, table, {"scan.tag-name": "three"})
    pair.write("java", table, rows(41))
    pair.write("us", table, rows(42))
    pair.java("compact", table=table)
    pair.assert_same(table)


def test_a_rollback_to_a_tag_of_an_expired_snapshot(pair: Pair, table: str) -> None:
    ours = pair.open(table)
    ours.tags.create("one", snapshot=1)
    pair.java("compact", table=table)
    pair.java("expire", table=table, kept=1)

    ours.maintenance.rollback_to(tag="one")

    pair.assert_same(table)
    pair.write("java", table, rows(50))
    pair.write("us", table, rows(51))
    pair.assert_same(table)
    assert [one["id"] for one in pair.java("snapshots", table=table)] == [1, 2, 3]


def test_consumers_of_each_other(pair: Pair, table: str) -> None:
    ours = pair.open(table)
    ours.consumers.reset("ours", 2)
    pair.java("reset_consumer", table=table, name="javas", next=3)

    assert pair.java("consumers", table=table) == {"ours": 2, "javas": 3} == ours.consumers.list()


def test_java_reads_our_statistics(pair: Pair, table: str) -> None:
    ours = pair.open(table)
    ours.maintenance.analyze()

    found = pair.java("statistics", table=table)
    assert (found["snapshotId"], found["mergedRecordCount"]) == (4, 4)
    assert found["colStats"]["k"] == {
        "colId": 0,
        "distinctCount": 4,
        "min": "0",
        "max": "3",
        "nullCount": 0,
        "avgLen": 4,
        "maxLen": 4,
    }
    pair.write("java", table, rows(60))
    assert ours.statistics is not None
    pair.assert_same(table)


def outcome(read: Any) -> list[str] | None:
    """Return rows; None for an error of either side."""
    try:
        return unordered(read())
    except (PaimonError, ValueError, JavaError):
        return None


def test_every_way_to_choose_a_snapshot(pair: Pair, table: str) -> None:
    pair.java("compact", table=table)
    pair.write("java", table, rows(0, 70, v="late"))
    ours = pair.open(table)
    ours.tags.create("two", snapshot=2)
    times = [one.time_millis for one in ours.snapshots.list()]
    points = [
        "scan.timestamp-millis",
        "scan.creation-time-millis",
        "scan.file-creation-time-millis",
    ]
    asked: list[dict[str, str]] = [
        {"scan.mode": mode}
        for mode in ("default", "latest-full", "full", "latest", "compacted-full", "from-snapshot")
    ]
    for key in points:
        asked += [{key: str(time + offset)} for time in times for offset in (-1, 0, 1)]
    asked += [
        {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "3"},
        {"scan.mode": "from-snapshot", "scan.snapshot-id": "3"},
        {"scan.mode": "from-snapshot", "scan.tag-name": "two"},
        {"scan.mode": "from-timestamp", "scan.timestamp-millis": str(times[1])},
        {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": str(times[2])},
        {"scan.mode": "from-file-creation-time", "scan.file-creation-time-millis": str(times[2])},
        {"scan.mode": "compacted-full", "scan.snapshot-id": "3"},
        {"scan.mode": "from-timestamp", "scan.snapshot-id": "3"},
        {"scan.snapshot-id": "3", "scan.tag-name": "two"},
        {"scan.mode": "incremental"},
        {"scan.mode": "incremental", "incremental-between": "1,3"},
        {"scan.mode": "from-snapshot", "incremental-between": "1,3"},
        {"scan.snapshot-id": "1", "incremental-between": "1,3"},
        {"scan.version": "two"},
        {"scan.version": "4"},
        {"scan.version": "odd"},
    ]
    for options in asked:
        ours_read = outcome(lambda: pair.our_rows(table, options=options))  # noqa: B023
        javas_read = outcome(lambda: pair.java_rows(table, options=options))  # noqa: B023
        assert ours_read == javas_read, options


KINDS: dict[str, dict[str, str]] = {
    "none": {},
    "input": {"changelog-producer": "input"},
    "lookup": {"changelog-producer": "lookup"},
    "full-compaction": {"changelog-producer": "full-compaction"},
    "vectors": {"deletion-vectors.enabled": "true"},
    "first-row": {"merge-engine": "first-row", "changelog-producer": "lookup"},
    "partial-update": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "aggregation": {"merge-engine": "aggregation", "fields.v.aggregate-function": "max"},
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", list(KINDS))
def test_changes_are_those_java_reads(pair: Pair, kind: str, seed: int) -> None:
    random_ = random.Random(seed)
    options = {**TWO_BUCKETS, **KINDS[kind]}
    pair.create("java", "db.c", COLUMNS, pk=["k"], options=options)
    for step in range(6):
        keys = random_.sample(range(8), 3)
        pair.write("java", "db.c", rows(*keys, v=f"{step}"))
        if random_.random() < 0.5 and kind not in {"first-row", "aggregation"}:
            pair.write("java", "db.c", rows(random_.choice(keys), kind="-D"))
        if random_.random() < 0.3:
            pair.java("compact", table="db.c")
    table = pair.open("db.c")
    latest = max(table.snapshots.ids())
    table.tags.create("a", snapshot=2)
    table.tags.create("b", snapshot=latest)

    for mode in ("auto", "delta", "changelog", "diff"):
        ranges = [(0, latest), (1, 3), (2, latest), (3, 3), *pairs(random_, latest)]
        for start, end in dict.fromkeys(ranges):
            if mode == "diff" and start == 0:
                continue
            compare_changes(pair, f"{start},{end}", mode, f"seed {seed}")
    compare_changes(pair, "a,b", "auto", f"seed {seed}")


def pairs(random_: random.Random, latest: int) -> list[tuple[int, int]]:
    found = [sorted(random_.sample(range(1, latest + 1), 2)) for _ in range(4)]
    return [(low, high) for low, high in found]


def compare_changes(pair: Pair, between: str, mode: str, where: str) -> None:
    options = {"incremental-between": between, "incremental-between-scan-mode": mode}
    table = pair.open("db.c")
    start, end = between.split(",")
    found = (
        table.changes(int(start), int(end), mode=mode)  # type: ignore[arg-type]
        if start.isdecimal()
        else table.changes(start, end)
    )
    arrow = found.to_arrow()
    fields = [table.schema.field(name) for name in found.columns]
    values = java_rows(arrow.drop_columns("rowkind"), fields)
    kinds = arrow["rowkind"].to_pylist()
    ours = [[kind, row] for kind, row in zip(kinds, values, strict=True)]
    if found.range.kind.value == "diff":
        assert found.range.before is not None or start == end
        old, new = (javas_state(pair, point, table) for point in (start, end))
        gone = [["-", old[key]] for key in old.keys() - new.keys()]
        javas = [*gone, *(["+", row] for key, row in new.items() if old.get(key) != row)]
        ours = [["-" if kind == "-D" else "+", row] for kind, row in ours]
    else:
        javas = pair.java("read", table="db.c", options=options)
    assert unordered(ours) == unordered(javas), f"{where}: {between} {mode}"
    shown = [row for kind, row in javas if kind in {"+I", "+U", "+"}]
    assert unordered(pair.our_rows("db.c", options=options)) == unordered(shown)


def javas_state(pair: Pair, point: str, table: Table) -> dict[object, list[object]]:
    """Return the rows that Java reads at a snapshot or tag, by key."""
    snapshot = int(point) if point.isdecimal() else table.tags.list()[point].id
    rows = pair.java_rows("db.c", options={"scan.snapshot-id": str(snapshot)})
    return {row[0]: row for row in rows}


def test_java_leaves_files_of_both_states_out_of_a_difference(pair: Pair) -> None:
    """What docs/compatibility.md says of both: the states differ in the row as it is merged."""
    columns = {"k": "INT NOT NULL", "a": "STRING", "b": "INT"}
    engine = {"bucket": "1", "merge-engine": "partial-update"}
    pair.create("java", "db.d", columns, pk=["k"], options=engine)
    for a, b in (("w", 0), ("x", 1), (None, 9)):
        data = {"k": pa.array([1], pa.int32()), "a": pa.array([a]), "b": pa.array([b], pa.int32())}
        pair.write("java", "db.d", pa.table(data))
    options = {"incremental-between": "2,3", "incremental-between-scan-mode": "diff"}

    assert pair.our_rows("db.d", options=options) == [[1, "x", 9]]
    assert pair.java_rows("db.d", options=options) == [[1, None, 9]]


def test_a_fallback_branch_as_java_reads_it(pair: Pair) -> None:
    columns = {"dt": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
    pair.create("java", "db.f", columns, pk=["dt", "k"], partition=["dt"], options={"bucket": "1"})
    table = pair.open("db.f")
    table.branches.create("old")
    for name, days in (("db.f", "ab"), ("db.f$branch_old", "bc")):
        for day in days:
            data = {"dt": [day], "k": pa.array([1], pa.int32()), "v": [name]}
            pair.write("us", name, pa.table(data))
    pair.alter("java", "db.f", SetOption("x", "y"), ["set", "scan.fallback-branch", "old"])

    pair.assert_same("db.f")
    for where, javas in (("dt = 'b'", ["=", "dt", "b"]), ("k = 1", ["=", "k", 1])):
        ours = pair.our_rows("db.f", where=where)
        assert unordered(ours) == unordered(pair.java_rows("db.f", filter=javas))
    assert len(pair.our_rows("db.f")) == 3


def test_tags_that_both_make_by_themselves(pair: Pair) -> None:
    options = {
        **TWO_BUCKETS,
        "tag.automatic-creation": "process-time",
        "tag.creation-period": "hourly",
    }
    pair.create("java", "db.a", COLUMNS, pk=["k"], options=options)
    pair.write("us", "db.a", rows(1))
    made = pair.java("tags", table="db.a")
    assert len(made) == 1

    pair.write("java", "db.a", rows(2))
    assert pair.java("tags", table="db.a") == made
    pair.create("java", "db.b", COLUMNS, pk=["k"], options=options)
    pair.write("java", "db.b", rows(1))
    pair.write("us", "db.b", rows(2))
    assert len(pair.java("tags", table="db.b")) == 1
