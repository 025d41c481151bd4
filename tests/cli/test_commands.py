"""What all commands have: sections, a configured warehouse, what shells complete."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

import paimonlab as pl
from paimonlab.cli import describing
from paimonlab.cli.main import main
from paimonlab.errors import habits
from tests.cli.conftest import Run


@pytest.fixture
def configured(orders: pl.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configure the warehouse in a file; the current folder is empty."""
    home = tmp_path / "home"
    (home / "paimonlab").mkdir(parents=True)
    (home / "paimonlab" / "config.toml").write_text(
        f"[default]\nwarehouse = {json.dumps(str(tmp_path))}\n"
    )
    (home / "here").mkdir()
    monkeypatch.chdir(home / "here")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.delenv("PAIMONLAB_WAREHOUSE", raising=False)
    return home


def test_help_lists_each_command_once_in_a_section(run: Run) -> None:
    text = run("--help").output
    listed = re.findall(r"^  ([a-z-]+) {2,}\S", text, re.MULTILINE)

    named = [command.name for commands in main.sections.values() for command in commands]
    assert sorted(name for name in listed if name in main.commands) == sorted(main.commands)
    assert sorted(map(str, named)) == sorted(main.commands)
    assert all(f"{title}:\n" in text for title in main.sections)


@pytest.mark.parametrize(
    "words",
    [
        ("tables",),
        ("tables", "db"),
        ("snapshots", "db.orders", "-n", "1"),
        ("lookup", "db.orders", "dt=2026-01-01", "id=1"),
        ("health", "db.orders", "--fail-on", "never"),
        ("call", "sys.compact(table => 'db.orders')", "--dry-run"),
        ("drop-partition", "db.orders", "dt=2026-01-02", "--dry-run"),
        ("--", "db.orders"),
    ],
    ids=" ".join,
)
def test_a_configured_warehouse_may_be_left_out(
    words: tuple[str, ...], run: Run, configured: Path, tmp_path: Path
) -> None:
    words = words[1:] if words[0] == "--" else words
    without = run(*words)
    place = 0 if words[0] == "db.orders" else 1
    given = run(*words[:place], str(tmp_path), *words[place:])

    assert without.exit_code == given.exit_code == 0, without.output
    assert without.output == given.output


def test_what_health_advises_runs_as_it_is(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    found = run("health", str(tmp_path), "db.orders", "-t", "snapshots=1")

    lines = [line.strip() for line in found.output.splitlines()]
    (expire,) = [line for line in lines if line.startswith("paimonlab expire ")]
    done = run(*shlex.split(expire)[1:], "--yes")

    assert done.exit_code == 0, done.output
    assert orders.snapshots.ids() == [3]


def test_no_warehouse_is_an_error_that_says_how_to_name_one(
    run: Run, configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (configured / "paimonlab" / "config.toml").unlink()

    found = run("tables")
    assert (found.exit_code, "PAIMONLAB_WAREHOUSE" in found.output) == (2, True)

    monkeypatch.setenv("PAIMONLAB_REMOTE", "sc://127.0.0.1:15002/;token=hidden")
    found = run("tables")
    assert (found.exit_code, "Spark Connect server" in found.output) == (2, True)
    assert "hidden" not in found.output


def test_a_folder_is_a_warehouse_even_with_the_name_of_a_database(
    run: Run, configured: Path
) -> None:
    Path("db").mkdir()

    assert run("tables", "db").output.splitlines()[2:] == []  # ./db has no tables
    assert "db.orders" in run("tables").output


def test_a_warehouse_alone_is_listed(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    assert run(str(tmp_path)).output == run("tables", str(tmp_path)).output


def test_a_table_alone_is_described(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    orders.tags.create("first", snapshot=1)
    lines = run(str(tmp_path), "db.orders").output.splitlines()

    assert lines[0] == "db.orders: primary key dt, id; partitioned by dt; bucket 1"
    assert re.fullmatch(r"4 rows before merging, 3 files, [\d.]+ kB, 2 partitions", lines[2]), (
        lines[2]
    )
    assert lines[3] == "3 snapshots, tags first"
    assert re.fullmatch(
        r"last commit (\d+ seconds? ago|just now): append, \+1 row \(snapshot 3\)", lines[4]
    )
    assert lines[6].split() == ["column", "type", "key"]
    assert lines[8].split() == ["dt", "DATE", "NOT", "NULL", "primary", "key,", "partition"]
    assert lines[-1] == "options: bucket=1, write-only=true"

    facts = json.loads(run(str(tmp_path), "db.orders", "--json").output)
    assert facts["last_commit"]["snapshot_id"] == 3
    assert [column["column"] for column in facts["columns"]] == orders.arrow_schema.names


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_description_fits_the_terminal(
    width: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = "ROW<street STRING, city STRING, geo ROW<lat DOUBLE, lon DOUBLE>>"
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.wide",
        {"customer_account_identifier": "BIGINT", f"a_{'long_' * 11}name": kind, "at": "TIMESTAMP"},
        primary_keys="customer_account_identifier",
        comment="What customers did, one row for each account, from the service that knows",
    )
    table.write([{"customer_account_identifier": 1, "at": None}])
    for number in range(8):
        table.tags.create(f"release-{number}")
    whole = run("describe", str(tmp_path), "db.wide").output

    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((width, 9)))
    monkeypatch.setattr(describing, "_is_terminal", lambda: True)
    shown = run("describe", str(tmp_path), "db.wide").output

    assert kind in whole
    assert max(map(len, shown.splitlines())) <= width
    assert {"release-7", "customer_account_identifier", "BIGINT"} <= {*re.split(r"[\s,]+", shown)}
    assert "ROW<street STRING, …" in shown or "ROW<street STRING, c" in shown


def test_an_empty_table_is_described(run: Run, tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT"}, comment="no rows yet")

    lines = run(str(tmp_path), "db.t").output.splitlines()
    assert lines[:5] == [
        "db.t: append",
        "no rows yet",
        "",
        "0 rows, 0 files, 0 B",
        "0 snapshots",
    ]


def test_an_unknown_command_names_those_like_it(run: Run) -> None:
    found = run("snapshot")

    assert found.exit_code == 2
    assert "there is no command 'snapshot'. Did you mean 'snapshots'" in found.output
    assert "listed by: paimonlab tables snapshot." in found.output
    assert "by its whole name: paimonlab DATABASE.snapshot." in found.output


@pytest.mark.parametrize("name", habits.COMMANDS)
def test_commands_of_other_tools_are_answered_with_ours(name: str, run: Run) -> None:
    found = run(name, "x")

    assert found.exit_code == 2
    assert f"there is no command {name!r}. It is {habits.COMMANDS[name]} here." in found.output
    assert habits.COMMANDS[name].split(" ", maxsplit=1)[0].strip(",") in main.commands


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("create", "db.t", "id INT", "--pk", "id"), "no option --pk. It is --primary-key"),
        (("load", "db.t", "a.csv", "--upsert"), "no option --upsert. It is not needed: rows"),
        (("sql", "SELECT 1", "--csv"), "no option --csv. It is --format csv"),
        (("describe", "db.t", "--format", "json"), "no option --format. It is --json"),
        (("expire", "db.t", "--retain-last", "2"), "no option --retain-last. It is --retain-min"),
        (("rollback", "db.t", "-y"), "no option -y. It is --yes"),
        (("-c", "SELECT 1"), "no option -c. SQL is run by: paimonlab sql 'SELECT …'"),
        (("create", "/w", "table", "db.t", "id INT"), "at once: paimonlab create db.t 'id INT'"),
        (("./w", "SELECT 1 AS a"), "SQL is run by: paimonlab sql ./w 'SELECT 1 AS a'"),
    ],
)
def test_command_lines_of_other_tools_are_answered_with_ours(
    command: tuple[str, ...], said: str, run: Run
) -> None:
    found = run(*command)

    assert found.exit_code == 2
    assert said in found.output


@pytest.mark.parametrize("statement", ["SELECT 1.5", "select * from shop.sales"])
def test_sql_alone_is_answered_with_the_command_that_runs_it(statement: str, run: Run) -> None:
    found = run(statement)

    assert found.exit_code == 2
    assert f"SQL is run by: paimonlab sql '{statement}'" in found.output


def test_the_configured_warehouse_is_tried_by_the_doctor(
    run: Run, orders: pl.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(tmp_path))

    assert f"ok: warehouse: {tmp_path}: read, written, published once" in run("doctor").output


@pytest.mark.parametrize("name", ["help", "version"])
def test_help_and_version_are_options(name: str, run: Run) -> None:
    assert f"there is no command {name!r}. It is paimonlab --{name}." in run(name).output
    assert run(f"--{name}").exit_code == 0


def test_a_warehouse_that_is_not_there_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", "/nowhere")

    said = run("sql", "warehouse", "SELECT 1").output

    assert "If warehouse is the warehouse: there is no such folder" in said


def _completed(*words: str, incomplete: str = "") -> list[str]:
    shell = ShellComplete(main, {}, "paimonlab", "_PAIMONLAB_COMPLETE")
    return [item.value for item in shell.get_completions(list(words), incomplete)]


def test_words_are_completed(configured: Path, orders: pl.Table, tmp_path: Path) -> None:
    assert _completed(incomplete="snap") == ["snapshots"]
    assert _completed("scan", incomplete="db.") == ["db.orders"]
    assert _completed("scan", str(tmp_path)) == ["db.orders"]
    assert _completed("scan", incomplete="db.orders$sn") == ["db.orders$snapshots"]
    assert _completed("tables", str(tmp_path)) == ["db"]
    assert _completed("scan", "db.orders", "--columns", incomplete="dt,a") == ["dt,amount"]
    assert _completed("scan", "db.orders", "--format") == ["table", "json", "csv"]
    assert _completed("scan", "nowhere", "no.table", "--columns") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str, run: Run) -> None:
    found = run("completion", shell)

    assert found.exit_code == 0
    assert f"_PAIMONLAB_COMPLETE={shell}_complete" in found.output
    assert run("completion", "csh").exit_code == 2


def test_bash_completes(configured: Path) -> None:
    """The script is run by a shell, which asks the program."""
    program = configured / "paimonlab-program"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m paimonlab "$@"\n')
    program.chmod(0o755)
    (configured / "bin").mkdir()
    (configured / "bin" / "paimonlab").symlink_to(program)
    script = subprocess.run(
        [str(program), "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    asked = (
        f'export PATH="{configured}/bin:$PATH"\n{script}\n'
        "COMP_WORDS=(paimonlab scan db.) COMP_CWORD=2\n"
        '_paimonlab_completion paimonlab\necho "${COMPREPLY[@]}"\n'
    )
    found = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)

    assert found.stdout == "db.orders\n"


def test_a_lone_folder_is_where_tables_are_cloned_to(
    run: Run, orders: pl.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no settings"))
    monkeypatch.delenv("PAIMONLAB_WAREHOUSE", raising=False)
    monkeypatch.chdir(tmp_path)

    alone = run("clone", "./copy", "--yes")

    assert alone.exit_code == 2
    assert "no warehouse: give one first (./warehouse)" in alone.output

    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(tmp_path))
    (tmp_path / "copy").mkdir()
    done = run("clone", "./copy", "--yes")

    assert done.exit_code == 0, done.output
    assert "db.orders to db.orders: 3 rows" in done.output
    assert pl.connect(tmp_path / "copy")["db.orders"].scan().count() == 3


def test_a_role_is_checked_before_anything_is_served(run: Run, orders: pl.Table) -> None:
    warehouse = orders.path.rpartition("/db.db/")[0]
    for words, told in (
        (("--sts-endpoint", "http://sts"), "need --role"),
        (("--token-duration", "2 h"), "need --role"),
        (("--role", "arn:aws:iam::1:role/lake"), "stores of S3's protocol"),
    ):
        found = run("serve", warehouse, "--port", "0", *words)
        assert (found.exit_code, told in found.output) == (2, True)


def test_a_database_that_is_not_there_is_answered_with_a_command(run: Run, tmp_path: Path) -> None:
    found = run("describe", str(tmp_path), "shop.sales")

    assert found.exit_code == 2
    assert "There is none; 'paimonlab create shop' makes one." in found.output
