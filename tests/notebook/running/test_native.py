"""SQL without Spark: answered in full, or refused by name."""

from __future__ import annotations

import _thread
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook import commands
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement, split
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel import interruptible
from paimonlab.notebook.kernel.interruptible import Cancelled
from paimonlab.notebook.results.cell_results import Results
from tests.notebook.magics.test_magics import failure, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a table of two snapshots; the tests only read it."""
    folder = tmp_path_factory.mktemp("warehouse")
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING", "limit": "INT"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    table.write(
        pa.table({"id": [1, 2, 3], "v": ["a", "b", None], "limit": pa.array([1, 2, 3], "i4")})
    )
    table.write(pa.table({"id": [2, 4], "v": ["c", "LIMIT"], "limit": pa.array([2, 4], "i4")}))
    table.tags.create("first", snapshot=1)
    return folder


@pytest.fixture
def native(shell: InteractiveShell, folder: Path) -> InteractiveShell:
    """Return a shell connected to it without Spark."""
    commands.connect(folder, engine="native")
    return shell


def rows(sql: str, **options: Any) -> list[tuple[Any, ...]]:
    found = paimonlab.sql(sql, **options).to_arrow()
    return sorted(map(tuple, (row.values() for row in found.to_pylist())), key=repr)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM db.t", [(1,), (2,), (3,), (4,)]),
        ("select `id`, v from `db`.t where v = 'LIMIT' limit 7;", [(4, "LIMIT")]),
        ("SELECT v FROM paimon.db.t WHERE id = 2", [("c",)]),
        ("SELECT v FROM db.t WHERE v IS NULL OR id < 2", [("a",), (None,)]),
        ("SELECT id FROM db.t WHERE `limit` = 3", [(3,)]),
        ("SELECT v FROM db.t VERSION AS OF 1 WHERE id = 2", [("b",)]),
        ("SELECT v FROM db.t VERSION AS OF 'first' WHERE id = 2", [("b",)]),
        ("SELECT count(*) FROM db.t", [(4,)]),
        ("SELECT count(*) FROM db.t WHERE id > 2 LIMIT 5", [(2,)]),
        ("SELECT snapshot_id FROM db.t$snapshots", [(1,), (2,)]),
        ("SELECT id + 1 FROM db.t WHERE id < 3", [(2,), (3,)]),
        ("SELECT id, id AS x FROM db.t x WHERE upper(v) = 'A'", [(1, 1)]),
        ("SELECT DISTINCT v IS NULL FROM db.t", [(False,), (True,)]),
        ("SELECT 1", [(1,)]),
        ("SELECT a.id, b.v FROM db.t a JOIN db.t b ON a.id = b.id + 3", [(4, "a")]),
        ("SELECT max(id), count(v) FROM db.t", [(4, 3)]),
        ("SELECT v FROM db.t VERSION AS OF 1 ORDER BY v LIMIT 1 OFFSET 2", [("b",)]),
        ("WITH x AS (SELECT id FROM db.t WHERE id > 2) SELECT sum(id) FROM x", [(7,)]),
        ("SELECT id FROM db.t WHERE id = 1 UNION SELECT 7", [(1,), (7,)]),
        ("SELECT max(snapshot_id) FROM db.t$snapshots", [(2,)]),
        ("-- a comment\nSELECT /* two */ id FROM db.t WHERE v = 'a' -- end", [(1,)]),
    ],
)
def test_a_query_of_one_table_is_answered(sql: str, expected: list[tuple[Any, ...]]) -> None:
    assert rows(sql) == expected


def test_a_variable_in_a_text_is_told_of(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    native.user_ns["letter"] = "a"
    cell = "%%paimon\nSELECT id FROM db.t WHERE v = '{{letter}}' OR v = '{{other}}'"
    run(native, cell)

    assert capsys.readouterr().err == (
        "note: {{letter}} stays as it is within quotes: write :letter without them, or "
        "%%paimon --jinja for a template\n"
    )
    run(native, cell.replace("{{letter}}", "letter"))
    assert "note" not in capsys.readouterr().err


@pytest.mark.usefixtures("native")
def test_an_older_state_can_be_asked_for() -> None:
    query = "SELECT v FROM db.t WHERE id = 2"

    assert rows(query, as_of=1) == rows(query, as_of="first") == [("b",)]
    assert rows(query, as_of="2100-01-01") == [("c",)]


@pytest.mark.usefixtures("native")
def test_it_is_known_whether_there_are_more_rows() -> None:
    cut = paimonlab.sql("SELECT * FROM db.t", limit=3)
    whole = paimonlab.sql("SELECT * FROM db.t LIMIT 3", limit=3)

    assert cut.stats.has_more_rows
    assert cut.stats.row_count == 3
    assert not whole.stats.has_more_rows
    assert "bigint" in repr(whole)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT * FROM db.t LIMIT 1 + 1", "LIMIT that is not a number of rows"),
        ("SELECT sentences(v) FROM db.t", "sentences()"),
        ("SELECT * FROM db.t LATERAL VIEW explode(v) e", "explode(STRING)"),
        ("SELECT id FROM other.db.t", "the catalog other"),
        ("SELECT 3F", "the number 3F"),
        (
            "MERGE INTO db.t USING db.t AS u ON u.id = 1 WHEN MATCHED THEN DELETE",
            "ON of more than columns that are equal",
        ),
        ("DROP VIEW db.t", "DROP VIEW"),
    ],
)
def test_what_is_not_translated_is_refused_by_name(sql: str, named: str) -> None:
    with pytest.raises(QueryError) as caught:
        paimonlab.sql(sql)

    refusal = caught.value.lines()
    assert refusal[0] == f"{named} without Spark is not supported: use --engine spark, or auto"
    assert len(refusal) <= 8


@pytest.mark.usefixtures("native")
def test_a_system_table_does_not_travel() -> None:
    with pytest.raises(QueryError, match="A system table is read as it is now"):
        paimonlab.sql("SELECT * FROM db.t$files", as_of=1)


@pytest.mark.usefixtures("native")
def test_what_would_be_read_is_known_without_reading(folder: Path) -> None:
    table: Any = paimonlab.connect(folder).table("db.t")
    files = table.scan().plan().splits

    (read,) = commands.planned("SELECT v FROM db.t WHERE id > 2").to_arrow().to_pylist()

    assert read["snapshot_id"] == 2
    assert read["all_file_count"] == sum(len(split.files) for split in files)
    assert read["all_size_bytes"] == sum(split.size_bytes for split in files)
    assert read["file_count"] <= read["all_file_count"]
    assert read["level_0_count"] == 2
    assert read["merged_split_count"] == read["split_count"] == 1
    assert "id" in read["filters"]


@pytest.mark.parametrize(
    ("sql", "args", "expected"),
    [
        ("SELECT v FROM db.t WHERE id = :n", {"n": 2, "m": 0}, [("c",)]),
        ("SELECT id FROM db.t WHERE v = :v OR id >= :n", {"v": "a", "n": 4}, [(1,), (4,)]),
        ("SELECT id FROM db.t WHERE v = ?", ["x' OR 1=1 --"], []),
        ("SELECT id FROM db.t WHERE id IN (?, ?) -- ?", [1, 3], [(1,), (3,)]),
        ("SELECT id FROM db.t WHERE id BETWEEN ? AND ? AND v LIKE ?", [1, 3, "a%"], [(1,)]),
        ("SELECT id FROM db.t WHERE id = -? OR id = CAST(? AS BIGINT)", [1, "3"], [(3,)]),
        ("SELECT id FROM db.t WHERE v <=> ?", [None], [(3,)]),
        ("SELECT count(*) FROM db.t WHERE id > ? LIMIT ?", [2, 5], [(2,)]),
        ("SELECT id FROM db.t WHERE '?' = v LIMIT :n", {"n": 7}, []),
        ("SELECT snapshot_id FROM db.t$snapshots WHERE snapshot_id > ?", [1], [(2,)]),
    ],
)
@pytest.mark.usefixtures("native")
def test_parameters_are_values(sql: str, args: Any, expected: list[tuple[Any, ...]]) -> None:
    assert rows(sql, args=args) == expected


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("sql", "args", "message", "marked"),
    [
        ("SELECT id FROM db.t WHERE id = :n", {}, "There is no variable 'n'", ":n"),
        ("SELECT id FROM db.t WHERE id IN (:n)", {"n": [1]}, "A list as a parameter", ":n"),
        ("SELECT id FROM db.t LIMIT ?", [-1], "LIMIT that is not a number", "LIMIT"),
        ("SELECT id FROM db.t WHERE idd = ?", [1], "db.t has no column 'idd'", "idd"),
        ("SELECT id FROM db.t WHERE id = ? AND f(v) = 1", [1], "f() without Spark", "f"),
        ("SELECT id FROM db.t WHERE id = ? AND", [10**6], "cannot read the condition", None),
        ("SELECT a FROM db.t$snapshot", None, "table db.t$snapshot not found", "snapshot"),
        ("SELECT id FROM db.tt", None, "table db.tt not found", "tt"),
    ],
)
def test_what_is_wrong_is_pointed_at(sql: str, args: Any, message: str, marked: str | None) -> None:
    with pytest.raises(QueryError) as caught:
        paimonlab.sql(sql, args=args)

    error = caught.value
    assert error.message.startswith(message)
    assert error.span is not None
    if marked is not None:
        assert sql[error.span.start : error.span.end] == marked


def test_values_of_markers_are_given_to_a_cell(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    native.user_ns["wanted"] = (2, "c")

    by_name = run(native, "%%paimon --params wanted\nSELECT id FROM db.t WHERE id = ? AND v = ?")
    written = run(native, "%paimon --params \"[2, 'c']\" SELECT id FROM db.t WHERE id=? AND v=?")
    shown = run(native, "%paimon --explain-params --params wanted SELECT ?, '?', ?")

    assert by_name.to_arrow().to_pydict() == written.to_arrow().to_pydict() == {"id": [2]}
    assert [list(row.values())[:4] for row in shown.to_arrow().to_pylist()] == [
        ["?1", "2", "INT", "--params wanted"],
        ["?2", "'c'", "STRING", "--params wanted"],
    ]
    for given, said in (
        ("wantd", "there is no variable 'wantd' for --params. Did you mean 'wanted'?"),
        ("7", "--params needs a list of values, and 7 is a int"),
        ("f(1)", "--params needs a name, or a list in quotes"),
        ('"[1', "the quote is never closed"),
    ):
        lines = failure(native, capsys, f"%paimon --params {given} SELECT ?")
        assert said in lines[0]
        assert len(lines) == 2


def test_all_results_of_a_cell_are_kept(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = "SELECT id FROM db.t WHERE id = 1;\nSELECT v FROM db.t WHERE id = 2"

    shown = run(native, f"%%paimon --all both = <<\n{cell}")

    assert isinstance(shown, Results)
    assert native.user_ns["both"] is shown
    assert [one.to_arrow().column_names for one in shown] == [["id"], ["v"]]
    assert native.user_ns["_paimon"] is shown[-1]
    assert repr(shown[:1]) == repr(shown[0])
    out = capsys.readouterr().out
    assert out.count("1 row;") == 2

    assert run(native, f"%%paimon --all quiet <<\n{cell}") is None
    assert len(native.user_ns["quiet"]) == 2
    assert "row" not in capsys.readouterr().out

    lines = failure(native, capsys, "%%paimon --all\nSELECT id FROM db.t LIMIT 1;\nSELECT nosuch")
    assert any("1 row" in line for line in lines)
    assert "statement 2 of 2, line 2" in lines


def test_limits_hold_without_spark(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = run(native, "%paimon --limit 0 --yes --max-bytes 20 SELECT id FROM db.t")
    assert cut.stats.is_cut
    assert cut.stats.row_count == 2
    assert "2 rows; more exist, beyond --max-bytes; fetched 16 B in " in repr(cut)

    monkeypatch.setattr(sys.modules["paimonlab.notebook.running.execution"], "MANY_ROWS", 2)
    query = "%paimon --limit 0 SELECT id FROM db.t"
    answers: dict[str, int] = {}
    for answer in ("n", "y"):
        monkeypatch.setattr("builtins.input", lambda _, answer=answer: answer)
        answers[answer] = run(native, query).stats.row_count
    assert answers == {"n": 2, "y": 4}

    def nobody(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert "--yes fetches them, --limit N fetches the first N." in failure(native, capsys, query)


def test_an_interrupt_is_one_line(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_args: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["paimonlab.notebook.running.native_query"], "run", interrupted)

    (line,) = failure(native, capsys, "%paimon SELECT id FROM db.t")

    assert line.startswith("Cancelled: cancelled after 0.")


@pytest.mark.usefixtures("native")
def test_a_query_is_explained_without_spark(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    view = run(native, "%paimon --explain SELECT v FROM db.t WHERE id > 2")

    assert "paimonlab&#x27;s plan" in view.to_html() or "paimonlab's plan" in view.to_html()
    grouped = run(native, "%paimon --explain SELECT v, count(*) FROM db.t WHERE id > 2 GROUP BY v")
    (read,) = grouped.to_arrow().to_pylist()
    assert (read["table"], read["columns"], read["filters"]) == ("db.t", ["id", "v"], "id > 2")
    assert read["file_count"] <= read["all_file_count"]
    assert "by DuckDB, without Spark" in grouped.to_html()
    for part in ("== Engine ==\nDuckDB, without Spark", "GROUP BY r1.c1", "filters: id > 2"):
        assert part in grouped.value.plan
    assert "== Computed by DuckDB ==" in grouped.value.plan
    assert "--explain cost without Spark" in "".join(
        failure(native, capsys, "%paimon --explain cost SELECT v FROM db.t")
    )


def test_a_dry_run_counts_what_a_statement_would_change(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.a", {"id": "INT", "v": "STRING"}).write(
        {"id": [1, 2], "v": ["a", "b"]}
    )
    commands.connect(tmp_path, engine="native", read_only=True)
    try:
        deleted = run(shell, "%paimon --dry-run DELETE FROM db.a WHERE id = 2")
        merged = run(
            shell,
            "%%paimon --explain\nMERGE INTO db.a t USING (SELECT id + 1 AS id, v FROM db.a) s ON "
            "t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
        )
        stopped = failure(shell, capsys, "%paimon --dry-run DROP TABLE db.a")
    finally:
        connections.disconnect()

    assert (
        "db.a: 1 row deleted if it is run; 1 of 1 file replaced or marked. Nothing was written"
        in deleted.to_html()
    )
    change = merged.value.change
    assert (change.rows_inserted, change.rows_updated, change.rows_deleted) == (1, 1, 0)
    assert "== Translated SQL ==" in merged.value.plan
    assert "a dry run of DROP" in "".join(stopped)
    assert catalog.table("db.a").scan().count() == 2


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Path]:
    """Connect to a table of many files without Spark."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.many", {"id": "INT"}, options={"write-only": "true"})
    for _ in range(40):
        table.write(pa.table({"id": pa.array(range(200), pa.int32())}))
    commands.connect(tmp_path, engine="native")
    yield tmp_path
    connections.disconnect()


@pytest.mark.parametrize(
    "read",
    [
        lambda one, _: commands.run(one, {}, commands.Manner(limit=0)),
        lambda one, folder: commands.write(one, {}, commands.Manner(), folder / "rows.json"),
        lambda one, _: commands.profile_query(one, {}, commands.Manner()),
    ],
    ids=["rows", "file", "profile"],
)
def test_an_interrupt_ends_a_read_and_its_threads(
    many: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Statement, Path], Any]
) -> None:
    (statement,) = split("SELECT id FROM db.many")
    is_stopping = Event()
    stop, hear = interruptible._Job.stop, interruptible._Job._hear

    def stopped(job: Any, patience_seconds: float) -> bool:
        job._is_stopping = True
        is_stopping.set()
        return stop(job, patience_seconds)

    def heard(job: Any, *said: Any) -> None:
        _thread.interrupt_main()
        assert is_stopping.wait(30)
        hear(job, *said)

    monkeypatch.setattr(interruptible._Job, "stop", stopped)
    monkeypatch.setattr(interruptible._Job, "_hear", heard)

    with pytest.raises(Cancelled) as caught:
        read(statement, many)

    names = [thread.name for thread in threading.enumerate()]
    told = f"while the traceback of {caught.value!r} is kept"
    assert not [name for name in names if name.startswith("paimonlab-read")], told
    assert not [path.name for path in many.iterdir() if "rows.json" in path.name]


@pytest.mark.usefixtures("native")
def test_a_query_is_explained_without_being_run() -> None:
    def plan(sql: str) -> str:
        (text,) = paimonlab.sql(sql).to_arrow()["plan"].to_pylist()
        return str(text)

    joined = plan("EXPLAIN SELECT a.v, count(*) FROM db.t a JOIN db.t b ON a.id = b.id GROUP BY 1")
    assert joined.startswith("== Read ==\ndb.t@2: ")
    assert "Hash Join" in joined
    scanned = plan("EXPLAIN FORMATTED SELECT id FROM db.t WHERE id = 2").splitlines()
    assert scanned[0].split() == ["table", "db.t"]
    assert "after statistics" in scanned[11]
    assert "nothing" in plan("EXPLAIN SELECT 1 + 1").split("==")[2]
    shown = paimonlab.sql("EXPLAIN SELECT max(id) FROM db.t")
    assert "== Read ==\n" in shown.to_text()


@pytest.mark.usefixtures("native")
def test_types_have_the_same_names_whoever_answers(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"z": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "t": "TIMESTAMP(3)", "d": "DECIMAL(9, 2)"}
    catalog.create_table("db.t", {**columns, "l": "ARRAY<INT>"})
    commands.connect(tmp_path, engine="native", alias="types")
    types = ["timestamp", "timestamp_ntz", "decimal(9,2)", "array<int>"]

    for query in ("SELECT * FROM db.t", "SELECT * FROM db.t ORDER BY z"):
        assert [column.type_text for column in paimonlab.sql(query).view.grid.columns] == types


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("mode", ["EXTENDED", "COST", "CODEGEN"])
def test_plans_that_only_spark_has_are_refused(mode: str) -> None:
    with pytest.raises(QueryError, match=f"EXPLAIN {mode} without Spark"):
        paimonlab.sql(f"EXPLAIN {mode} SELECT 1")
    with pytest.raises(QueryError, match="EXPLAIN of DELETE without Spark"):
        paimonlab.sql("EXPLAIN DELETE FROM db.t WHERE id = 1")


def test_what_needs_no_spark_runs_where_it_is_not_installed(tmp_path: Path) -> None:
    cells = [
        f"%paimon_connect {tmp_path} --engine native",
        "%%paimon\nCREATE DATABASE db;\nCREATE TABLE db.t AS SELECT 1 AS id, 'a' AS v",
        "%%paimon --plot bar\nSELECT v, count(*) AS n FROM db.t GROUP BY v",
        "%paimon CALL sys.compact('db.t')",
        "%paimon_timeline db.t",
    ]
    program = (
        "import importlib.machinery, sys\n"
        "found = importlib.machinery.PathFinder.find_spec\n"
        "def hidden(name, path=None, target=None):\n"
        "    is_spark = name.partition('.')[0] in {'pyspark', 'py4j'}\n"
        "    return None if is_spark else found(name, path, target)\n"
        "importlib.machinery.PathFinder.find_spec = hidden\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'paimonlab')\n"
        f"for cell in {cells!r}:\n"
        "    shell.run_cell(cell).raise_error()\n"
        "for cell in ('%%paimon --engine spark\\nSELECT 1', '%paimon_connect . --engine spark'):\n"
        "    error = shell.run_cell(cell).error_in_exec\n"
        "    assert 'PySpark is not installed' in str(error), repr(error)\n"
    )
    run_here = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run_here.returncode == 0, run_here.stdout + run_here.stderr


@pytest.mark.parametrize(
    "line",
    [
        "%paimon_connect {folder} --engine native   # --read-only: refuses changes",
        "%paimon_timeline db.t     # or %paimon_row db.t id = 1 (a row's life), %paimon_lsm, …",
        "%paimon_row db.t id = 1  # its life",
        "%paimon_timeline db.t #",
        "%paimon_tables # all",
    ],
)
def test_a_comment_after_a_magic_is_passed_by(
    native: InteractiveShell, folder: Path, line: str
) -> None:
    assert native.run_cell(line.format(folder=folder)).success


def test_a_variable_that_holds_a_table_is_no_data_frame(
    native: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native.user_ns["t"] = paimonlab.connect(folder).table("db.t")

    said = failure(native, capsys, "%%paimon\nSELECT * FROM t WHERE v = 'a'")

    assert said[0].startswith("t is no data frame; a table is written with its database")
    assert "Did you mean 'db.t'?" in said
