"""What those type who know other table formats: it works, or the answer is what to type."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, UnsupportedError
from tests.spark.test_ddl import plain_table, rows


def test_a_primary_key_is_a_clause(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (id INT, dt STRING, v STRING, PRIMARY KEY (dt, id) NOT ENFORCED)"
        " PARTITIONED BY (dt)"
    )
    spark.sql("CREATE OR REPLACE TABLE paimon.db.u (id INT PRIMARY KEY, v STRING)")
    spark.sql("INSERT INTO paimon.db.u VALUES (1, 'a'), (1, 'b')")

    table = catalog.table("db.t")
    assert (table.primary_keys, table.partition_keys) == (("dt", "id"), ("dt",))
    assert not table.arrow_schema.field("id").nullable
    assert rows(spark, "SELECT * FROM paimon.db.u") == [(1, "b")]


@pytest.mark.parametrize(
    ("columns", "properties"),
    [
        ("id INT, CHECK (id > 0)", ""),
        ("id INT, UNIQUE (id)", ""),
        ("id INT, PRIMARY KEY (idd)", ""),
        ("id INT PRIMARY KEY, v INT", "TBLPROPERTIES ('primary-key' = 'v')"),
    ],
)
def test_other_constraints_make_no_table(
    columns: str, properties: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises((UnsupportedError, SchemaError)):
        spark.sql(f"CREATE TABLE paimon.db.t ({columns}) {properties}")
    assert catalog.tables("db") == []


def test_optimize_compacts_and_history_is_shown(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT PRIMARY KEY, v STRING)")
    for number in (1, 2):
        spark.sql(f"INSERT INTO paimon.db.t VALUES (1, 'v{number}')")
    spark.sql("USE paimon.db")
    try:
        assert rows(spark, "OPTIMIZE t FULL") == [(True,)]
        history = spark.sql("DESCRIBE HISTORY t LIMIT 2").collect()
    finally:
        spark.sql("USE spark_catalog.default")

    assert [(row.snapshot_id, row.commit_kind) for row in history] == [
        (3, "COMPACT"),
        (2, "APPEND"),
    ]
    assert catalog.system_table("db.t$files").scan().count() == 1
    assert rows(spark, "SELECT * FROM paimon.db.t") == [(1, "v2")]


def test_a_column_of_a_table_called_history_is_described(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql("CREATE TABLE paimon.db.history (a INT)")
    spark.sql("USE paimon.db")
    try:
        described = rows(spark, "DESCRIBE history a")
    finally:
        spark.sql("USE spark_catalog.default")

    assert ("data_type", "int") in described


def test_what_deletes_is_answered_with_calls_that_run(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    for number in (1, 2, 3):
        spark.sql(f"INSERT INTO paimon.db.t VALUES ({number}, 'a')")
    table = plain_table(catalog, "db.t")
    second = table.snapshots.get(2)
    time = spark.sql(f"SELECT CAST(timestamp_millis({second.time_millis}) AS STRING)").head()
    assert time is not None
    for statement, expected in (
        ("RESTORE TABLE paimon.db.t TO VERSION AS OF 3", [1, 2, 3]),
        (f"RESTORE TABLE paimon.db.t TO TIMESTAMP AS OF '{time[0]}'", [1, 2]),
        ("EXPIRE SNAPSHOTS paimon.db.t", [1, 2]),
        ("VACUUM paimon.db.t RETAIN 1 HOURS", [1, 2]),
    ):
        before = table.snapshots.ids()
        with pytest.raises(UnsupportedError) as told:
            spark.sql(statement)
        assert table.snapshots.ids() == before
        calls = re.findall(r"CALL [^;]*?\)", str(told.value))
        assert calls
        for call in calls:
            spark.sql(call)
        assert table.snapshots.ids() == expected


def test_tables_of_others_are_left_to_spark(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW plain AS SELECT 1 AS a")
    with pytest.raises(ParseException):
        spark.sql("OPTIMIZE spark_catalog.default.plain")
    with pytest.raises(ParseException):
        spark.sql("VACUUM '/tmp/somewhere'")
    with pytest.raises(AnalysisException):
        spark.sql("DESCRIBE HISTORY spark_catalog.default.plain")
