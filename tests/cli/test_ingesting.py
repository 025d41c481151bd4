from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import paimonlab as pm
from tests.cli.conftest import Run


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, str]:
    """A warehouse, and a folder with a file."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("id,v\n1,a\n2,b\n")
    os.utime(folder / "a.csv", (0, 0))
    return str(tmp_path / "w"), str(folder)


def test_files_are_ingested(run: Run, place: tuple[str, str]) -> None:
    warehouse, folder = place
    told = (warehouse, "files", folder, "--into", "ods", "--name", "job", "--primary-key", "id")

    plan = run("ingest", *told, "--table-name", "t", "--dry-run").output
    assert plan.startswith("create ods.t from files.in, primary key (id)\n  id  BIGINT NOT NULL")
    assert pm.connect(warehouse).databases() == []
    done = run("ingest", *told, "--table-name", "t", "-o", "bucket=1")
    again = run("ingest", *told, "--table-name", "t", "-o", "bucket=1", "--json")

    assert done.exit_code == 0, done.output
    assert "caught up, epoch 1, 2 rows, 0 files behind" in done.output
    assert json.loads(again.output)["epoch"] == 1
    assert pm.connect(warehouse).table("ods.t").scan().count() == 2
    assert "job: epoch 1, 2 rows" in run("ingest", warehouse, "status").output
    log = json.loads(run("ingest", warehouse, "status", "job", "--json").output)
    assert [event["kind"] for event in log] == ["created"]
    assert "created  ods.t" in run("ingest", warehouse, "status", "job").output


def test_a_job_is_asked_by_another_process(run: Run, place: tuple[str, str]) -> None:
    warehouse, folder = place
    told = (warehouse, "files", folder, "--into", "ods", "--name", "job", "--table-name", "t")
    run("ingest", *told)
    Path(folder, "a.csv").write_text("id,v\n1,a\n3,c\n")
    os.utime(Path(folder, "a.csv"), (1, 1))

    asked = run("ingest", warehouse, "resnapshot", "job", "t")

    assert asked.output == "job does not run: its next run does it\n"
    done = run("ingest", *told)
    assert done.exit_code == 0, done.output
    rows = pm.connect(warehouse).table("ods.t").scan().to_arrow()
    assert rows["id"].to_pylist() == [1, 3]
    for wrong, problem in (
        (("pause", "job"), "no process runs it, so there is nothing to pause"),
        (("pause", "jib"), "there is no ingest job 'jib'. Did you mean 'job'"),
        (("resnapshot", "job"), "give resnapshot NAME TABLE"),
        (("resnapshot", "job", "ods.tt"), "has no table 'ods.tt'. Did you mean 'ods.t'"),
        (("add", "job", "["), "'[' is not a regular expression"),
        (("stop", "job", "t"), "give stop NAME"),
        (("replay", "job", "t"), "give replay NAME"),
        (("stop",), "give the name of the job"),
    ):
        refused = run("ingest", warehouse, *wrong)
        assert refused.exit_code == 2
        assert problem in refused.output


def test_some_tables_have_options_of_their_own(run: Run, place: tuple[str, str]) -> None:
    warehouse, folder = place
    told = (warehouse, "files", folder, "--into", "ods", "--name", "job", "--table-name", "t")

    done = run(
        *("ingest", *told, "-o", "bucket=2", "--primary-key", "id"),
        *("--table-option", "t|u", "bucket=1", "--table-option", "t|u", "file.format=avro"),
        *("--table-option", "u", "bucket=4"),
    )

    assert done.exit_code == 0, done.output
    options = pm.connect(warehouse).table("ods.t").options
    assert (options["bucket"], options["file.format"]) == ("1", "avro")
    wrong = run("ingest", *told, "--table-option", "(", "bucket=1")
    assert wrong.exit_code == 2
    assert "table_options" in wrong.output


def test_a_job_is_dropped(run: Run, place: tuple[str, str]) -> None:
    warehouse, folder = place
    run("ingest", warehouse, "files", folder, "--into", "ods", "--name", "job", "--table-name", "t")

    plan = run("ingest", warehouse, "drop", "job", "--dry-run", "--json")
    done = run("ingest", warehouse, "drop", "job", "--yes")
    again = run("ingest", warehouse, "drop", "jib", "--yes")

    assert json.loads(plan.output)["consumers"] == ["ods.t"]
    assert done.exit_code == 0, done.output
    assert done.output.startswith("done:\n  dropped ingest job job\n    notes in ")
    assert run("ingest", warehouse, "status").output == "no jobs\n"
    assert pm.connect(warehouse).table("ods.t").scan().count() == 2
    assert "there is no ingest job 'jib'" in again.output


def test_columns_are_computed_and_tell_where_rows_are_from(
    run: Run, place: tuple[str, str]
) -> None:
    warehouse, folder = place
    told = (warehouse, "files", folder, "--into", "ods", "--name", "job", "--table-name", "t")

    done = run(
        *("ingest", *told, "--partition-by", "up", "--computed-column", "up=upper(v)"),
        *("--computed-column", "ten = truncate(id, 10)", "--metadata-column", "file"),
    )

    assert done.exit_code == 0, done.output
    rows = pm.connect(warehouse).table("ods.t").scan().to_arrow().to_pylist()
    assert sorted(map(tuple, (row.values() for row in rows))) == [
        (1, "a", "A", 0, "a.csv"),
        (2, "b", "B", 0, "a.csv"),
    ]


def test_a_table_of_another_warehouse_is_ingested(run: Run, tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path / "a")
    catalog.create_database("src")
    catalog.write_table("src.t", [{"id": 1}])
    told = ("table", "src.t", "--source-warehouse", str(tmp_path / "a"), "--consumer", "copy")

    done = run("ingest", str(tmp_path / "b"), *told, "--into", "ods", "--name", "job")

    assert done.exit_code == 0, done.output
    assert pm.connect(tmp_path / "b").table("ods.t").scan().count() == 1
    assert catalog.table("src.t").consumers.list() == {"copy": 2}


def test_a_table_that_stops_is_exit_code_1(run: Run, place: tuple[str, str]) -> None:
    warehouse, folder = place
    told = (warehouse, "files", folder, "--into", "ods", "--name", "job")
    run("ingest", *told)
    Path(folder, "b.csv").write_text("id,v\nx,c\n")
    os.utime(Path(folder, "b.csv"), (1, 1))

    stopped = run("ingest", *told)

    assert stopped.exit_code == 1
    assert "column 'id' is BIGINT, which cannot become STRING" in stopped.output


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (["mysql_sync_database"], "--database is missing"),
        (["file", "x"], "'file' is no source"),
        (["files"], "give the folder"),
        (["files", "x"], "give --into"),
        (["files", "x", "--into", "d"], "give --name"),
        (["files", "x", "--into", "d", "--name", "j", "--start", "latest"], "--start is not for"),
        (["table", "d.t", "--into", "d", "--name", "j", "--pattern", "*"], "--pattern is not for"),
        (["table", "d.t", "--into", "d", "--name", "j"], "database d"),
        (["files", "http://b/x", "--into", "d", "--name", "j"], "there are local folders, and s3"),
        (["files", ".", "--into", "d", "--name", "j", "--until", "noon"], "noon"),
        (["files", ".", "--into", "d", "--name", "j", "--column", "id"], "is not a column"),
        (
            ["files", ".", "--into", "d", "--name", "j", "--computed-column", "x=foo(id)"],
            "function 'foo' of computed column 'x'",
        ),
        (
            ["files", ".", "--into", "d", "--name", "j", "--metadata-column", "topic"],
            "the source gives database_name, file, table_name",
        ),
        (["kafka", "h:1", "--into", "d", "--name", "j"], "format: it is missing"),
        (["mongodb", "a:b@h", "--into", "d", "--name", "j"], "a password in the address"),
        (["status", "no"], "there is no job 'no'"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(
    run: Run, tmp_path: Path, told: list[str], message: str
) -> None:
    done = run("ingest", str(tmp_path / "w"), *told)

    assert done.exit_code == 2, done.output
    assert message in done.output


def test_a_job_of_a_file_is_run(run: Run, place: tuple[str, str], tmp_path: Path) -> None:
    warehouse, folder = place
    file = tmp_path / "job.yaml"
    file.write_text(
        "job: {name: j, into: ods, until: caught-up}\n"
        f"source: {{type: files, folder: {folder}}}\n"
        "tables: {names: o}\n"
    )

    plan = run("ingest", warehouse, "run", str(file), "--dry-run")
    assert plan.output.startswith("create ods.o from files.in")
    done = run("ingest", "run", str(file), "--warehouse", warehouse, "--json")
    assert json.loads(done.output)["rows"] == 2
    file.write_text(f"catalog: {{warehouse: {warehouse}}}\n{file.read_text()}  nmes: x\n")
    wrong = run("ingest", "run", str(file))

    assert wrong.exit_code == 2
    assert f"{file}, line 5: " in wrong.output or "not YAML" in wrong.output
    assert pm.connect(warehouse).table("ods.o").scan().count() == 2


def test_actions_take_the_arguments_of_paimon(run: Run, tmp_path: Path) -> None:
    told = ("--warehouse", str(tmp_path / "w"), "--database", "ods", "--table", "o")
    conf = ("hostname=127.0.0.1", "port=1", "username=u", "database-name=d", "table-name=t")
    confs = [word for one in conf for word in ("--mysql_conf", one)]

    nobody = run("ingest", "mysql_sync_table", *told, *confs, "--dry_run")
    refused = run("ingest", "mysql-sync-table", *told, *confs, "--mysql-conf", "server-id=1")
    other = run("ingest", "pulsar_sync_table", *told)
    help = run("ingest", "kafka_sync_database", "--help")

    assert nobody.exit_code == 2
    assert "mysql 127.0.0.1:1" in nobody.output
    assert "--mysql_conf server-id is not supported" in refused.output
    assert "pulsar_sync_table is not supported" in other.output
    assert "--kafka_conf, --kafka-conf KEY=VALUE" in help.output
