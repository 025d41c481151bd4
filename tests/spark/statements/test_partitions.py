"""DROP PARTITION with values of some of the partition columns."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, UnsupportedError
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

EVERY = {(1, "x", 1), (2, "x", 2), (3, "y", 1), (4, None, 1)}


@pytest.fixture
def parted(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.p (id INT, a STRING, b INT) PARTITIONED BY (a, b)")
    spark.sql("INSERT INTO paimon.db.p VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 1), (4, NULL, 1)")


@pytest.mark.parametrize(
    ("spec", "condition"),
    [
        ("(a = 'x')", "a = 'x'"),
        ("(A = null)", "a IS NULL"),
        ("(b = '1')", "b = 1"),
        ("(a = 'y'), PARTITION (a = 'x', b = 2)", "a = 'y' OR a = 'x' AND b = 2"),
    ],
)
@pytest.mark.usefixtures("parted")
def test_the_rows_of_all_partitions_with_these_values_are_removed_in_one_commit(
    spec: str, condition: str, spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW plain AS SELECT * FROM VALUES "
        "(1, 'x', 1), (2, 'x', 2), (3, 'y', 1), (4, NULL, 1) AS plain(id, a, b)"
    )

    spark.sql(f"ALTER TABLE paimon.db.p DROP PARTITION {spec}")

    expected = rows(spark, f"SELECT * FROM plain WHERE NOT coalesce({condition}, false)")
    assert set(rows(spark, "SELECT * FROM paimon.db.p")) == set(expected)
    assert [one.id for one in plain_table(catalog, "db.p").snapshots.list()] == [1, 2]


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ("DROP PARTITION (a = 'nope')", DataError, "no partition with {'a': 'nope'}"),
        ("DROP PARTITION (a = 'x'), PARTITION (a = 'nope')", DataError, "nope"),
        ("DROP PARTITION (a = 'x') PURGE", UnsupportedError, "PURGE"),
        ("DROP PARTITION (nope = 'x')", AnalysisException, "nope"),
        ("DROP PARTITION (id = 1)", AnalysisException, "id"),
        ("DROP PARTITION (b = 'one')", DataError, "'b' does not take 'one'"),
    ],
)
@pytest.mark.usefixtures("parted")
def test_what_names_no_partition_removes_nothing(
    said: str, error: type[Exception], message: str, spark: SparkSession
) -> None:
    with pytest.raises(error, match=message):
        spark.sql(f"ALTER TABLE paimon.db.p {said}")

    assert set(rows(spark, "SELECT * FROM paimon.db.p")) == EVERY


@pytest.mark.usefixtures("parted")
def test_partitions_need_not_exist_if_the_statement_says_so(spark: SparkSession) -> None:
    spark.sql("ALTER TABLE paimon.db.p DROP IF EXISTS PARTITION (a = 'nope'), PARTITION (b = 2)")

    assert set(rows(spark, "SELECT * FROM paimon.db.p")) == EVERY - {(2, "x", 2)}


@pytest.mark.usefixtures("parted")
def test_explain_drops_nothing(spark: SparkSession) -> None:
    (plan,) = rows(spark, "EXPLAIN ALTER TABLE paimon.db.p DROP PARTITION (a = 'x')")

    assert "DROP PARTITION {'a': 'x'}" in plan[0]
    assert set(rows(spark, "SELECT * FROM paimon.db.p")) == EVERY
