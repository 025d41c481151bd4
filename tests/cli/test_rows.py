"""What prints rows: ``scan``, ``lookup``, ``changes``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import paimonlab as pl
from tests.cli.conftest import Run


def lines(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_rows_as_text_and_as_json(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    arguments = ("scan", str(tmp_path), "db.orders", "--where", "id > 2")

    assert run(*arguments).output.splitlines() == [
        "dt          id  amount  note",
        "----------  --  ------  ----",
        "2026-01-02   3    1.50  NULL",
    ]
    found = {"dt": "2026-01-02", "id": 3, "amount": "1.50", "note": None}
    assert lines(run(*arguments, "--json").output) == [found]
    assert lines(run(*arguments, "--json", "--columns", "id,dt").output) == [
        {"id": 3, "dt": "2026-01-02"}
    ]


def test_rows_are_counted_limited_and_older(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    scan = ("scan", str(tmp_path), "db.orders")

    assert run(*scan, "--count").output == "3\n"
    assert run(*scan, "--count", "--json", "--snapshot", "1").output == '{"count":2}\n'
    assert run(*scan, "--count", "-o", "scan.snapshot-id=1").output == "2\n"
    assert len(lines(run(*scan, "--json", "-n", "2").output)) == 2
    assert run("scan", str(tmp_path), "db.orders$snapshots", "--count").output == "3\n"
    assert run(*scan, "--snapshot", "9").exit_code == 2


def test_an_option_that_is_not_known_is_refused(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    for name, *arguments in (["scan"], ["changes", "1", "2"], ["lookup", "dt=2026-01-01", "id=1"]):
        found = run(name, str(tmp_path), "db.orders", *arguments, "-o", "scan.snapshotid=1")

        assert found.exit_code == 2
        assert "'scan.snapshotid' is not known. Did you mean 'scan.snapshot-id'" in found.output


def test_rows_by_key(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    lookup = ("lookup", str(tmp_path), "db.orders", "--json", "--columns", "id", "dt=2026-01-01")

    assert json.loads(run(*lookup, "id=2").output) == [{"id": 2}]
    two = run(*lookup, "id=2", "id=1", "dt=2026-01-01")
    assert sorted(row["id"] for row in json.loads(two.output)) == [1, 2]


def test_a_missing_key_is_named_instead_of_heads(
    run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    lookup = ("lookup", str(tmp_path), "db.orders", "dt=2026-01-01")

    assert run(*lookup, "id=9").output == "there is no row with dt = 2026-01-01 and id = 9\n"
    some = run(*lookup, "id=9", "id=1", "dt=2026-01-01").output.splitlines()
    assert some[-1] == "1 of 2 keys has no row"
    assert len(some) == 4


def test_a_missing_key_has_exit_code_one(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    found = run("lookup", str(tmp_path), "db.orders", "--json", "dt=2026-01-01", "id=3")

    assert (found.exit_code, json.loads(found.output)) == (1, [])


def test_keys_that_cannot_be(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    for keys in (
        ["id=1"],
        ["dt=2026-01-01", "id=x"],
        ["note=1"],
        ["id=1", "id=2", "dt=2026-01-01"],
    ):
        assert run("lookup", str(tmp_path), "db.orders", *keys).exit_code == 2


def test_changes_with_their_kinds(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    changes = ("changes", str(tmp_path), "db.orders", "1", "3", "--columns", "id", "--json")

    found = lines(run(*changes, "--mode", "delta").output)
    assert sorted(found, key=str) == [{"rowkind": "+I", "id": 2}, {"rowkind": "+I", "id": 3}]
    assert len(lines(run(*changes, "-n", "1").output)) == 1
    assert run("changes", str(tmp_path), "db.orders", "3", "1").exit_code == 2


def test_a_table_is_followed_to_its_end(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    follow = ("follow", str(tmp_path), "db.orders", "--until", "latest", "--columns", "id")

    first, *_ = lines(run(*follow, "--json").output)
    assert (first["snapshot_id"], first["is_full"]) == (3, True)
    found = lines(run(*follow, "--from", "2", "--json").output)
    assert [(one["snapshot_id"], one["rows"]) for one in found] == [
        (2, [{"rowkind": "+I", "id": 3}]),
        (3, [{"rowkind": "+I", "id": 2}]),
    ]
    assert run(*follow, "--from", "3").output.startswith("snapshot 3, changes:\nrowkind  id\n")
    assert run(*follow, "--from", "nothing").exit_code == 2


def test_a_consumer_goes_on_where_it_was(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    follow = ("follow", str(tmp_path), "db.orders", "--until=latest", "--consumer-id=c", "--json")

    assert lines(run(*follow, "--from", "2").output)
    assert orders.consumers.list() == {"c": 4}
    assert run(*follow).output == ""
