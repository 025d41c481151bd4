"""A REST catalog of Iceberg's for the tests here, emptied for each."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import Table as IcebergTable

import paimonlab as pl
from tests.catalog.iceberg.java_server import TOKEN, iceberg_server
from tests.interop.conftest import without_java
from tests.interop.java_build import JavaMissingError


@dataclass(frozen=True)
class Shown:
    """What others see of the table ``db.t`` in the catalog."""

    address: str

    @property
    def options(self) -> dict[str, str]:
        """Options of a table that is shown there."""
        return {
            "metadata.iceberg.storage": "rest-catalog",
            "metadata.iceberg.rest.uri": self.address,
            "metadata.iceberg.rest.token": TOKEN,
        }

    def by_java(self, version: int | str | None = None, table: str = "db/t") -> list[str]:
        """Read the rows by Iceberg's library for Java, as texts."""
        path = f"/rows/{table}" if version is None else f"/rows/{table}/{version}"
        with urllib.request.urlopen(self.address + path) as answer:
            return sorted(map(texts, json.load(answer)))

    def opened(self, name: str = "db.t") -> IcebergTable:
        """Open the table by pyiceberg."""
        return RestCatalog("c", uri=self.address, token=TOKEN).load_table(name)

    def by_pyiceberg(self, **how: Any) -> list[str]:
        """Read the rows by pyiceberg, as texts."""
        return sorted(map(texts, self.opened().scan(**how).to_arrow().to_pylist()))


def texts(row: Mapping[str, Any]) -> str:
    """Return a row as a text that is the same by all readers."""
    return repr(sorted((name, "null" if one is None else str(one)) for name, one in row.items()))


def ours(table: pl.Table, **how: Any) -> list[str]:
    """Read the rows by paimonlab, as texts."""
    return sorted(map(texts, table.scan(**how).to_arrow().to_pylist()))


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the server."""
    try:
        with iceberg_server(tmp_path_factory.mktemp("iceberg")) as there:
            yield there
    except JavaMissingError as missing:
        without_java(missing)


@pytest.fixture
def shown(address: str) -> Shown:
    """Return the catalog, empty."""
    urllib.request.urlopen(urllib.request.Request(f"{address}/all", method="DELETE")).close()
    return Shown(address)


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    """Open a warehouse with a database ``db``."""
    opened = pl.connect(tmp_path / "warehouse")
    opened.create_database("db")
    return opened
