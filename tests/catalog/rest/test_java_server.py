"""Our client against the mock server of Java Paimon's own tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.catalog.rest.catalog import RestCatalog
from paimonlab.errors import AccessDeniedError
from tests.catalog.contracts import OTHER, FunctionContract, ViewContract
from tests.catalog.format_contract import FormatTableContract
from tests.catalog.rest.conftest import without_java
from tests.catalog.rest.java_server import java_server
from tests.catalog.rest.test_served_catalog import life_of_a_table
from tests.interop.java_build import NEWEST, JavaMissingError

pytestmark = pytest.mark.interop
NEWEST_SERVER = pytest.mark.parametrize("java_address", [NEWEST], indirect=True)


@pytest.fixture
def catalog(java_address: str) -> pl.Catalog:
    opened = pl.connect(
        {
            "metastore": "rest",
            "uri": java_address,
            "warehouse": "my_lake",
            "token.provider": "bear",
            "token": "tok",
        }
    )
    assert isinstance(opened, RestCatalog)
    for database in opened.databases():  # what is in it does not go with a database there
        for view in opened.views(database):
            opened.drop_view(f"{database}.{view}")
        for function in opened.functions(database):
            opened.drop_function(f"{database}.{function}")
        for table in [*opened.tables(database), *opened.format_tables(database)]:
            opened.drop_table(f"{database}.{table}")
        opened.drop_database(database, cascade=True)
    opened.create_database("db", options={"owner": "me"})
    return opened


@NEWEST_SERVER
class TestViews(ViewContract):
    # The mock lets tables and views have the same names.
    test_the_name_of_a_view_is_taken = None  # type: ignore[assignment]
    test_the_name_of_a_table_is_taken = None  # type: ignore[assignment]


@NEWEST_SERVER
class TestFunctions(FunctionContract):
    pass


@NEWEST_SERVER
class TestFormatTables(FormatTableContract):
    deletes_files = False
    # The mock does not look for format tables when it creates others.
    test_its_name_is_taken = None  # type: ignore[assignment]


@NEWEST_SERVER
def test_a_table_lives_its_life_through_javas_server(catalog: pl.Catalog) -> None:
    life_of_a_table(catalog)


@NEWEST_SERVER
def test_more_views_than_a_page_has_are_listed(catalog: pl.Catalog) -> None:
    assert isinstance(catalog, RestCatalog)
    names = [f"v{number:03}" for number in range(101)]
    for name in names:
        catalog.create_view(f"db.{name}", OTHER)

    assert catalog.views("db") == names


@NEWEST_SERVER
def test_databases_keep_options(catalog: pl.Catalog) -> None:
    catalog.alter_database("db", set={"a": "1", "b": "2"}, remove=["owner"])
    kept = catalog.database_options("db")
    assert (kept["a"], kept["b"]) == ("1", "2")
    assert "owner" not in kept


def test_the_oldest_server_believes_our_signatures(tmp_path: Path) -> None:
    options = {
        "metastore": "rest",
        "warehouse": "my_lake",
        "token.provider": "dlf",
        "dlf.access-key-id": "ak",
        "dlf.access-key-secret": "sk",
        "dlf.region": "cn-hangzhou",
    }
    try:
        with java_server(tmp_path / "warehouse", "dlf", "ak", "sk", "cn-hangzhou") as address:
            catalog = pl.connect({**options, "uri": address})
            catalog.create_database("db")
            life_of_a_table(catalog)
            wrong = pl.connect({**options, "uri": address, "dlf.access-key-secret": "hush"})
            with pytest.raises(AccessDeniedError, match="not authorised") as raised:
                wrong.databases()
            assert "hush" not in str(raised.value)
    except JavaMissingError as missing:
        without_java(missing)
