"""Tables that are created, altered, renamed, emptied and dropped while they are read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest

import paimonlab as pm
from paimonlab.ingest.job import Job
from paimonlab.ingest.sources import losses
from paimonlab.ingest.sources.mysql import snapshot
from paimonlab.ingest.sources.mysql.connection import Connection
from paimonlab.ingest.sources.mysql.source import MySql
from paimonlab.ingest.sources.mysql.statements import Kind, meaning_of
from paimonlab.spec.types.text import format_type
from tests.ingest import altered_tables, lost
from tests.ingest.mysql.server import MYSQLD, Server
from tests.waiting import until


def _columns(table: pm.Table) -> dict[str, str]:
    return {field.name: format_type(field.type) for field in table.schema.fields}


def _rows(table: pm.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    return sorted(rows, key=lambda row: int(row["id"]))


@pytest.mark.parametrize(("evolve", "while_running"), [("exact", True), ("lenient", False)])
def test_columns_follow_statements(
    tmp_path: Path,
    mysql_server: Server,
    database: str,
    shop: MySql,
    evolve: Literal["lenient", "exact"],
    while_running: bool,
) -> None:
    mysql_server.run(
        "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(5), b INT, c BOOL, d INT COMMENT 'dee', "
        "h INT)",
        "INSERT INTO t VALUES (1, 'a', 1, 1, 1, 1)",
        database=database,
    )
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.database(database), into="ods", name="j", evolve=evolve, options={"bucket": 1}
    )
    job.run()
    assert catalog.table("ods.t").schema.fields[4].description == "dee"
    for statements in (
        "ALTER TABLE t ADD COLUMN e BOOLEAN AFTER a, ADD f INT NOT NULL DEFAULT 7 COMMENT 'eff'",
        "INSERT INTO t VALUES (2, 'b', 1, 2, 0, 2, 2, 2)",
        "ALTER TABLE t MODIFY a VARCHAR(50), CHANGE b b2 BIGINT",
        "INSERT INTO t VALUES (3, 'a long text', 0, 3, 1, 3, 3, 3)",
        "ALTER TABLE t DROP COLUMN H; ALTER TABLE t ADD COLUMN h INT",  # the same type and place
        "ALTER TABLE t DROP COLUMN d",
        "ALTER TABLE t RENAME COLUMN c TO c2, COMMENT 'the table'",
        "INSERT INTO t VALUES (4, 'c', 1, 4, 0, 4, 4)",
        "ALTER TABLE t ADD COLUMN g TINYINT(1), MODIFY f INT NOT NULL DEFAULT 7 COMMENT 'new'",
    ):
        mysql_server.run(*statements.split("; "), database=database)
        if while_running and not statements.startswith("INSERT"):
            job.run()
    if not while_running:
        job.run()

    table = catalog.table("ods.t")
    columns, rows = _columns(table), _rows(table)
    if evolve == "exact":
        assert columns == {
            "id": "INT NOT NULL",
            "a": "VARCHAR(50)",
            "b2": "BIGINT",
            "c2": "BOOLEAN",
            "e": "BOOLEAN",
            "f": "INT",
            "h": "INT",
            "g": "BOOLEAN",
        }
        assert [row["h"] for row in rows] == [None, None, None, 4]
        assert [row["b2"] for row in rows] == [1, 2, 3, 4]
        assert [row["c2"] for row in rows] == [True, False, True, False]
    else:
        assert columns == {
            "id": "INT NOT NULL",
            "a": "VARCHAR(50)",
            "b": "INT",
            "c": "BOOLEAN",
            "d": "INT",
            "h": "INT",
            "e": "BOOLEAN",
            "f": "INT",
            "b2": "BIGINT",
            "c2": "BOOLEAN",
            "g": "BOOLEAN",
        }
        assert [row["b"] for row in rows] == [1, 2, None, None]
        assert [row["c2"] for row in rows] == [None, None, None, False]
        assert [row["h"] for row in rows] == [1, 2, 3, 4]
        assert any("'h' is not in the source any more" in event.text for event in job.events)
    assert [row["f"] for row in rows] == [None, 2, 3, 4]
    assert [row["e"] for row in rows] == [None, True, False, True]
    said = {field.name: field.description for field in table.schema.fields}
    assert said["f"] == "new"
    assert table.schema.comment == "the table"


@pytest.mark.parametrize("while_running", altered_tables.moments(first=True))
def test_each_change_in_each_mode(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, while_running: bool
) -> None:
    catalog = pm.connect(tmp_path)
    altered_tables.check(
        catalog,
        lambda mode: catalog.ingest(
            shop.database(database),
            into=mode,
            name=mode,
            evolve=mode,
            interval="50 ms",
            options={"bucket": 1},
        ),
        lambda statements: mysql_server.run(*statements, database=database),
        "MODIFY {column} {type}",
        while_running=while_running,
        tells="told",
    )


def test_tables_come_and_go(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    def run(*statements: str) -> None:
        mysql_server.run(*statements, database=database)

    run("CREATE TABLE t (id INT PRIMARY KEY, v BOOL)", "INSERT INTO t VALUES (1, 1), (2, 0)")
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.database(database, excluding="not_.*"),
        into="ods",
        name="j",
        on_truncate="apply",
        options={"bucket": 1},
    )
    job.run()
    run(
        "CREATE TABLE late (id INT PRIMARY KEY, v BOOL, w INT)",
        "INSERT INTO late VALUES (1, 1, 1)",
        "ALTER TABLE late DROP COLUMN w",
        "INSERT INTO late VALUES (2, 0)",
        "CREATE TABLE empty LIKE late",
        "CREATE TABLE not_read AS SELECT * FROM t",
        "CREATE TEMPORARY TABLE temp (id INT)",
        "INSERT INTO temp VALUES (1)",
    )
    job.run()
    assert _rows(catalog.table("ods.late")) == [
        {"id": 1, "v": True, "w": 1},
        {"id": 2, "v": False, "w": None},
    ]
    assert _columns(catalog.table("ods.empty"))["v"] == "BOOLEAN"
    assert sorted(catalog.tables("ods")) == ["empty", "late", "t"]

    # As gh-ost and pt-online-schema-change alter a table.
    run(
        "CREATE TABLE _t_gho LIKE t",
        "ALTER TABLE _t_gho ADD COLUMN n BOOL",
        "INSERT INTO _t_gho SELECT *, 1 FROM t",
        "RENAME TABLE t TO _t_del, _t_gho TO t",
        "INSERT INTO t VALUES (3, 1, 0)",
        "DROP TABLE _t_del",
    )
    job.run()
    assert _columns(catalog.table("ods.t"))["n"] == "BOOLEAN"
    assert [row["n"] for row in _rows(catalog.table("ods.t"))] == [None, None, False]
    run("TRUNCATE TABLE t", "INSERT INTO t VALUES (9, 1, 1)", "DROP TABLE late", "DROP TABLE empty")
    job.run()
    assert [row["id"] for row in _rows(catalog.table("ods.t"))] == [9]
    assert len(_rows(catalog.table("ods.late"))) == 2
    assert any("DROP TABLE" in event.text for event in job.events)


def test_a_database_that_is_dropped_while_no_job_runs(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    """Rows before it are read, and kept; a database of that name that comes later is read on."""
    other = f"{database}_other"
    mysql_server.run(
        f"CREATE DATABASE {other}",
        f"CREATE TABLE {other}.t (id INT PRIMARY KEY, v INT)",
        f"INSERT INTO {other}.t VALUES (1, 1)",
        "CREATE TABLE stays (id INT PRIMARY KEY)",
        database=database,
    )
    catalog = pm.connect(tmp_path)

    def run() -> Job:
        source = shop.tables(rf"{database}(_other)?\..*")
        job = catalog.ingest(source, into="ods", name="j", options={"bucket": 1})
        job.run()
        assert not any(table.stopped for table in job.status.tables)
        return job

    run()
    mysql_server.run(
        f"INSERT INTO {other}.t VALUES (2, 2)",
        f"DROP DATABASE {other}",
        "INSERT INTO stays VALUES (1)",
        database=database,
    )
    job = run()
    assert [row["v"] for row in _rows(catalog.table("ods.t"))] == [1, 2]
    assert [row["id"] for row in _rows(catalog.table("ods.stays"))] == [1]
    dropped = [event for event in job.events if event.kind == "schema" and event.after is None]
    assert [(event.table, event.text) for event in dropped] == [
        (f"{other}.t", f"DROP DATABASE {other}")
    ]
    assert f"the source dropped {other}.t: its rows are kept here" in job.status.warnings

    table = "CREATE TABLE {}.t (id INT PRIMARY KEY, w VARCHAR(9){})"
    mysql_server.run(
        f"CREATE DATABASE {other}",
        table.format(other, ""),
        f"INSERT INTO {other}.t VALUES (3, 'x')",
        f"DROP SCHEMA IF EXISTS `{other}`",
        f"CREATE DATABASE {other}",
        table.format(other, ", v INT"),
        f"INSERT INTO {other}.t VALUES (4, 'y', 4)",
    )
    run()
    assert [tuple(row.values()) for row in _rows(catalog.table("ods.t"))] == [
        (1, 1, None),
        (2, 2, None),
        (3, None, "x"),
        (4, 4, "y"),
    ]
    mysql_server.run(f"DROP DATABASE {other}")


def test_a_type_that_cannot_follow_stops_its_table_alone(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE a (id INT PRIMARY KEY, v TIME)",
        "CREATE TABLE b (id INT PRIMARY KEY)",
        database=database,
    )
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(shop.database(database), into="ods", name="j", options={"bucket": 1})
    job.run()
    mysql_server.run(
        "INSERT INTO a VALUES (1, '01:00:00')",
        "ALTER TABLE a MODIFY v DATETIME",
        "INSERT INTO a VALUES (2, '2026-01-01')",
        "INSERT INTO b VALUES (1)",
        database=database,
    )
    job.run()
    stopped = {table.name: table.stopped for table in job.status.tables}
    assert stopped["ods.b"] is None
    assert "TIME" in str(stopped["ods.a"])
    assert [row["id"] for row in _rows(catalog.table("ods.a"))] == [1]
    assert len(_rows(catalog.table("ods.b"))) == 1


def test_rows_that_are_logged_as_statements_are_found_out(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run("CREATE TABLE a (id INT PRIMARY KEY)", database=database)
    mysql_server.run("CREATE TABLE other (id INT PRIMARY KEY)", database=database)
    job = pm.connect(tmp_path).ingest(
        shop.database(database, including="a"), into="ods", name="j", options={"bucket": 1}
    )
    job.run()
    mysql_server.run(
        "SET SESSION binlog_format = 'STATEMENT'",
        "INSERT INTO other VALUES (1)",
        database=database,
    )
    job.run()
    mysql_server.run(
        "SET SESSION binlog_format = 'STATEMENT'", "INSERT INTO a VALUES (1)", database=database
    )
    with pytest.raises(pm.errors.SourceError, match="binlog_format = 'ROW'"):
        job.run()


def test_rows_that_are_not_whole_are_found_out(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE a (id INT PRIMARY KEY, v INT, w INT)",
        "INSERT INTO a VALUES (1, 1, 1)",
        database=database,
    )
    job = pm.connect(tmp_path).ingest(shop.database(database), into="ods", name="j")
    job.run()
    mysql_server.run(
        "SET SESSION binlog_row_image = 'MINIMAL'", "UPDATE a SET v = 2", database=database
    )
    with pytest.raises(pm.errors.SourceError, match="binlog_row_image = 'FULL'"):
        job.run()


def test_transactions_in_two_phases_are_refused_until_rows_are_read_after_them(
    tmp_path: Path,
    mysql_server: Server,
    database: str,
    shop: MySql,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(*statements: str) -> None:
        mysql_server.run(*statements, database=database)

    def xa(name: str, statement: str, *end: str) -> None:
        run(f"XA START '{name}'", statement, f"XA END '{name}'", *end)

    def prepare(name: str, statement: str) -> None:
        xa(name, statement, f"XA PREPARE '{name}'")

    def waits(job: Job, name: str) -> None:
        shown = f"X'{name.encode().hex()}'" if MYSQLD else f"'{name}'"
        text = f"XA COMMIT or XA ROLLBACK ends {shown}"
        until(lambda: any(text in warning for warning in job.status.warnings))

    def count(table: str) -> int:
        return len(_rows(catalog.table(table)))

    monkeypatch.setattr(losses, "WAIT_SECONDS", 0.05)
    run("CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.database(database, including="a"), into="ods", name="j", interval="50 ms"
    )
    job.run()
    xa("x", "INSERT INTO b VALUES (1)", "XA PREPARE 'x'", "XA COMMIT 'x'")
    xa("x", "INSERT INTO a VALUES (1)", "XA COMMIT 'x' ONE PHASE")
    job.run()
    assert count("ods.a") == 1
    prepare("x", "INSERT INTO a VALUES (2)")
    with pytest.raises(pm.errors.UnsupportedError, match=r"which changes .*\.a\b.*resnapshot"):
        job.run()
    assert count("ods.a") == 1

    # Rows that are read before its end lack what it changed, which the log does not tell again.
    other = catalog.ingest(
        shop.database(database, start="latest"), into="other", name="k", interval="50 ms"
    )
    assert other.run(until="50 ms").phase == "stopped"
    job.resnapshot("a")
    for one in (job, other):
        one.start()
        waits(one, "x")
    run("INSERT INTO b VALUES (2)")
    # Those after it waits are in the log that it will read.
    xa("y", "INSERT INTO b VALUES (3)", "XA PREPARE 'y'", "XA ROLLBACK 'y'")
    run("XA COMMIT 'x'")
    until(lambda: count("ods.a") == 2)
    job.stop()
    until(lambda: not other.is_running)
    with pytest.raises(pm.errors.UnsupportedError, match=r"which changes .*\.b\b"):
        other.stop()

    def begin(connection: Connection) -> snapshot.Moment:
        prepare("z", "INSERT INTO a VALUES (3)")
        return really_begin(connection)

    really_begin = snapshot.begin
    monkeypatch.setattr(snapshot, "begin", begin)
    job.resnapshot("a")
    job.run()
    assert count("ods.a") == 2
    run("XA COMMIT 'z'")
    with pytest.raises(pm.errors.SourceError, match=r"\.a may lack what it changed; resnapshot"):
        job.run()


def test_compressed_events_are_read(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run("CREATE TABLE a (id INT PRIMARY KEY, v TEXT)", database=database)
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(shop.database(database), into="ods", name="j", options={"bucket": 1})
    job.run()
    mysql_server.run("SET GLOBAL log_bin_compress = ON", "SET GLOBAL log_bin_compress_min_len = 10")
    try:
        mysql_server.run(
            f"INSERT INTO a VALUES (1, '{'x' * 5000}'), (2, '{'y' * 5000}')",
            "UPDATE a SET v = CONCAT(v, 'z')",
            "DELETE FROM a WHERE id = 1",
            f"ALTER TABLE a ADD COLUMN w BOOL COMMENT '{'c' * 500}'",
            f"INSERT INTO a VALUES (3, '{'x' * 5000}', 1)",
            database=database,
        )
    finally:
        mysql_server.run("SET GLOBAL log_bin_compress = OFF")
    job.run()
    assert _rows(catalog.table("ods.a")) == [
        {"id": 2, "v": "y" * 5000 + "z", "w": None},
        {"id": 3, "v": "x" * 5000, "w": True},
    ]


def test_changes_that_the_log_does_not_have_are_told(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE a (id INT PRIMARY KEY)",
        "CREATE TABLE child (id INT PRIMARY KEY, p INT, CONSTRAINT own FOREIGN KEY (p) "
        "REFERENCES a (id) ON DELETE CASCADE)",
        "CREATE TABLE parts (id INT PRIMARY KEY) PARTITION BY RANGE (id) "
        "(PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
        "CREATE TABLE spare (id INT PRIMARY KEY)",
        "INSERT INTO parts VALUES (1), (11)",
        "INSERT INTO spare VALUES (12)",
        database=database,
    )
    refused = shop.database(database).tables()[f"{database}.child"].refusal
    assert re.search(r"foreign key own.*cascades=", refused or "")
    assert len(shop.database(database, cascades="ignore").tables()) == 4
    job = pm.connect(tmp_path).ingest(
        shop.database(database, excluding="child"), into="ods", name="j", options={"bucket": 1}
    )
    job.run()
    mysql_server.run(
        "INSERT INTO parts VALUES (2)", "ALTER TABLE parts DROP PARTITION p0", database=database
    )
    job.run()
    assert any("gone at the source and kept here" in event.text for event in job.events)
    mysql_server.run("ALTER TABLE parts EXCHANGE PARTITION p1 WITH TABLE spare", database=database)
    with pytest.raises(pm.errors.SourceError, match="rows came into it"):
        job.run()


def test_what_is_lost_while_a_job_rests_is_told(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)", database=database)
    mysql_server.run("INSERT INTO t VALUES (1, 2)", database=database)
    catalog = pm.connect(tmp_path)

    def change_key() -> None:
        mysql_server.run("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (n)", database=database)

    def is_purged() -> bool:
        """Write more, purge what was written before: a server keeps files that are being sent."""
        mysql_server.run("DELETE FROM t", "FLUSH BINARY LOGS", database=database)
        ((newest, *_),) = mysql_server.rows("SHOW MASTER STATUS")
        mysql_server.run(f"PURGE BINARY LOGS TO '{newest}'")
        return len(mysql_server.rows("SHOW BINARY LOGS")) == 1

    key = catalog.ingest(shop.database(database), into="ods", name="key", options={"bucket": 1})
    lost.check(key, change_key, "primary key", "resnapshot of ods.t", stops=True)
    log = catalog.ingest(shop.database(database), into="log", name="log", options={"bucket": 1})
    lost.check(log, lambda: until(is_purged), "purged|not in the log|deleted", "another name|anew")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("BEGIN", Kind.BEGIN),
        ("COMMIT", Kind.COMMIT),
        ("XA START X'78',X'',1", Kind.BEGIN),
        ("XA END X'78',X'',1", Kind.OTHER),
        ("ROLLBACK", Kind.ROLLBACK),
        ("ROLLBACK TO `x`", Kind.SAVEPOINT),
        ("/* app */ insert into t values (1)", Kind.ROWS),
        ("# why\nUPDATE t SET a = 1", Kind.ROWS),
        ("FLUSH PRIVILEGES", Kind.OTHER),
        ("CREATE INDEX i ON t (a)", Kind.OTHER),
        ("CREATE TEMPORARY TABLE t (a INT)", Kind.OTHER),
        ("DROP TABLE `a`.`b` /* generated by server */", Kind.TABLES),
        ("TRUNCATE t", Kind.TABLES),
    ],
)
def test_statements_are_told_apart(text: str, kind: Kind) -> None:
    assert meaning_of(text, "d").kind is kind


def test_what_statements_say_of_columns() -> None:
    (change,) = meaning_of(
        "ALTER TABLE `d`.`t, x` ADD COLUMN (`a,b` TINYINT(1) DEFAULT 0, u UUID), "
        "CHANGE `old name` new ENUM('x','y,)') DEFAULT 'y' COMMENT 'it''s', "
        "ADD PRIMARY KEY (id), MODIFY COLUMN z TINYINT(1) UNSIGNED DEFAULT -1, "
        "RENAME COLUMN p TO q, DROP COLUMN r, RENAME INDEX i TO k, ADD `key` BOOL, DROP s, "
        "DROP PRIMARY KEY, DROP INDEX IF EXISTS i, DROP `check`, DROP FOREIGN KEY f, "
        "DROP COLUMN IF EXISTS u, DROP CONSTRAINT c, DROP IF EXISTS v CASCADE, DROP KEY k "
        "/*!50000 , RENAME TO other */",
        "e",
    ).changes
    assert (change.table, change.new_name) == ("d.t, x", "e.other")
    found = change.column_changes(())
    assert found.renamed == {"old name": "new", "p": "q"}
    assert found.dropped == ("r", "s", "check", "u", "v")
    assert found.added == ("a,b", "u", "key")
    assert {name: (said.declared, said.default) for name, said in found.words.items()} == {
        "a,b": ("tinyint(1)", "0"),
        "u": ("uuid", None),
        "new": (None, "y"),
        "z": (None, "-1"),
        "key": ("tinyint(1)", None),
    }
    assert found.words["new"].comment == "it's"


def test_tables_that_statements_name() -> None:
    found = meaning_of("RENAME TABLE a TO b, `c`.`d` TO e", "x").changes
    assert [(change.table, change.new_name) for change in found] == [
        ("x.a", "x.b"),
        ("c.d", "x.e"),
    ]
    found = meaning_of("DROP TABLE IF EXISTS a, b.c", "x").changes
    assert [change.table for change in found] == ["x.a", "b.c"]
    (change,) = meaning_of("create table if not exists n like m", "x").changes
    assert (change.table, change.like) == ("x.n", "x.m")
    (change,) = meaning_of(
        "CREATE TABLE n (id INT, b BOOL, KEY k (b), CONSTRAINT c CHECK (b > 0))", "x"
    ).changes
    assert [step.new for step in change.columns] == ["id", "b"]


def test_a_column_that_cannot_be_read_stops_only_its_table(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    """It is there from the start, comes by ALTER, in a new table, and while no job runs."""
    mysql_server.run(
        *(f"CREATE TABLE {name} (id INT PRIMARY KEY, v INT)" for name in ("a", "b", "c")),
        "CREATE TABLE first (id INT PRIMARY KEY, v INET6)",
        *(f"INSERT INTO {name} VALUES (1, 1)" for name in ("a", "b", "c")),
        "INSERT INTO first VALUES (1, '::1')",
        database=database,
    )
    catalog = pm.connect(tmp_path)

    def job() -> Job:
        return catalog.ingest(shop.database(database), into="ods", name="j", options={"bucket": 1})

    one = job()
    assert [refused.target for refused in one.plan().refused] == ["ods.first"]
    one.run()
    mysql_server.run(
        "INSERT INTO first VALUES (2, '::2')",
        "ALTER TABLE b ADD w INET4",
        "INSERT INTO b VALUES (2, 2, '1.2.3.4')",
        "CREATE TABLE new (id INT PRIMARY KEY, v CHAR(3) CHARACTER SET swe7)",
        "INSERT INTO new VALUES (1, 'x')",
        "INSERT INTO a VALUES (2, 2)",
        database=database,
    )
    one.run()
    assert _rows(catalog.table("ods.a")) == [{"id": 1, "v": 1}, {"id": 2, "v": 2}]
    assert _rows(catalog.table("ods.b")) == [{"id": 1, "v": 1}]
    stopped = {table.name: table.stopped for table in one.status.tables}
    assert stopped["ods.a"] is stopped["ods.c"] is None
    assert "column 'w' (inet4)" in str(stopped["ods.b"])
    assert "column 'v' (inet6)" in str(stopped["ods.first"])
    assert "charset swe7" in str(stopped["ods.new"])

    # Without a row, and while no job runs.
    mysql_server.run("ALTER TABLE c ADD w UUID", database=database)
    two = job()
    two.run()
    stopped = {table.name: table.stopped for table in two.status.tables}
    assert [name for name, reason in stopped.items() if reason] == [
        *("ods.b", "ods.c", "ods.first", "ods.new")
    ]
    assert "column 'w' (uuid)" in str(stopped["ods.c"])
    mysql_server.run(
        "ALTER TABLE b DROP w",
        "ALTER TABLE c DROP w",
        "ALTER TABLE first MODIFY v VARCHAR(50)",
        "ALTER TABLE new CONVERT TO CHARACTER SET utf8mb4",
        "INSERT INTO c VALUES (2, 2)",
        "INSERT INTO first VALUES (3, 'x')",
        database=database,
    )
    job().run()
    assert not _rows(catalog.table("ods.first")), "rows before are not lost"
    for name in ("b", "c", "first", "new"):
        two.resnapshot(name)
    mysql_server.run("INSERT INTO b VALUES (3, 3)", database=database)
    three = job()
    three.run()
    assert not any(table.stopped for table in three.status.tables)
    assert [row["id"] for row in _rows(catalog.table("ods.b"))] == [1, 2, 3]
    assert [row["id"] for row in _rows(catalog.table("ods.c"))] == [1, 2]
    assert [row["v"] for row in _rows(catalog.table("ods.first"))] == ["::1", "::2", "x"]
    assert [row["v"] for row in _rows(catalog.table("ods.new"))] == ["x"]


@pytest.mark.parametrize("while_running", [True, False])
def test_a_column_may_get_the_name_of_one_that_goes(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, *, while_running: bool
) -> None:
    """No row comes between; two that change places stop their table."""
    names = ("one", "chain", "two", "twice", "swap", "taken")
    mysql_server.run(
        *(f"CREATE TABLE {name} (id INT PRIMARY KEY, a INT, b INT, c TEXT)" for name in names),
        *(f"INSERT INTO {name} VALUES (1, 1, 2, 'c')" for name in names),
        database=database,
    )
    catalog = pm.connect(tmp_path)

    def job() -> Job:
        return catalog.ingest(
            shop.database(database), into="ods", name="j", evolve="exact", options={"bucket": 1}
        )

    followed = job()
    followed.run()
    mysql_server.run(
        "ALTER TABLE one DROP b, RENAME COLUMN a TO b",
        "ALTER TABLE chain DROP c, RENAME COLUMN b TO c, RENAME COLUMN a TO b",
        "ALTER TABLE two DROP COLUMN IF EXISTS b",
        "ALTER TABLE two RENAME COLUMN IF EXISTS a TO b",
        "ALTER TABLE twice DROP b",
        "ALTER TABLE twice ADD b INT, MODIFY A BIGINT, CHANGE COLUMN IF EXISTS a B BIGINT",
        "ALTER TABLE swap RENAME COLUMN a TO b, RENAME COLUMN b TO a",
        "ALTER TABLE taken DROP b, RENAME COLUMN a TO b, ADD a INT",
        *(f"INSERT INTO {name} (id, b) VALUES (2, 7)" for name in names),
        database=database,
    )
    followed = followed if while_running else job()
    followed.run()
    stopped = {table.name: table.stopped for table in followed.status.tables}
    for name in ("one", "chain", "two", "twice", "taken"):
        assert stopped[f"ods.{name}"] is None
        found = catalog.table(f"ods.{name}").scan().to_arrow().sort_by("id")
        described = [row[0] for row in mysql_server.rows(f"DESCRIBE {name}", database)]
        wanted = mysql_server.rows(f"SELECT * FROM {name} ORDER BY id", database)
        assert found.to_pylist() == [dict(zip(described, row, strict=True)) for row in wanted]
    assert "'a' has the name 'b'" in str(stopped["ods.swap"])
