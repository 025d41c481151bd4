"""One suite for all kinds of catalogs; another kind joins by one line of `OPENED`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import paimonlab as pl
from paimonlab.spec.types.data_types import with_nullable
from tests.catalog.contracts import FIELDS, OTHER, VIEW, ViewContract
from tests.catalog.jdbc.servers import login_of
from tests.catalog.table_contract import Again, TableContract

_NUMBERS = itertools.count()


Fixture = Callable[[str], Any]


def jdbc(uri: str, folder: Path) -> dict[str, str]:
    """Return the options of a catalog of its own in a database."""
    pytest.importorskip("sqlalchemy")
    return {
        "metastore": "jdbc",
        "uri": uri,
        "warehouse": f"{folder}/w",
        "catalog-key": f"k{next(_NUMBERS)}",
        **login_of(uri),
    }


def hive(uri: str, folder: Path) -> dict[str, str]:
    """Return the options of a catalog that a metastore keeps."""
    return {"metastore": "hive", "uri": uri, "warehouse": f"{folder}/w"}


OPENED: Mapping[str, Callable[[Fixture, Path], dict[str, str]]] = {
    "filesystem": lambda _, folder: {"warehouse": f"{folder}/w"},
    "hive": lambda fixture, folder: hive(fixture("hive_uri"), folder),
    "sqlite": lambda _, folder: jdbc(f"jdbc:sqlite:{folder}/c.db", folder),
    "mariadb": lambda fixture, folder: jdbc(fixture("mariadb_uri"), folder),
    "postgres": lambda fixture, folder: jdbc(fixture("postgres_uri"), folder),
    "mariadb with locks": lambda fixture, folder: (
        jdbc(fixture("mariadb_uri"), folder) | {"lock.enabled": "true"}
    ),
    "postgres with locks": lambda fixture, folder: (
        jdbc(fixture("postgres_uri"), folder) | {"lock.enabled": "true"}
    ),
    "rest": lambda fixture, _: fixture("served_options"),
}
WITH_VIEWS = ("sqlite", "mariadb", "postgres", "postgres with locks", "rest")


@pytest.fixture
def served_options(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Serve a catalog that keeps views and options of databases."""
    for module in ("tornado", "urllib3"):
        pytest.importorskip(module)
    served = pl.connect(jdbc(f"jdbc:sqlite:{tmp_path}/served.db", tmp_path))
    with served.serve(token="tok") as server:
        yield server.options


@pytest.fixture
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Again:
    options = OPENED[request.param](request.getfixturevalue, tmp_path)
    return lambda: pl.connect(options)


@pytest.fixture
def catalog(again: Again) -> pl.Catalog:
    return again()


@pytest.mark.parametrize("again", OPENED, indirect=True)
class TestTables(TableContract):
    pass


@pytest.mark.parametrize("again", WITH_VIEWS, indirect=True)
class TestViews(ViewContract):
    @pytest.fixture
    def catalog(self, again: Again) -> pl.Catalog:
        opened = again()
        opened.create_database("db")
        return opened


class TestViewsOfHive(ViewContract):
    """A metastore keeps one query of a view, and types of columns without nullability."""

    view = replace(
        VIEW,
        fields=tuple(
            structs.replace(field, type=with_nullable(field.type, True)) for field in FIELDS
        ),
        dialects={},
    )
    other = replace(OTHER, fields=view.fields[:1])

    @pytest.fixture
    def catalog(self, hive_uri: str, tmp_path: Path) -> pl.Catalog:
        opened = pl.connect(hive(hive_uri, tmp_path))
        opened.create_database("db")
        return opened
