"""Jobs that cells start by SQL: begun, seen, steered, refused."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab as pm
from paimonlab import dbapi
from paimonlab.errors import UnsupportedError
from paimonlab.ingest import (
    batches,
    files,
    forget_source,
    job,
    name_source,
    named_sources,
    noted_jobs,
    table_changes,
)
from paimonlab.notebook import commands, running
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.views.ingest import command
from paimonlab.notebook.views.ingest.command import Following, Seen
from paimonlab.notebook.views.ingest.drawing import draw_ingest
from paimonlab.notebook.views.ingest.value import IngestJobs
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.tables import Sources
from tests.ingest import scripted
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource
from tests.ingest.test_status import STATUS
from tests.notebook.magics.test_magics import failure, run
from tests.waiting import until


@pytest.fixture
def arriving(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    (folder / "orders").mkdir(parents=True)
    put(folder / "orders" / "a.csv", "id,v\n1,a\n2,b\n")
    return folder


def put(path: Path, text: str, seconds: int = 0) -> None:
    path.write_text(text)
    os.utime(path, (seconds, seconds))


@pytest.fixture
def native(shell: InteractiveShell, tmp_path: Path, arriving: Path) -> Iterator[InteractiveShell]:
    """A shell without Spark that knows the source `arriving`."""
    commands.connect(tmp_path / "warehouse", engine="native")
    shell.run_cell(f"%paimon_source arriving files:{arriving}")
    yield shell
    for one in running.ingest_jobs.known_jobs():
        if one.is_running:
            one.stop()
    running.ingest_jobs._known.clear()
    for named in named_sources():
        forget_source(named.name)


def rows(name: str) -> list[tuple[Any, ...]]:
    table = connections.current().catalog.table(name)
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


def shown(view: Any) -> IngestJobs:
    assert isinstance(view, Drawn)
    assert isinstance(view.value, IngestJobs)
    return view.value


def test_a_cell_follows_a_source_until_it_is_stopped(
    native: InteractiveShell, arriving: Path
) -> None:
    following = run(
        native,
        "%%paimon\nCREATE TABLE ods.o (PRIMARY KEY (id) NOT ENFORCED) "
        "WITH ('bucket' = '1', 'ingest.interval' = '0 s', 'ingest.name' = 'shop') "
        "AS TABLE arriving.orders ADD COLUMN (up AS upper(v))",
    )

    assert isinstance(following, Following)
    until(lambda: shown(run(native, "%paimon_ingest shop")).jobs[0].rows == 2)
    assert rows("ods.o") == [(1, "a", "A"), (2, "b", "B")]
    put(arriving / "orders" / "b.csv", "id,v,n\n2,c,7\n", 1)
    until(lambda: shown(run(native, "%paimon_ingest shop")).jobs[0].rows == 3)
    (entry,) = shown(run(native, "%paimon_ingest shop stop")).jobs

    assert (entry.phase, entry.is_running) == ("stopped", False)
    assert rows("ods.o") == [(1, "a", "A", None), (2, "c", "C", 7)]
    changed = [event.columns for event in entry.events if event.what == "altered"]
    assert changed == ["+n BIGINT"]
    assert not following.job.is_running
    text = run(native, "%paimon_ingest shop").to_text()
    assert "shop is stopped: 3 rows" in text
    assert "+n BIGINT" in text


def test_a_cell_runs_until_all_is_read_and_goes_on_later(
    native: InteractiveShell, arriving: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = (
        "%%paimon\nCREATE TABLE IF NOT EXISTS ods.o WITH ('ingest.until' = 'caught-up') "
        "AS TABLE arriving.orders"
    )

    run(native, cell)
    assert rows("ods.o") == [(1, "a"), (2, "b")]
    put(arriving / "orders" / "b.csv", "id,v\n3,c\n", 1)
    run(native, cell)

    assert rows("ods.o") == [(1, "a"), (2, "b"), (3, "c")]
    assert "ods_o has read all there is: 3 rows" in capsys.readouterr().out
    (entry,) = shown(run(native, "%paimon_ingest")).jobs
    assert (entry.name, entry.phase, entry.rows, entry.epoch) == ("ods_o", "caught up", 3, 2)
    result = pm.sql("SELECT count(*) AS n FROM ods.o")
    assert result.to_arrow().to_pylist() == [{"n": 3}]


def test_several_statements_and_python_start_jobs(native: InteractiveShell) -> None:
    columns = "id BIGINT, v STRING"
    script = [scripted.rows("a.t", columns, "+I 1 a", "+I 2 b"), "|"]
    made = ScriptedSource(script, {"a.t": source(columns)})
    native.user_ns["mine"] = made
    run(native, "%paimon_source mine mine")

    result = pm.sql(
        "CREATE DATABASE ods WITH ('ingest.until' = 'caught-up', 'ingest.suffix' = '_raw', "
        "'ingest.table-options.t_.*' = 'file.format = avro; bucket = -1') "
        "AS DATABASE mine.a INCLUDING TABLE 't' EXCLUDING TABLE 'u'"
    )

    assert "ingest job ods: caught up, 2 rows so far" in repr(result)
    assert rows("ods.t_raw") == [(1, "a"), (2, "b")]
    options = connections.current().catalog.table("ods.t_raw").options
    assert (options["file.format"], options["bucket"]) == ("avro", "-1")
    run(
        native,
        "%%paimon\nCREATE TABLE ods.one WITH ('ingest.until'='caught-up') AS TABLE mine.a.t;\n"
        "SELECT * FROM ods.one",
    )
    assert rows("ods.one") == [(1, "a"), (2, "b")]


def test_what_a_statement_says_wrongly_is_named_before_anything_is_made(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    for sql, problem in {
        "CREATE TABLE ods.o WITH ('bucket'='1') AS TABLE arivng.orders": "Did you mean 'arriving'",
        "CREATE TABLE o AS TABLE arriving.orders": "o is not database.table",
        "CREATE TABLE ods.o AS TABLE arriving.a.b": "of files give source.folder, not 2 names",
        "CREATE TABLE ods.o WITH ('ingest.intervall'='1 s') AS TABLE arriving.orders": (
            "'ingest.intervall' is not supported"
        ),
        "CREATE TABLE ods.o WITH ('ingest.max-dead'='x') AS TABLE arriving.orders": (
            "ingest.max-dead = 'x'"
        ),
        "CREATE TABLE ods.o WITH ('bukket'='1') AS TABLE arriving.orders": "bukket",
        "CREATE TABLE ods.o WITH ('ingest.table-options.o'='1') AS TABLE arriving.orders": (
            "give 'bucket = -1; file.format = avro'"
        ),
        "CREATE TABLE ods.o AS TABLE arriving.orders /*+ OPTIONS('format'='xml') */": "xml",
        "CREATE TABLE ods.o AS TABLE arriving.orders /*+ OPTIONS('patern'='*') */": "patern",
        "CREATE TABLE ods.o (PRIMARY KEY (nope)) AS TABLE arriving.orders": "'nope' is not in",
        "CREATE DATABASE ods AS DATABASE arriving INCLUDING ALL TABLES": "of files in",
        "BEGIN STATEMENT SET; CREATE TABLE ods.o AS TABLE arriving.orders; END": "STATEMENT SET",
    }.items():
        told = "\n".join(failure(native, capsys, f"%%paimon\n{sql}"))
        assert problem in told, sql
    assert connections.current().catalog.databases() == []
    assert running.ingest_jobs.known_jobs() == ()


def test_a_table_that_exists_is_not_taken_without_a_word(native: InteractiveShell) -> None:
    pm.sql("CREATE TABLE ods.o WITH ('ingest.until'='caught-up') AS TABLE arriving.orders")

    with pytest.raises(QueryError, match=r"ods\.o already exists"):
        pm.sql("CREATE TABLE ods.o WITH ('ingest.name'='x') AS TABLE arriving.orders")


def test_only_this_process_runs_them(native: InteractiveShell, tmp_path: Path) -> None:
    sql = "CREATE TABLE ods.o WITH ('bucket' = '1') AS TABLE arriving.orders"

    with pytest.raises(QueryError, match="which runs in this process, not on Spark"):
        pm.sql(sql, engine="spark")
    catalog = pm.connect(tmp_path / "warehouse")
    with pytest.raises(UnsupportedError, match="starts an ingest job"):
        changes.run(sql, Sources(catalog, "paimon"))
    with (
        dbapi.connect(str(tmp_path / "warehouse")) as connection,
        pytest.raises(dbapi.Error, match="starts an ingest job"),
    ):
        connection.cursor().execute(sql)
    assert catalog.databases() == []


def test_a_read_only_connection_starts_none(
    native: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "warehouse").mkdir(exist_ok=True)
    native.run_cell(f"%paimon_connect {tmp_path / 'warehouse'} --engine native --read-only")

    told = failure(native, capsys, "%%paimon\nCREATE TABLE ods.o AS TABLE arriving.orders")

    assert any("read-only" in line for line in told)


def test_a_job_runs_once_and_its_view_has_a_button(native: InteractiveShell) -> None:
    sql = (
        "CREATE TABLE IF NOT EXISTS ods.o WITH ('ingest.interval' = '0 s') AS TABLE arriving.orders"
    )
    following = run(native, f"%%paimon\n{sql}")
    assert isinstance(following, Following)

    with pytest.raises(QueryError, match="ods_o runs already"):
        pm.sql(sql)
    until(lambda: following.job.status.rows == 2)
    run(native, "%paimon_ingest ods_o pause")
    until(lambda: following.job.status.phase == "paused")
    run(native, "%paimon_ingest ods_o resume")
    answered = following._answer({"stop": "ods_o"})

    assert answered["view"]["jobs"][0]["phase"] == "stopped"
    assert not following.job.is_running


def test_sources_are_listed_and_forgotten(
    native: InteractiveShell, arriving: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native.user_ns["orders"] = files(arriving / "orders")
    run(native, "%paimon_source other orders")
    run(native, "%paimon_source shop mysql://cdc@h:3307?password_env=CDC")
    capsys.readouterr()
    run(native, "%paimon_source")
    told = capsys.readouterr().out
    assert f"arriving: files in {arriving}" in told
    assert f"other: files in {arriving / 'orders'}" in told
    assert "shop: mysql h:3307" in told
    run(native, "%paimon_source other --forget")
    assert [one.name for one in named_sources()] == ["arriving", "shop"]
    for line, problem in {
        "bad-name files:./in": "cannot name a source",
        "shop mysql://cdc:secret@h": "a password in the address",
        "shop": "give an address",
        "nope --forget": "there is no source 'nope'",
        "shop ftp://h": "a source at 'ftp://h'",
    }.items():
        told = "\n".join(failure(native, capsys, f"%paimon_source {line}"))
        assert problem in told
        assert "secret" not in told


def test_a_password_is_nowhere_to_be_seen(
    native: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CDC", "zq-secret")
    name_source("shop", "mysql://cdc@127.0.0.1:1?password_env=CDC")

    with pytest.raises(QueryError, match=r"127\.0\.0\.1:1") as caught:
        pm.sql("CREATE TABLE ods.o AS TABLE shop.db.orders")

    assert "zq-secret" not in "".join(caught.value.lines())


def test_jobs_of_a_warehouse_are_listed_though_no_process_runs_them(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    pm.sql("CREATE TABLE ods.o WITH ('ingest.until'='caught-up') AS TABLE arriving.orders")
    running.ingest_jobs._known.clear()
    job._ran.clear()

    (entry,) = shown(run(native, "%paimon_ingest")).jobs
    assert (entry.name, entry.phase, entry.rows) == ("ods_o", "noted", 2)
    assert "ods_o does not run here: 2 rows" in run(native, "%paimon_ingest ods_o").to_text()
    for line, problem in {
        "nope": "there is no ingest job 'nope'",
        "ods_o stop": "this process has no ingest job 'ods_o'",
        "ods_o end": "end: give stop, pause, resume",
    }.items():
        assert problem in "\n".join(failure(native, capsys, f"%paimon_ingest {line}"))


def test_jobs_of_python_are_listed_and_steered(native: InteractiveShell, arriving: Path) -> None:
    catalog = connections.current().catalog
    made = catalog.ingest(files(arriving / "orders"), into="ods", name="py", interval=0)
    made.start()
    until(lambda: made.status.rows == 2)

    (entry,) = shown(run(native, "%paimon_ingest")).jobs
    assert (entry.name, entry.is_running, entry.rows) == ("py", True, 2)
    run(native, "%paimon_ingest py stop")

    assert not made.is_running


def test_a_table_is_read_anew_by_a_magic(
    native: InteractiveShell, arriving: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(native, "%%paimon\nCREATE TABLE ods.o AS TABLE arriving.orders")
    made = running.ingest_jobs.known_jobs()[0]
    until(lambda: made.status.rows == 2)
    put(arriving / "orders" / "a.csv", "id,v\n1,a\n9,c\n", 1)
    run(native, f"%paimon_ingest {made.name} resnapshot o")
    table = connections.current().catalog.table("ods.o")
    until(lambda: table.scan().to_arrow()["id"].to_pylist() == [1, 9])
    told = failure(native, capsys, f"%paimon_ingest {made.name} resnapshot x")
    assert "has no table 'x'" in "".join(told)
    told = failure(native, capsys, f"%paimon_ingest {made.name} add")
    assert "the pattern of tables to add" in "".join(told)


def test_a_job_is_dropped_by_a_magic_that_says_before_what_goes(
    native: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = connections.current().catalog
    catalog.create_database("src")
    catalog.write_table("src.t", [{"id": 1}])
    followed = catalog.table("src.t")
    catalog.ingest(table_changes(followed, consumer="copy"), into="ods", name="j").run()
    for words in ("j drop --yes --dry-run", "j stop --yes", "j drop o", "other drop"):
        assert failure(native, capsys, f"%paimon_ingest {words}"), words

    run(native, "%paimon_ingest j drop")
    said = capsys.readouterr().out
    assert followed.consumers.list() == {"copy": 2}
    assert [one.name for one in noted_jobs(catalog)] == ["j"]
    run(native, "%paimon_ingest j drop --yes")

    assert "consumer copy at table src.t" in said
    assert "nothing was changed" in said
    assert "dropped ingest job j" in capsys.readouterr().out
    assert followed.consumers.list() == {}
    assert noted_jobs(catalog) == []
    assert catalog.has_table("ods.t")


def test_outputs_are_the_same_from_run_to_run(
    native: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")
    capsys.readouterr()
    run(
        native,
        "%%paimon\nCREATE TABLE ods.o WITH ('ingest.until'='caught-up', 'ingest.name'='j') "
        "AS TABLE arriving.orders",
    )
    (entry,) = shown(run(native, "%paimon_ingest j")).jobs

    assert (entry.committed_millis, entry.position, entry.rows_per_second) == (None, "", None)
    assert [event.at_millis for event in entry.events] == [None]
    assert "j has read all there is: 2 rows" in capsys.readouterr().out.splitlines()


def test_an_interrupt_does_not_wait_for_the_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that takes no messages must not keep a kernel busy."""
    monkeypatch.setattr(command, "PAUSE_SECONDS", 0.01)
    draws, let = threading.Event(), threading.Event()

    def show(view: Any, *, is_update: bool) -> None:
        del view, is_update
        if threading.current_thread() is not threading.main_thread():
            draws.set()
            let.wait(60)

    def made(_count: int) -> Iterator[Any]:
        assert draws.wait(60)
        signal.raise_signal(signal.SIGINT)
        yield None

    source = batches(made, table="app.t", columns={"id": "BIGINT"})
    following = Following(pm.connect(tmp_path).ingest(source, into="ods", name="j"), show)
    with pytest.raises(KeyboardInterrupt):
        following.run("1 h")
    thread = following._thread
    assert thread is not None
    assert thread.is_alive(), "it was not waited for"
    let.set()
    thread.join(60)

    assert following.view.value.jobs[0].phase == "interrupted"


def test_rates_are_those_of_late() -> None:
    seen = Seen()
    for epoch, (at, count) in enumerate([(0, 0), (1_000, 500), (2_000, 900)], 1):
        tables = (replace(STATUS.tables[0], name="ods.t", rows=count),)
        at_millis = 1_000_000 + at
        seen.look(
            replace(STATUS, epoch=epoch, committed_millis=at_millis, rows=count, tables=tables)
        )

    assert seen.rate("ods.t", 1_002_000) == 450.0
    assert [commit.rows for commit in seen.commits] == [500, 400]
    assert seen.rate("ods.t", 9_000_000) == 0.0
    assert Seen().rate("ods.t", 0) is None


def test_an_empty_list_says_what_starts_a_job() -> None:
    assert (
        "no jobs yet: CREATE TABLE … AS TABLE"
        in draw_ingest(IngestJobs(jobs=(), is_one=False)).to_text()
    )
