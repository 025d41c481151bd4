"""Joins and aggregations on the bucket key: no exchange, and the rows of plain Spark."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab import AddColumn, UpdateColumnType
from paimonlab.catalog import Catalog
from paimonlab.table.table import Table
from tests.spark.plans import physical_plan

_SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.sources.v2.bucketing.enabled": "true",
}
JOIN = "SELECT a.v, b.v, a.k FROM {} a JOIN {} b ON a.k = b.k AND b.s = a.s"
ON_ONE = "SELECT a.v, b.v FROM {} a JOIN {} b ON a.k = b.k"


@pytest.fixture(autouse=True)
def without_broadcasts(spark: SparkSession) -> Iterator[None]:
    """Leave no join to be broadcast."""
    before = {key: spark.conf.get(key, None) for key in _SETTINGS}
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    yield
    for key, old in before.items():
        spark.conf.unset(key) if old is None else spark.conf.set(key, old)


class Tables:
    """Tables db.… (k INT, s STRING, p INT, v INT), and temporary views of the same rows."""

    def __init__(self, spark: SparkSession, catalog: Catalog) -> None:
        self._spark = spark
        self._catalog = catalog
        self._seed = 0

    def make(self, name: str, options: dict[str, str], *, keyed: bool = False) -> Table:
        """Make a table of random rows, three commits of them, some without a key."""
        table = self._catalog.create_table(
            f"db.{name}",
            {"k": "INT", "s": "STRING", "p": "INT", "v": "INT"},
            primary_keys=["p", "k", "s"] if keyed else [],
            partition_keys=["p"] if keyed else [],
            options={"write-only": "true", **options},
        )
        self._seed += 1
        source = random.Random(self._seed)
        keys = range(40) if keyed else [*range(40), None]
        for number in range(3):
            rows = {
                (source.choice(keys), source.choice(["a", "", "text of a slot of its own"]), p)
                for p in (0, 1)
                for _ in range(30)
            }
            numbers, texts, parts = zip(*rows, strict=True)
            values = {"k": numbers, "p": parts, "v": [number] * len(rows)}
            columns = {key: pa.array(column, pa.int32()) for key, column in values.items()}
            table.write(pa.table({**columns, "s": texts}))
        self.copy(name)
        return table

    def copy(self, name: str) -> None:
        """Make the view of a table anew."""
        rows = self._catalog.table(f"db.{name}").scan().to_arrow()
        self._spark.createDataFrame(rows).createOrReplaceTempView(f"plain_{name}")

    def check(self, query: str, *names: str, exchanges: int) -> None:
        """Count what a query exchanges; if buckets are used, compare it with that of the views."""
        frame = self._spark.sql(query.format(*(f"paimon.db.{name}" for name in names)))
        plan = physical_plan(frame)
        assert plan.count("Exchange ") == exchanges, plan
        if "ByBucket" not in plan:
            return
        plain = self._spark.sql(query.format(*(f"plain_{name}" for name in names)))
        assert Counter(frame.collect()) == Counter(plain.collect())


@pytest.fixture
def tables(spark: SparkSession, catalog: Catalog) -> Tables:
    """Make tables in this test's own warehouse."""
    return Tables(spark, catalog)


def test_tables_bucketed_alike_join_and_group_without_an_exchange(
    spark: SparkSession, tables: Tables
) -> None:
    options = {"bucket": "4", "bucket-key": "k,s"}
    tables.make("keys", options, keyed=True)
    tables.make("log", options)
    tables.make("eight", {"bucket": "8", "bucket-key": "k,s"})
    tables.make("texts", {"bucket": "4", "bucket-key": "s"})
    check = tables.check

    check(JOIN + " AND a.p = b.p WHERE a.v > 0 AND b.p = 1", "keys", "log", exchanges=0)
    check(JOIN.replace("JOIN", "FULL JOIN"), "log", "keys", exchanges=0)
    check(
        "WITH n AS (SELECT k AS id, s AS name, v FROM {}) SELECT id, name, count(*), sum(b.v) "
        "FROM n JOIN {} b ON id = k AND name = s GROUP BY id, name",
        *("keys", "log"),
        exchanges=0,
    )
    check("SELECT DISTINCT s, k, p FROM {}", "log", exchanges=0)
    check("SELECT k, s, count(*) OVER (PARTITION BY s, k) FROM {}", "keys", exchanges=0)

    check(JOIN, "keys", "eight", exchanges=2)
    check(JOIN, "log", "texts", exchanges=2)
    check(JOIN.replace("=", "<=>"), "log", "log", exchanges=2)
    check(ON_ONE, "keys", "log", exchanges=2)
    check(JOIN.replace("a.k = b.k", "a.k = b.v"), "keys", "log", exchanges=2)
    check(JOIN.replace("a.k = b.k", "a.k = b.k + 1"), "keys", "log", exchanges=2)
    check("SELECT k, max(v) FROM {} GROUP BY k", "keys", exchanges=1)
    spark.conf.set("spark.sql.sources.v2.bucketing.enabled", "false")
    check(JOIN, "keys", "log", exchanges=2)


def test_buckets_of_one_file_are_not_sorted_again(spark: SparkSession, tables: Tables) -> None:
    options = {"bucket": "4", "bucket-key": "k,s"}
    names = ("left", "right")
    for name in names:
        tables.make(name, options, keyed=True)
    query = f"{JOIN} WHERE a.p = 1 AND b.p = 1".format(*(f"paimon.db.{name}" for name in names))
    assert physical_plan(spark.sql(query)).count("Sort ") == 2
    for name in names:
        spark.sql(
            f"CREATE TABLE paimon.db.one_{name} TBLPROPERTIES ('primary-key' = 'k,s', "
            f"'bucket' = '4', 'bucket-key' = 'k,s', 'write-only' = 'true') "
            f"AS SELECT k, s, p, v FROM paimon.db.{name} WHERE p = 1"
        )
        tables.copy(f"one_{name}")

    for text, sorts in (
        (JOIN, 0),
        (JOIN.replace("a.k = b.k AND b.s = a.s", "b.s = a.s AND b.k = a.k"), 2),
        ("SELECT k, s, row_number() OVER (PARTITION BY k, s ORDER BY v) FROM {}", 1),
        ("SELECT k, s, count(*) OVER (PARTITION BY k, s) FROM {}", 0),
    ):
        tables.check(text, *(f"one_{name}" for name in names), exchanges=0)
        frame = spark.sql(text.format(*(f"paimon.db.one_{name}" for name in names)))
        assert physical_plan(frame).count("Sort ") == sorts, text
    spark.sql("INSERT INTO paimon.db.one_left VALUES (1, 'a', 1, 9)")
    joined = JOIN.format(*(f"paimon.db.one_{name}" for name in names))
    assert physical_plan(spark.sql(joined)).count("Sort ") == 1


def test_other_rows_are_brought_to_buckets_by_paimons_hash(
    spark: SparkSession, tables: Tables
) -> None:
    options = {"bucket": "8", "bucket-key": "k,s"}
    tables.make("log", options)
    tables.make("more", options)
    tables.make("others", {"bucket": "4", "bucket-key": "v"})

    three = f"{JOIN} JOIN {{}} c ON c.s = a.s AND c.k = a.k"
    tables.check(three, "log", "more", "others", exchanges=1)


def test_buckets_of_another_meaning_are_shuffled(catalog: Catalog, tables: Tables) -> None:
    tables.make("log", {"bucket": "4", "bucket-key": "k"})
    tables.make("wide", {"bucket": "4", "bucket-key": "k"})
    moved = tables.make("moved", {"bucket": "4", "bucket-key": "k"})
    tables.make("mod", {"bucket": "4", "bucket-key": "k", "bucket-function.type": "mod"})
    tables.check(ON_ONE, "log", "mod", exchanges=2)
    for precision in (3, 6):
        catalog.create_table(
            f"db.t{precision}",
            {"k": f"TIMESTAMP({precision})", "v": "INT"},
            options={"bucket": "4", "bucket-key": "k"},
        )
    tables.check(ON_ONE, "t3", "t6", exchanges=2)
    tables.check(ON_ONE, "log", "moved", exchanges=0)

    catalog.alter_table("db.wide", UpdateColumnType("v", "BIGINT"))
    tables.copy("wide")
    tables.check(ON_ONE, "log", "wide", exchanges=0)

    table = catalog.alter_table("db.wide", AddColumn("w", "INT"))
    row = {name: pa.array([1], pa.int32()) for name in ("k", "p", "w")}
    table.write(pa.table({**row, "s": ["a"], "v": pa.array([1], pa.int64())}))
    tables.copy("wide")
    tables.check(ON_ONE, "log", "wide", exchanges=2)

    moved.maintenance.rescale(buckets=8)
    tables.check(ON_ONE, "log", "moved", exchanges=2)


def test_an_aggregate_of_one_bucket_is_one_row(catalog: Catalog, spark: SparkSession) -> None:
    """``DisableUnnecessaryPaimonBucketedScanSuite`` of the connector."""
    columns = {"id": "BIGINT", "day": "DATE"}
    catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    for day, number in (("2021-07-07", 1), ("2021-08-08", 2)):
        spark.sql(f"INSERT INTO paimon.db.t VALUES ({number}, DATE'{day}')")

    summed = spark.sql("SELECT sum(id) FROM paimon.db.t WHERE id IS NOT NULL")

    assert (summed.count(), summed.collect()) == (1, [(3,)])
