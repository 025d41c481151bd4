"""Connections that refuse everything that changes something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.errors import ReadOnlyError
from paimonlab.notebook import commands
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.read_only import check_reads
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.connections import connection as connections


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Path]:
    """Make a table, and connect natively to read it only."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT"})
    table.write(pa.table({"k": pa.array([1], pa.int32())}))
    connections.connect(tmp_path, engine="native", alias="safe", read_only=True)
    yield tmp_path
    connections.disconnect()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "select `insert` FROM t",
        "SELECT insert FROM t",
        "SELECT a.delete, update FROM t",
        "SELECT x AS delete FROM t WHERE merge > 1",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "FROM t SELECT k",
        "VALUES (1)",
        "TABLE t",
        "(SELECT 1)",
        "SHOW TABLES",
        "DESCRIBE t",
        "EXPLAIN INSERT INTO t VALUES (1)",
        "USE db",
        "SET a = b",
        "CREATE TEMPORARY VIEW v AS SELECT 1",
        "CREATE OR REPLACE GLOBAL TEMP VIEW v AS SELECT 1",
        "DROP TEMPORARY FUNCTION f",
        "SELECT 'INSERT INTO t' -- DELETE FROM t",
        "WITH a AS (SELECT 1) SELECT f(k) update FROM a",
    ],
)
def test_what_changes_nothing_is_let_through(sql: str) -> None:
    (statement,) = split(sql)

    check_reads(statement, "safe")


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("INSERT INTO t VALUES (1)", "INSERT INTO"),
        ("insert overwrite t SELECT 1", "INSERT OVERWRITE"),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "INSERT INTO"),
        ("FROM s INSERT INTO t SELECT k", "INSERT INTO"),
        ("WITH a AS (SELECT 1) UPDATE db.t AS x SET k = 1", "UPDATE DB"),
        ("WITH a AS (SELECT 1) INSERT WITH SCHEMA EVOLUTION INTO t TABLE a", "INSERT WITH"),
        ("CREATE TABLE x (k INT)", "CREATE TABLE"),
        ("CREATE VIEW v AS SELECT 1", "CREATE VIEW"),
        ("CREATE OR REPLACE TABLE x (k INT)", "CREATE OR"),
        ("DROP TABLE t", "DROP TABLE"),
        ("DROP VIEW v", "DROP VIEW"),
        ("ALTER TABLE t ADD COLUMN a INT", "ALTER TABLE"),
        ("TRUNCATE TABLE t", "TRUNCATE TABLE"),
        ("DELETE FROM t", "DELETE FROM"),
        ("MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE", "MERGE INTO"),
        ("ANALYZE TABLE t COMPUTE STATISTICS", "ANALYZE TABLE"),
        ("EXECUTE IMMEDIATE 'DROP TABLE t'", "EXECUTE IMMEDIATE"),
        ("BEGIN DELETE FROM t; END", "BEGIN DELETE"),
        ("COMMENT ON TABLE t IS 'x'", "COMMENT ON"),
        ("CALL sys.compact(table => 'db.t')", "CALL sys.compact"),
    ],
)
def test_what_changes_something_is_refused_by_name(sql: str, name: str) -> None:
    (statement,) = split(sql)

    with pytest.raises(QueryError, match="the connection safe is read-only") as caught:
        check_reads(statement, "safe")

    assert caught.value.message.startswith(f"{name} is refused")
    assert caught.value.span is not None


def test_a_native_connection_reads_and_plans_and_does_no_more(warehouse: Path) -> None:
    here = connections.current()

    assert str(here).endswith("read-only")
    assert commands.sql("SELECT count(*) FROM db.t").to_arrow().to_pylist() == [{"count(1)": 1}]
    assert commands.planned("CALL sys.purge_files('db.t')").to_arrow().num_rows > 0
    with pytest.raises(QueryError, match=r"CALL sys\.purge_files is refused"):
        commands.sql("SELECT k FROM db.t; CALL sys.purge_files('db.t')")
    with pytest.raises(ReadOnlyError):
        here.catalog.drop_table("db.t")
    assert commands.sql("SELECT count(*) FROM db.t").to_arrow().to_pylist() == [{"count(1)": 1}]


def test_views_need_to_write_nothing(warehouse: Path) -> None:
    for view in (
        commands.timeline,
        commands.manifests,
        commands.log,
        commands.health,
        commands.files,
        commands.compaction,
        commands.fsck,
    ):
        view("db.t")


def test_settings_can_say_so(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = warehouse / "pyproject.toml"
    settings.write_text(
        f'[tool.paimonlab.prod]\nwarehouse = "{warehouse}"\nengine = "native"\nread-only = true\n'
    )
    monkeypatch.chdir(warehouse)

    made = connections.use("prod")

    assert made.is_read_only


def test_the_magic_takes_it_with_a_path(
    warehouse: Path, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("paimon_connect", f"{warehouse} --engine native --read-only")

    assert "read-only" in capsys.readouterr().out
    with pytest.raises(UsageError, match="needs PATH"):
        shell.run_line_magic("paimon_connect", "--use paimon --read-only")
