"""What tests of REST catalogs share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

import paimonlab as pl
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog
from tests.catalog.rest.java_server import java_server
from tests.interop.java_build import JavaMissingError


@pytest.fixture
def served(tmp_path: Path) -> KeepingCatalog:
    """A catalog that keeps views and functions, with a database."""
    made = KeepingCatalog(str(tmp_path / "warehouse"), LocalFileIO())
    made.create_database("db")
    return made


@pytest.fixture
def server(served: KeepingCatalog) -> Iterator[Server]:
    """Serve it to one user."""
    with Server(served, [User(name="me", token="a-token")], ServeOptions()) as running:
        yield running


@pytest.fixture
def catalog(server: Server) -> pl.Catalog:
    """Return what a client sees of it."""
    return pl.connect(server.options)


@pytest.fixture(scope="session")
def java_address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Run Java's mock server, whose release the tests name, with a bearer token."""
    folder = tmp_path_factory.mktemp("java_server") / "warehouse"
    try:
        with java_server(folder, "bear", "tok", release=request.param) as address:
            yield address
    except JavaMissingError as missing:
        without_java(missing)


def without_java(missing: JavaMissingError) -> NoReturn:
    """Skip, or fail if ``PAIMONLAB_INTEROP`` is ``require``."""
    if os.environ.get("PAIMONLAB_INTEROP") == "require":
        pytest.fail(f"live tests are required: {missing}", pytrace=False)
    pytest.skip(f"no live tests against Java: {missing}")
