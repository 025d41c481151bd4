"""INSERT … REPLACE USING, REPLACE WHERE and BY NAME, in all forms that Spark reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError, SchemaError, UnsupportedError
from paimonlab.spark.statements.replace_using import merge_text
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

Row = tuple[Any, ...]
OLD: list[Row] = [(1, "a", "x"), (1, "b", "y"), (2, "c", "x"), (None, "d", "z"), (3, "e", None)]
NEW: list[Row] = [(1, "n", "x"), (1, "m", "w"), (None, "o", "y"), (9, "p", None), (9, "q", "w")]
KINDS = {
    "append": "",
    "vectors": "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')",
    "ids": "TBLPROPERTIES ('row-tracking.enabled' = 'true')",
    "partitions": "PARTITIONED BY (p)",
}
COLUMNS = ("id", "v", "p")


def values(of: Sequence[Row]) -> str:
    """Return rows as an inline table."""
    texts = (", ".join("NULL" if one is None else repr(one) for one in row) for row in of)
    return "VALUES " + ", ".join(f"({text})" for text in texts)


def replaced(columns: Sequence[str]) -> list[Row]:
    """Return the rows after those with the values of a new row were replaced; NULL is no value."""
    places = [COLUMNS.index(name) for name in columns]
    new = {tuple(row[place] for place in places) for row in NEW}
    kept = [
        row
        for row in OLD
        if None in (found := tuple(row[place] for place in places)) or found not in new
    ]
    return sorted([*kept, *NEW], key=str)


def stored(spark: SparkSession) -> list[Row]:
    """Return the rows of the table."""
    return sorted(rows(spark, "SELECT id, v, p FROM paimon.db.t"), key=str)


@pytest.mark.parametrize(
    ("kind", "columns"),
    [("append", ["id"]), ("vectors", ["id", "p"]), ("ids", ["id"]), ("partitions", ["p"])],
)
def test_rows_with_the_values_of_new_ones_are_replaced(
    kind: str, columns: Sequence[str], spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(f"CREATE TABLE paimon.db.t (id INT, v STRING, p STRING) {KINDS[kind]}")
    spark.sql(f"INSERT INTO paimon.db.t {values(OLD)}")

    spark.sql(f"INSERT INTO paimon.db.t REPLACE USING ({', '.join(columns)}) {values(NEW)}")

    assert stored(spark) == replaced(columns)
    written = [one for one in plain_table(catalog, "db.t").snapshots if one.id > 1]
    assert len(written) == 1, "rows go and come in one commit"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO paimon.db.t BY NAME REPLACE USING (ID) SELECT p, id, v FROM new",
        "WITH w AS (TABLE new) INSERT INTO paimon.db.t REPLACE USING (id) TABLE w",
    ],
)
def test_rows_come_by_name_and_from_with_clauses(
    statement: str, spark: SparkSession, catalog: Catalog
) -> None:
    catalog.create_table("db.t", {"id": "INT", "v": "STRING", "p": "STRING"})
    spark.sql(f"INSERT INTO paimon.db.t {values(OLD)}")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW new AS SELECT * FROM {values(NEW)} AS n(id, v, p)")

    spark.sql(f"EXPLAIN {statement}")
    assert len(list(plain_table(catalog, "db.t").snapshots)) == 1, "EXPLAIN runs nothing"
    spark.sql(statement)

    assert stored(spark) == replaced(["id"])


def test_partitions_are_replaced_whole_also_of_primary_key_tables(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.k (id INT, v STRING, p STRING) PARTITIONED BY (p) "
        "TBLPROPERTIES ('primary-key' = 'id,p', 'bucket' = '1')"
    )
    spark.sql("INSERT INTO paimon.db.k VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')")

    spark.sql("INSERT INTO paimon.db.k REPLACE USING (p) VALUES (9, 'n', 'x')")
    assert rows(spark, "SELECT * FROM paimon.db.k ORDER BY id") == [(3, "c", "y"), (9, "n", "x")]
    spark.sql("INSERT INTO paimon.db.k BY NAME REPLACE USING (p) SELECT 'y' AS p, 4 AS id")
    assert rows(spark, "SELECT * FROM paimon.db.k ORDER BY id") == [(4, None, "y"), (9, "n", "x")]
    spark.sql("INSERT INTO paimon.db.k REPLACE USING (p) SELECT * FROM paimon.db.k WHERE id < 0")
    assert rows(spark, "SELECT count(*) FROM paimon.db.k") == [(2,)], "no rows replace none"
    spark.sql("INSERT INTO paimon.db.k BY NAME REPLACE WHERE p = 'y' SELECT 'y' AS p, 5 AS id")
    assert rows(spark, "SELECT * FROM paimon.db.k ORDER BY id") == [(5, None, "y"), (9, "n", "x")]
    spark.sql("INSERT INTO paimon.db.k (p, id) REPLACE WHERE p = 'y' VALUES ('y', 6)")
    assert rows(spark, "SELECT * FROM paimon.db.k ORDER BY id") == [(6, None, "y"), (9, "n", "x")]
    with pytest.raises(UnsupportedError, match=r"REPLACE USING \(id\).* primary key \(id, p\)"):
        spark.sql("INSERT INTO paimon.db.k REPLACE USING (id) VALUES (9, 'n', 'x')")


@pytest.mark.parametrize(
    ("form", "error", "message"),
    [
        ("REPLACE USING (nope) TABLE new", SchemaError, "db.t has no column 'nope'; it has id"),
        ("REPLACE USING (c) TABLE new", UnsupportedError, r"\(c\), which is CHAR"),
        ("WITH ('x' = 'y') REPLACE USING (id) TABLE new", UnsupportedError, "with options"),
        ("AS o REPLACE ON o.id = n.id (TABLE new) AS n", UnsupportedError, "REPLACE ON"),
        ("REPLACE USING (id) SELECT 1", AnalysisException, "column"),
        ("BY NAME REPLACE USING (id) SELECT 1 AS id", AnalysisException, "c"),
        ("REPLACE USING (id) SELECT 'one', 'c'", Exception, "CAST_INVALID_INPUT"),
    ],
)
def test_what_cannot_replace_rows_says_so(
    form: str, error: type[Exception], message: str, spark: SparkSession, catalog: Catalog
) -> None:
    catalog.create_table("db.t", {"id": "INT", "c": "CHAR(3)"})
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW new AS SELECT 1 AS id, 'c' AS c")

    with pytest.raises(error, match=message):
        spark.sql(f"INSERT INTO paimon.db.t {form}")

    assert not list(plain_table(catalog, "db.t").snapshots)


def test_schema_evolution_and_tables_of_others_are_refused(
    spark: SparkSession, catalog: Catalog
) -> None:
    catalog.create_table("db.t", {"id": "INT"})

    with pytest.raises(UnsupportedError, match="WITH SCHEMA EVOLUTION"):
        spark.sql("INSERT WITH SCHEMA EVOLUTION INTO paimon.db.t REPLACE USING (id) SELECT 1 AS id")
    with pytest.raises(AnalysisException) as refused:
        spark.sql("INSERT INTO spark_catalog.default.nope REPLACE USING (id) SELECT 1")
    assert not isinstance(refused.value, PaimonError)


def test_names_with_quotes_stay_one_name() -> None:
    assert "`a``b`.t AS old" in merge_text(["a`b", "t"], ["id"], ["id"])
    assert "old.`x``y` = new.`x``y`" in merge_text(["t"], ["x`y"], ["x`y"])
