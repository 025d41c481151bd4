from __future__ import annotations

import sys
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.magics import ALL
from paimonlab.notebook.results.result import Result


def run(shell: InteractiveShell, cell: str) -> Any:
    outcome = shell.run_cell(cell)
    outcome.raise_error()
    return outcome.result


def failure(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str) -> list[str]:
    """Run a cell that must fail; return what the user sees of it."""
    capsys.readouterr()
    assert not shell.run_cell(cell).success
    captured = capsys.readouterr()
    return (captured.out + captured.err).splitlines()


def refusal(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str) -> list[str]:
    """Run a line that was typed wrong; return what the user sees before the line about help."""
    *lines, last = failure(shell, capsys, cell)
    assert last.startswith("help: %paimon_help ")
    return lines


def test_sql_before_a_connection_says_how_to_connect(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failure(shell, capsys, "%paimon SELECT * FROM db.t") == [
        (
            "UsageError: not connected to a warehouse; first: %paimon_connect PATH, "
            "or paimonlab.notebook.connect(PATH), or give paimonlab.sql(…, catalog=catalog)"
        ),
        "help: %paimon_help connections",
    ]


def test_a_line_returns_its_result(connected: InteractiveShell) -> None:
    run(connected, "x = %paimon SELECT -1 AS a")

    assert isinstance(connected.user_ns["x"], Result)
    assert connected.user_ns["x"].to_arrow().to_pydict() == {"a": [-1]}
    assert connected.user_ns["_paimon"] is connected.user_ns["x"]


def test_a_cell_is_shown_also_when_it_ends_with_a_semicolon(
    connected: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(connected, "%%paimon\nSELECT 'seen' AS a;\n")

    assert "seen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("first_line", "is_shown"), [("res <<", False), ("res = <<", True), ("-o res", True)]
)
def test_a_result_goes_into_a_variable(
    connected: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    first_line: str,
    is_shown: bool,
) -> None:
    run(connected, f"%%paimon {first_line}\nSELECT 1 AS a;\nSELECT 'last' AS b")

    assert connected.user_ns["res"].to_arrow().to_pydict() == {"b": ["last"]}
    assert ("last" in capsys.readouterr().out) is is_shown


def test_variables_are_bound_as_values_and_never_as_text(connected: InteractiveShell) -> None:
    connected.user_ns["name"] = "x' OR 1=1 --"
    connected.user_ns["ids"] = [1, 3]

    sql = "SELECT id, :name AS n, '{name} $name :name' AS s FROM range(5)"
    result = run(connected, f"%%paimon\n{sql} WHERE array_contains(:ids, id)")

    assert result.to_arrow().to_pylist() == [
        {"id": number, "n": "x' OR 1=1 --", "s": "{name} $name :name"} for number in (1, 3)
    ]


def test_values_by_place_are_bound_in_order(
    connected: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    connected.user_ns["wanted"] = [1, "x' OR 1=1 --", [0, 2]]
    cell = (
        "%%paimon --params wanted --all all <<\n"
        "SELECT '?' AS s, ? AS a -- ?\n;\n"
        "SELECT id, ? AS n FROM range(5) WHERE array_contains(?, id) AND id <> 2"
    )

    run(connected, cell)

    assert [one.to_arrow().to_pylist() for one in connected.user_ns["all"]] == [
        [{"s": "?", "a": 1}],
        [{"id": 0, "n": "x' OR 1=1 --"}],
    ]
    lines = failure(connected, capsys, "%%paimon --params wanted\nSELECT ?, ?,\n ?, ?")
    assert lines[:3] == [
        "There are only 3 values for ?; this is the first without one.",
        "   2 |  ?, ?",
        "     |     ^",
    ]


def test_queries_are_limited_and_commands_are_not(connected: InteractiveShell) -> None:
    assert run(connected, "%paimon SELECT * FROM range(200)").stats.row_count == 100
    assert run(connected, "%paimon SELECT * FROM range(200)").stats.has_more_rows
    assert run(connected, "%paimon --limit 0 SELECT * FROM range(200)").stats.row_count == 200
    assert run(connected, "%paimon --limit 2 SHOW FUNCTIONS").stats.row_count > 400


def test_statements_run_in_order_and_stop_at_the_first_failure(
    connected: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = (
        "%%paimon\n"
        "SELECT 'one;' AS a;\n"
        "-- a comment; with a semicolon\n"
        "CREATE DATABASE IF NOT EXISTS scratch;\n"
        "SELECT id\n"
        "FROM range(3) WHERE idd = 1;\n"
        "SELECT 'never' AS d"
    )

    lines = failure(connected, capsys, cell)

    assert "one;" in lines
    assert any(line.startswith("CREATE DATABASE: done in ") for line in lines)
    assert not any("never" in line for line in lines)
    assert lines[-8:] == [
        "A column, variable, or function parameter with name `idd` cannot be resolved.",
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION, 42703]",
        "statement 3 of 4, lines 4-5",
        "   5 | FROM range(3) WHERE idd = 1;",
        "     |                     ^^^",
        "Did you mean `id`?",
        "help: %paimon_help tables; %paimon_trace shows the whole error",
        "QueryError: A column, variable, or function parameter with name `idd` cannot be resolved.",
    ]


def test_an_error_in_python_is_told_in_whole(
    connected: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = failure(connected, capsys, "import paimonlab\npaimonlab.sql('SELECT idd')")

    assert lines[0].startswith("QueryError: A column, variable, or function parameter with name")
    assert "   1 | SELECT idd" in lines
    assert len(lines) <= 8
    run(connected, "%paimon_trace")
    assert "AnalysisException" in capsys.readouterr().out


def test_the_trace_is_there_when_it_is_asked_for(
    connected: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    failure(connected, capsys, "%paimon SELECT nosuch")

    run(connected, "%paimon_trace")

    assert "AnalysisException" in capsys.readouterr().out


def test_a_bug_keeps_its_own_traceback(
    connected: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_args: Any, **_options: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(sys.modules["paimonlab.notebook.running.execution"], "split", broken)

    lines = failure(connected, capsys, "%paimon SELECT 1")

    assert any(line.startswith("Traceback") or "most recent call last" in line for line in lines)
    assert "ZeroDivisionError: a bug" in lines[-1]


@pytest.mark.parametrize("cell", ["%%paimon\n-- nothing\n;", "%paimon"])
def test_no_sql_is_an_error(
    connected: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str
) -> None:
    assert failure(connected, capsys, cell) == [
        "There is no SQL to run.",
        "help: %paimon_help sql",
        "QueryError: There is no SQL to run.",
    ]


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_line_magics_say_what_they_take(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    names = [name for one in ALL for name in one.magics["line"] if name not in one.magics["cell"]]

    for name in names:
        assert shell.run_cell(f"%{name} {asked}").success
        out, err = capsys.readouterr()
        magic = shell.find_line_magic(name)
        assert out.strip() == (magic.__doc__ or "").removeprefix("::").strip()
        assert not err

    assert {"paimon_streams", "paimon_timeline", "paimon_doctor"} <= {*names}


def test_misspelt_options_get_a_suggestion(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Did you mean '--last'?" in failure(shell, capsys, "%paimon_timeline --lsat 3 a.b")[0]
    assert "Did you mean '--catalog'?" in failure(shell, capsys, "%paimon_connect --katalog x y")[0]
    assert "Did you mean '--limit'?" in failure(shell, capsys, "%paimon --limits 3 SELECT 1")[0]


def test_help_is_a_table_and_has_topics(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "%%paimon" in repr(run(shell, "%paimon_help"))
    assert ":day" in repr(run(shell, "%paimon_help parameters"))
    assert "--limit N" in repr(run(shell, "%paimon --help"))
    assert "<table" in run(shell, "%paimon_help time travel").to_html()
    assert failure(shell, capsys, "%paimon_help sqll") == [
        "UsageError: no help on 'sqll'. Did you mean 'sql'?",
        "help: %paimon_help magics",
    ]


def test_only_names_of_our_own_are_registered(shell: InteractiveShell) -> None:
    magics = shell.magics_manager.lsmagic()
    ours = {
        name
        for kind in magics.values()
        for name, function in kind.items()
        if type(getattr(function, "__self__", None)).__module__.startswith("paimonlab")
    }

    assert ours
    # The usual name is taken where no other extension has it: test_usual_name.py.
    assert all(name.startswith("paimon") for name in ours - {"sql"})


def test_a_connection_says_what_it_is_connected_to(
    connected: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = str(connections.current())

    assert line.startswith("connected: catalog spark_catalog at ./warehouse, Spark 4.")
    assert ", Java " in line
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")
    assert str(connections.current()) == "connected: catalog spark_catalog on Spark"


def test_a_lazy_query_is_not_run_and_is_a_dataframe(connected: InteractiveShell) -> None:
    run(connected, "%%paimon --lazy frame = <<\nSELECT id FROM range(3)")

    assert connected.user_ns["frame"].count() == 3
    frame = run(connected, "%paimon --lazy SELECT raise_error('run') AS a")
    assert frame.columns == ["a"]


def test_a_query_becomes_a_view_without_its_limit(connected: InteractiveShell) -> None:
    run(connected, "%%paimon --view many --limit 2\nSELECT id FROM range(5)")

    assert run(connected, "%paimon SELECT count(*) AS n FROM many").to_arrow()["n"][0].as_py() == 5


def test_rows_are_kept_while_they_fit(connected: InteractiveShell) -> None:
    result = run(connected, "%paimon --limit 0 --max-bytes 1kB SELECT id FROM range(5000)")

    assert 0 < result.stats.row_count < 5000
    assert result.stats.fetched_bytes <= 1000
    assert result.stats.has_more_rows
    assert "rows; more exist" in repr(result)


def test_very_many_rows_are_asked_for_twice(
    connected: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["paimonlab.notebook.running.execution"], "MANY_ROWS", 10)
    query = "%paimon --limit 0 SELECT id FROM range(25)"
    answers: dict[str, int] = {}
    for answer in ("n", "y"):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        answers[answer] = run(connected, query).stats.row_count

    def nobody(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)

    assert answers == {"n": 10, "y": 25}
    lines = failure(connected, capsys, query)
    assert lines[-3] == "--yes fetches them, --limit N fetches the first N."
    assert run(connected, query.replace("SELECT", "--yes SELECT")).stats.row_count == 25
