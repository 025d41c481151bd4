"""What lists: ``tables``, ``snapshots``, ``files`` and the like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.cli.looking import LISTINGS
from paimonlab.cli.main import main
from tests.cli.conftest import Run


def test_tables_with_keys_and_rows(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    found = run("tables", str(tmp_path))
    document = run("tables", str(tmp_path), "db", "--json")

    assert found.exit_code == 0, found.output
    assert found.output.splitlines() == [
        "table      primary_key  partition_by  bucket  snapshot  rows",
        "---------  -----------  ------------  ------  --------  ----",
        "db.orders  dt,id        dt            1              3     4",
    ]
    assert json.loads(document.output)[0]["rows"] == 4


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_is_its_system_table(
    name: str, run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    orders.tags.create("first", snapshot=1)
    orders.branches.create("dev", tag="first")
    orders.consumers.reset("reader", 2)
    orders.maintenance.analyze()
    table = pl.connect(tmp_path).system_table(f"db.orders${name}")

    document = run(name, str(tmp_path), "db.orders", "--json")
    text = run(name, str(tmp_path), "db.orders")

    rows = json.loads(document.output)
    assert len(rows) == table.scan().count() > 0
    assert list(rows[0]) == table.arrow_schema.names
    assert len(text.output.splitlines()) == len(rows) + 2


def test_the_newest_snapshots(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    arguments = ("snapshots", str(tmp_path), "db.orders", "--columns", "snapshot_id", "--json")

    assert json.loads(run(*arguments, "-n", "2").output) == [{"snapshot_id": 2}, {"snapshot_id": 3}]
    assert json.loads(run(*arguments, "--where", "snapshot_id < 2").output) == [{"snapshot_id": 1}]


def test_files_of_an_older_snapshot(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    for arguments, count in (((), 3), (("--snapshot", "1"), 1)):
        found = run("files", str(tmp_path), "db.orders", "--json", *arguments)
        assert len(json.loads(found.output)) == count
    assert run("files", str(tmp_path), "db.orders", "--snapshot", "1", "--tag", "a").exit_code == 2
    assert run("files", str(tmp_path), "db.orders", "--snapshot", "9").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        (("db.order",), "Error: table db.order not found. Did you mean 'db.orders'?"),
        (("no.orders",), "Error: database no not found"),
        (("db.orders$files",), "Usage: "),
        (("db.orders", "--columns", "nothing"), "Error: "),
        (("db.orders", "--catalog-option", "metastore"), "Usage: "),
        (("db.orders", "--catalog-option", "metastore=hive"), "Error: "),
        (("db.orders", "--where", "snapshot_id <"), "Error: "),
    ],
    ids=str,
)
def test_a_wrong_command_line_has_exit_code_two(
    arguments: tuple[str, ...], begin: str, run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    """How a command is used is only said where it was used in another way."""
    found = run("snapshots", str(tmp_path), *arguments)

    assert found.exit_code == 2, found.output
    assert found.output.startswith(begin)
    assert ("Usage: " in found.output) == (begin == "Usage: ")


@pytest.mark.parametrize("name", sorted({*main.commands} - {"completion"}))
def test_every_command_has_help_and_json(name: str, run: Run) -> None:
    found = run(name, "--help")

    assert found.exit_code == 0
    assert "--json" in found.output


def test_the_page_names_every_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()

    assert [name for name in main.commands if f"`{name}" not in page] == []
