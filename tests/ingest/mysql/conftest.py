"""A server that all tests of this folder share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

import paimonlab as pm
from paimonlab.ingest.sources.mysql.source import MySql
from tests.ingest.mysql.server import (
    PASSWORD,
    PASSWORD_ENV,
    USER,
    Server,
    ServerMissingError,
    server,
)

_numbers = itertools.count()


@pytest.fixture(scope="session")
def mysql_server() -> Iterator[Server]:
    """Run a server."""
    try:
        with server() as made:
            yield made
    except ServerMissingError as missing:
        pytest.skip(f"no MariaDB: {missing}")


@pytest.fixture
def database(mysql_server: Server) -> str:
    """Make a database that no other test has."""
    name = f"shop{next(_numbers)}x"
    mysql_server.run(f"CREATE DATABASE {name}")
    return name


@pytest.fixture
def shop(mysql_server: Server, monkeypatch: pytest.MonkeyPatch) -> MySql:
    """Return the server as jobs name it."""
    monkeypatch.setenv(PASSWORD_ENV, PASSWORD)
    return pm.mysql(
        port=mysql_server.port, user=USER, password_env=PASSWORD_ENV, time_zone="Asia/Shanghai"
    )
