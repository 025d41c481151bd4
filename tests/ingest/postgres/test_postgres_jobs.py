"""Jobs over a real server: what tables have here is what they have there."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.cli.main import main
from paimonlab.errors import FilesConflictError, IngestSchemaError
from paimonlab.ingest import running
from paimonlab.ingest.changes import Event
from paimonlab.ingest.job import Job
from paimonlab.ingest.sources.postgresql import reading
from paimonlab.ingest.sources.postgresql.catalog import Layout, Published, ServerTable
from paimonlab.ingest.sources.postgresql.copying import Copy
from paimonlab.spec.types.text import format_type
from tests.catalog.jdbc.servers import USER
from tests.ingest import altered_shards, altered_tables, large_transaction, lost, much_meanwhile
from tests.ingest.altered_tables import Mode
from tests.ingest.idle_job import IS_LONG, wait_and_pause
from tests.ingest.postgres.server import PASSWORD_ENV, Database
from tests.ingest.postgres.writing import TABLES, Writer, create, said_by_server
from tests.waiting import until

LONG_CHANGES = int(os.environ.get("PAIMONLAB_INGEST_LONG_CHANGES", "600"))
"""Of rows with two values of 12 and 9 kB."""
_LONG_CHANGES = """
DO $$ DECLARE one text; key int; BEGIN
FOR i IN 1..100 LOOP FOREACH one IN ARRAY '{d,f}'::text[] LOOP
    key := 1 + floor(random() * 40);
    BEGIN
        EXECUTE format(CASE floor(random() * 8)
            WHEN 0 THEN 'DELETE FROM %1$I WHERE id = %2$s'
            WHEN 1 THEN 'UPDATE %1$I SET id = 1 + (id + 7) %% 40 WHERE id = %2$s'
            WHEN 2 THEN 'UPDATE %1$I SET big = repeat(md5(random()::text), 375) WHERE id = %2$s'
            WHEN 3 THEN 'UPDATE %1$I SET more = ''short'' WHERE id = %2$s'
            WHEN 4 THEN 'INSERT INTO %1$I VALUES (%2$s, %3$s, repeat(''y'', 9000), NULL)
                ON CONFLICT (id) DO UPDATE SET n = %3$s'
            ELSE 'UPDATE %1$I SET n = %3$s WHERE id = %2$s' END, one, key, i);
        IF random() < 0.1 THEN RAISE EXCEPTION 'undone'; END IF;
    EXCEPTION WHEN OTHERS THEN NULL; END;
END LOOP; END LOOP; END $$"""


def _job(folder: Path, database: Database, *tables: str, **more: Any) -> tuple[Job, pm.Catalog]:
    catalog = pm.connect(folder)
    source = database.source().tables(*tables)
    more = {"interval": 0.2, "options": {"file.format": "parquet"}, **more}
    return catalog.ingest(source, into="ods", name="job", **more), catalog


def _rows(catalog: pm.Catalog, table: str) -> list[tuple[Any, ...]]:
    found = catalog.table(f"ods.{table}").scan().to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


@contextmanager
def _running(job: Job) -> Iterator[None]:
    job.start()
    try:
        yield
    finally:
        job.stop(60)


def test_tables_that_are_written_to_are_handed_over(tmp_path: Path, database: Database) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.randrange(10**6)
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    create(database)
    database.run("INSERT INTO log (what) SELECT 'old' FROM generate_series(1, 5000)")
    writer = Writer(database, seed)
    writer.start()
    job, catalog = _job(tmp_path, database, *TABLES)
    with _running(job):
        until(lambda: writer.count > 150 and job.status.rows > 5100)
        writer.end()
    job.run(until="caught-up")
    for table in TABLES:
        assert _rows(catalog, table) == said_by_server(database, table)


def test_many_rows_change_while_they_are_read(tmp_path: Path, database: Database) -> None:
    def numbers(most: int) -> str:
        return f"SELECT n FROM generate_series(1, {most}) AS n"

    database.run(*much_meanwhile.creating(numbers))
    told = {"interval": 1.0, "options": {"bucket": 2}}
    job, catalog = _job(tmp_path, database, *much_meanwhile.TABLES, **told)
    much_meanwhile.read_meanwhile(job, lambda: database.run(*much_meanwhile.changing(numbers)))
    much_meanwhile.check(catalog, lambda name: said_by_server(database, name))


def _is_written(table: pm.Table, row: dict[str, Any]) -> bool:
    """Write a row, unless a commit of the job comes between: then it is to be tried again."""
    try:
        table.write([row])
    except FilesConflictError:
        return False
    return True


def test_tables_are_read_anew_and_added_while_others_are_followed(
    tmp_path: Path, database: Database
) -> None:
    create(database)
    database.run("INSERT INTO log (what) SELECT 'old' FROM generate_series(1, 100)")
    writer = Writer(database, 7)
    writer.start()
    first, *others = TABLES
    job, catalog = _job(tmp_path, database, first)
    with _running(job):
        until(lambda: writer.count > 20 and job.status.rows > 20)
        foreign = {"id": 99_999, "n": 0, "v": "not of the source", "big": None}
        until(lambda: _is_written(catalog.table(f"ods.{first}"), foreign))
        job.resnapshot(first)
        job.add("|".join(f"public.{other}" for other in others))
        until(lambda: writer.count > 60)
        writer.end()
        assert not any("refused" in warning for warning in job.status.warnings)
    job.run(until="caught-up")
    database.run(f"DELETE FROM {first}")
    _job(tmp_path, database, first)[0].run(until="caught-up")
    for name in TABLES:
        assert _rows(catalog, name) == said_by_server(database, name)


def test_a_job_waits_and_is_waited_for(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others write meanwhile is let go by the server, though none of it is read."""
    if not IS_LONG:
        monkeypatch.setattr(reading, "_IDLE_SECONDS", 0.1)
        monkeypatch.setattr(running, "_POSITION_SECONDS", 0.1)
    database.run(
        "CREATE TABLE t (id serial PRIMARY KEY, v text)",
        "CREATE TABLE more (id int PRIMARY KEY)",
        "INSERT INTO more VALUES (7)",
        "CREATE TABLE other AS SELECT generate_series(1, 1000)",
    )

    def write(count: int) -> None:
        before = database.run("SELECT pg_current_wal_lsn()::text")[0][0]
        database.run("INSERT INTO other SELECT generate_series(1, 1000)", "CHECKPOINT")
        confirmed = f"""
            SELECT 1 FROM pg_replication_slots
            WHERE slot_name = '{database.name}' AND confirmed_flush_lsn >= '{before}'"""
        if job.status.phase != "paused":
            until(lambda: database.run(confirmed))
        database.run(f"INSERT INTO t (v) SELECT repeat('x', 99) FROM generate_series(1, {count})")

    jobs = [_job(tmp_path, database, "t", interval=0.1) for _ in range(2)]
    (job, catalog), _ = jobs
    wait_and_pause(lambda: jobs.pop(0)[0], write, r"public\.more")
    for table in ("t", "more"):
        assert _rows(catalog, table) == said_by_server(database, table)


def test_a_large_transaction_is_one_epoch(tmp_path: Path, database: Database) -> None:
    database.run(*large_transaction.tables())
    names = ["big", *(f"t{number}" for number in range(large_transaction.TABLES))]
    told = {"max_bytes": large_transaction.MAX_BYTES, "options": {"bucket": 1}}
    job, catalog = _job(tmp_path, database, *names, **told)
    job.run()
    numbers = f"SELECT n FROM generate_series(1, {large_transaction.ROWS}) AS n"
    with database.server.connect(database.name) as connection, connection.transaction():
        for statement in large_transaction.statements(numbers):
            connection.execute(statement)
    job.run()
    large_transaction.check(catalog, {name: said_by_server(database, name) for name in names})


def test_values_that_were_not_logged_are_kept(tmp_path: Path, database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int, part int, n int, big text, PRIMARY KEY (id, part))",
        "ALTER TABLE t ALTER big SET STORAGE EXTERNAL",
        "INSERT INTO t SELECT id, id % 3, 0, repeat(md5(id::text), 200) "
        "FROM generate_series(1, 20) AS s(id)",
    )
    job, catalog = _job(
        tmp_path,
        database,
        "t",
        computed={"first": "substring(big, 0, 8)"},
        options={"bucket": 2, "changelog-producer": "input"},
    )
    job.run()
    old = database.run("SELECT big FROM t WHERE id = 20")[0][0]
    before = catalog.table("ods.t").snapshot
    database.run(
        "UPDATE t SET n = 3 WHERE id = 20",
        "UPDATE t SET big = 'shorter than it' WHERE id = 20",
        "UPDATE t SET n = 1 WHERE id <= 10",
        "UPDATE t SET id = id + 100 WHERE id <= 5",
        "UPDATE t SET n = n + 1 WHERE id > 100",
        "UPDATE t SET big = repeat('y', 8000) WHERE id = 101",
        "UPDATE t SET part = 7 WHERE id = 101",
        "INSERT INTO t VALUES (50, 0, 0, repeat('z', 9000))",
        "UPDATE t SET n = 5 WHERE id = 50",
    )
    job.run()
    said = sorted(database.run("SELECT *, left(big, 8) FROM t"))
    assert _rows(catalog, "t") == said
    table = catalog.table("ods.t")
    assert before is not None
    assert table.snapshot is not None
    changed = table.changes(before.id, table.snapshot.id, where="id = 20").to_arrow().to_pylist()
    # What the row had between the two updates, though no statement told it.
    assert [(one["rowkind"], one["n"], one["big"]) for one in changed] == [
        ("+U", 3, old),
        ("+U", 3, "shorter than it"),
    ]

    # Those whose keys went elsewhere within one epoch, and what was there before.
    database.run(
        "BEGIN; UPDATE t SET id = id + 1000 WHERE id < 20; UPDATE t SET id = id - 1000, n = 9 "
        "WHERE id > 1000; COMMIT"
    )
    job.run()
    assert _rows(catalog, "t") == sorted(database.run("SELECT *, left(big, 8) FROM t"))


def test_long_values_are_kept_under_random_changes(
    tmp_path: Path, database: Database, seed: int
) -> None:
    """Rows of which the log has keys alone, and whole ones; parts are rolled back."""
    for name in ("d", "f"):
        database.run(
            f"CREATE TABLE {name} (id int PRIMARY KEY, n int, big text, more text)",
            f"ALTER TABLE {name} ALTER big SET STORAGE EXTERNAL, ALTER more SET STORAGE EXTERNAL",
            f"INSERT INTO {name} SELECT id, 0, repeat(md5(id::text), 375), repeat('x', 9000) "
            "FROM generate_series(1, 40) AS s(id)",
        )
    database.run("ALTER TABLE f REPLICA IDENTITY FULL")
    job, catalog = _job(tmp_path, database, "d", "f", options={"bucket": 1})
    with _running(job):
        until(lambda: job.status.phase == "caught up")
        with database.server.connect(database.name) as connection:
            connection.execute("SELECT setseed(%s)", [seed % 1000 / 1000])
            for number in range(-(-LONG_CHANGES // 200)):
                with connection.transaction(force_rollback=number % 7 == 3):
                    connection.execute(_LONG_CHANGES)
    job.run()
    for name in ("d", "f"):
        assert _rows(catalog, name) == said_by_server(database, name)


def test_deleted_rows_of_which_the_log_has_the_key_are_marked(
    tmp_path: Path, database: Database
) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, big text)",
        "ALTER TABLE t ALTER big SET STORAGE EXTERNAL",
        "INSERT INTO t SELECT i, i, repeat(i::text, 9000) FROM generate_series(1, 4) i",
    )
    job, catalog = _job(tmp_path, database, "t", on_delete="mark:gone")
    job.run()
    database.run(
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET id = 9 WHERE id = 2",  # the value that is not logged goes with the row
        "BEGIN; UPDATE t SET n = 7 WHERE id = 3; DELETE FROM t WHERE id = 3; COMMIT",
    )
    job.run()

    assert [(key, n, big[:2], gone) for key, n, big, gone in _rows(catalog, "t")] == [
        (1, 1, "11", True),
        (2, 2, "22", True),
        (3, 7, "33", True),
        (4, 4, "44", False),
        (9, 2, "22", False),
    ]


def test_a_value_that_is_nowhere_is_no_null(tmp_path: Path, database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, n int, big text)",
        "ALTER TABLE t ALTER big SET STORAGE EXTERNAL",
        "INSERT INTO t VALUES (1, 1, repeat('a', 9000)), (2, 1, repeat('b', 9000))",
    )
    catalog = pm.connect(tmp_path)
    source = database.source().tables("t", start="latest")
    job = catalog.ingest(source, into="ods", name="job", max_dead=1)
    job.run()
    database.run("UPDATE t SET n = 2 WHERE id = 1", "UPDATE t SET big = 'short' WHERE id = 2")
    job.run()
    assert _rows(catalog, "t") == [(2, 1, "short")]
    (dead,) = catalog.table("ods.job__dead").scan().to_arrow().to_pylist()
    assert "did not change" in dead["error"]


def test_whole_old_rows_tell_what_did_not_change(tmp_path: Path, database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, n int, big text)",
        "ALTER TABLE t ALTER big SET STORAGE EXTERNAL",
        "ALTER TABLE t REPLICA IDENTITY FULL",
        "INSERT INTO t SELECT id, 0, repeat(id::text, 9000) FROM generate_series(1, 3) AS s(id)",
    )
    job, catalog = _job(tmp_path, database, "t")
    job.run()
    database.run(
        "UPDATE t SET n = 1", "UPDATE t SET id = 7 WHERE id = 1", "DELETE FROM t WHERE id = 2"
    )
    job.run()
    assert _rows(catalog, "t") == said_by_server(database, "t")


@pytest.mark.parametrize("mode", altered_shards.MODES)
def test_a_shard_is_altered_before_the_other(
    tmp_path: Path, database: Database, mode: Mode
) -> None:
    database.run(*altered_shards.TABLES)
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        database.source().tables(r"public\.t[12]"),
        into=mode,
        name=mode,
        table_names="whole",
        evolve=mode,
        interval=0.05,
        options={"bucket": 1},
    )
    altered_shards.check(job, catalog, database.run, lambda table: said_by_server(database, table))


def test_a_slot_that_is_lost_while_a_job_rests_is_told(tmp_path: Path, database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    job, _ = _job(tmp_path, database, "t")

    def drop() -> None:
        slot = f"FROM pg_replication_slots WHERE slot_name = '{database.name}'"
        until(lambda: not database.run(f"SELECT slot_name {slot} AND active"))
        database.run(f"SELECT pg_drop_replication_slot(slot_name) {slot}")

    lost.check(job, drop, "does not exist any more", "another name")


def test_a_publication_that_is_dropped_while_a_job_rests_is_told(
    tmp_path: Path, database: Database
) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    job, _ = _job(tmp_path, database, "t")

    def drop() -> None:
        database.run(f"DROP PUBLICATION {database.name}", "INSERT INTO t VALUES (2)")

    lost.check(job, drop, "publication .* does not exist any more", "another name")


@pytest.mark.parametrize("while_running", [False, True])
def test_a_publication_that_is_altered_stops_what_it_did_not_tell(
    tmp_path: Path, database: Database, while_running: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_LOOK_SECONDS", 0.1)
    names = ("taken", "filtered", "same", "back")
    for name in (*names, "dropped"):
        database.run(f"CREATE TABLE {name} (id int PRIMARY KEY)", f"INSERT INTO {name} VALUES (1)")
    job, catalog = _job(tmp_path, database, "public.*")
    job.run()
    with _running(job) if while_running else nullcontext():
        if while_running:
            until(lambda: job.status.phase == "caught up")
        database.run(
            "DROP TABLE dropped",
            f"ALTER PUBLICATION {database.name} DROP TABLE taken, back",
            "INSERT INTO back VALUES (2)",
            f"ALTER PUBLICATION {database.name} ADD TABLE back",
            "INSERT INTO taken VALUES (2)",
            f"ALTER PUBLICATION {database.name} SET TABLE same, back, filtered WHERE (id < 2)",
            "INSERT INTO filtered VALUES (2)",
            "INSERT INTO same VALUES (2)",
        )
        if not while_running:
            job.run()
        until(lambda: len([one for one in job.status.tables if one.stopped]) == 3)
        until(lambda: _rows(catalog, "same") == [(1,), (2,)])
        until(lambda: any("dropped public.dropped" in one for one in job.status.warnings))
    stopped = {one.name: one.stopped for one in job.status.tables if one.stopped}
    assert set(stopped) == {"ods.taken", "ods.filtered", "ods.back"}
    assert all("resnapshot" in str(reason) for reason in stopped.values())
    if while_running:
        return
    database.run(f"ALTER PUBLICATION {database.name} SET TABLE same, back, filtered")
    for name in stopped:
        job.resnapshot(name)
    job.run()
    database.run(*(f"INSERT INTO {name} VALUES (3)" for name in names))
    job.run()
    assert all(_rows(catalog, name) == [(1,), (2,), (3,)] for name in names)


def test_columns_change_in_the_midst(tmp_path: Path, database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b varchar(5), c text)",
        "INSERT INTO t VALUES (1, 1, 'b', 'c')",
    )
    job, catalog = _job(tmp_path, database, "t", evolve="exact")
    job.run()
    with _running(job):
        database.run(
            "UPDATE t SET a = 2",
            "ALTER TABLE t ADD COLUMN d date DEFAULT '2024-01-01'",
            "INSERT INTO t VALUES (2, 2, 'b', 'c', '2024-02-02')",
        )
        until(lambda: job.status.rows >= 3)
        database.run(
            "ALTER TABLE t ALTER a TYPE bigint",
            "INSERT INTO t VALUES (3, 5000000000, 'b', 'c', NULL)",
            "ALTER TABLE t ALTER b TYPE varchar(9), DROP COLUMN c",
            "INSERT INTO t VALUES (4, 4, 'b23456789', '2024-02-03')",
            "ALTER TABLE t ADD COLUMN c int",
            "INSERT INTO t VALUES (5, 5, 'b', '2024-02-03', 7)",
        )
        until(lambda: job.status.rows >= 6)
    table = catalog.table("ods.t")
    assert {field.name: format_type(field.type) for field in table.schema.fields} == {
        "id": "INT NOT NULL",
        "a": "BIGINT",
        "b": "VARCHAR(9)",
        "d": "DATE",
        "c": "INT",
    }
    said = database.run("SELECT id, a, b, CASE WHEN id > 1 THEN d END, c FROM t ORDER BY id")
    assert _rows(catalog, "t") == said
    assert any("2024-01-01" in event.text for event in job.events)

    # While the job does not run, and a change that cannot be followed.
    database.run(
        "ALTER TABLE t ADD COLUMN e text", "INSERT INTO t VALUES (6, 6, 'b', NULL, 7, 'e')"
    )
    job.run()
    assert _rows(catalog, "t")[-1] == (6, 6, "b", None, 7, "e")
    database.run(
        "ALTER TABLE t ALTER a TYPE text", "INSERT INTO t VALUES (7, 'x', 'b', NULL, 7, 'e')"
    )
    with pytest.raises(
        IngestSchemaError, match=r"column 'a' is BIGINT, which cannot become STRING"
    ):
        job.run()


@pytest.mark.parametrize("while_running", altered_tables.moments(first=False))
def test_each_change_in_each_mode(tmp_path: Path, database: Database, while_running: bool) -> None:
    catalog = pm.connect(tmp_path)

    def job(mode: altered_tables.Mode) -> Job:
        source = database.source(f"{database.name}_{mode}").tables(r"public\..*")
        return catalog.ingest(source, into=mode, name=mode, evolve=mode, interval="50 ms")

    altered_tables.check(
        catalog,
        job,
        lambda statements: database.run(*statements),
        "ALTER COLUMN {column} TYPE {type}",
        while_running=while_running,
        tells="numbered",
    )


def test_a_table_whose_column_was_added_again_is_read_anew(
    tmp_path: Path, database: Database
) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, v text)", "INSERT INTO t VALUES (1, 'old')")
    catalog = pm.connect(tmp_path)
    source = database.source().tables("t")
    job = catalog.ingest(source, into="ods", name="j", evolve="exact")
    job.run()
    again = "ALTER TABLE t DROP v, ADD v text"
    database.run(again, "INSERT INTO t VALUES (2, 'new')")
    with pytest.raises(IngestSchemaError, match="'v' is another one in the source than before"):
        job.run()
    assert "resnapshot" in str(job.events[-1].text) + str(job.status.error)
    job.resnapshot("ods.t")
    job.run()
    database.run("INSERT INTO t VALUES (3, 'newer')", "UPDATE t SET v = 'x' WHERE id = 2")
    job.run()
    rows = catalog.table("ods.t").scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in rows) == [(1, None), (2, "x"), (3, "newer")]


def test_emptied_tables(tmp_path: Path, database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY)",
        "CREATE TABLE u (id int PRIMARY KEY)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO u VALUES (1)",
    )
    job, catalog = _job(tmp_path, database, "t", "u", on_truncate="apply")
    job.run()
    database.run("INSERT INTO t VALUES (2)", "TRUNCATE t", "INSERT INTO t VALUES (3)")
    job.run()
    assert _rows(catalog, "t") == [(3,)]
    assert _rows(catalog, "u") == [(1,)]


def test_partitions_patterns_and_new_tables(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.ingest.sources.postgresql.reading._DISCOVERY_SECONDS", 0.2)
    database.run(
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.parted (id int, day date, PRIMARY KEY (id, day)) "
        "PARTITION BY RANGE (day)",
        "CREATE TABLE shop.p1 PARTITION OF shop.parted "
        "FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
        "CREATE TABLE shop.p2 PARTITION OF shop.parted "
        "FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')",
        "CREATE TABLE shop.plain (id int PRIMARY KEY)",
        "CREATE TABLE shop.plain_old (id int PRIMARY KEY)",
        "CREATE TABLE other (id int PRIMARY KEY)",
        "INSERT INTO shop.parted VALUES (1, '2024-05-05'), (2, '2025-05-05')",
    )
    catalog = pm.connect(tmp_path)
    source = database.source().tables(r"shop\..*", excluding=".*_old")
    assert sorted(source.tables()) == ["shop.parted", "shop.plain"]
    job = catalog.ingest(source, into="ods", name="job", interval=0.2)
    job.run()
    database.run("UPDATE shop.parted SET day = '2025-06-06' WHERE id = 1")
    with _running(job):
        database.run(
            "CREATE TABLE shop.new (id int PRIMARY KEY, v text)",
            "INSERT INTO shop.new VALUES (1, 'before')",
        )
        until(lambda: catalog.has_table("ods.new") and job.status.rows >= 5)
        database.run("INSERT INTO shop.new VALUES (2, 'after')")
        until(lambda: job.status.rows >= 6)
    assert _rows(catalog, "new") == [(1, "before"), (2, "after")]
    assert [row[0] for row in _rows(catalog, "parted")] == [1, 2]
    assert _rows(catalog, "parted") == said_by_server(database, "shop.parted")
    assert not catalog.has_table("ods.other")


def test_tables_whose_rows_nothing_names_stop_alone(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are there from the start, are created later, or lose what named their rows."""
    monkeypatch.setattr("paimonlab.ingest.sources.postgresql.reading._DISCOVERY_SECONDS", 0.2)
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY)",
        "CREATE TABLE loses (id int PRIMARY KEY)",
        "CREATE TABLE bare (v int)",
        "CREATE TABLE nothing (id int PRIMARY KEY)",
        "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
        *(f"INSERT INTO {name} VALUES (1)" for name in ("t", "loses", "bare", "nothing")),
    )

    def stopped(job: Job) -> dict[str, str]:
        return {one.name: one.stopped for one in job.status.tables if one.stopped is not None}

    job, catalog = _job(tmp_path, database, r"public\..*")
    refused = {one.target: one.reason for one in job.plan().refused}
    assert sorted(refused) == ["ods.bare", "ods.nothing"]
    assert 'ALTER TABLE "public"."bare" REPLICA IDENTITY FULL' in refused["ods.bare"]
    job.run(until="caught-up")
    assert stopped(job) == refused
    database.run("UPDATE bare SET v = 2")  # unpublished, so the server lets its rows change
    with _running(job):
        database.run(
            "CREATE TABLE later (v int)", "INSERT INTO later VALUES (1)", "INSERT INTO t VALUES (2)"
        )
        until(lambda: "ods.later" in stopped(job) and job.status.rows >= 3)
        database.run(
            "ALTER TABLE loses DROP CONSTRAINT loses_pkey",
            "INSERT INTO loses VALUES (2)",
            "INSERT INTO t VALUES (3)",
        )
        until(lambda: "ods.loses" in stopped(job) and job.status.rows >= 4)
    assert _rows(catalog, "t") == [(1,), (2,), (3,)]
    assert _rows(catalog, "loses") == [(1,)]
    assert "the primary key of the source changed from (id) to none" in stopped(job)["ods.loses"]
    assert sorted(stopped(job)) == ["ods.bare", "ods.later", "ods.loses", "ods.nothing"]
    stops = [event for event in job.events if event.kind == "stopped"]
    assert len(stops) == len(stopped(job))

    database.run(
        "ALTER TABLE bare REPLICA IDENTITY FULL",
        "ALTER TABLE nothing REPLICA IDENTITY DEFAULT",
        "ALTER TABLE later ADD PRIMARY KEY (v)",
        "ALTER TABLE loses ADD PRIMARY KEY (id)",
        "UPDATE bare SET v = 3",
    )
    for name in ("bare", "later", "loses", "nothing"):
        job.resnapshot(name)
    job, catalog = _job(tmp_path, database, r"public\..*")
    job.run(until="caught-up")
    assert not stopped(job)
    for name in ("bare", "later", "loses", "nothing"):
        assert _rows(catalog, name) == said_by_server(database, name)
    database.run("CREATE SCHEMA alone", "CREATE TABLE alone.bare (v int)")
    alone = catalog.ingest(database.source("alone").tables(r"alone\..*"), into="x", name="alone")
    with pytest.raises(IngestSchemaError, match=r"x\.bare: alone\.bare: nothing names a row"):
        alone.run()


def test_a_server_that_starts_again_is_read_on(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections end before the second table is copied; it goes after the last, and in the log."""
    create(database)
    database.run(
        "INSERT INTO keyed SELECT i, i FROM generate_series(1, 9) i",
        "INSERT INTO log (what) SELECT 'old' FROM generate_series(1, 100)",
    )
    moments = ["second", "last"]
    rows, has_gone = Copy.rows, threading.Event()

    def ending(
        self: Copy, table: ServerTable, layout: Layout, published: Published
    ) -> Iterator[Event | None]:
        yield from rows(self, table, layout, published)
        if moments == ["second", "last"]:
            moments.pop(0)
            database.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        elif moments and table.full_name == f"public.{max(TABLES)}":
            moments.pop()
            database.server.stop(at_once=True)
            has_gone.set()

    monkeypatch.setattr(Copy, "rows", ending)
    job, catalog = _job(tmp_path, database, *TABLES)
    with _running(job):
        until(has_gone.is_set)
        until(lambda: any("server to come back" in one for one in job.status.warnings))
        database.server.start()
        _write(database, 30)
        database.server.stop(at_once=True)
        database.server.start()
        database.run("INSERT INTO log (what) VALUES ('last')")
        until(lambda: any("last" in row for row in _rows(catalog, "log")))
    assert not moments
    assert "lost" in {event.kind for event in job.events}
    for table in TABLES:
        assert _rows(catalog, table) == said_by_server(database, table)


def test_a_shell_reads_a_database(tmp_path: Path, database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    database.source()  # names the password
    address = f"127.0.0.1:{database.server.port}/{database.name}"
    told = ["ingest", str(tmp_path), "postgres", address, "--into", "ods", "--name", "job"]
    server = ["--user", USER, "--password-env", PASSWORD_ENV, "--slot", database.name]
    shell = CliRunner()

    done = shell.invoke(main, [*told, *server, "--tables", "t", "-o", "bucket=1"])
    lacking = shell.invoke(main, [*told, "--tables", "t"])
    wrong = shell.invoke(main, [*told, *server, "--tables", "t", "--pattern", "*"])

    assert done.exit_code == 0, done.output
    assert _rows(pm.connect(tmp_path), "t") == [(1,)]
    assert "give --user" in lacking.output
    assert "--pattern is not for postgres" in wrong.output


def _write(database: Database, count: int) -> None:
    """Let some transactions be committed."""
    writer = Writer(database, 1)
    writer.start()
    until(lambda: writer.count > count)
    writer.end()


def test_about_how_many_rows_there_are_is_what_the_server_counted(database: Database) -> None:
    database.run(
        "CREATE TABLE a (id int PRIMARY KEY)",
        "INSERT INTO a SELECT generate_series(1, 300)",
        "CREATE TABLE b (id int PRIMARY KEY)",
    )
    source = database.source().tables(r"public\..*")
    assert source.estimated_rows(lambda _: True) is None, "they were never analyzed"
    database.run("ANALYZE a", "ANALYZE b")

    assert source.estimated_rows(lambda name: name == "public.a") == 300
    database.run("CREATE TABLE nameless AS SELECT generate_series(1, 500) AS id")
    assert source.tables()["public.nameless"].refusal is not None
    assert source.estimated_rows(lambda _: True) == 300, "what is refused is not read"
    later = database.source().tables(r"public\..*", start="latest")
    assert later.estimated_rows(lambda _: True) is None
