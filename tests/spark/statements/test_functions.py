"""Functions that a catalog keeps; the cases are those of Java's PaimonSQLFunctionTestBase, and the
answers those of Spark's own temporary functions with the same text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ArithmeticException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import paimonlab as pl
from paimonlab.errors import AlreadyExistsError, FunctionNotFoundError, UnsupportedError
from paimonlab.spec.function import AddDefinition, Function, LambdaDefinition, SqlDefinition
from paimonlab.spec.schema.definition import Schema, new_table_schema
from tests.catalog.kept import KeepingCatalog

pytestmark = pytest.mark.usefixtures("interpreted")

NUMBERS = new_table_schema(Schema({"x": "INT"}), time_millis=0).fields


def rows(spark: SparkSession, query: str) -> list[Any]:
    return sorted(spark.sql(query).collect())


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("(w DOUBLE, h DOUBLE) RETURNS DOUBLE RETURN w * h", "SELECT {f}(id, 3) FROM t"),
        ("(w DOUBLE, h DOUBLE) RETURNS DOUBLE RETURN w * h", "SELECT {f}(h => 3, w => id) FROM t"),
        ("(x INT, y INT DEFAULT 10) RETURNS INT RETURN x + y", "SELECT {f}(5), {f}(5, 1)"),
        ("(x INT) RETURN x + 1", "SELECT {f}({f}(id)) FROM t WHERE {f}(id) > 2"),
        ("(d INT) RETURNS INT RETURN SELECT max(id) FROM t WHERE id >= d", "SELECT {f}(1), {f}(3)"),
        ("() RETURN WITH q AS (SELECT sum(id) AS s FROM t) SELECT s FROM q", "SELECT {f}()"),
        ("(c STRING COMMENT 'it''s') RETURN upper({f}.c) || '-- x'", "SELECT {f}(c) FROM t"),
        (
            "(x INT) RETURNS STRUCT<a: INT, b: ARRAY<INT>> RETURN struct(x, array(x, 2))",
            "SELECT {f}(id).b FROM t",
        ),
        ("(x BIGINT) RETURN x * 2", "SELECT {f}(id), count(*) FROM t GROUP BY {f}(id)"),
        ("(x INT) RETURN x -- one\n", "SELECT {f}(id) FROM t"),
    ],
)
def test_a_function_gives_what_a_temporary_one_of_sparks_gives(
    spark: SparkSession, kept: KeepingCatalog, text: str, query: str
) -> None:
    spark.sql(f"CREATE TEMPORARY FUNCTION passing{text.format(f='passing')}")
    expected = rows(spark, query.format(f="passing"))
    spark.sql("DROP TEMPORARY FUNCTION passing")

    spark.sql(f"CREATE FUNCTION own{text.format(f='own')}")
    answers = [rows(spark, query.format(f=name)) for name in ("own", "db.own", "kept.db.own")]

    assert answers == [expected] * 3
    assert kept.functions("db") == ["own"]


def test_functions_are_called_in_data_frames_views_and_writes(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION other.inc(x INT) RETURNS INT RETURN x + 1")
    spark.sql("CREATE FUNCTION twice(x INT) RETURNS INT RETURN 2 + 2 * x")
    table = spark.table("t")

    assert sorted(table.select(f.call_function("twice", "id")).collect()) == [(4,), (6,)]
    assert table.filter("kept.other.inc(id) = 3").count() == 1
    spark.sql("CREATE VIEW v AS SELECT twice(id) AS two FROM t")
    spark.sql("USE spark_catalog.default")
    assert rows(spark, "SELECT * FROM kept.db.v") == [(4,), (6,)]
    assert rows(spark, "SELECT kept.db.twice(1)") == [(4,)]
    spark.sql("INSERT INTO kept.other.t SELECT kept.db.twice(id), c FROM kept.db.t")
    assert rows(spark, "SELECT id FROM kept.other.t") == [(4,), (6,), (7,)]


def test_a_function_in_a_statement_that_changes_rows_is_done_or_an_error(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION inc(x INT) RETURNS INT RETURN x + 1")

    def state() -> list[Any]:
        return rows(spark, "SELECT id FROM t")

    for statement, after in {
        "DELETE FROM t WHERE inc(id) = 3": [(1,)],
        "UPDATE t SET id = inc(id)": [(2,), (3,)],
        "MERGE INTO t USING other.t AS s ON t.id = s.id WHEN NOT MATCHED THEN "
        "INSERT (id, c) VALUES (inc(s.id), s.c)": [(1,), (2,), (8,)],
    }.items():
        spark.sql("INSERT OVERWRITE t VALUES (1, 'c1'), (2, 'c2')")
        try:
            spark.sql(statement)
        except (AnalysisException, UnsupportedError):
            assert state() == [(1,), (2,)], statement
        else:
            assert state() == after, statement


def test_creating_again_is_an_error_unless_the_statement_says_otherwise(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION inc(x INT) RETURNS INT RETURN x + 1")

    with pytest.raises(AlreadyExistsError, match=r"db\.inc"):
        spark.sql("CREATE FUNCTION inc(x INT) RETURNS INT RETURN x + 2")
    spark.sql("CREATE FUNCTION IF NOT EXISTS inc(x INT) RETURNS INT RETURN x + 3")
    assert rows(spark, "SELECT inc(10)") == [(11,)]
    spark.sql("CREATE OR REPLACE FUNCTION inc(x INT) RETURNS INT RETURN x + 100")
    assert rows(spark, "SELECT inc(10)") == [(110,)]
    spark.sql("EXPLAIN DROP FUNCTION inc").collect()
    spark.sql("DROP FUNCTION inc")
    with pytest.raises(AnalysisException, match="UNRESOLVED_ROUTINE"):
        spark.sql("SELECT inc(10)")
    with pytest.raises(FunctionNotFoundError):
        spark.sql("DROP FUNCTION inc")
    spark.sql("DROP FUNCTION IF EXISTS inc")


def test_settings_are_those_of_the_session_that_created_the_function(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION halves(x INT) RETURNS DOUBLE RETURN 1 / x")
    spark.conf.set("spark.sql.ansi.enabled", "false")

    try:
        with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
            spark.sql("SELECT halves(0)").collect()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_functions_are_listed_and_described(spark: SparkSession, kept: KeepingCatalog) -> None:
    spark.sql(
        "CREATE FUNCTION inc(x INT COMMENT 'a', y INT DEFAULT 1) RETURNS INT "
        "NOT DETERMINISTIC COMMENT 'adds' RETURN x + y"
    )
    parameters = '[{"id": 0, "name": "x", "type": "INT"}]'
    spark.sql(f"CALL sys.create_function('java', '{parameters}', '{parameters}', true, 'c')")
    lambda_of_java = LambdaDefinition(definition="x -> x", language="JAVA")
    kept.alter_function("db.java", AddDefinition("spark", lambda_of_java))

    assert rows(spark, "SHOW USER FUNCTIONS IN kept.db") == [("kept.db.inc",), ("kept.db.java",)]
    assert spark.catalog.functionExists("kept.db.inc")
    told = [row[0] for row in spark.sql("DESCRIBE FUNCTION EXTENDED inc").collect()]
    assert told[:5] == [
        "Function:      kept.db.inc",
        "Type:          SCALAR",
        "Input:         x INT 'a'",
        "               y INT DEFAULT 1",
        "Returns:       INT",
    ]
    assert {"Comment:       adds", "Deterministic: false", "Body:          x + y"} <= set(told)
    told = [row[0] for row in spark.sql("DESCRIBE FUNCTION EXTENDED db.java").collect()]
    assert told == [
        "Function:      kept.db.java",
        "Input:         x INT",
        "Returns:       x INT",
        "Comment:       c",
        "Deterministic: true",
        "Defined for:   spark (lambda)",
    ]
    assert "max_pt" in spark.sql("DESCRIBE FUNCTION sys.max_pt").collect()[1][0]
    assert spark.sql("DESCRIBE FUNCTION abs").collect()[0][0] == "Function: abs"


def test_what_is_kept_is_what_java_keeps(spark: SparkSession, kept: KeepingCatalog) -> None:
    spark.sql("CREATE FUNCTION inc(x INT, y INT DEFAULT 2) RETURNS INT COMMENT 'c' RETURN x + y")

    document = json.loads(kept.function("db.inc").to_json())

    options = document.pop("options")
    assert document == {
        "inputParams": [
            {"id": 0, "name": "x", "type": "INT"},
            {"id": 1, "name": "y", "type": "INT", "defaultValue": "2"},
        ],
        "returnParams": [{"id": 0, "name": "inc", "type": "INT"}],
        "deterministic": True,
        "definitions": {"spark": {"type": "sql", "definition": "x + y"}},
        "comment": "c",
    }
    assert options["spark.sql-function.is-query"] == "false"
    assert options["catalogAndNamespace.part.1"] == "db"
    assert options["sqlConfig.spark.sql.ansi.enabled"] == "true"


def test_a_function_that_another_engine_wrote_is_called(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    for name, text in {"inc": "x + 1", "most": "SELECT max(id) FROM t WHERE id > x"}.items():
        kept.create_function(
            f"db.{name}",
            Function(
                input_params=NUMBERS,
                return_params=NUMBERS,
                definitions={"spark": SqlDefinition(definition=text)},
            ),
        )
    spark.sql("USE kept.other")

    assert rows(spark, "SELECT db.inc(1), db.most(1)") == [(2, 2)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bad(x INT) RETURNS INT RETURN sum(x)", "CANNOT_CONTAIN_COMPLEX_FUNCTIONS"),
        ("bad(x INT) RETURNS INT RETURN row_number() OVER (ORDER BY x)", "COMPLEX_FUNCTIONS"),
        ("bad(x INT, x INT) RETURNS INT RETURN x", "DUPLICATE"),
        ("bad(x INT DEFAULT 1, y INT) RETURNS INT RETURN x", "DEFAULT"),
        ("bad(x INT) RETURNS INT RETURN y", "UNRESOLVED_COLUMN"),
        ("bad(x INT) RETURNS TABLE(a INT) RETURN SELECT x AS a", "gives a table"),
        ("bad(x INT) RETURNS INT RETURN x + (SELECT id FROM passing)", "temporary: .*passing"),
        ("bad(x INT) RETURNS INT RETURN thrice(x)", "call of thrice"),
        ("bad(x INT) RETURNS STRING RETURN sys.max_pt('db.t')", r"call of sys\.max_pt"),
        ("bad() RETURNS INT RETURN SELECT max(id) FROM t VERSION AS OF 1", "t AS OF a version"),
        ("thrice(x INT) RETURNS INT RETURN x", "session has a function thrice"),
        ("abs(x INT) RETURNS INT RETURN x", "has a function abs"),
        ("sys.bad(x INT) RETURNS INT RETURN x", "sys has the functions"),
        ("bad AS 'a.B' USING JAR '/a.jar'", "AS a class"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    spark: SparkSession, kept: KeepingCatalog, text: str, said: str
) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW passing AS SELECT 1 AS id")
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION thrice(x INT) RETURN 3 * x")

    with pytest.raises((AnalysisException, UnsupportedError), match=said):
        spark.sql(f"CREATE FUNCTION {text}")

    assert rows(spark, "SELECT thrice(1), abs(-1)") == [(3, 1)]
    spark.catalog.dropTempView("passing")
    spark.sql("DROP TEMPORARY FUNCTION thrice")
    assert kept.functions("db") == []
    assert not spark.catalog.functionExists("bad")


def test_names_in_a_body_mean_the_same_wherever_it_is_called(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION most(x INT) RETURN '😀' || (SELECT max(t.id) FROM `t` WHERE id > x)")
    spark.sql(
        "CREATE FUNCTION far() RETURN WITH q AS (SELECT * FROM other . t) SELECT max(id) FROM q"
    )

    for place in ("kept.db", "kept.other", "spark_catalog.default"):
        spark.sql(f"USE {place}")
        assert rows(spark, "SELECT kept.db.most(1), kept.db.far()") == [("😀2", 7)]
    spark.sql("USE kept.db")
    spark.sql("CREATE TEMPORARY VIEW t AS SELECT 9 AS id")
    assert rows(spark, "SELECT most(1)") == [("😀2",)]
    spark.catalog.dropTempView("t")


def test_a_body_that_calls_a_kept_function_is_refused(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION one(x INT) RETURNS INT RETURN x")

    with pytest.raises(UnsupportedError, match="two with a call of one"):
        spark.sql("CREATE FUNCTION two(x INT) RETURNS INT RETURN one(x)")


def test_calls_that_are_not_of_one_row_are_refused(
    spark: SparkSession, kept: KeepingCatalog
) -> None:
    spark.sql("CREATE FUNCTION inc(x INT) RETURNS INT RETURN x + 1")
    kept.create_function("db.java", Function(input_params=NUMBERS, return_params=NUMBERS))

    for call in ("inc(DISTINCT id)", "inc(id) FILTER (WHERE true)", "inc(*)", "db.java(id)"):
        with pytest.raises(UnsupportedError, match=r"db\.(inc|java)"):
            spark.sql(f"SELECT {call} FROM t").collect()
    for call in ("inc()", "inc(1, 2)", "inc(y => 1)", "inc('a' || 'b' || id)"):
        with pytest.raises((AnalysisException, Exception)):
            spark.sql(f"SELECT {call} FROM t").collect()


def test_a_catalog_of_files_refuses_functions_by_name(
    spark: SparkSession, catalog: pl.Catalog
) -> None:
    for statement in (
        "CREATE FUNCTION paimon.db.inc(x INT) RETURNS INT RETURN x + 1",
        "CREATE FUNCTION paimon.db.inc AS 'a.B'",
        "DROP FUNCTION IF EXISTS paimon.db.inc",
    ):
        with pytest.raises(UnsupportedError, match=r"FUNCTION db\.inc in catalog paimon"):
            spark.sql(statement)
