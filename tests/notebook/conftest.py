"""A shell with the magics loaded, and a plain Spark session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession
from traitlets.config import Config

from paimonlab.notebook import connection as connections
from paimonlab.notebook import load_ipython_extension
from tests.notebook.sessions import FakeCatalog, plain_session


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


@pytest.fixture(scope="package")
def spark() -> Iterator[SparkSession]:
    """Return a session without any catalog of ours; other tests build their own."""
    session = plain_session()
    yield session
    session.stop()


@pytest.fixture
def connected(shell: InteractiveShell, spark: SparkSession) -> InteractiveShell:
    """Return a shell that is connected to the plain session."""
    connections.make_current(
        connections.Connection(spark, FakeCatalog(), "spark_catalog", "./warehouse")  # type: ignore[arg-type]
    )
    return shell
