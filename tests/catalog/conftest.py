"""Databases for catalogs: each is started when a test asks for it, and ends with the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.jdbc.servers import mariadb, postgres, uri_of


@pytest.fixture(scope="session")
def mariadb_uri() -> Iterator[str]:
    yield from uri_of(mariadb)


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    yield from uri_of(postgres)
