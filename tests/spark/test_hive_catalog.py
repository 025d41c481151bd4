from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog import Catalog
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.spark import connect
from tests.catalog.conftest import hive as hive  # noqa: PLC0414 - a fixture
from tests.catalog.conftest import hive_uri as hive_uri  # noqa: PLC0414 - a fixture

NAME = "metastore"


@pytest.fixture
def catalog(spark: SparkSession, hive_uri: str, tmp_path: Path) -> Iterator[Catalog]:
    options = {
        "metastore": "hive",
        "uri": hive_uri,
        "warehouse": str(tmp_path / "w"),
        "lock.enabled": "true",
    }
    connect(options, catalog=NAME, spark=spark)
    yield pl.connect(options)
    spark.sql("USE spark_catalog.default")


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def known_partitions(catalog: Catalog) -> list[str]:
    """Return the partitions that the metastore knows."""
    assert isinstance(catalog, HiveCatalog)
    return sorted(catalog._metastore.ask("get_partition_names", "db", "u", -1))


def test_spark_has_the_tables_and_views_of_a_metastore(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(f"CREATE DATABASE {NAME}.db COMMENT 'ours' WITH DBPROPERTIES ('a' = '1')")
    spark.sql(
        f"CREATE TABLE {NAME}.db.t (id BIGINT NOT NULL, day STRING NOT NULL, v STRING) "
        "PARTITIONED BY (day) TBLPROPERTIES ('primary-key' = 'id,day', 'bucket' = '2', "
        "'metastore.partitioned-table' = 'true')"
    )
    spark.sql(f"INSERT INTO {NAME}.db.t VALUES (1, 'x', 'a'), (2, 'y', 'b')")
    spark.sql(f"UPDATE {NAME}.db.t SET v = 'c' WHERE id = 2")
    spark.sql(f"ALTER TABLE {NAME}.db.t ADD COLUMN w INT")
    spark.sql(f"ALTER TABLE {NAME}.db.t RENAME TO u")
    assert known_partitions(catalog) == ["day=x", "day=y"]
    spark.sql(f"ALTER TABLE {NAME}.db.u DROP PARTITION (day = 'x')")
    assert known_partitions(catalog) == ["day=y"]
    spark.sql(f"CREATE VIEW {NAME}.db.w AS SELECT id + 1 AS n FROM {NAME}.db.u")

    assert (catalog.tables("db"), catalog.databases()) == (["u"], ["db", "default"])
    assert rows(spark, f"SELECT * FROM {NAME}.db.u") == [(2, "y", "c", None)]
    assert rows(spark, f"SHOW PARTITIONS {NAME}.db.u") == [("day=y",)]
    assert rows(spark, f"SELECT * FROM {NAME}.db.w") == [(3,)]
    assert catalog.database_options("db").items() >= {"comment": "ours", "a": "1"}.items()

    spark.sql(f"ALTER DATABASE {NAME}.db SET DBPROPERTIES ('a' = '2')")
    assert catalog.database_options("db")["a"] == "2"
    spark.sql(f"CREATE OR REPLACE TABLE {NAME}.db.r AS SELECT 2 AS id, 'x' AS v")
    spark.sql(f"CALL {NAME}.sys.repair('db')")
    spark.sql(f"DROP VIEW {NAME}.db.w")
    spark.sql(f"DROP DATABASE {NAME}.db CASCADE")
    assert catalog.databases() == ["default"]
