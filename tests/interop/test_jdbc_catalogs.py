"""Catalogs in a database that Java Paimon and paimonlab use in turn.

Java's driver for SQLite, and those for MariaDB and PostgreSQL, see the same rows as ours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.catalog.jdbc.catalog import JdbcCatalog
from paimonlab.errors import CatalogLockError, CommitError
from paimonlab.spec.identifier import Identifier
from tests.catalog.beside_java import Beside, alter_in_turn
from tests.catalog.jdbc.servers import login_of, mariadb, postgres, uri_of
from tests.interop.oracle import Oracle

pytestmark = [pytest.mark.interop, pytest.mark.every_release]
DATABASES = ("sqlite", "mariadb", "postgres")


@pytest.fixture(scope="session")
def mariadb_uri() -> Iterator[str]:
    yield from uri_of(mariadb)


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    yield from uri_of(postgres)


@pytest.fixture(params=DATABASES)
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    pytest.importorskip("sqlalchemy")
    if request.param == "sqlite":
        return f"jdbc:sqlite:{tmp_path}/c.db"
    return str(request.getfixturevalue(f"{request.param}_uri"))


class Both(Beside):
    """Java Paimon and paimonlab on the tables of one database."""

    ours: JdbcCatalog

    def __init__(self, oracle: Oracle, uri: str, folder: Path, **options: str) -> None:
        where = {
            "metastore": "jdbc",
            "uri": uri,
            "warehouse": str(folder),
            "catalog-key": f"{folder.parent.name}.{folder.name}.{oracle.release}",
        }
        super().__init__(oracle, where | login_of(uri) | options)
        assert isinstance(self.ours, JdbcCatalog)
        if ":sqlite:" in uri:
            # Where it finds tables of a catalog, Java leaves a query open as long as it runs, and
            # SQLite lets nobody write; so it makes them.
            self.java("databases")

    def stored(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of the catalog, without its key and with its warehouse left out."""
        ask, found = self.ours._database(), {}
        for table in ("paimon_tables", "paimon_database_properties", "paimon_table_properties"):
            rows = ask.rows(
                f"SELECT * FROM {table} WHERE catalog_key = :key",
                key=self.options["catalog-key"],
            )
            found[table] = sorted(
                tuple(str(value).replace(self.options["warehouse"], "W") for value in row[1:])
                for row in rows
            )
        return found


def test_tables_are_altered_in_turn(oracle: Oracle, uri: str, tmp_path: Path) -> None:
    both = Both(oracle, uri, tmp_path / "w")
    alter_in_turn(both)

    both.java("alter_database", database="db", set={"a": "1"}, remove=["comment"])
    assert both.ours.database_options("db").keys() == {"location", "a"}
    both.java("drop_table", table="db.s")
    assert both.ours.tables("db") == []
    both.ours.create_table("db.s", {"x": "INT"})


def test_rows_are_those_of_a_java_made_twin(oracle: Oracle, uri: str, tmp_path: Path) -> None:
    ours, javas = (
        Both(oracle, uri.replace("/c.db", f"/{name}.db"), tmp_path / name)
        for name in ("ours", "javas")
    )
    options = {"bucket": "2", "file.format": "parquet"}
    ours.ours.create_database("db", options={"comment": "x", "b": "2"})
    javas.java("create_database", database="db", options={"comment": "x", "b": "2"})
    ours.ours.alter_database("db", set={"b": "3", "c": "4"}, remove=["comment"])
    javas.java("alter_database", database="db", set={"b": "3", "c": "4"}, remove=["comment"])
    fields = [["day", "STRING NOT NULL"], ["id", "INT NOT NULL"], ["v", "STRING"]]
    for name, keys in (("keyed", ["day", "id"]), ("append", []), ("gone", []), ("old", [])):
        given = options if keys else {"file.format": "orc"}
        ours.ours.create_table(
            f"db.{name}",
            dict(fields),
            primary_keys=keys,
            partition_keys=["day"],
            options=given,
            comment="c",
        )
        javas.java(
            "create_table",
            table=f"db.{name}",
            fields=fields,
            pk=keys,
            partition=["day"],
            options=given,
            comment="c",
        )
    ours.ours.alter_table(
        "db.keyed", pl.SetOption("snapshot.num-retained.max", "20"), pl.RemoveOption("file.format")
    )
    javas.java(
        "alter_table",
        table="db.keyed",
        changes=[["set", "snapshot.num-retained.max", "20"], ["unset", "file.format"]],
    )
    ours.ours.rename_table("db.old", "db.new")
    javas.java("rename_table", table="db.old", target="db.new")
    ours.ours.drop_table("db.gone")
    javas.java("drop_table", table="db.gone")

    found, wanted = ours.stored(), javas.stored()
    if oracle.release == "1.3.1":  # it does not mirror options
        assert wanted.pop("paimon_table_properties") == []
        assert found.pop("paimon_table_properties") != []

    assert found == wanted
    for name in ("keyed", "append", "new"):
        mine, theirs = ours.ours.table(f"db.{name}"), javas.ours.table(f"db.{name}")
        assert mine.schema.fields == theirs.schema.fields
        assert mine.options == theirs.options


def test_both_take_the_same_lock(oracle: Oracle, uri: str, tmp_path: Path) -> None:
    waiting = {"lock-acquire-timeout": "60 s", "lock-check-max-sleep": "100 ms"}
    both = Both(oracle, uri, tmp_path / "w", **{"lock.enabled": "true"}, **waiting)
    both.ours.create_database("db")
    both.java("create_table", table="db.t", fields=[["id", "INT"]])
    assert both.ours._lock is not None

    with both.ours._lock.held(Identifier("db", "t")) as held:
        writing = started(lambda: both.java_write("db.t", [1]))
        time.sleep(0.5)
        assert writing.is_alive()
        assert both.ours.table("db.t").snapshot is None
        assert held.is_held()
    writing.join(60)
    assert both.our_rows("db.t") == [[1]]

    impatient = pl.connect(both.options | {"lock-acquire-timeout": "1 s"})
    insert = "INSERT INTO paimon_distributed_locks (lock_id, expire_time_seconds) VALUES (:k, 60)"
    key = f"{both.options['catalog-key']}.db.t"
    both.ours._database().change(insert, k=key)  # as Java's statement is
    with pytest.raises(CommitError, match="not taken within 1 s: others hold it"):
        impatient.table("db.t").write([{"id": 2}])
    with pytest.raises(CatalogLockError, match=r"db\.t: not taken within 1 s"):
        impatient.alter_table("db.t", pl.AddColumn("v", "INT"))
    both.ours._database().change("DELETE FROM paimon_distributed_locks WHERE lock_id = :k", k=key)
    impatient.table("db.t").write([{"id": 2}])
    both.java_write("db.t", [3])

    assert both.java_rows("db.t") == [[1], [2], [3]]


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread
