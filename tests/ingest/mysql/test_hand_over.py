"""Rows, then the log: nothing is lost or comes twice, whatever happens meanwhile.

``PAIMONLAB_INGEST_KILLS=100`` kills as often; a few are part of every run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Generator, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.cli.main import main
from paimonlab.errors import PaimonError, SourceError
from paimonlab.ingest import Boundary, Event, JsonValue, Phase, RowChanges, check_source
from paimonlab.ingest.job import Job, files_of
from paimonlab.ingest.sources.mysql import stream
from paimonlab.ingest.sources.mysql.connection import Connection
from paimonlab.ingest.sources.mysql.events import EventType
from paimonlab.ingest.sources.mysql.positions import Position
from paimonlab.ingest.sources.mysql.snapshot import TableReading
from paimonlab.ingest.sources.mysql.source import MySql, MySqlSource, _Reading
from paimonlab.ingest.sources.mysql.spans import Places
from paimonlab.ingest.sources.mysql.wire import PacketReader, Packets, ServerGoneError
from paimonlab.ingest.steering import ask_of
from paimonlab.spec.schema.schema_changes import DropColumn
from tests.ingest import large_transaction, much_meanwhile
from tests.ingest.idle_job import wait_and_pause
from tests.ingest.mysql.server import PASSWORD_ENV, Server, server
from tests.ingest.mysql.writer import TABLES, Writer, create, rows_of, writing
from tests.ingest.run_and_kill import run_and_kill

KILLS = int(os.environ.get("PAIMONLAB_INGEST_KILLS", "1"))
_AT_ONCE = 4
"""Kills of one job, before it comes to its end."""
LIMIT = 120


def _here(catalog: pm.Catalog, table: str) -> list[tuple[Any, ...]]:
    rows = catalog.table(f"ods.{table}").scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)


def _same(catalog: pm.Catalog, made: Server, database: str) -> None:
    for table in TABLES:
        found = _here(catalog, table)
        wanted = rows_of(made, database, table)
        if table == "one":
            wanted = sorted(
                ((a, b, None if c is None else Decimal(c), bool(d)) for a, b, c, d in wanted),
                key=repr,
            )
        assert found == wanted, table


def test_it_does_what_sources_promise(mysql_server: Server, database: str, shop: MySql) -> None:
    (end,) = mysql_server.rows("SHOW MASTER STATUS")
    mysql_server.run(
        "CREATE TABLE not_wanted (id INT PRIMARY KEY, v INT)",
        "ALTER TABLE not_wanted RENAME COLUMN v TO w",
        "INSERT INTO not_wanted VALUES (1, 1)",
        "CREATE TABLE a (id INT PRIMARY KEY, v TEXT)",
        "CREATE TABLE b (k VARCHAR(9) PRIMARY KEY, v TEXT)",
        "INSERT INTO a VALUES (1, 'x'), (2, NULL)",
        "INSERT INTO b VALUES ('k', 'x')",
        database=database,
    )

    def add() -> None:
        mysql_server.run(
            "INSERT INTO a VALUES (1000, 'y')",
            "UPDATE a SET v = 'z' WHERE id = 1000",
            "DELETE FROM a WHERE id = 1000",
            database=database,
        )

    first = {"file": end[0], "pos": end[1]}
    for start in ("initial", first):
        check_source(partial(shop.database, database, including="a|b", start=start), add=add)
    check_source(lambda: shop.database(database, including="a|b", start="snapshot"))


def test_rows_and_log_are_one_table_under_writes(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, rng: np.random.Generator
) -> None:
    create(mysql_server, database)
    before = Writer(mysql_server, database, rng)
    before.transactions(40)
    before.close()
    catalog = pm.connect(tmp_path)
    # Rows of `log` have no key: a deleted one would stop the table, one that came twice is seen.
    job = catalog.ingest(
        shop.database(database), into="ods", name="j", max_rows=150, interval="200 ms"
    )
    with writing(mysql_server, database, np.random.default_rng(rng.integers(2**32)), 80):
        for _ in range(2):
            job.run(until="caught-up")
    job.run()
    _same(catalog, mysql_server, database)


def test_many_rows_change_while_they_are_read(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    def numbers(most: int) -> str:
        return f"SELECT seq AS n FROM seq_1_to_{most}"

    mysql_server.run(*much_meanwhile.creating(numbers), database=database)
    catalog = pm.connect(tmp_path)
    source = shop.database(database)
    job = catalog.ingest(source, into="ods", name="j", interval="1 s", options={"bucket": 2})
    much_meanwhile.read_meanwhile(
        job, lambda: mysql_server.run(*much_meanwhile.changing(numbers), database=database)
    )
    much_meanwhile.check(catalog, lambda name: rows_of(mysql_server, database, name))


@pytest.mark.parametrize("_number", range(max(KILLS // 4, 1)))
def test_reading_goes_on_from_the_midst_of_rows(
    mysql_server: Server,
    database: str,
    shop: MySql,
    rng: np.random.Generator,
    _number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each row of the source is known by what its images say, also in parts read at two moments."""
    monkeypatch.setattr("paimonlab.ingest.sources.mysql.stream._BATCH_BYTES", 400)
    monkeypatch.setattr("paimonlab.ingest.sources.mysql.snapshot._BATCH_BYTES", 1)
    monkeypatch.setattr("paimonlab.ingest.sources.mysql.wire._READ_BYTES", 2000)
    create(mysql_server, database)
    writer = Writer(mysql_server, database, rng)
    writer.transactions(60)
    state: dict[str, list[Any]] = {table: [] for table in TABLES}
    position, stops = None, 3
    while True:
        reading = shop.database(database).read(position, lambda _: True)
        position, is_done = _read(reading, state, int(rng.integers(1, 6)) if stops else None)
        if is_done:
            break
        stops -= 1
        writer.transactions(20)
    writer.close()
    _same_rows(state, mysql_server, database)


def test_a_table_is_read_anew_while_another_was_read_in_part(
    mysql_server: Server,
    database: str,
    shop: MySql,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paimonlab.ingest.sources.mysql.snapshot._BATCH_BYTES", 1)
    monkeypatch.setattr("paimonlab.ingest.sources.mysql.wire._READ_BYTES", 500)
    create(mysql_server, database)
    writer = Writer(mysql_server, database, rng)
    writer.transactions(60)
    state: dict[str, list[Any]] = {table: [] for table in TABLES}
    source = shop.database(database)
    position: Any = None
    while position is None or "outline" not in position:
        position, is_done = _read(source.read(position, lambda _: True), state, 1)
        assert not is_done
    writer.transactions(20)
    # Tables are read in the order of their names: "log" comes before those with a key.
    position = source.before_rows(position, [f"{database}.log"])
    state["log"].clear()
    _read(source.read(position, lambda _: True), state, None)
    writer.close()
    _same_rows(state, mysql_server, database)


def _read(
    reading: Iterator[Event], state: dict[str, list[Any]], most: int | None
) -> tuple[JsonValue, bool]:
    """Read up to some boundary, or all there is; return the position, and whether it was all."""
    waiting: list[RowChanges] = []
    count = 0
    with contextlib.closing(cast("Generator[Event]", reading)) as events:
        for event in events:
            if isinstance(event, RowChanges):
                waiting.append(event)
            if not isinstance(event, Boundary):
                continue
            for rows in waiting:
                _apply(state, rows)
            waiting.clear()
            count += 1
            is_done = event.phase is Phase.CAUGHT_UP
            if is_done or count == most:
                return event.position, is_done
    raise AssertionError("a log has no end")


def _same_rows(state: dict[str, list[Any]], made: Server, database: str) -> None:
    for table in TABLES:
        wanted = rows_of(made, database, table)
        found = sorted((tuple(map(_plain, row)) for row in state[table]), key=repr)
        assert found == sorted((tuple(map(_plain, row)) for row in wanted), key=repr), table


def _plain(value: Any) -> Any:
    return Decimal(value) if isinstance(value, bool | int | Decimal) else value


def _apply(state: dict[str, list[Any]], changes: RowChanges) -> None:
    """Let changes happen to a list of rows: an old image must be there exactly as it is told."""
    rows = state[changes.table.partition(".")[2]]
    kinds = [0] * changes.rows.num_rows if changes.kinds is None else changes.kinds.to_pylist()
    befores = [place for place, kind in enumerate(kinds) if kind == 1]
    assert [place - 1 for place, kind in enumerate(kinds) if kind == 2] == befores, (
        "updates are two"
    )
    for kind, row in zip(kinds, changes.rows.to_pylist(), strict=True):
        values = tuple(row.values())
        if kind in (1, 3):
            rows.remove(values)
        else:
            rows.append(values)


def _command(warehouse: Path, made: Server, database: str) -> list[str]:
    module = "tests.ingest.mysql.killed_mysql_job"
    return [sys.executable, "-m", module, str(warehouse), str(made.port), database]


@pytest.mark.parametrize("first", range(0, KILLS, _AT_ONCE))
def test_a_killed_job_loses_and_doubles_nothing(
    tmp_path: Path,
    mysql_server: Server,
    database: str,
    shop: MySql,
    rng: np.random.Generator,
    first: int,
) -> None:
    """Tables are read anew meanwhile, those without a key too."""
    create(mysql_server, database)
    writer = Writer(mysql_server, database, rng)
    writer.transactions(100)
    kills = 0
    command = _command(tmp_path, mysql_server, database)
    asked = files_of(pm.connect(tmp_path), "job").asked
    while kills < min(_AT_ONCE, KILLS - first):
        kills += not run_and_kill(command, float(rng.uniform(0.0, 1.5)))
        asked.add(ask_of("resnapshot", str(rng.choice(TABLES))))
        writer.transactions(40)
    writer.close()
    assert run_and_kill(command, None)
    _same(pm.connect(tmp_path), mysql_server, database)


def test_tables_are_read_anew_and_added_while_others_are_followed(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, rng: np.random.Generator
) -> None:
    create(mysql_server, database)
    first = Writer(mysql_server, database, rng)
    first.transactions(60)
    catalog = pm.connect(tmp_path)
    source = shop.tables(rf"{database}\.(one|log)")
    job = catalog.ingest(source, into="ods", name="j", interval="100 ms")
    job.run()
    mysql_server.run(
        "SET sql_log_bin = 0",  # what the log does not have
        "DELETE FROM one WHERE id % 2 = 0",
        "INSERT INTO log VALUES (-1, 'unseen')",
        database=database,
    )
    job.start()
    try:
        with writing(mysql_server, database, np.random.default_rng(rng.integers(2**32)), 60):
            job.resnapshot("one")
            job.add(rf"{database}\.(two|pair)")
            mysql_server.run("ALTER TABLE two ADD n INT DEFAULT 7 FIRST", database=database)
            job.resnapshot("two")
            job.resnapshot("log")
        mysql_server.run("ALTER TABLE two DROP n", database=database)
    finally:
        job.stop(60)
    job.run()
    first.transactions(20)
    first.close()
    shop_again = shop.tables(rf"{database}\.(one|log)")  # as another process is told
    catalog.ingest(shop_again, into="ods", name="j").run()
    table = catalog.table("ods.two")
    assert [field.name for field in table.schema.fields] == ["id", "v", "n"]
    catalog.alter_table("ods.two", DropColumn("n"))  # which the source has no more
    _same(catalog, mysql_server, database)


def test_lost_connections_lose_nothing(
    mysql_server: Server,
    database: str,
    shop: MySql,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Connections break in the midst of tables, and of transactions of which some rows had come."""
    monkeypatch.setattr("paimonlab.ingest.sources.losses.WAIT_SECONDS", 0.05)
    create(mysql_server, database)
    writer = Writer(mysql_server, database, rng)
    writer.transactions(60)
    source = shop.database(database)
    state: dict[str, list[Any]] = {table: [] for table in TABLES}
    cuts = dict.fromkeys(("log", "one", "two"), 1)
    rows = TableReading._rows

    def cut(self: TableReading, statement: str) -> Iterator[tuple[bytes, Places] | None]:
        table = self.info.name.partition(".")[2]
        for found in rows(self, statement):
            yield found
            if cuts.pop(table, 0):
                writer.transactions(3)
                raise ServerGoneError("cut by the test")

    with monkeypatch.context() as patch:
        patch.setattr(TableReading, "_rows", cut)
        patch.setattr("paimonlab.ingest.sources.mysql.snapshot._BATCH_BYTES", 1)
        patch.setattr("paimonlab.ingest.sources.mysql.wire._READ_BYTES", 200)
        # A table without a key by which to go on is read as a whole.
        with pytest.raises(SourceError, match=r"lost while \w+\.log was read .* it is read again"):
            _read(source.read(None, lambda _: True), state, None)
        state = {table: [] for table in TABLES}
        position, _ = _read(source.read(None, lambda _: True), state, None)
    assert not cuts
    _same_rows(state, mysql_server, database)
    writer.transactions(60)
    writer.close()
    read = PacketReader.read
    broken = 0

    def breaking(self: PacketReader) -> Packets | None:
        nonlocal broken
        if broken < 12 and rng.random() < 0.1:
            broken += 1
            raise ServerGoneError("broken by the test")
        return read(self)

    monkeypatch.setattr(PacketReader, "read", breaking)
    monkeypatch.setattr("paimonlab.ingest.sources.mysql.wire._READ_BYTES", 900)
    _read(source.read(position, lambda _: True), state, None)
    assert broken
    _same_rows(state, mysql_server, database)


def test_another_server_is_gone_on_from_by_its_numbers(
    mysql_server: Server,
    database: str,
    shop: MySql,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that took over has its own files: transactions are known by their numbers.

    MySQL tells where it is in its log while it passes over them: that is not its end.
    """
    rotate = stream._OTHERS[EventType.ROTATE]
    connect, connections = MySqlSource.connect, []

    def counted(self: MySqlSource) -> Connection:
        connections.append(self)
        return connect(self)

    def passing_over(self: stream.Stream, event: bytes) -> Iterator[Event]:
        yield from rotate(self, event)
        before = len(connections)
        for _ in range(3):
            yield from self._heartbeat(bytes(13) + (4).to_bytes(4, "little") + bytes(2))
        assert len(connections) <= before + 1, "its end is asked for once"

    monkeypatch.setattr(MySqlSource, "connect", counted)
    monkeypatch.setitem(stream._OTHERS, EventType.ROTATE, passing_over)
    create(mysql_server, database)
    source = shop.database(database)
    state: dict[str, list[Any]] = {table: [] for table in TABLES}
    position, _ = _read(source.read(None, lambda _: True), state, None)
    writer = Writer(mysql_server, database, rng)
    writer.transactions(20)
    position, _ = _read(source.read(position, lambda _: True), state, None)
    writer.transactions(20)
    writer.close()
    assert isinstance(position, dict)
    elsewhere = {**position, "server": "another", "file": "old.000900", "pos": 77}
    with pytest.raises(SourceError, match="another server"):
        next(source.read({**elsewhere, "gtids": ""}, lambda _: True))
    position, _ = _read(source.read(elsewhere, lambda _: True), state, None)
    assert isinstance(position, dict)
    assert position["server"] != "another"
    assert position["file"] != "old.000900"
    _same_rows(state, mysql_server, database)


def test_a_user_needs_what_the_docs_say(
    mysql_server: Server, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mysql_server.run(
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "INSERT INTO t VALUES (1)",
        "CREATE USER IF NOT EXISTS reader IDENTIFIED BY 'abc'",
        "GRANT SELECT ON *.* TO reader",
        database=database,
    )
    (tmp_path / "password").write_text("abc\n")
    given = pm.mysql(
        port=mysql_server.port, user="reader", password_file=tmp_path / "password"
    ).database(database)
    needed = "The user needs: SELECT, REPLICATION SLAVE"
    for grant in ("BINLOG MONITOR", "REPLICATION SLAVE"):
        with pytest.raises(SourceError, match=needed):
            _read(given.read(None, lambda _: True), {"t": []}, None)
        mysql_server.run(f"GRANT {grant} ON *.* TO reader")
    state: dict[str, list[Any]] = {"t": []}
    _read(given.read(None, lambda _: True), state, None)
    assert state == {"t": [(1,)]}
    (tmp_path / "password").write_text("wrong")
    with pytest.raises(SourceError, match="Access denied"):
        given.tables()


def test_a_job_of_the_shell(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (7)", database=database
    )
    told = [
        *("ingest", str(tmp_path), "mysql", f"127.0.0.1:{mysql_server.port}", "--into", "ods"),
        *("--name", "j", "--tables", rf"{database}\.t", "-o", "bucket=1"),
    ]
    run = CliRunner()
    missing = run.invoke(main, told)
    assert "give --user" in missing.output
    wrong = run.invoke(main, [*told, "--user", "lake", "--slot", "s"])
    assert "--slot is not for mysql" in wrong.output
    done = run.invoke(main, [*told, "--user", "lake", "--password-env", PASSWORD_ENV])
    assert done.exit_code == 0, done.output
    assert _here(pm.connect(tmp_path), "t") == [(7,)]


def test_a_job_waits_and_is_waited_for(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v TEXT)",
        "CREATE TABLE more (id INT PRIMARY KEY)",
        "INSERT INTO more VALUES (7)",
        database=database,
    )
    catalog = pm.connect(tmp_path)

    def made() -> Job:
        source = shop.database(database, including="t")
        return catalog.ingest(source, into="ods", name="j", interval="100 ms")

    def write(count: int) -> None:
        insert = f"INSERT INTO t (v) SELECT REPEAT('x', 99) FROM seq_1_to_{count}"
        mysql_server.run(insert, database=database)

    wait_and_pause(made, write, rf"{database}\.more")
    for table in ("t", "more"):
        assert _here(catalog, table) == rows_of(mysql_server, database, table)


def test_a_large_transaction_is_one_epoch(
    tmp_path: Path,
    mysql_server: Server,
    database: str,
    shop: MySql,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not large_transaction.IS_LONG:
        monkeypatch.setattr("paimonlab.ingest.sources.mysql.stream._BATCH_BYTES", 9_000)
    mysql_server.run(*large_transaction.tables(), database=database)
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.database(database),
        into="ods",
        name="j",
        max_bytes=large_transaction.MAX_BYTES,
        options={"bucket": 1},
    )
    job.run()
    numbers = f"SELECT seq AS n FROM seq_1_to_{large_transaction.ROWS}"
    mysql_server.run("BEGIN", *large_transaction.statements(numbers), "COMMIT", database=database)
    job.run()
    said = {name.partition(".")[2] for name in shop.database(database).tables()}
    large_transaction.check(catalog, {name: rows_of(mysql_server, database, name) for name in said})


def test_a_server_that_starts_again_is_read_on(
    tmp_path: Path, shop: MySql, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes after the last row was read, before its log is, and while its log is read."""
    with server() as made:
        has_gone = _stopping_after_rows(monkeypatch, made)
        made.run("CREATE DATABASE own")
        create(made, "own")
        writer = Writer(made, "own", rng)
        writer.transactions(30)
        writer.close()
        own = pm.mysql(port=made.port, user=shop.login.user, password_env=shop.login.password_env)
        catalog = pm.connect(tmp_path)
        job = catalog.ingest(own.database("own"), into="ods", name="j", interval="100 ms")
        job.start()
        try:
            for moment in ("before the log", "in the log"):
                if moment == "before the log":
                    assert has_gone.wait(LIMIT)
                else:
                    _wait_for(catalog, made, "log")
                    _wait_for_log(job)
                    made.kill()
                _wait_for_word(job)
                made.start()
                writer = Writer(made, "own", rng)
                writer._no = 10**6 * made.port + int(rng.integers(10**6))
                writer.transactions(30)
                writer.close()
            _wait_for(catalog, made, "log")
        finally:
            job.stop()
        job.run()
        _same(catalog, made, "own")
        assert [event.kind for event in job.events if event.kind in ("lost", "failed")] == [
            "lost",
            "lost",
        ]

        # A log that is gone is told in full, and what was read stays as it is.
        made.run("FLUSH BINARY LOGS", "DROP TABLE own.log", "FLUSH BINARY LOGS")
        (last,) = made.rows("SHOW MASTER STATUS")
        _purge(made, last[0])
        with pytest.raises(SourceError, match=r"not in the log any more.*binlog_expire_logs"):
            catalog.ingest(own.database("own"), into="ods", name="j").run()
        made.run("SET GLOBAL binlog_row_metadata = 'MINIMAL'")
        with pytest.raises(PaimonError, match="SET GLOBAL binlog_row_metadata = 'FULL'"):
            catalog.ingest(own.database("own"), into="ods", name="j").run()


def _stopping_after_rows(monkeypatch: pytest.MonkeyPatch, made: Server) -> threading.Event:
    """Stop a server once, after all rows were read and before its log is; return when it was."""
    has_gone = threading.Event()
    before_log = _Reading._before_log

    def stopping(self: _Reading, connection: Connection) -> Generator[Event, None, Position]:
        events = before_log(self, connection)
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                place: Position = end.value
                return place
            yield event
            is_last = isinstance(event, Boundary) and event.phase is Phase.STREAM
            if is_last and not has_gone.is_set():
                made.stop()
                has_gone.set()

    monkeypatch.setattr(_Reading, "_before_log", stopping)
    return has_gone


def _purge(made: Server, last: str) -> None:
    """Delete the logs before one; a log that a connection still reads stays for a while."""
    end = time.monotonic() + LIMIT
    while made.rows("SHOW BINARY LOGS")[0][0] != last:
        assert time.monotonic() < end, "a log is still read"
        made.run(f"PURGE BINARY LOGS TO '{last}'")
        time.sleep(0.05)


def _wait_for_word(job: Job) -> None:
    """Wait until a job says that its server is gone."""
    end = time.monotonic() + LIMIT
    while not any("the server to come back" in warning for warning in job.status.warnings):
        assert time.monotonic() < end, f"nothing is waited for: {job.status}"
        time.sleep(0.02)


def _wait_for_log(job: Job) -> None:
    end = time.monotonic() + LIMIT
    while job.status.phase not in (Phase.STREAM.value, Phase.CAUGHT_UP.value):
        assert time.monotonic() < end, f"the log is not read: {job.status}"
        time.sleep(0.1)


def _wait_for(catalog: pm.Catalog, made: Server, table: str) -> None:
    end = time.monotonic() + LIMIT
    (wanted,) = made.rows(f"SELECT COUNT(*) FROM own.{table}")[0]
    while time.monotonic() < end:
        if catalog.has_table(f"ods.{table}") and len(_here(catalog, table)) == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"{table} never had {wanted} rows")


def test_about_how_many_rows_there_are_is_what_the_server_guesses(
    mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE a (id INT PRIMARY KEY)",
        "INSERT INTO a SELECT seq FROM seq_1_to_300",
        "CREATE TABLE b (id INT PRIMARY KEY)",
        "ANALYZE TABLE a, b",
        database=database,
    )
    source = shop.database(database, including="a|b")

    assert source.estimated_rows(lambda name: name == f"{database}.a") == 300
    assert source.estimated_rows(lambda name: name == f"{database}.b") == 0
    assert shop.database(database, start="latest").estimated_rows(lambda _: True) is None
