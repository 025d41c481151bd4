"""``paimonlab call``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.cli.call_text import parse_call
from paimonlab.cli.calling import _told
from paimonlab.procedures import PROCEDURES
from tests.cli.conftest import Run


def test_a_call_is_shown_and_done_with_yes(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    statement = "sys.create_tag(table => 'db.orders', tag => 'x', snapshot => 2)"
    call = ("call", str(tmp_path), statement)

    assert run(*call).exit_code == 2
    shown = run(*call, "--dry-run")
    assert shown.output == (
        "would be done:\n  sys.create_tag(table => 'db.orders', tag => 'x', snapshot => 2)\n"
    )
    assert not orders.tags.list()

    done = run(*call, "--yes", "--json")

    assert done.exit_code == 0
    document = json.loads(done.output)
    assert (document["dry_run"], document["rows"]) == (False, [{"result": True}])
    assert orders.tags.get("x").id == 2


def test_what_a_call_would_delete_is_shown(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    call = ("call", str(tmp_path), "sys.rollback('db.orders', snapshot => 1)", "--dry-run")

    assert "without 2 snapshots (3, 2), 0 changelogs" in run(*call).output
    (plan,) = json.loads(run(*call, "--json").output)["plans"]
    assert plan["snapshots"] == [3, 2]
    assert orders.snapshots.ids() == [1, 2, 3]


def test_the_rows_of_a_call_are_printed(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    done = run("call", str(tmp_path), "CALL sys.rollback('db.orders', '2');", "--yes")

    assert done.exit_code == 0
    assert [line.split() for line in done.output.splitlines()[2:]] == [
        ["previous_snapshot_id", "current_snapshot_id"],
        ["-" * 20, "-" * 19],
        ["3", "2"],
    ]
    assert orders.snapshots.ids() == [1, 2]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("sys.compacts('db.orders')", "Did you mean 'compact' or"),
        ("compact('db.orders')", "is not a call; write it as sys.compact"),
        ("sys.compact", "is not a call"),
        ("sys.compact(", "is not a call"),
        ("sys.compact('db.orders') x", "is not a call"),
        ("SELECT 1", "is not a call"),
        ("sys.compact(table => 1 + 1)", "  sys.compact(table => 1 + 1)\n" + " " * 25 + "^\n"),
        ("sys.compact(table => :t)", "A call needs a literal here, not :."),
        ("sys.compact(table => 'a', 'b')", "'b' has no name, but follows"),
        ("sys.compact(tables => 'a')", "has no parameter 'tables'"),
        ("sys.create_tag('db.orders')", "needs tag"),
    ],
)
def test_what_is_no_call_is_refused(
    run: Run, orders: pl.Table, tmp_path: Path, statement: str, message: str
) -> None:
    done = run("call", str(tmp_path), statement, "--yes")

    assert done.exit_code == 2
    assert message in done.output
    assert orders.snapshots.ids() == [1, 2, 3]


def test_a_call_that_fails_ends_with_one_line(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    done = run("call", str(tmp_path), f"sys.compact('{orders.name}x')", "--yes")

    assert done.exit_code == 1
    assert "Error: table db.ordersx not found. Did you mean 'db.orders'?" in done.output


@pytest.mark.parametrize("name", PROCEDURES)
def test_every_procedure_can_be_named(name: str) -> None:
    found = parse_call(f"Sys.{name}(NULL, -1, `a` => 'it\\'s', b=>1.50, c => map('k', 'v'))")

    assert found.procedure == name
    assert found.positional == (None, -1)
    assert repr(found.named) == ("""(('a', "it's"), ('b', Decimal('1.50')), ('c', {'k': 'v'}))""")


def test_secrets_among_the_arguments_are_not_shown() -> None:
    told = _told({"options": "fs.s3a.secret-key=abc,bucket=1", "retain_max": 3, "where": None})

    assert told == {
        "options": "fs.s3a.secret-key=******,bucket=1",
        "retain_max": 3,
        "where": None,
    }
