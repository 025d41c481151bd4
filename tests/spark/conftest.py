from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.spark import connect
from tests.spark.interpreting import INTERPRETED


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local session for all Spark tests, with catalog ``paimon``."""
    warehouse = tmp_path_factory.mktemp("warehouse")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        # Tests of one part compile the same code again and again; Spark keeps 100 pieces.
        "spark.sql.codegen.cache.maxEntries": "3000",
    }
    session = connect(warehouse, master="local[2]", memory="2g", conf=settings)
    yield session
    left = {key: session.conf.get(key) for key in settings}
    session.stop()
    assert left == settings, "a test unset what it had set: that is Spark's default, not what was"


@pytest.fixture(scope="module")
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Let Spark make no Java of each query, which answers the same and takes long.

    It is for tests of statements and answers. Those of how rows are read and written go without:
    where Spark compiles nothing, our own reader merges files that overlap, not Spark's.
    """
    for key, value in INTERPRETED.items():
        spark.conf.set(key, value)
    yield
    for key in INTERPRETED:
        spark.conf.unset(key)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Return the folder of this test's own warehouse."""
    return tmp_path / "warehouse"


@pytest.fixture
def catalog(spark: SparkSession, warehouse: Path) -> Catalog:
    """Put this test's own warehouse into the session, as ``paimon`` with database ``db``."""
    opened = open_catalog(warehouse)
    opened.create_database("db")
    connect(warehouse, spark=spark)
    return opened
