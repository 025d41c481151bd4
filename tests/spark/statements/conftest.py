from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.spark.catalogs.catalog import register, unregister
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog


@pytest.fixture
def kept(spark: SparkSession, tmp_path: Path) -> Iterator[KeepingCatalog]:
    """Put a catalog with views and functions into the session, as ``kept``."""
    catalog = KeepingCatalog(str(tmp_path / "kept"), LocalFileIO())
    for database in ("db", "other"):
        catalog.create_database(database)
    for name, ids in {"db.t": [1, 2], "other.t": [7]}.items():
        table = catalog.create_table(name, {"id": "INT", "c": "VARCHAR(5)"})
        table.write({"id": ids, "c": [f"c{number}" for number in ids]})
    bridge = Bridge(spark)
    register(bridge, "kept", catalog)
    spark.sql("USE kept.db")
    yield catalog
    spark.sql("USE spark_catalog.default")
    unregister(bridge, "kept")
