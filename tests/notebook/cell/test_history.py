"""The statements that were run, and the values that went into them; without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook import commands
from paimonlab.notebook.cell.history import history
from tests.notebook.magics.test_magics import failure, run


@pytest.fixture
def native(shell: InteractiveShell, tmp_path: Path) -> Iterator[InteractiveShell]:
    """Return a shell connected to one small table, with nothing run yet."""
    catalog = paimonlab.connect(tmp_path / "w")
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "BIGINT"}).write(pa.table({"id": [1, 2]}))
    commands.connect(tmp_path / "w", engine="native")
    history.cache_clear()
    yield shell
    history.cache_clear()


def test_statements_are_listed_newest_first(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(native, "%paimon SELECT id FROM db.t WHERE id = 1")
    failure(native, capsys, "%paimon SELECT nosuch FROM db.t")
    run(native, "%%paimon\nSELECT id FROM db.t")

    listed = run(native, "%paimon_history").to_arrow().to_pylist()
    failed = run(native, "%paimon_history --failed").to_arrow().to_pylist()
    found = run(native, '%paimon_history -n 5 "WHERE ID"').to_arrow().to_pylist()

    assert [one["number"] for one in listed] == [3, 2, 1]
    assert [one["status"] for one in listed] == ["done", "failed", "done"]
    assert [one["row_count"] for one in listed] == [2, None, 1]
    assert {one["alias"] for one in listed} == {"paimon"}
    assert [one["snapshots"] for one in listed] == ["db.t@1", "", "db.t@1"]
    assert "db.t@1" in repr(run(native, "%paimon_history"))
    for words in ("db.t id = 77", "t id=77"):
        advice = f"the life of a row is %paimon_row {words}"
        assert advice in repr(run(native, f"%paimon_history {words}"))
    assert "life" not in repr(run(native, "%paimon_history where id = 77"))
    assert [one["number"] for one in failed] == [2]
    assert [one["number"] for one in found] == [1]


def test_a_statement_is_run_again_by_its_number(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(native, "%paimon SELECT id FROM db.t WHERE id = 2")

    again = run(native, "%paimon_rerun 1")

    assert again.to_arrow().to_pydict() == {"id": [2]}
    assert failure(native, capsys, "%paimon_rerun 7") == [
        "UsageError: there is no statement 7; %paimon_history lists them",
        "help: %paimon_help magics",
    ]


def test_secrets_are_not_written_down(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = "%%paimon\nALTER TABLE db.t SET TBLPROPERTIES ('s3.secret-key' = 'hush')"

    told = failure(native, capsys, cell)
    run(native, "%paimon_trace")

    assert "hush" not in "".join(told) + capsys.readouterr().out
    assert "hush" not in repr(run(native, "%paimon_history"))


def test_deterministic_mode_hides_times(
    native: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")
    run(native, "%paimon SELECT id FROM db.t")

    (entry,) = run(native, "%paimon_history").to_arrow().to_pylist()

    assert entry["time_millis"] is None
    assert entry["duration_millis"] is None


def test_values_of_parameters_are_explained_and_nothing_is_run(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    native.user_ns.update(day="x' OR 1=1", ids=[1, None], api_token="hush", n=2**40)
    cell = (
        "%%paimon --explain-params\n"
        "SELECT ':no', a::int FROM db.t WHERE d = :day OR e = :day;\n"
        "SELECT :ids, :api_token, :n"
    )

    shown = run(native, cell)

    assert shown.to_arrow().to_pylist() == [
        {
            "name": "day",
            "value": '"x\' OR 1=1"',
            "type": "STRING",
            "source": "notebook",
            "uses": "line 1, column 42; line 1, column 54",
        },
        {
            "name": "ids",
            "value": "[1, None]",
            "type": "ARRAY of INT",
            "source": "notebook",
            "uses": "line 2, column 8",
        },
        {
            "name": "api_token",
            "value": "******",
            "type": "STRING",
            "source": "notebook",
            "uses": "line 2, column 14",
        },
        {
            "name": "n",
            "value": "1099511627776",
            "type": "BIGINT",
            "source": "notebook",
            "uses": "line 2, column 26",
        },
    ]
    assert repr(shown).endswith("4 parameters; nothing was run")
    lines = failure(native, capsys, "%paimon --explain-params SELECT :dya")
    assert "Did you mean 'day'?" in lines


def test_the_first_page_of_help_has_every_magic(shell: InteractiveShell) -> None:
    page = "\n".join(run(shell, "%paimon_help").to_arrow()["syntax"].to_pylist())
    names = [
        name
        for kind in shell.magics_manager.lsmagic().values()
        for name in kind
        if name.startswith("paimon")
    ]

    assert len(names) > 10
    assert [name for name in names if f"%{name}" not in page] == []
