"""A Spark session and a catalog for tests that are not about tables."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from paimonlab.spark import connect


class FakeCatalog:
    """A catalog of two tables that only have names."""

    is_read_only = False
    path = "/"

    def databases(self) -> list[str]:
        return ["air"]

    def tables(self, database: str) -> list[str]:
        return ["flights", "carriers"] if database == "air" else []


def start_session(warehouse: Path) -> SparkSession:
    """Start the Spark session of this process, small; SQL goes to Spark's own catalog."""
    return connect(
        warehouse,
        master="local[2]",
        memory="2g",
        conf={"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC"},
    )
