"""What a cell shows of an error that paimonlab raised."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from tests.notebook.magics.test_magics import failure, run


@pytest.fixture
def ready(shell: InteractiveShell, tmp_path: Path) -> InteractiveShell:
    shell.user_ns["catalog"] = paimonlab.connect(tmp_path)
    run(shell, "def wanted(name):\n    return catalog.table(name)")
    return shell


def test_the_lines_of_the_user_and_the_message_are_shown(
    ready: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = failure(ready, capsys, "wanted('db.t')")

    assert shown[-1] == (
        "DatabaseNotFoundError: database db not found. There is none; create_database makes one."
    )
    assert any("wanted('db.t')" in line for line in shown)
    assert any("catalog.table(name)" in line for line in shown)
    assert not any("paimonlab/" in line or "During handling" in line for line in shown)
    assert len(shown) < 20


def test_the_import_alone_makes_them_short(tmp_path: Path) -> None:
    """Who has no use for magics loads no extension."""
    cells = [
        "import paimonlab",
        f"catalog = paimonlab.connect({str(tmp_path)!r})",
        "catalog.table('db.t')",
        "catalog.nothing",
        "{}['mine']",
        "class Sparks:\n    def sql(self): raise paimonlab.errors.UnsupportedError('a', 'b')",
        "exec(compile('def call(): Sparks().sql()', '/site/pyspark/sql/session.py', 'exec'))",
        "call()",
    ]
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor', history_length=0)\n"
        f"for cell in {cells!r}: shell.run_cell(cell)"
    )
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )

    assert "DatabaseNotFoundError: database db not found." in done.stdout
    assert "AttributeError: a catalog has no attribute 'nothing'; " in done.stdout
    assert "KeyError: 'mine'" in done.stdout
    assert "paimonlab/catalog" not in done.stdout
    assert "UnsupportedError: a is not supported: b" in done.stdout
    assert "pyspark/sql" not in done.stdout
    assert "def sql" not in done.stdout
    assert len(done.stdout.splitlines()) < 30


def test_wrong_arguments_are_short_as_well(
    ready: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = failure(ready, capsys, "wanted('nothing')")

    assert shown[-1].startswith("ValueError: 'nothing' is not a table name")
    assert not any("paimonlab/" in line for line in shown)


def test_all_of_the_last_one_can_be_seen(
    ready: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    failure(ready, capsys, "wanted('db.t')")
    run(ready, "%tb")

    assert "paimonlab/catalog/catalog.py" in capsys.readouterr().out


def test_the_cause_of_an_error_is_kept(
    ready: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    ready.user_ns["rows"] = {"id": ["a"], "n": [object()]}
    run(ready, "catalog.create_database('db')")
    cell = "try:\n    catalog.write_table('db.t', rows)\nexcept Exception as error:\n"
    cell += "    e = error\n    raise"
    shown = failure(ready, capsys, cell)

    assert shown[-1].startswith("DataError: db.t: column 'n'")
    assert not any("Arrow" in line and "Traceback" in line for line in shown)
    assert ready.user_ns["e"].__cause__ is not None


def test_errors_of_users_are_shown_as_ever(
    ready: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('mine') from error"
    shown = failure(ready, capsys, cell)

    assert shown[-1] == "ValueError: mine"
    assert any(line.startswith("KeyError") for line in shown)
