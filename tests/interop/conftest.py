"""Java Paimon for the tests here: one JVM for all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

import paimonlab
from tests.interop.java_build import JavaMissingError, JavaTools
from tests.interop.oracle import JavaPaimon, Oracle
from tests.interop.pair import Pair


@pytest.fixture(scope="session")
def java_tools() -> JavaTools:
    """Return JDK and Maven; skip where there are none, or fail if they are required."""
    try:
        return JavaTools.find()
    except JavaMissingError as missing:
        without_java(missing)


@pytest.fixture(scope="session")
def oracle(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Start Java Paimon 1.3.1, fetching it at first."""
    try:
        started = Oracle(java_tools, tmp_path_factory.mktemp("java"))
    except JavaMissingError as missing:
        without_java(missing)
    yield started
    started.close()


def without_java(missing: JavaMissingError) -> NoReturn:
    """Skip, or fail if ``PAIMONLAB_INTEROP`` is ``require``."""
    if os.environ.get("PAIMONLAB_INTEROP") == "require":
        pytest.fail(f"live tests are required: {missing}", pytrace=False)
    pytest.skip(f"no live tests against Java: {missing}")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Return the folder of this test's warehouse."""
    return tmp_path / "warehouse"


@pytest.fixture
def java(oracle: Oracle, warehouse: Path) -> JavaPaimon:
    """Return Java Paimon on this test's warehouse."""
    return JavaPaimon(oracle, warehouse)


@pytest.fixture
def catalog(warehouse: Path) -> paimonlab.Catalog:
    """Open this test's warehouse, with a database ``db``."""
    opened = paimonlab.connect(warehouse)
    opened.create_database("db")
    return opened


@pytest.fixture
def pair(catalog: paimonlab.Catalog, java: JavaPaimon) -> Pair:
    """Return both on this test's warehouse."""
    return Pair(catalog, java)
