"""Statements about tags, which Spark's grammar does not have."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import (
    AlreadyExistsError,
    ReadOnlyError,
    SnapshotNotFoundError,
    TagNotFoundError,
    UnsupportedError,
)
from paimonlab.spark import connect
from paimonlab.spec.sql_text.reader import StatementSyntaxError
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def orders(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.orders (id INT, name STRING)")
    for number in (1, 2, 3):
        spark.sql(f"INSERT INTO paimon.db.orders VALUES ({number}, 'a')")


def tags(catalog: Catalog) -> dict[str, tuple[int, str | None]]:
    """Read the snapshots and the lives of tags as the system table tells them."""
    found = catalog.system_table("db.orders$tags").scan().to_arrow().to_pylist()
    return {row["tag_name"]: (row["snapshot_id"], row["time_retained"]) for row in found}


@pytest.mark.usefixtures("orders")
def test_a_tag_is_created_of_a_snapshot_for_a_time(spark: SparkSession, catalog: Catalog) -> None:
    for said in (
        "ALTER TABLE paimon.db.orders CREATE TAG `tag-1`",
        "alter table paimon.db.orders create tag `tag-2` retain 2 days",
        "-- why\n ALTER /* a TAG */ TABLE paimon.db.orders CREATE TAG `tag-3` AS OF VERSION 1;",
        "ALTER TABLE paimon.db.orders CREATE TAG `tag-4` AS OF VERSION 2 RETAIN 3 HOURS",
    ):
        assert rows(spark, said) == []

    assert tags(catalog) == {
        "tag-1": (3, None),
        "tag-2": (3, "PT48H"),
        "tag-3": (1, None),
        "tag-4": (2, "PT3H"),
    }
    assert rows(spark, "SHOW TAGS paimon.db.orders") == [
        ("tag-1",),
        ("tag-2",),
        ("tag-3",),
        ("tag-4",),
    ]
    assert rows(spark, "SELECT id FROM paimon.db.orders VERSION AS OF 'tag-3'") == [(1,)]


@pytest.mark.usefixtures("orders")
def test_a_tag_that_exists_is_an_error_kept_or_replaced(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql("ALTER TABLE paimon.db.orders CREATE TAG a AS OF VERSION 1")

    with pytest.raises(AlreadyExistsError, match="'a'"):
        spark.sql("ALTER TABLE paimon.db.orders CREATE TAG a")
    spark.sql("ALTER TABLE paimon.db.orders CREATE TAG IF NOT EXISTS a RETAIN 1 HOURS")
    assert tags(catalog) == {"a": (1, None)}

    spark.sql("ALTER TABLE paimon.db.orders REPLACE TAG a AS OF VERSION 2 RETAIN 90 MINUTES")
    spark.sql("ALTER TABLE paimon.db.orders CREATE OR REPLACE TAG b")
    assert tags(catalog) == {"a": (2, "PT1H30M"), "b": (3, None)}


@pytest.mark.usefixtures("orders")
def test_tags_are_renamed_and_deleted(spark: SparkSession, catalog: Catalog) -> None:
    for name in "abcd":
        spark.sql(f"ALTER TABLE paimon.db.orders CREATE TAG {name} AS OF VERSION 1")

    spark.sql("ALTER TABLE paimon.db.orders RENAME TAG a TO z")
    spark.sql("ALTER TABLE paimon.db.orders DELETE TAG `b, c`")
    spark.sql("ALTER TABLE paimon.db.orders DELETE TAG IF EXISTS nope")

    assert list(tags(catalog)) == ["d", "z"]
    with pytest.raises(TagNotFoundError, match="'nope'"):
        spark.sql("ALTER TABLE paimon.db.orders DELETE TAG nope")
    with pytest.raises(TagNotFoundError, match="'nope'"):
        spark.sql("ALTER TABLE paimon.db.orders RENAME TAG nope TO other")


@pytest.mark.usefixtures("orders")
def test_explain_runs_nothing(spark: SparkSession, catalog: Catalog) -> None:
    (plan,) = rows(spark, "EXPLAIN EXTENDED ALTER TABLE paimon.db.orders CREATE TAG a")
    assert "ALTER TABLE paimon.db.orders CREATE TAG a" in plan[0]
    assert "`orders$tags`" in rows(spark, "EXPLAIN EXTENDED SHOW TAGS paimon.db.orders")[0][0]

    assert tags(catalog) == {}


@pytest.mark.usefixtures("orders")
def test_snapshots_are_shown_as_the_system_table_has_them(spark: SparkSession) -> None:
    shown = rows(spark, "SHOW SNAPSHOTS IN paimon.db.orders")

    assert [row[0] for row in shown] == [1, 2, 3]
    assert shown == rows(spark, "SELECT * FROM paimon.db.`orders$snapshots` ORDER BY 1")


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        (
            "CREATE TAG a RETAIN 3 WEEKS",
            StatementSyntaxError,
            "DAYS, HOURS or MINUTES .*, not WEEKS",
        ),
        ("CREATE TAG a AS OF VERSION x", StatementSyntaxError, "id of a snapshot here, not x"),
        ("CREATE TAG a b", StatementSyntaxError, "the end here, not b"),
        ("RENAME TAG a", StatementSyntaxError, "TO here, not the end"),
        ("CREATE TAG a AS OF VERSION 9", SnapshotNotFoundError, "9"),
        ("CREATE TAGS a", ParseException, "CREATE"),
    ],
)
@pytest.mark.usefixtures("orders")
def test_what_is_not_a_statement_about_tags_is_said(
    said: str, error: type[Exception], message: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(error, match=message):
        spark.sql(f"ALTER TABLE paimon.db.orders {said}")

    assert tags(catalog) == {}


@pytest.mark.usefixtures("orders")
def test_names_are_those_of_the_session_and_of_its_branch(
    spark: SparkSession, catalog: Catalog
) -> None:
    plain_table(catalog).branches.create("dev")
    other = spark.newSession()
    connect(catalog.path, spark=other)
    other.sql("INSERT INTO paimon.db.`orders$branch_dev` VALUES (9, 'b')")
    other.sql("USE paimon.db")
    other.sql("ALTER TABLE orders CREATE TAG main_tag")
    other.conf.set("spark.paimon.branch", "dev")
    other.sql("ALTER TABLE db.orders CREATE TAG dev_tag")

    assert rows(other, "SHOW TAGS orders") == [("dev_tag",)]
    assert list(tags(catalog)) == ["main_tag"]


def test_tables_of_other_catalogs_have_no_tags(spark: SparkSession, catalog: Catalog) -> None:
    with pytest.raises(UnsupportedError, match="only tables of a Paimon catalog"):
        spark.sql("ALTER TABLE spark_catalog.default.t CREATE TAG a")
    with pytest.raises(AnalysisException, match=r"nope\$tags"):
        spark.sql("SHOW TAGS paimon.db.nope")


@pytest.mark.usefixtures("orders")
def test_a_catalog_that_is_read_only_takes_no_tags(spark: SparkSession, catalog: Catalog) -> None:
    connect({"warehouse": catalog.path, "read-only": "true"}, spark=spark, catalog="frozen")

    with pytest.raises(ReadOnlyError):
        spark.sql("ALTER TABLE frozen.db.orders CREATE TAG a")

    assert tags(catalog) == {}


@pytest.mark.usefixtures("orders")
def test_words_of_ours_mean_nothing_elsewhere(spark: SparkSession) -> None:
    found: list[Any] = rows(
        spark, "SELECT 'ALTER TABLE t CREATE TAG x' AS tag, 'COPY INTO' AS tags"
    )

    assert found == [("ALTER TABLE t CREATE TAG x", "COPY INTO")]
