"""Several processes, broken connections and locks that expire.

``PAIMONLAB_RACES=16x25`` lets 16 processes race 25 times, and
``PAIMONLAB_LOCK_SECONDS=5`` lets locks expire after so many seconds; without them fewer do, sooner.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.catalog.jdbc.catalog import JdbcCatalog
from paimonlab.catalog.jdbc.database import Database, Statements
from paimonlab.catalog.jdbc.lock import JdbcLock
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.errors import CatalogDatabaseError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.snapshot import Snapshot
from tests.catalog.jdbc import racing
from tests.catalog.jdbc.servers import USER, login_of

sqlalchemy = pytest.importorskip("sqlalchemy")

PROCESSES, ROUNDS = map(int, os.environ.get("PAIMONLAB_RACES", "4x3").split("x"))
NAMES = "abcd"[: max(PROCESSES // 4, 1)]
"""Four processes want each."""
DATABASES = ("sqlite", "mariadb", "postgres")
TABLE = Identifier("db", "t")


@pytest.fixture
def options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    uri = f"jdbc:sqlite:{tmp_path}/c.db"
    if request.param != "sqlite":
        uri = request.getfixturevalue(f"{request.param}_uri")
    return {
        "metastore": "jdbc",
        "uri": uri,
        "warehouse": str(tmp_path / "w"),
        "catalog-key": tmp_path.name,
        **login_of(uri),
    }


def opened(options: dict[str, str], **more: str) -> JdbcCatalog:
    catalog = pl.connect(options | more)
    assert isinstance(catalog, JdbcCatalog)
    catalog.create_database("db", exist_ok=True)
    return catalog


def lock_of(catalog: JdbcCatalog) -> JdbcLock:
    assert catalog._lock is not None
    return catalog._lock


def locked(catalog: JdbcCatalog) -> int:
    """Return how many locks there are."""
    key = f"{catalog.options['catalog-key']}.%"
    statement = "SELECT count(*) FROM paimon_distributed_locks WHERE lock_id LIKE :key"
    return int(catalog._database().rows(statement, key=key)[0][0])


@pytest.fixture(scope="module")
def processes() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([racing.__name__])
    return context


@pytest.mark.parametrize("options", DATABASES, indirect=True)
def test_of_those_who_want_a_name_one_gets_it(options: dict[str, str], processes: Any) -> None:
    catalog = opened(options)

    racing.each_name_has_one_winner(options, processes, PROCESSES, NAMES, ROUNDS)

    assert catalog.tables("db") == sorted(f"own{number}" for number in range(PROCESSES))
    folders = {path.name for path in Path(catalog.path, "db.db").iterdir()}
    assert folders == set(catalog.tables("db"))


@pytest.mark.parametrize("options", DATABASES, indirect=True)
def test_a_holder_that_stands_still_past_expiry_loses_nothing(
    options: dict[str, str], processes: Any
) -> None:
    locks = {"lock.enabled": "true", "lock-check-max-sleep": "100 ms"}
    catalog = opened(options, **locks, **{"lock-acquire-timeout": "60 s"})
    catalog.create_table("db.t", {"id": "INT"})
    stopping = (
        options
        | locks
        | {"lock-acquire-timeout": os.environ.get("PAIMONLAB_LOCK_SECONDS", "1") + " s"}
    )
    holder = processes.Process(target=racing.stand_still, args=(stopping,))
    holder.start()
    while not is_stopped(holder.pid):
        assert holder.is_alive()
        time.sleep(0.02)
    assert locked(catalog) == 1

    catalog.table("db.t").write([{"id": 2}])  # waits until the lock expires
    with lock_of(catalog).held(TABLE) as held:
        os.kill(holder.pid, signal.SIGCONT)
        time.sleep(0.5)  # the holder gives back what it no longer has
        assert held.is_held()
        assert locked(catalog) == 1
    holder.join(60)

    table = catalog.table("db.t")
    assert holder.exitcode == 0
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
    assert [snapshot.id for snapshot in table.snapshots] == [1, 2]
    assert locked(catalog) == 0


def is_stopped(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "T"


SERVERS = DATABASES[1:]
_OTHERS = {
    "mysql": "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND "
    f"user = '{USER}'",
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "usename = current_user AND backend_type = 'client backend'",
}
_END = {"mysql": "KILL {}", "postgresql": "SELECT pg_terminate_backend({})"}


@pytest.fixture
def cut(options: dict[str, str]) -> Any:
    """Return what ends all other connections to a database."""
    other = opened(options)._database()

    def end_all() -> None:
        dialect = other.address.dialect
        for (connection,) in other.rows(_OTHERS[dialect]):
            statement = _END[dialect].format(connection)
            if dialect == "postgresql":
                other.rows(statement)
            else:
                other.change(statement)

    return end_all


@pytest.mark.parametrize("options", SERVERS, indirect=True)
def test_a_connection_that_is_cut_while_the_lock_is_held_costs_nothing(
    options: dict[str, str], cut: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = opened(options, **{"lock.enabled": "true"})
    table = catalog.create_table("db.t", {"id": "INT"})
    publish, cuts = RenamelessPublisher.publish, []

    def cut_first(self: RenamelessPublisher, snapshot: Snapshot) -> bool:
        cuts.append(cut())
        done = publish(self, snapshot)
        cut()
        return done

    monkeypatch.setattr(RenamelessPublisher, "publish", cut_first)
    for number in range(3):
        table.write([{"id": number}])

    assert len(cuts) == 3
    assert catalog.table("db.t").scan().count() == 3
    assert locked(catalog) == 0


@pytest.mark.parametrize("options", SERVERS, indirect=True)
def test_a_connection_that_is_cut_while_the_lock_is_taken_leaves_none(
    options: dict[str, str], cut: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = opened(options, **{"lock.enabled": "true"})
    table = catalog.create_table("db.t", {"id": "INT"})
    rows = Statements.rows
    cuts: list[object] = []

    def cut_once(self: Statements, statement: str, **values: object) -> Any:
        if statement.startswith("SELECT acquired_at") and not cuts:
            cuts.append(cut())
        return rows(self, statement, **values)

    monkeypatch.setattr(Statements, "rows", cut_once)
    table.write([{"id": 1}])

    assert cuts == [None]
    assert catalog.table("db.t").scan().count() == 1
    assert locked(catalog) == 0


@pytest.mark.parametrize("options", DATABASES, indirect=True)
def test_answers_to_commits_that_are_lost_are_settled(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = opened(options, **{"lock.enabled": "true"})
    losing = LostAnswers(monkeypatch)

    table = losing.of(lambda: catalog.create_table("db.a", {"id": "INT"}))
    losing.of(lambda: catalog.rename_table("db.a", "db.b"))
    losing.of(lambda: catalog.table("db.b").write([{"id": 1}]))
    assert catalog.table("db.b").scan().count() == 1
    losing.of(lambda: catalog.drop_table("db.b"))

    assert losing.lost >= 4
    assert catalog.tables("db") == []
    assert not Path(table.path).exists()
    assert locked(catalog) == 0


class LostAnswers:
    """Lets each first COMMIT of a piece of work happen, and its answer be lost."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lost, self._loses = 0, False
        execute = sqlalchemy.Connection.exec_driver_sql

        def losing(connection: Any, statement: str, *rest: Any) -> Any:
            done = execute(connection, statement, *rest)
            if statement == "COMMIT" and self._loses:
                self._loses, self.lost = False, self.lost + 1
                connection.invalidate()
                raise sqlalchemy.exc.OperationalError(statement, {}, OSError("the line is dead"))
            return done

        monkeypatch.setattr(sqlalchemy.Connection, "exec_driver_sql", losing)

    def of(self, work: Any) -> Any:
        self._loses = True
        return work()


def test_a_creation_that_surely_failed_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = opened(
        {
            "metastore": "jdbc",
            "uri": f"jdbc:sqlite:{tmp_path}/c.db",
            "warehouse": str(tmp_path / "w"),
        }
    )
    catalog.create_table("db.old", {"id": "INT"})
    execute = sqlalchemy.Connection.exec_driver_sql

    def refused(connection: Any, statement: str, *rest: Any) -> Any:
        if statement == "COMMIT":
            raise sqlalchemy.exc.OperationalError(statement, {}, OSError("the disk is full"))
        return execute(connection, statement, *rest)

    monkeypatch.setattr(sqlalchemy.Connection, "exec_driver_sql", refused)
    with pytest.raises(CatalogDatabaseError, match="the disk is full"):
        catalog.create_table("db.t", {"id": "INT"})
    with pytest.raises(CatalogDatabaseError, match="the disk is full"):
        catalog.rename_table("db.old", "db.new")
    monkeypatch.undo()

    assert catalog.tables("db") == ["old"]
    assert catalog.table("db.old").scan().count() == 0
    assert [path.name for path in Path(catalog.path, "db.db").iterdir()] == ["old"]
    assert isinstance(catalog._database(), Database)
