"""What changes tables: ``rollback``, ``analyze``, tags, branches, consumers."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from tests.cli.conftest import Run


def test_a_rollback_shows_its_plan_and_asks(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    rollback = ("rollback", str(tmp_path), "db.orders", "--snapshot", "1")

    assert run(*rollback).exit_code == 2  # nobody is there to be asked
    planned = run(*rollback, "--dry-run")
    document = json.loads(run(*rollback, "--dry-run", "--json").output)
    assert planned.exit_code == 0
    assert "without 2 snapshots (3, 2), 0 changelogs" in planned.output
    assert (document["dry_run"], document["snapshots"]) == (True, [3, 2])
    assert orders.snapshots.ids() == [1, 2, 3]

    done = run(*rollback, "--yes", "--json")

    assert done.exit_code == 0
    assert json.loads(done.output) == {**document, "dry_run": False}
    assert orders.snapshots.ids() == [1]


def test_too_many_arguments_are_answered_with_an_example(run: Run, orders: pl.Table) -> None:
    warehouse = str(Path(orders.path).parents[1])

    given = run("rollback", warehouse, "db.orders", "1")

    assert given.exit_code == 2
    assert "For example: paimonlab rollback shop.orders --snapshot 1 --dry-run" in given.output


def test_an_answer_counts_where_somebody_is_asked(
    run: Run, orders: pl.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.cli.planned.is_asked", lambda: True)
    rollback = ("rollback", str(tmp_path), "db.orders", "--snapshot", "2")

    assert run(*rollback, answer="n\n").exit_code == 0
    assert orders.snapshots.ids() == [1, 2, 3]
    assert run(*rollback, answer="y\n").exit_code == 0
    assert orders.snapshots.ids() == [1, 2]


def test_what_fails_is_one_line_and_exit_code_one(
    run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    found = run("rollback", str(tmp_path), "db.orders", "--snapshot", "9", "--yes")

    assert found.exit_code == 1
    assert found.output == "Error: db.orders: no snapshot 9. Its snapshots are 1 to 3.\n"


def test_a_target_must_be_said_once(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    for arguments in (
        (),
        ("--snapshot", "1", "--tag", "a"),
        ("--snapshot=1", "--yes", "--dry-run"),
    ):
        assert run("rollback", str(tmp_path), "db.orders", *arguments).exit_code == 2


def test_compaction_of_one_partition(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    compact = ("compact", str(tmp_path), "db.orders", "--full", "--partition", "dt=2026-01-01")

    planned = json.loads(run(*compact, "--dry-run", "--json").output)
    assert (planned["dry_run"], planned["snapshot_id"]) == (True, None)
    assert [one["picked"]["files"] for one in planned["buckets"]] == [2]
    assert orders.snapshots.ids()[-1] == 3
    idle = json.loads(run(*compact, "--idle-for", "1 d", "--dry-run", "--json").output)
    assert idle["buckets"] == []
    done = run(*compact, "--bucket", "0")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("db.orders: compacted 1 bucket, 2 files")
    assert done.output.count("\n") == 2
    assert (orders.snapshots.ids()[-1], orders.scan().count()) == (4, 3)
    assert json.loads(run(*compact, "--json").output)["snapshot_id"] is None
    assert run(*compact, "--partition", "nothing=1").exit_code == 1


def test_snapshots_expire(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    expire = ("expire", str(tmp_path), "db.orders", "--retain-max", "1", "--retain-min", "1")

    assert run(*expire).exit_code == 2
    document = json.loads(run(*expire, "--dry-run", "--json").output)
    assert (document["dry_run"], document["snapshots"]) == (True, [1, 2])
    assert "seen" not in document
    assert "2 snapshots expire, 1 to 2" in run(*expire, "--dry-run").output
    assert orders.snapshots.ids() == [1, 2, 3]
    assert run(*expire, "--yes").exit_code == 0
    assert orders.snapshots.ids() == [3]


def test_how_old_snapshots_must_be_to_expire(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    expire = ("expire", str(tmp_path), "db.orders", "--retain-min=1", "--dry-run", "--json")

    for older_than, ids in (("7 d", []), ("2000-01-01", []), ("2100-01-01 00:00:00", [1, 2])):
        found = run(*expire, "--older-than", older_than)
        assert json.loads(found.output)["snapshots"] == ids
    assert run(*expire, "--older-than", "last week").exit_code == 2
    changelogs = ("expire-changelogs", str(tmp_path), "db.orders", "--all", "--yes")
    assert run(*changelogs).exit_code == 0


def test_old_partitions_expire(run: Run, tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"dt": "STRING", "id": "INT"}, partition_keys=["dt"])
    table.write(pa.table({"dt": ["20200101", "20200102"], "id": pa.array([1, 2], pa.int32())}))
    expire = ("expire-partitions", str(tmp_path), "db.t")

    assert run(*expire, "--dry-run").exit_code == 2  # the table does not say how old they may be
    by_day = ("--expiration-time", "1 d", "--timestamp-formatter", "yyyyMMdd")
    document = json.loads(run(*expire, *by_day, "--dry-run", "--json").output)
    assert document["dry_run"]
    assert len(document["partitions"]) == 2
    assert table.scan().count() == 2
    assert run(*expire, *by_day, "--max-expires", "1", "--yes").exit_code == 0
    assert table.scan().to_arrow()["id"].to_pylist() == [2]


def test_rows_are_sorted_as_they_are_compacted(run: Run, tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "INT", "b": "INT"})
    for start in (5, 0):
        numbers = pa.array(range(start, start + 5), pa.int32())
        table.write(pa.table({"a": numbers, "b": numbers}))

    done = run("compact", str(tmp_path), "db.t", "--order-by", "a", "--strategy", "order")

    assert done.exit_code == 0, done.output
    assert table.scan(["a"]).to_arrow()["a"].to_pylist() == list(range(10))
    assert run("compact", str(tmp_path), "db.t", "--strategy", "sideways").exit_code == 2


def test_orphans_go_when_they_are_old(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    data = next((tmp_path / "db.db/orders").glob("dt=*/bucket-0/data-*"))
    orphan = data.with_name("data-ffffffff-0000-0000-0000-000000000000-0.parquet")
    orphan.write_bytes(data.read_bytes())
    os.utime(orphan, (1_700_000_000, 1_700_000_000))
    orphans = ("orphans", str(tmp_path), "db.orders")

    document = json.loads(run(*orphans, "--dry-run", "--json").output)
    assert [file["path"] for file in document["files"]] == [str(orphan)]
    assert run(*orphans, "--older-than", "1 h", "--yes").exit_code == 2  # not without --force
    assert orphan.exists()
    assert run(*orphans, "--yes").exit_code == 0
    assert not orphan.exists()
    assert orders.scan().count() == 3


def test_statistics_and_manifests(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    found = run("analyze", str(tmp_path), "db.orders", "--columns", "id", "--json")
    assert json.loads(found.output) == {"snapshot_id": 4}
    assert (
        run("compact-manifests", str(tmp_path), "db.orders").output == "committed as snapshot 5\n"
    )


def test_partitions_are_dropped_and_marked(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    drop = ("drop-partition", str(tmp_path), "db.orders", "dt=2026-01-01")

    assert run(*drop, "--dry-run").exit_code == 0
    assert orders.scan().count() == 3
    assert run(*drop, "--yes").exit_code == 0
    assert orders.scan().count() == 1
    marked = run("mark-partition-done", str(tmp_path), "db.orders", "dt=2026-01-02")
    assert marked.output == "dt=20455/\n"  # the legacy name: days since 1970
    assert run("drop-partition", str(tmp_path), "db.orders", "dt", "--yes").exit_code == 2


def test_tags(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    made = run("create-tag", str(tmp_path), "db.orders", "a", "--snapshot=2", "--time-retained=7 d")
    assert made.output == "tag a names snapshot 2\n"
    assert orders.tags.get("a").tag_time_retained is not None
    assert run("create-tag", str(tmp_path), "db.orders", "a").exit_code == 1
    assert run("create-tag", str(tmp_path), "db.orders", "b", "--time-retained=x").exit_code == 2
    assert run("delete-tag", str(tmp_path), "db.orders", "a", "--dry-run").exit_code == 0
    assert list(orders.tags.list()) == ["a"]
    assert run("delete-tag", str(tmp_path), "db.orders", "a", "--yes").exit_code == 0
    assert not orders.tags.list()
    assert run("delete-tag", str(tmp_path), "db.orders", "a", "--yes").exit_code == 1


def test_tags_expire(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    orders.tags.create("a", snapshot=1)
    orders.tags.create("b", snapshot=2, time_retained=timedelta(microseconds=1))
    expire = ("expire-tags", str(tmp_path), "db.orders")

    for older_than, names in (((), ["b"]), (("--older-than=2100-01-01",), ["a", "b"])):
        found = run(*expire, *older_than, "--dry-run", "--json")
        assert json.loads(found.output) == {"dry_run": True, "tags": names}
    assert run(*expire, "--older-than=1 d", "--yes").exit_code == 0
    assert list(orders.tags.list()) == ["a"]


def test_branches(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    assert run("create-branch", str(tmp_path), "db.orders", "dev", "--snapshot=2").exit_code == 0
    both = ("--snapshot=2", "--tag=a")
    assert run("create-branch", str(tmp_path), "db.orders", "two", *both).exit_code == 2
    planned = run("fast-forward", str(tmp_path), "db.orders", "dev", "--dry-run")
    assert "latest snapshot id: 2" in planned.output
    assert run("fast-forward", str(tmp_path), "db.orders", "dev", "--yes").exit_code == 0
    assert orders.snapshots.ids()[-1] == 2
    assert run("delete-branch", str(tmp_path), "db.orders", "dev", "--yes").exit_code == 0
    assert not orders.branches.list()


def test_consumers(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    reset = ("reset-consumer", str(tmp_path), "db.orders", "reader")

    assert run(*reset, "--next-snapshot", "2").exit_code == 0
    assert orders.consumers.list() == {"reader": 2}
    assert run(*reset).output == "consumer reader is forgotten\n"
    assert run(*reset).exit_code == 1


def test_consumers_that_stand_still_expire(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    orders.consumers.reset("reader", 2)
    old = tmp_path / "db.db/orders/consumer/consumer-reader"
    os.utime(old, (1_700_000_000, 1_700_000_000))
    expire = ("expire-consumers", str(tmp_path), "db.orders", "--older-than", "7 d")

    assert json.loads(run(*expire, "--dry-run", "--json").output)["consumers"] == ["reader"]
    assert run(*expire, "--yes").exit_code == 0
    assert not orders.consumers.list()


def test_missing_files_are_given_up(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    newest = orders.scan(where="id = 3").plan().splits[0].files[0].file_name
    next((tmp_path / "db.db/orders").rglob(newest)).unlink()
    repair = ("repair", str(tmp_path), "db.orders")

    planned = json.loads(run(*repair, "--dry-run", "--json").output)
    assert (len(planned["missing_files"]), planned["committed_snapshot"]) == (1, None)
    assert run(*repair).exit_code == 2
    done = run(*repair, "--yes")
    assert done.exit_code == 0
    assert "lost rows: 1" in done.output
    assert orders.scan().count() == 2


def test_a_table_is_emptied_for_good(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    purge = ("purge", str(tmp_path), "db.orders")

    assert run(*purge, "--dry-run").exit_code == 0
    assert orders.scan().count() == 3
    assert run(*purge, "--yes").exit_code == 0
    assert orders.scan().count() == 0
    assert not list((tmp_path / "db.db/orders").rglob("data-*.parquet"))


def test_buckets_and_indexes_are_made_anew(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    rescale = ("rescale", str(tmp_path), "db.orders", "--buckets", "3")

    assert run(*rescale, "--dry-run", "--json").exit_code == 0
    assert run(*rescale, "--yes").exit_code == 0
    table = pl.connect(tmp_path).table("db.orders")
    assert isinstance(table, pl.Table)
    assert (table.options["bucket"], table.scan().count()) == ("3", 3)
    assert run("rewrite-file-index", str(tmp_path), "db.orders").exit_code == 0
    assert run("rescale", str(tmp_path), "db.orders", "--yes").exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("expire",), "no snapshot expires"),
        (("rollback", "--tag", "newest"), "without 0 snapshots, 0 changelogs, 0 tags, 0 files"),
        (("orphans",), "0 orphan files"),
    ],
)
def test_where_nothing_is_deleted_nobody_is_asked(
    run: Run, orders: pl.Table, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    orders.tags.create("newest")
    name, *options = words

    found = run(name, str(tmp_path), "db.orders", *options)

    assert found.exit_code == 0, found.output
    assert said in found.output
    assert "--yes" not in found.output
