"""The magics on a real warehouse, and their twins in Python."""

from __future__ import annotations

import _thread
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession

import paimonlab
from paimonlab.notebook import commands
from paimonlab.notebook.kernel.interruptible import Cancelled
from paimonlab.notebook.views import Timeline
from paimonlab.procedures import PROCEDURES
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Row
from tests.notebook.magics.test_magics import failure, refusal, run


@pytest.fixture(scope="module", autouse=True)
def _back_to_sparks_own_catalog(spark: SparkSession) -> Iterator[None]:
    yield
    spark.catalog.setCurrentCatalog("spark_catalog")


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a warehouse with one table of three snapshots; the tests only read it."""
    folder = tmp_path_factory.mktemp("ware house")
    commands.connect(folder)
    paimonlab.sql(
        "CREATE DATABASE db; CREATE DATABASE empty;"
        "CREATE TABLE db.t (id INT NOT NULL, v STRING)"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1');"
        "INSERT INTO db.t VALUES (1, 'a'), (2, 'b');"
        "INSERT INTO db.t VALUES (2, 'c')"
    )
    table: Any = paimonlab.connect(folder).table("db.t")
    table.write(pa.table({"id": pa.array([3], pa.int32()), "v": ["d"]}))
    table.tags.create("first", snapshot=1)
    return folder


@pytest.fixture
def warehouse(shell: InteractiveShell, folder: Path) -> InteractiveShell:
    """Return a shell connected to that warehouse."""
    shell.user_ns["folder"] = folder
    run(shell, '%paimon_connect "{folder}"')
    return shell


def test_connecting_prints_one_line(
    shell: InteractiveShell,
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(shell, f"%paimon_connect {tmp_path} --catalog lake")

    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .startswith(f"connected: catalog lake at {tmp_path}, Spark 4.")
    )
    assert run(shell, "%paimon SELECT current_catalog()").to_arrow()[0][0].as_py() == "lake"


def test_tables_are_listed_with_keys_and_snapshots(warehouse: InteractiveShell) -> None:
    view = run(warehouse, "%paimon_tables")

    assert view.to_arrow().to_pylist() == [
        {
            "database": "db",
            "table": "t",
            "primary_keys": ["id"],
            "partition_keys": [],
            "column_count": 2,
            "snapshot_id": 3,
        }
    ]
    assert repr(view).endswith("1 table; no table in empty")
    assert repr(run(warehouse, "%paimon_tables empty")).endswith("0 tables; no table in empty")


def test_the_timeline_has_the_snapshots_and_tags(warehouse: InteractiveShell) -> None:
    view = run(warehouse, "%paimon_timeline db.t -n 2")

    points = view.to_arrow()
    assert points["id"].to_pylist() == [2, 3]
    assert points["delta_record_count"].to_pylist() == [1, 1]
    assert "the newest 2 of 3 snapshots" in repr(view)
    whole = commands.timeline("db.t").value
    assert isinstance(whole, Timeline)
    assert whole.points[0].tags == ("first",)


def test_a_system_table_has_no_timeline(
    warehouse: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = refusal(warehouse, capsys, "%paimon_timeline db.t$files")

    assert line.startswith("UsageError: a view of the system table db.t$files is not supported")


def test_every_view_has_a_twin_in_python(warehouse: InteractiveShell) -> None:
    table: Any = paimonlab.connect(warehouse.user_ns["folder"]).table("db.t")

    assert repr(table.show.timeline()) == repr(run(warehouse, "%paimon_timeline db.t"))
    assert repr(commands.tables("db")) == repr(run(warehouse, "%paimon_tables db"))
    assert paimonlab.sql("SELECT 1 AS one").to_arrow().to_pydict() == {"one": [1]}


def test_queries_see_the_merged_table_and_travel_back(warehouse: InteractiveShell) -> None:
    warehouse.user_ns.update(version=1, key=2)

    now = run(warehouse, "%paimon SELECT * FROM db.t ORDER BY id")
    then = run(warehouse, "%paimon SELECT v FROM db.t VERSION AS OF :version WHERE id = :key")
    tagged = run(warehouse, "%paimon SELECT v FROM db.t VERSION AS OF 'first' WHERE id = :key")

    assert now.to_arrow().to_pydict() == {"id": [1, 2, 3], "v": ["a", "c", "d"]}
    assert then.to_arrow().to_pydict() == tagged.to_arrow().to_pydict() == {"v": ["b"]}


def test_system_tables_need_no_quotes(warehouse: InteractiveShell) -> None:
    warehouse.user_ns["id"] = 2

    result = run(
        warehouse,
        "%paimon SELECT s.snapshot_id, count(*) AS files "
        "FROM db.t$snapshots s, paimon.db.t$files f WHERE s.snapshot_id = :id GROUP BY ALL",
    )

    assert result.to_arrow().to_pylist() == [{"snapshot_id": 2, "files": 3}]


def test_cells_read_files_by_their_path_beside_tables(
    warehouse: InteractiveShell, tmp_path: Path
) -> None:
    for source in ("parquet", "json"):
        path = tmp_path / f"new rows.{source}"
        new = run(warehouse, "%paimon --lazy SELECT 1 AS id UNION ALL SELECT 3")
        new.write.format(source).save(str(path))

        found = run(
            warehouse,
            "%%paimon\nSELECT t.id, v FROM db.t"
            f" JOIN {source}.`{path}` f ON f.id = t.id ORDER BY t.id",
        )

        assert found.to_arrow().to_pydict() == {"id": [1, 3], "v": ["a", "d"]}


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%paimon_timeline db.tt", "UsageError: table db.tt not found. Did you mean 'db.t'?"),
        (
            "%paimon_timeline t",
            "UsageError: 't' is not a table name; write it as database.table. Did you mean 'db.t'?",
        ),
        ("%paimon_timeline dbb.t", "UsageError: database dbb not found. Did you mean 'db'?"),
        ("%paimon_tables nosuch", "UsageError: database nosuch not found. There are: db, empty."),
    ],
)
def test_wrong_names_are_one_line(
    warehouse: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str, message: str
) -> None:
    assert refusal(warehouse, capsys, cell) == [message]


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT * FROM db.tt", "Did you mean 'db.t'?"),
        ("SELECT idd FROM db.t", "Did you mean `id`"),
        ("SELECT * FROM db.t$snapshot", "Did you mean 'snapshots'?"),
        ("SELECT * FROM db.t VERSION AS OF 99", "99"),
        ("SELECT * FROM db.t VERSION AS OF 'frist'", "first"),
        ("INSERT INTO db.t VALUES (NULL, 'x')", "id"),
        ("CREATE TABLE db.u (id INT) TBLPROPERTIES ('merge-engin' = 'x')", "merge-engine"),
        ("CREATE TABLE db.u (id INT) TBLPROPERTIES ('bucket-append-ordered' = 'x')", "'x'"),
    ],
)
def test_errors_of_the_catalog_are_short_and_say_what_to_do(
    warehouse: InteractiveShell, capsys: pytest.CaptureFixture[str], sql: str, hint: str
) -> None:
    lines = failure(warehouse, capsys, f"%%paimon\n{sql}")

    assert len(lines) <= 8
    assert lines[-1].startswith("QueryError: ")
    assert hint in "\n".join(lines)
    assert not any("Traceback" in line or "Scala" in line for line in lines)


@pytest.mark.parametrize("point", ["1", "first", "'2100-01-01'"])
def test_all_tables_of_a_cell_are_read_as_of_a_point(
    warehouse: InteractiveShell, point: str
) -> None:
    query = "SELECT (SELECT v FROM db.t WHERE id = 2) AS v, count(*) AS n FROM db.t"

    then = run(warehouse, f"%%paimon --as-of {point}\n{query}")
    now = run(warehouse, f"%paimon {query}")

    old = {"v": ["c"], "n": [3]} if "2100" in point else {"v": ["b"], "n": [2]}
    assert then.to_arrow().to_pydict() == old
    assert then.stats.snapshots == (("db.t@3",) if "2100" in point else ("db.t@1",))
    assert [row["n"] for row in then.spark.collect()] == old["n"]
    assert now.to_arrow().to_pydict() == {"v": ["c"], "n": [3]}


def test_a_version_in_the_query_goes_before_the_one_of_the_cell(
    warehouse: InteractiveShell,
) -> None:
    query = "SELECT v FROM db.t VERSION AS OF 2 WHERE id = 2"

    assert run(warehouse, f"%paimon --as-of 1 {query}").to_arrow().to_pydict() == {"v": ["c"]}


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("INSERT INTO db.t VALUES (9, 'x')", "--as-of is for queries, and INSERT INTO is not one."),
        ("SELECT * FROM db.t$files", "A system table is read as it is now."),
        ("SELECT * FROM `db`.`t$files`", "A system table is read as it is now."),
        ("SELECT * FROM IDENTIFIER('db.t$files')", "A system table is read as it is now."),
    ],
)
def test_what_cannot_travel_is_refused(
    warehouse: InteractiveShell, capsys: pytest.CaptureFixture[str], sql: str, message: str
) -> None:
    lines = failure(warehouse, capsys, f"%%paimon --as-of 1\n{sql}")

    assert lines[0] == message


def test_a_point_that_is_not_there_is_an_error(
    warehouse: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    for point in ("99", "nosuch", "1970-01-01"):
        lines = failure(warehouse, capsys, f"%%paimon --as-of {point}\nSELECT * FROM db.t")
        assert lines[-1].startswith("QueryError: ")
        assert "db.t" in "".join(lines)
    assert run(warehouse, "%paimon SELECT * FROM db.t").stats.row_count == 3


def test_one_of_several_connections_is_used(
    warehouse: InteractiveShell, folder: Path, tmp_path: Path
) -> None:
    run(warehouse, f"%paimon_connect {tmp_path} --alias other")
    assert run(warehouse, "%paimon SELECT current_catalog()").to_arrow()[0][0].as_py() == "other"

    joined = run(warehouse, "%paimon SELECT count(*) AS n FROM paimon.db.t")
    run(warehouse, "%paimon_connect --use paimon")

    assert joined.to_arrow()["n"].to_pylist() == [3]
    assert run(warehouse, "%paimon SELECT count(*) AS n FROM db.t").to_arrow()["n"][0].as_py() == 3
    assert folder.is_dir()


def test_a_dry_run_knows_what_would_be_read(warehouse: InteractiveShell, folder: Path) -> None:
    table: Any = paimonlab.connect(folder).table("db.t")
    files = [file for split in table.scan().plan().splits for file in split.files]
    cell = "SELECT v FROM db.t WHERE id = 2 AND v IN (SELECT v FROM db.t VERSION AS OF 1)"

    for mode, section in (("cost", "Optimized Logical Plan"), ("extended", "Parsed Logical Plan")):
        html = run(warehouse, f"%%paimon --explain {mode}\n{cell}").to_html()
        assert f"<summary>{section}</summary>" in html
    view = run(warehouse, f"%%paimon --explain\n{cell}")

    reads = view.to_arrow().to_pylist()
    assert {read["table"] for read in reads} == {"db.t"}
    assert {read["snapshot_id"] for read in reads} == {1, 3}
    (now,) = [read for read in reads if read["snapshot_id"] == 3]
    assert now["all_file_count"] == len(files)
    assert now["all_size_bytes"] == sum(file.file_size_bytes for file in files)
    assert 0 < now["file_count"] <= len(files)
    assert now["level_0_count"] == sum(file.level == 0 for file in files)
    assert "(id = 2)" in now["filters"]
    assert "Physical Plan" in view.value.plan
    assert "<details>" in view.to_html()


def test_only_a_query_is_planned(
    warehouse: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = failure(warehouse, capsys, "%paimon --dry-run INSERT INTO db.t VALUES (7, 'x')")

    said = "Only queries and calls can be planned, and INSERT INTO is neither."
    assert lines[-1] == f"QueryError: {said}"


def test_the_name_of_a_table_can_be_a_parameter(warehouse: InteractiveShell) -> None:
    warehouse.user_ns["name"] = "db.t"

    result = run(warehouse, "%paimon --as-of 1 SELECT count(*) AS n FROM IDENTIFIER(:name)")

    assert result.to_arrow()["n"].to_pylist() == [2]


def test_a_call_runs_once_and_its_errors_point_at_the_name(
    warehouse: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse.user_ns["tag"] = "called"
    table: Any = paimonlab.connect(folder).table("db.t")
    result = run(warehouse, "%paimon CALL sys.create_tag('db.t', :tag, snapshot => 2)")

    assert result.to_arrow().to_pylist() == [{"result": True}]
    assert len(result) == 1
    assert "db.t: created tag called of snapshot 2; 1 row" in result.to_text()
    assert table.tags.get("called").id == 2
    planned = run(warehouse, "%paimon --dry-run CALL sys.delete_tag('db.t', :tag)")
    assert planned.to_arrow()["name"].to_pylist() == ["called"]
    done = run(warehouse, "%paimon CALL sys.delete_tag('db.t', :tag)")
    assert "tag called of snapshot 2, 0 files; 1 row" in done.to_text()
    assert list(table.tags.list()) == ["first"]

    lines = failure(warehouse, capsys, "%paimon CALL sys.create_tags('db.t', 'x')")

    assert "there is no procedure sys.create_tags" in " ".join(lines)
    assert any(one.endswith("^" * len("create_tags")) for one in lines)


def test_an_interrupt_ends_a_call_where_it_tells_how_far_it_is(
    warehouse: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = Event(), Event()

    def rows(call: Invocation) -> Sequence[Row]:
        assert call.progress is not None
        try:
            for number in range(100_000):
                call.progress(number, 100_000, "files")
                begun.set()
                ended.wait(0.001)
        finally:
            ended.set()
        return ()

    slow = replace(PROCEDURES["compact_manifest"], rows=rows)
    monkeypatch.setattr("paimonlab.spark.catalogs.procedures.find", lambda _: slow)

    def interrupt() -> None:
        begun.wait()
        _thread.interrupt_main()

    Timer(0, interrupt).start()
    with pytest.raises(Cancelled, match="cancelled after"):
        commands.sql("CALL sys.compact_manifest('db.t')")

    assert ended.wait(60)
    assert paimonlab.sql("SELECT 1").to_arrow().num_rows == 1
