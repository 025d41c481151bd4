"""Views that a catalog keeps; the cases are those of Java's PaimonViewTestBase, and the answers
those of Spark's own temporary views over the same queries."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.errors import AlreadyExistsError, SchemaError, UnsupportedError
from paimonlab.spec.view import AddDialect
from tests.catalog.kept import KeepingCatalog

pytestmark = pytest.mark.usefixtures("interpreted")


def rows(spark: SparkSession, query: str) -> list[Any]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t",
        "WITH a AS (SELECT id + 1 AS i FROM t), b AS (SELECT i * 2 AS j FROM a) SELECT * FROM b",
        "SELECT c, id FROM t ORDER BY 1 DESC",
        "SELECT l.id, r.c FROM t l JOIN other.t r ON l.id < r.id WHERE l.id IN (SELECT id FROM t)",
        "SELECT count(*) AS n, array(max(c)) AS a, map('k', min(id)) AS m FROM t",
        "SELECT snapshot_id, commit_kind FROM `t$snapshots`",
    ],
)
def test_a_view_answers_as_its_query_does(
    spark: SparkSession, kept: KeepingCatalog, query: str
) -> None:
    expected = spark.sql(query)

    spark.sql(f"CREATE VIEW v AS {query}")

    spark.sql("USE kept.other")  # names in a view are those of its database
    view = spark.table("kept.db.v")
    assert sorted(map(str, view.collect())) == sorted(map(str, expected.collect()))
    assert view.dtypes == expected.dtypes
    assert kept.view("db.v").query == kept.view("db.v").dialects["spark"] == query


def test_views_are_created_once_replaced_altered_renamed_and_dropped(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(AlreadyExistsError, match=r"view db\.v already exists"):
        spark.sql("CREATE VIEW v AS SELECT 1 AS a")
    spark.sql("CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS a")
    assert rows(spark, "SELECT id FROM v WHERE id >= (SELECT max(id) FROM v)") == [(2,)]

    spark.sql("CREATE OR REPLACE VIEW v COMMENT 'x' TBLPROPERTIES ('k' = 'w') AS SELECT id FROM t")
    spark.sql("CREATE OR REPLACE VIEW w AS SELECT count(*) AS n FROM v")
    assert rows(spark, "SELECT * FROM w") == [(2,)]

    kept.alter_view("db.v", AddDialect("flink", "SELECT 1"))
    spark.sql("ALTER VIEW v SET TBLPROPERTIES ('k' = 'x', 'l' = 'y')")
    spark.sql("ALTER VIEW v UNSET TBLPROPERTIES ('l')")
    view = kept.view("db.v")
    assert (view.options, view.comment) == ({"k": "x"}, "x")
    assert view.dialects["flink"] == "SELECT 1"

    spark.sql("ALTER VIEW v AS SELECT id + 10 AS i FROM t")
    assert rows(spark, "SELECT * FROM v") == [(11,), (12,)]
    assert (kept.view("db.v").options, kept.view("db.v").comment) == ({"k": "x"}, "x")

    spark.sql("ALTER VIEW w RENAME TO other.x")
    assert (kept.views("db"), kept.views("other")) == (["v"], ["x"])
    spark.sql("DROP VIEW v")
    spark.sql("DROP VIEW IF EXISTS v")
    with pytest.raises(AnalysisException, match="VIEW_NOT_FOUND"):
        spark.sql("DROP VIEW v")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SELECT * FROM v")
    with pytest.raises(AlreadyExistsError, match=r"table db\.t already exists"):
        spark.sql("CREATE VIEW t AS SELECT 1 AS a")

    spark.sql("CREATE TEMPORARY VIEW passing AS SELECT * FROM t")
    spark.sql("ALTER VIEW passing AS SELECT id FROM t WHERE id > 1")
    assert rows(spark, "SELECT * FROM passing") == [(2,)]
    spark.sql("DROP VIEW passing")


def test_views_are_listed_and_described(spark: SparkSession, kept: KeepingCatalog) -> None:
    spark.sql(
        "CREATE VIEW va (user_id COMMENT 'the id', n) COMMENT 'test comment' "
        "TBLPROPERTIES ('k1' = 'v1') AS SELECT * FROM t"
    )
    for name in ("vab", "vc"):
        spark.sql(f"CREATE VIEW {name} AS SELECT * FROM t")

    every = [("db", name, False) for name in ("va", "vab", "vc")]
    assert rows(spark, "SHOW VIEWS") == every
    assert rows(spark, "SHOW VIEWS FROM kept.db LIKE 'va*'") == every[:2]
    assert rows(spark, "SHOW VIEWS IN kept.other") == []
    assert spark.sql("DESCRIBE va").collect() == [
        ("user_id", "int", "the id"),
        ("n", "string", None),
    ]
    described = {row[0]: row[1] for row in spark.sql("DESCRIBE EXTENDED va").collect()}
    assert described["View Text"] == "SELECT * FROM t"
    assert described["Comment"] == "test comment"
    (shown,) = spark.sql("SHOW CREATE TABLE va").collect()
    for part in ("user_id COMMENT 'the id'", "'k1' = 'v1'", "AS SELECT * FROM t"):
        assert part in shown[0]
    assert rows(spark, "SHOW TBLPROPERTIES va") == [("k1", "v1")]
    assert rows(spark, "SHOW COLUMNS IN va") == [("n",), ("user_id",)]
    assert rows(spark, "SELECT user_id, n FROM va") == [(1, "c1"), (2, "c2")]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE VIEW v AS SELECT * FROM passing", "temporary view passing"),
        ("CREATE VIEW v AS SELECT id FROM t WHERE id IN (SELECT id FROM passing)", "passing"),
        ("CREATE VIEW v AS WITH a AS (SELECT * FROM passing) SELECT * FROM a", "passing"),
        ("CREATE VIEW v AS SELECT twice(id) AS i FROM t", "temporary function twice"),
        ("CREATE VIEW kept.other.v AS SELECT * FROM t", "the name t"),
        ("CREATE OR REPLACE VIEW v AS SELECT * FROM v", "query of itself"),
        (
            "CREATE VIEW v AS SELECT * FROM paimon_incremental_query('t', 0, 1)",
            "paimon_incremental_query",
        ),
        ("CREATE VIEW v AS SELECT * FROM t VERSION AS OF 1", "AS OF a version"),
        ("CREATE VIEW v AS SELECT * FROM t WITH ('scan.snapshot-id' = '1')", "with options"),
        ("CREATE VIEW v AS SELECT sys.max_pt('db.t') AS m", "max_pt"),
    ],
)
def test_a_view_that_would_mean_something_else_in_another_session_is_refused(
    spark: SparkSession, kept: KeepingCatalog, statement: str, said: str
) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW passing AS SELECT 1 AS id")
    spark.udf.register("twice", lambda number: number * 2, "int")

    with pytest.raises(UnsupportedError, match=said):
        spark.sql(statement)

    spark.catalog.dropTempView("passing")
    spark.sql("DROP TEMPORARY FUNCTION twice")
    assert kept.views("db") == kept.views("other") == []


def test_a_view_elsewhere_with_full_names_is_created(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE VIEW kept.other.v AS SELECT id FROM db.t")

    spark.sql("USE spark_catalog.default")
    assert rows(spark, "SELECT * FROM kept.other.v") == [(1,), (2,)]


def test_what_cannot_be_a_view_is_refused(spark: SparkSession, kept: KeepingCatalog) -> None:
    with pytest.raises(SchemaError, match="1 columns are named, and the query has 2"):
        spark.sql("CREATE VIEW v (a) AS SELECT * FROM t")
    with pytest.raises(SchemaError):
        spark.sql("CREATE VIEW v AS SELECT id AS a, id AS a FROM t")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("CREATE VIEW v AS SELECT * FROM missing")
    assert kept.views("db") == []

    spark.sql("CREATE VIEW v AS SELECT * FROM t")
    for statement in (
        "INSERT INTO v VALUES (1, 'a')",
        "DELETE FROM v",
        "UPDATE v SET id = 1",
        "DROP TABLE v",
        "ALTER TABLE v ADD COLUMN x INT",
        "CREATE TABLE v (id INT)",
        "TRUNCATE TABLE v",
    ):
        with pytest.raises((AnalysisException, UnsupportedError, AlreadyExistsError)):
            spark.sql(statement)
    assert rows(spark, "SELECT * FROM v") == [(1, "c1"), (2, "c2")]


def test_explain_creates_nothing(spark: SparkSession, kept: KeepingCatalog) -> None:
    spark.sql("EXPLAIN CREATE VIEW v AS SELECT * FROM t").collect()

    assert kept.views("db") == []


def test_dialects_are_those_of_engines(spark: SparkSession, kept: KeepingCatalog) -> None:
    spark.sql("CREATE VIEW v AS SELECT id FROM t")

    spark.sql("CALL sys.alter_view_dialect('v', 'add', 'flink', 'SELECT 1')")
    assert rows(spark, "SELECT * FROM v") == [(1,), (2,)]
    spark.sql("CALL sys.alter_view_dialect('v', 'update', 'spark', 'SELECT id + 1 FROM t')")
    assert rows(spark, "SELECT id FROM v") == [(2,), (3,)]
    spark.sql("CALL sys.alter_view_dialect(`view` => 'v', `action` => 'drop')")
    assert kept.view("db.v").dialects == {"flink": "SELECT 1"}
    assert rows(spark, "SELECT id FROM v") == [(1,), (2,)]


def test_a_catalog_of_files_refuses_views_by_name(spark: SparkSession, catalog: pl.Catalog) -> None:
    for statement, said in {
        "CREATE VIEW paimon.db.v AS SELECT 1 AS a": r"CREATE VIEW db\.v",
        "ALTER VIEW paimon.db.v AS SELECT 1 AS a": r"ALTER VIEW db\.v",
    }.items():
        with pytest.raises(UnsupportedError, match=said):
            spark.sql(statement)
