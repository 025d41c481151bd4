"""The Hive catalog on Hive 4.0.1's own metastore, by TLS and with a login."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.errors import AccessDeniedError, CatalogServerError
from tests.catalog.hive.metastores import OWN_DATABASE, MetastoreMissingError, without_metastore
from tests.catalog.hive.metastores4 import PASSWORD, secured_metastore
from tests.catalog.table_contract import Again, TableContract

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def hive4() -> Iterator[Mapping[str, str]]:
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("Hive 4 is part of make interop")
    pytest.importorskip("thriftpy2")
    try:
        with secured_metastore() as options:
            yield options
    except MetastoreMissingError as missing:
        without_metastore(missing)


@pytest.fixture
def again(hive4: Mapping[str, str], tmp_path: Path) -> Again:
    options = {**hive4, "warehouse": f"{tmp_path}/w"}
    left = pl.connect(options)
    for name in left.databases():
        if name != OWN_DATABASE:
            left.drop_database(name, cascade=True)
    return lambda: pl.connect(options)


@pytest.fixture
def catalog(again: Again) -> pl.Catalog:
    return again()


class TestTables(TableContract):
    pass


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        (
            {"hive.metastore.client.plain.password": "zqhushwrong"},
            AccessDeniedError,
            "the login of 'lake' is refused: Error validating the login",
        ),
        ({"hive.metastore.truststore.path": ""}, AccessDeniedError, "is not trusted: "),
        (
            {"hive.metastore.client.auth.mode": "NOSASL"},
            CatalogServerError,
            "if it wants more: hive.metastore.client.auth.mode",
        ),
        ({"hive.metastore.use.SSL": "false"}, CatalogServerError, "hive.metastore.use.SSL"),
    ],
)
def test_who_comes_otherwise_is_told_why(
    hive4: Mapping[str, str],
    tmp_path: Path,
    changed: Mapping[str, str],
    error: type[Exception],
    told: str,
) -> None:
    catalog = pl.connect({**hive4, "warehouse": str(tmp_path), **changed})

    with pytest.raises(error) as raised:
        catalog.databases()

    assert told in str(raised.value)
    assert PASSWORD not in f"{raised.value} {raised.value!r} {catalog!r}"
    assert "zqhush" not in str(raised.value)
