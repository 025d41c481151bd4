from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog import Catalog
from paimonlab.spark import connect

pytestmark = pytest.mark.usefixtures("interpreted")

NAME = "kept"


@pytest.fixture
def catalog(spark: SparkSession, tmp_path: Path) -> Iterator[Catalog]:
    pytest.importorskip("sqlalchemy")
    options = {
        "metastore": "jdbc",
        "uri": f"jdbc:sqlite:{tmp_path}/c.db",
        "warehouse": str(tmp_path / "w"),
        "lock.enabled": "true",
    }
    connect(options, catalog=NAME, spark=spark)
    yield pl.connect(options)
    spark.sql("USE spark_catalog.default")


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def test_spark_has_the_tables_of_a_database(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(f"CREATE DATABASE {NAME}.db COMMENT 'ours' WITH DBPROPERTIES ('a' = '1')")
    spark.sql(
        f"CREATE TABLE {NAME}.db.t (id BIGINT NOT NULL, v STRING) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')"
    )
    spark.sql(f"INSERT INTO {NAME}.db.t VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"UPDATE {NAME}.db.t SET v = 'c' WHERE id = 2")
    spark.sql(f"ALTER TABLE {NAME}.db.t ADD COLUMN w INT")
    spark.sql(f"ALTER TABLE {NAME}.db.t RENAME TO u")

    assert catalog.tables("db") == ["u"]
    assert rows(spark, f"SELECT * FROM {NAME}.db.u") == [(1, "a", None), (2, "c", None)]
    assert rows(spark, f"SHOW TABLES IN {NAME}.db") == [("db", "u", False)]
    assert catalog.database_options("db").items() >= {"comment": "ours", "a": "1"}.items()

    spark.sql(f"ALTER DATABASE {NAME}.db SET DBPROPERTIES ('a' = '2', 'b' = '3')")
    spark.sql(f"COMMENT ON DATABASE {NAME}.db IS 'changed'")
    kept = catalog.database_options("db")
    assert (kept["a"], kept["b"], kept["comment"]) == ("2", "3", "changed")
    assert ("Comment", "changed") in rows(spark, f"DESCRIBE DATABASE {NAME}.db")

    spark.sql(f"DROP TABLE {NAME}.db.u")
    spark.sql(f"DROP DATABASE {NAME}.db")
    assert catalog.databases() == []


def test_spark_reads_and_writes_its_views(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT"}).write([{"id": 1}, {"id": 2}])
    spark.sql(f"CREATE VIEW {NAME}.db.v AS SELECT id + 1 AS n FROM {NAME}.db.t")

    assert rows(spark, f"SELECT * FROM {NAME}.db.v") == [(2,), (3,)]
    assert catalog.tables("db") == ["t"]
    spark.sql(f"DROP VIEW {NAME}.db.v")
    spark.sql(f"CALL {NAME}.sys.repair('db.t')")


def test_tables_are_made_of_queries_and_replaced(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_database("db")
    spark.sql(f"CREATE TABLE {NAME}.db.t AS SELECT 1 AS id")
    spark.sql(f"CREATE OR REPLACE TABLE {NAME}.db.t AS SELECT 2 AS id, 'x' AS v")

    assert rows(spark, f"SELECT * FROM {NAME}.db.t") == [(2, "x")]
    assert catalog.table("db.t").scan(snapshot=1).count() == 1
