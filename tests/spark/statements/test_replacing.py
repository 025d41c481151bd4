"""CREATE OR REPLACE TABLE, REPLACE TABLE, CREATE TABLE AS SELECT and LIKE, in SQL and data frames.

Rows are compared with those of plain Spark.
"""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from tests.spark.test_ddl import ORDERS, columns, plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

KEYED = "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"


@pytest.fixture
def keyed(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(f"CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING) {KEYED}")
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b')")
    spark.sql("ALTER TABLE paimon.db.t CREATE TAG kept")


def files(catalog: Catalog, name: str = "t") -> set[str]:
    folder = Path(catalog.path) / "db.db" / name
    return {str(path) for path in folder.rglob("data-*")}


@pytest.mark.parametrize("verb", ["CREATE OR REPLACE", "REPLACE"])
@pytest.mark.usefixtures("keyed")
def test_a_replaced_table_is_empty_and_keeps_its_history(
    verb: str, spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(f"{verb} TABLE paimon.db.t (v BIGINT COMMENT 'new', id INT NOT NULL) {KEYED}")

    assert rows(spark, "SELECT * FROM paimon.db.t") == []
    assert columns(catalog, "db.t") == {"v": "BIGINT", "id": "INT NOT NULL"}
    spark.sql("INSERT INTO paimon.db.t VALUES (7, 1)")
    assert rows(spark, "SELECT id, v FROM paimon.db.t") == [(1, 7)]
    for point in ("1", "'kept'"):
        old = rows(spark, f"SELECT id, v FROM paimon.db.t VERSION AS OF {point} ORDER BY id")
        assert old == [(1, "a"), (2, "b")]


@pytest.mark.usefixtures("keyed")
def test_no_column_gets_the_id_of_an_old_one(spark: SparkSession, catalog: Catalog) -> None:
    before = {field.id for field in plain_table(catalog, "db.t").schema.fields}

    spark.sql(f"CREATE OR REPLACE TABLE paimon.db.t (id INT NOT NULL, v STRING) {KEYED}")

    assert before.isdisjoint(field.id for field in plain_table(catalog, "db.t").schema.fields)


@pytest.mark.usefixtures("keyed")
def test_a_table_is_replaced_by_what_a_query_makes_of_it(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(
        f"CREATE OR REPLACE TABLE paimon.db.t {KEYED} AS "
        "SELECT id + 10 AS id, upper(v) AS w FROM paimon.db.t"
    )

    assert rows(spark, "SELECT * FROM paimon.db.t ORDER BY id") == [(11, "A"), (12, "B")]
    assert plain_table(catalog, "db.t").schema.field_names == ("id", "w")


@pytest.mark.usefixtures("keyed")
def test_a_query_that_fails_leaves_the_table_as_it_was(
    spark: SparkSession, catalog: Catalog
) -> None:
    before = plain_table(catalog, "db.t")
    stored = files(catalog)

    with pytest.raises(PySparkException, match="no luck"):
        spark.sql(
            f"CREATE OR REPLACE TABLE paimon.db.t {KEYED} AS "
            "SELECT id, if(id = 2, raise_error('no luck'), 1) AS w FROM paimon.db.t"
        )

    after = plain_table(catalog, "db.t")
    assert (after.schema, after.snapshot) == (before.schema, before.snapshot)
    assert rows(spark, "SELECT * FROM paimon.db.t ORDER BY id") == [(1, "a"), (2, "b")]
    assert files(catalog) == stored


@pytest.mark.parametrize(
    "definition",
    [
        "(id INT, v STRING)",
        f"(id INT, v STRING) PARTITIONED BY (v) {KEYED.replace('id', 'id,v')}",
        f"(id INT NOT NULL) {KEYED.replace(')', '')}, 'merge-engine' = 'first-row')",
        f"{KEYED.replace('id', 'other')} AS SELECT 1 AS other",
    ],
)
@pytest.mark.usefixtures("keyed")
def test_what_would_read_old_snapshots_otherwise_is_refused(
    definition: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(UnsupportedError, match=r"replacing db\.t .* use DROP TABLE"):
        spark.sql(f"CREATE OR REPLACE TABLE paimon.db.t {definition}")

    assert rows(spark, "SELECT * FROM paimon.db.t ORDER BY id") == [(1, "a"), (2, "b")]


def test_a_table_that_is_not_there_is_created_or_missed(
    spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("REPLACE TABLE paimon.db.t AS SELECT 1 AS a")
    assert catalog.tables("db") == []

    spark.sql("CREATE OR REPLACE TABLE paimon.db.t AS SELECT 1 AS a")

    assert rows(spark, "SELECT * FROM paimon.db.t") == [(1,)]


def test_data_frames_create_and_replace(spark: SparkSession, catalog: Catalog) -> None:
    made = spark.range(3)
    writer = made.writeTo("paimon.db.t").using("paimon")
    writer.createOrReplace()
    writer.createOrReplace()
    assert spark.table("paimon.db.t").count() == 3

    made.selectExpr("id * 2 AS twice").writeTo("paimon.db.t").using("paimon").replace()

    assert sorted(rows(spark, "SELECT * FROM paimon.db.t")) == [(0,), (2,), (4,)]
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        writer.create()
    assert len(plain_table(catalog, "db.t").snapshots.list()) == 5  # two of each replacement


def test_a_create_as_select_that_fails_leaves_no_table(
    spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(PySparkException, match="no luck"):
        spark.sql("CREATE TABLE paimon.db.t AS SELECT CAST(raise_error('no luck') AS INT) AS a")

    assert catalog.tables("db") == []


def test_explain_replaces_nothing(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t AS SELECT 1 AS a")

    (plan,) = rows(spark, "EXPLAIN CREATE OR REPLACE TABLE paimon.db.t AS SELECT 2 AS b")

    assert "ReplaceTableAsSelect" in plan[0]
    assert rows(spark, "SELECT * FROM paimon.db.t") == [(1,)]


@pytest.mark.skipif(
    pyspark.__version__ < "4.3", reason="Spark 4.2 knows LIKE for its own catalog only"
)
def test_a_table_like_another_has_its_columns_keys_and_options(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)
    spark.sql("CREATE TABLE paimon.db.other LIKE paimon.db.orders TBLPROPERTIES ('bucket' = '2')")

    orders, other = plain_table(catalog), plain_table(catalog, "db.other")
    assert other.schema.fields == orders.schema.fields
    assert other.schema.primary_keys == orders.schema.primary_keys
    assert other.schema.partition_keys == orders.schema.partition_keys
    assert other.comment == orders.comment
    assert other.options == {"bucket": "2"}
    assert other.snapshot is None


@pytest.mark.skipif(
    pyspark.__version__ < "4.3", reason="Spark 4.2 knows LIKE for its own catalog only"
)
def test_a_table_like_one_of_another_format_has_its_columns(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql("CREATE TABLE spark_catalog.default.plain_one (a INT, b STRING) USING parquet")
    try:
        spark.sql("CREATE TABLE paimon.db.t LIKE spark_catalog.default.plain_one")
    finally:
        spark.sql("DROP TABLE spark_catalog.default.plain_one")

    assert columns(catalog, "db.t") == {"a": "INT", "b": "STRING"}
    assert plain_table(catalog, "db.t").options == {}
