"""Java Paimon for the tests here: one JVM for each release, one at a time.

Most tests ask Java Paimon 1.3.1. Those marked ``every_release`` ask each release that judges;
those marked ``releases`` the ones they name; those marked ``in_turn`` run n times, with 1.3.1 and
with 1.4.2 in turn. With ``$PAIMONLAB_INTEROP_VERSION``, as ``make interop`` sets it, all ask the
releases that it names, of which tests marked ``releases`` keep to theirs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

import paimonlab
from tests.interop.java_build import (
    COMPILED_WITH,
    RELEASES,
    JavaMissingError,
    JavaTools,
    chosen_releases,
)
from tests.interop.oracle import JavaPaimon, Oracle
from tests.interop.pair import Pair

collect_ignore = ["pypaimon_client/driver.py"]
"""It has no tests, and runs where pypaimon is installed."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let each test ask its releases, all tests of one before those of the next."""
    if "oracle" not in metafunc.fixturenames:
        return
    chosen, marker = chosen_releases(), metafunc.definition.get_closest_marker
    if only := marker("releases"):
        releases = tuple(one for one in only.args if one in (chosen or RELEASES))
    elif marker("every_release") or marker("in_turn"):
        releases = chosen or RELEASES
    else:
        releases = chosen or (COMPILED_WITH,)
    if runs := marker("in_turn"):
        asked = [(releases[number % len(releases)], number) for number in range(*runs.args)]
        metafunc.parametrize(("oracle", "number"), asked, indirect=["oracle"], scope="session")
    else:
        metafunc.parametrize("oracle", releases, indirect=True, scope="session")


@pytest.fixture(scope="session")
def java_tools() -> JavaTools:
    """Return JDK and Maven; skip where there are none, or fail if they are required."""
    try:
        return JavaTools.find()
    except JavaMissingError as missing:
        without_java(missing)


@pytest.fixture(scope="session")
def oracle(
    request: pytest.FixtureRequest,
    java_tools: JavaTools,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Oracle]:
    """Start a release of Java Paimon, fetching it at first."""
    try:
        started = Oracle(java_tools, tmp_path_factory.mktemp("java"), request.param)
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
