"""One Spark Connect server for the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook.connections import connection as connections
from paimonlab.spark.sessions import remote
from tests.notebook.connections.connect_server import Server, started

TABLE = {"id": [1, 2], "v": ["a", "b"]}


@pytest.fixture(scope="package")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a warehouse with a table of two snapshots."""
    folder = tmp_path_factory.mktemp("served")
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1"},
    )
    table.write(pa.table(TABLE))
    table.write(pa.table({"id": [2, 3], "v": ["x", "y"]}))
    return folder


@pytest.fixture(scope="package")
def server(warehouse: Path) -> Iterator[Server]:
    """Serve it; that the process itself is offered another server makes no difference."""
    root = str(Path(__file__).parents[3])
    found = {key: value for key, value in os.environ.items() if key != "PAIMONLAB_WAREHOUSE"}
    with started(
        warehouse, found | {"PYTHONPATH": root, remote.VARIABLE: "sc://127.0.0.1:1"}
    ) as served:
        yield served


@pytest.fixture(scope="package")
def session(server: Server) -> Iterator[Any]:
    """Open a session that all tests of this folder use."""
    opened = remote.open_session(server.url)
    yield opened
    opened.stop()


@pytest.fixture
def there(shell: InteractiveShell, session: Any, warehouse: Path) -> InteractiveShell:
    """Return a shell whose SQL runs on the server, and whose views read the warehouse."""
    connections.connect(warehouse, spark=session, alias="there")
    return shell
