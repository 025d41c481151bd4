"""A shell with the magics loaded, and a plain Spark session."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession
from traitlets.config import Config

from paimonlab.catalog import settings
from paimonlab.notebook import load_ipython_extension
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import Connection
from paimonlab.notebook.kernel import determinism, progress
from paimonlab.spark.sessions import remote
from tests.notebook.sessions import FakeCatalog, start_session


@pytest.fixture(autouse=True)
def _no_switches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = (determinism.VARIABLE, progress.VARIABLE, *settings.VARIABLES)
    for variable in (*ours, remote.VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no settings"))


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """Return a shell that is not connected to anything."""
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    made = InteractiveShell.instance(config=config)
    load_ipython_extension(made)
    yield made
    connections.disconnect()
    InteractiveShell.clear_instance()
    # Otherwise hundreds of shells wait for the end, and each collects garbage then.
    atexit.unregister(made.atexit_operations)


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return a session whose SQL goes to Spark's own catalog; other tests build their own."""
    session = start_session(tmp_path_factory.mktemp("warehouse"))
    yield session
    session.stop()


@pytest.fixture
def connected(shell: InteractiveShell, spark: SparkSession) -> InteractiveShell:
    """Return a shell that is connected to Spark's own catalog."""
    spark.catalog.setCurrentCatalog("spark_catalog")
    name = "spark_catalog"
    catalog: Any = FakeCatalog()
    connections.make_current(Connection(spark, catalog, name, "./warehouse", name))
    return shell
