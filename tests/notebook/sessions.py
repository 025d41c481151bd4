"""A Spark session and a catalog that need no tables."""

from __future__ import annotations

import logging
import tempfile

from pyspark.sql import SparkSession


class FakeCatalog:
    """A catalog of two tables that only have names."""

    def databases(self) -> list[str]:
        return ["air"]

    def tables(self, database: str) -> list[str]:
        return ["flights", "carriers"] if database == "air" else []


def plain_session() -> SparkSession:
    """Return the Spark session of this process, or start a small one."""
    # PySpark prints each SQL error as a line of JSON too.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    builder = SparkSession.builder.master("local[2]").appName("paimonlab-tests")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
