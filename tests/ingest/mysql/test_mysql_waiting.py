"""What is waited for is said, and a server that is gone without a word ends the waiting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import paimonlab as pm
from paimonlab.errors import SourceError
from paimonlab.ingest.changes import Boundary, Event, Phase, RowChanges, Waits
from paimonlab.ingest.sources import losses, silence
from paimonlab.ingest.sources.mysql import connection, snapshot, source, stream
from paimonlab.ingest.sources.mysql.source import MySql
from tests.ingest.mysql.server import Server
from tests.ingest.relay import relay


class _AsMySql(connection.Connection):
    """A connection to MariaDB that believes it is MySQL, which has to lock all tables."""

    is_mariadb = False
    version = "8.0.36"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "_AFTER_SECONDS", 0.4)
    monkeypatch.setattr(silence, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(snapshot, "_WAIT_SECONDS", 0.1)
    monkeypatch.setattr(stream, "_QUIET_SECONDS", 0.6)
    monkeypatch.setattr(stream, "_SILENT_SECONDS", 1.0)


@pytest.mark.parametrize("while_it", ["copies", "follows"])
def test_a_server_that_is_gone_without_a_word_is_an_error(
    mysql_server: Server,
    database: str,
    shop: MySql,
    while_it: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = 20_000 if while_it == "copies" else 1
    mysql_server.run(
        "CREATE TABLE t (id INT PRIMARY KEY, v TEXT)",
        f"INSERT INTO t SELECT seq, REPEAT('x', 1000) FROM seq_1_to_{rows}",
        database=database,
    )
    waits: list[str] = []
    with relay(mysql_server.port) as between:
        login = shop.login
        there = pm.mysql(port=between.port, user=login.user, password_env=login.password_env)

        def be_gone() -> None:
            monkeypatch.setattr(silence, "_PATIENCE_SECONDS", 1.5)
            monkeypatch.setattr(connection, "_CONTACT_SECONDS", 1)
            monkeypatch.setattr(losses, "_PATIENCE_SECONDS", 0.5)
            between.swallows.set()

        def read() -> None:
            for event in there.database(database).read(None, lambda _: True):
                if while_it == "copies" and isinstance(event, RowChanges):
                    be_gone()
                if getattr(event, "phase", None) is Phase.CAUGHT_UP:
                    be_gone()
                if isinstance(event, Waits) and between.swallows.is_set():
                    waits.append(event.what)

        with pytest.raises(SourceError, match=r"does not answer|the server is gone"):
            read()
    assert waits
    what = f"rows of {database}.t" if while_it == "copies" else "the server"
    assert waits[0].startswith(what)


def test_a_server_that_has_nothing_new_is_told_in_the_same_words(
    mysql_server: Server, database: str, shop: MySql
) -> None:
    """It says so ten times a second, also of hundreds of tables."""
    mysql_server.run("CREATE TABLE t (id INT PRIMARY KEY, b BOOL)", database=database)
    events = shop.database(database).read(None, lambda _: True)
    quiet = (event for event in events if getattr(event, "phase", None) is Phase.CAUGHT_UP)
    first = next(quiet)
    assert next(quiet) is first
    mysql_server.run("INSERT INTO t VALUES (1, 1)", database=database)
    later = next(event for event in quiet if event is not first)
    assert isinstance(first, Boundary)
    assert isinstance(later, Boundary)
    assert later.position != first.position
    assert next(quiet) is later


@pytest.mark.parametrize("kind", [connection.Connection, _AsMySql])
def test_tables_that_others_lock_are_waited_for(
    mysql_server: Server,
    database: str,
    shop: MySql,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[connection.Connection],
) -> None:
    mysql_server.run("CREATE TABLE t (id INT PRIMARY KEY)", database=database)
    monkeypatch.setattr(source, "Connection", kind)
    events: Iterator[Event] = shop.database(database, start="snapshot").read(None, lambda _: True)
    found: list[int] = []
    with mysql_server.connect(database) as other, other.cursor() as cursor:
        cursor.execute("LOCK TABLES t WRITE")
        first = next(events)
        cursor.execute("INSERT INTO t VALUES (1)")
        cursor.execute("UNLOCK TABLES")
        for event in events:
            if isinstance(event, RowChanges):
                found += event.rows["id"].to_pylist()
    assert isinstance(first, Waits)
    assert first.what.startswith("tables that others lock")
    assert found == [1]
