"""``paimonlab fsck``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import paimonlab as pl
from paimonlab.cli.main import main


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    for name in ("a", "b"):
        catalog.create_table(f"db.{name}", {"id": "INT"}).write(
            pa.table({"id": pa.array([1], pa.int32())})
        )
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["fsck", *arguments])
    return result.exit_code, result.output


def test_all_tables_of_a_warehouse(warehouse: Path) -> None:
    code, output = run(str(warehouse))

    assert code == 0
    assert [line.split(" (")[0] for line in output.splitlines()] == [
        "db.a: nothing found",
        "db.b: nothing found",
    ]


def test_one_table_by_name_or_by_folder(warehouse: Path) -> None:
    for arguments in ((str(warehouse), "db.b"), (str(warehouse / "db.db/b"),)):
        code, output = run(*arguments, "--deep")

        assert code == 0
        assert output.startswith("db.b: nothing found")
        assert "1 row" in output


def test_findings_make_the_exit_code_one(warehouse: Path) -> None:
    file = next((warehouse / "db.db/a/bucket-0").iterdir())
    file.unlink()

    code, output = run(str(warehouse), "db.a")
    json_code, document = run(str(warehouse), "--json")

    assert (code, json_code) == (1, 1)
    assert f"error: bucket-0/{file.name}: the file is missing" in output
    reports = json.loads(document)
    assert [len(report["findings"]) for report in reports] == [1, 0]
    assert reports[0]["findings"][0]["referrer"] == "snapshot-1"


def test_what_is_not_there_is_a_usage_error(warehouse: Path, tmp_path: Path) -> None:
    assert run(str(warehouse), "db.c")[0] == 2
    assert run(str(warehouse / "nowhere"))[0] == 2
    (tmp_path / "empty").mkdir()
    assert run(str(tmp_path / "empty"))[0] == 2


def test_the_module_is_the_command_line(warehouse: Path) -> None:
    command = [sys.executable, "-m", "paimonlab", "fsck", str(warehouse)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "db.a: nothing found" in done.stdout


def test_the_configured_warehouse_is_checked(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(warehouse))

    assert run("db.b") == run(str(warehouse), "db.b")
    assert run() == run(str(warehouse))
