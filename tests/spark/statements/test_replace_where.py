"""INSERT … REPLACE WHERE and ``overwrite(condition)``: one commit takes rows and brings others."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from paimonlab.catalog import Catalog
from paimonlab.errors import FilesConflictError, UnsupportedError
from tests.spark.statements.test_replace_using import values
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

Row = tuple[Any, ...]
OLD: list[Row] = [(1, "a", "x"), (2, "b", "x"), (3, "c", "y"), (4, "d", "y"), (5, None, "z")]
NEW: list[Row] = [(4, "n", "y"), (1, "m", "x"), (9, "o", "w")]
KINDS = {
    "append": "",
    "partitions": "PARTITIONED BY (p)",
    "vectors": "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')",
    "ids": "TBLPROPERTIES ('row-tracking.enabled' = 'true')",
    "buckets": "TBLPROPERTIES ('bucket' = '2', 'bucket-key' = 'id')",
    "keys": "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')",
    "keys, vectors": "PARTITIONED BY (p) TBLPROPERTIES ('primary-key' = 'id,p', 'bucket' = '1', "
    "'deletion-vectors.enabled' = 'true')",
    "dynamic": "TBLPROPERTIES ('primary-key' = 'id')",
}
CONDITIONS = {
    "id > 2": lambda row: row[0] > 2,
    "v IN ('a', 'd') AND p <> 'q'": lambda row: row[1] in ("a", "d"),
    "p >= 'y' OR v IS NULL": lambda row: row[2] >= "y" or row[1] is None,
    "id > 9999": lambda _: False,
}


def stored(spark: SparkSession) -> list[Row]:
    """Return the rows of the table."""
    return sorted(rows(spark, "SELECT id, v, p FROM paimon.db.t"), key=str)


def made(kind: str, spark: SparkSession, catalog: Catalog) -> int:
    """Make a table with the old rows in two commits; return its latest snapshot."""
    spark.sql(f"CREATE TABLE paimon.db.t (id INT, v STRING, p STRING) {KINDS[kind]}")
    spark.sql(f"INSERT INTO paimon.db.t {values(OLD[:2])}")
    spark.sql(f"INSERT INTO paimon.db.t {values(OLD[2:])}")
    return latest(catalog)


def latest(catalog: Catalog) -> int:
    """Return the id of the latest snapshot."""
    snapshot = plain_table(catalog, "db.t").scan().snapshot
    assert snapshot is not None
    return snapshot.id


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_replaced_in_one_commit(kind: str, spark: SparkSession, catalog: Catalog) -> None:
    before = made(kind, spark, catalog)
    keyed = "keys" in kind or kind == "dynamic"
    expected = list(OLD)

    for number, (condition, test) in enumerate(CONDITIONS.items()):
        new = [(key + 100 * number, v, p) for key, v, p in NEW]
        if number % 2:
            frame = spark.createDataFrame(new, "id INT, v STRING, p STRING")
            frame.writeTo("paimon.db.t").overwrite(f.expr(condition))
        else:
            spark.sql(f"INSERT INTO paimon.db.t REPLACE WHERE {condition} {values(new)}")

        kept = [row for row in expected if not test(row)]
        if keyed:
            places = (0, 2) if kind == "keys, vectors" else (0,)
            keys = {tuple(row[place] for place in places) for row in new}
            kept = [row for row in kept if tuple(row[place] for place in places) not in keys]
        expected = [*kept, *new]
        assert stored(spark) == sorted(expected, key=str), condition
    if kind in ("append", "ids", "partitions"):
        assert latest(catalog) == before + len(CONDITIONS)
    read = plain_table(catalog, "db.t").scan(columns=["id", "v", "p"]).to_arrow().to_pylist()
    assert sorted([tuple(row.values()) for row in read], key=str) == stored(spark)


def test_rows_of_the_table_itself_replace_others_unless_they_have_changed(
    spark: SparkSession, catalog: Catalog
) -> None:
    made("append", spark, catalog)
    moved = spark.table("paimon.db.t").where("id < 3").selectExpr("id + 10 AS id", "v", "p")

    moved.writeTo("paimon.db.t").overwrite(f.expr("id < 3"))
    assert stored(spark) == [(11, "a", "x"), (12, "b", "x"), *OLD[2:]]
    spark.sql(
        "INSERT INTO paimon.db.t REPLACE WHERE id > 10 "
        "SELECT id - 10, v, p FROM paimon.db.t WHERE id > 10"
    )
    assert stored(spark) == OLD
    frame = spark.table("paimon.db.t").where("id = 3")
    frame.count()
    writer = frame.writeTo("paimon.db.t")
    spark.sql("INSERT INTO paimon.db.t VALUES (3, 'late', 'y')")
    with pytest.raises(FilesConflictError):
        writer.overwrite(f.expr("id = 3"))

    assert (3, "late", "y") in stored(spark)


def test_an_empty_table_and_no_rows(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT, v STRING, p STRING)")
    spark.sql(f"INSERT INTO paimon.db.t REPLACE WHERE id > 1 {values(OLD)}")
    assert stored(spark) == OLD

    spark.sql("INSERT INTO paimon.db.t REPLACE WHERE ID > 1 SELECT 1, 'a', 'x' WHERE false")

    assert stored(spark) == OLD[:1]
    shown = spark.sql(f"EXPLAIN INSERT INTO paimon.db.t REPLACE WHERE id > 1 {values(OLD)}").first()
    assert shown is not None
    assert "INSERT OVERWRITE rows of paimon.db.t where id > 1" in shown[0]
    assert stored(spark) == OLD[:1]


@pytest.mark.parametrize(
    ("columns", "options", "error", "named"),
    [
        ("id INT, v CHAR(3)", "'x'", UnsupportedError, "CHAR column v"),
        ("id INT, v STRING", "'primary-key' = 'id', 'sequence.field' = 'v'", UnsupportedError, "v"),
        (
            "id INT, v STRING",
            "'primary-key' = 'id', 'merge-engine' = 'partial-update'",
            UnsupportedError,
            "partial-update",
        ),
        (
            "id INT, v STRING",
            "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'",
            UnsupportedError,
            "data-evolution",
        ),
    ],
)
def test_rows_that_cannot_be_replaced_are_named(
    columns: str,
    options: str,
    error: type[Exception],
    named: str,
    spark: SparkSession,
    catalog: Catalog,
) -> None:
    given = "" if options == "'x'" else f"TBLPROPERTIES ({options})"
    spark.sql(f"CREATE TABLE paimon.db.t ({columns}) {given}")

    with pytest.raises(error, match=named):
        spark.sql("INSERT INTO paimon.db.t REPLACE WHERE v <> 'q' VALUES (1, 'a')")
    with pytest.raises(AnalysisException, match=r"(?i)nope"):
        spark.sql("INSERT INTO paimon.db.t REPLACE WHERE nope <> 'q' VALUES (1, 'a')")
