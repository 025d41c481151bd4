"""ANALYZE TABLE, compared with aggregates of plain Spark."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def orders(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.orders (id INT NOT NULL, name STRING, dt STRING) "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '1')"
    )
    spark.sql("INSERT INTO paimon.db.orders VALUES (1, 'a', 'x'), (2, NULL, 'x'), (3, 'bb', 'y')")
    spark.sql("INSERT INTO paimon.db.orders VALUES (1, 'ccc', 'x')")


@pytest.mark.usefixtures("orders")
def test_statistics_are_those_of_the_merged_rows(spark: SparkSession, catalog: Catalog) -> None:
    assert rows(spark, "ANALYZE TABLE paimon.db.orders COMPUTE STATISTICS FOR ALL COLUMNS") == []

    found = plain_table(catalog).statistics
    assert found is not None
    (expected,) = rows(
        spark,
        "SELECT count(*), count(DISTINCT id), min(id), max(id), count(DISTINCT name), "
        "count_if(name IS NULL), max(length(name)) FROM paimon.db.orders",
    )
    of_id, of_name = found.columns["id"], found.columns["name"]
    assert expected == (
        found.merged_record_count,
        of_id.distinct_count,
        int(str(of_id.min)),
        int(str(of_id.max)),
        of_name.distinct_count,
        of_name.null_count,
        of_name.max_length,
    )
    assert set(found.columns) == {"id", "name", "dt"}


@pytest.mark.usefixtures("orders")
def test_columns_are_chosen(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("ANALYZE TABLE paimon.db.orders COMPUTE STATISTICS")
    without = plain_table(catalog).statistics
    spark.sql("ANALYZE TABLE paimon.db.orders COMPUTE STATISTICS FOR COLUMNS NAME, id")
    chosen = plain_table(catalog).statistics

    assert without is not None
    assert chosen is not None
    assert (without.merged_record_count, set(without.columns)) == (3, set())
    assert set(chosen.columns) == {"name", "id"}


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ("TABLE paimon.db.orders COMPUTE STATISTICS NOSCAN", UnsupportedError, "NOSCAN"),
        (
            "TABLE paimon.db.orders PARTITION (dt = 'x') COMPUTE STATISTICS",
            UnsupportedError,
            r"PARTITION .*\$partitions",
        ),
        ("TABLES IN paimon.db COMPUTE STATISTICS", UnsupportedError, "one table at a time"),
        (
            "TABLE paimon.db.orders COMPUTE STATISTICS FOR COLUMNS nope",
            ColumnNotFoundError,
            "nope",
        ),
        ("TABLE paimon.db.nope COMPUTE STATISTICS", AnalysisException, "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
@pytest.mark.usefixtures("orders")
def test_what_cannot_be_computed_is_refused(
    said: str, error: type[Exception], message: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(error, match=message):
        spark.sql(f"ANALYZE {said}")

    assert plain_table(catalog).statistics is None


@pytest.mark.usefixtures("orders")
def test_explain_computes_nothing(spark: SparkSession, catalog: Catalog) -> None:
    (plan,) = rows(spark, "EXPLAIN ANALYZE TABLE paimon.db.orders COMPUTE STATISTICS")

    assert "ANALYZE TABLE db.orders" in plan[0]
    assert plain_table(catalog).statistics is None


def test_tables_of_other_catalogs_are_sparks(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE spark_catalog.default.analysed USING parquet AS SELECT 1 AS a")
    try:
        spark.sql("ANALYZE TABLE spark_catalog.default.analysed COMPUTE STATISTICS")
        told = dict(row[:2] for row in rows(spark, "DESCRIBE EXTENDED default.analysed"))
    finally:
        spark.sql("DROP TABLE spark_catalog.default.analysed")

    assert "1 rows" in told["Statistics"]
