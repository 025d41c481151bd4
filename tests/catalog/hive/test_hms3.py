"""The Hive catalog on a metastore of Hive 3.1.3; all of its tests run there with PAIMONLAB_HIVE."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import paimonlab as pl
from tests.catalog.hive.metastores import (
    Metastore,
    MetastoreMissingError,
    metastore,
    without_metastore,
)
from tests.catalog.table_contract import Again, TableContract

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def hive3() -> Iterator[Metastore]:
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("Hive 3 is part of make interop")
    pytest.importorskip("thriftpy2")
    try:
        with metastore("3.1.3") as running:
            yield running
    except MetastoreMissingError as missing:
        without_metastore(missing)


@pytest.fixture
def again(hive3: Metastore, tmp_path: Path) -> Again:
    hive3.clear()
    options = {"metastore": "hive", "uri": hive3.uri, "warehouse": f"{tmp_path}/w"}
    return lambda: pl.connect({**options, "lock.enabled": "true"})


@pytest.fixture
def catalog(again: Again) -> pl.Catalog:
    return again()


class TestTables(TableContract):
    pass
