"""A server that all tests of this folder share, with a database for each."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from paimonlab.ingest.sources.postgresql import reading
from tests.catalog.jdbc.servers import ServerMissingError
from tests.ingest.postgres.server import Database, Server, running_server

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Run a server."""
    pytest.importorskip("psycopg")
    try:
        with running_server() as server:
            yield server
    except ServerMissingError as missing:
        pytest.skip(f"no PostgreSQL: {missing}")


@pytest.fixture
def database(postgres_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """Make a database that no other test has; drop it with its slots."""
    monkeypatch.setattr(reading, "_WAIT_SECONDS", 0.05)
    name = f"test{next(_numbers)}"
    with postgres_server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield Database(postgres_server, name)
    with postgres_server.connect() as connection:
        of_slots = f"FROM pg_replication_slots WHERE database = '{name}'"
        connection.execute(f"SELECT pg_terminate_backend(active_pid) {of_slots} AND active")
        end = time.monotonic() + 10
        while connection.execute(f"SELECT 1 {of_slots} AND active").fetchall():
            assert time.monotonic() < end
            time.sleep(0.02)
        connection.execute(f"SELECT pg_drop_replication_slot(slot_name) {of_slots}")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
