"""Databases for catalogs: each is started when a test asks for it, and ends with the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalog.hive.metastores import (
    Metastore,
    MetastoreMissingError,
    metastore,
    without_metastore,
)
from tests.catalog.jdbc.servers import mariadb, postgres, uri_of


@pytest.fixture(scope="session")
def mariadb_uri() -> Iterator[str]:
    yield from uri_of(mariadb)


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    yield from uri_of(postgres)


@pytest.fixture(scope="session")
def hive() -> Iterator[Metastore]:
    """Run a Hive metastore, for all tests of a run."""
    pytest.importorskip("thriftpy2")
    try:
        with metastore() as running:
            yield running
    except MetastoreMissingError as missing:
        without_metastore(missing)


@pytest.fixture
def hive_uri(hive: Metastore) -> str:
    """Return the address of a metastore with no databases but its own."""
    hive.clear()
    return hive.uri
