"""Writing tables whose buckets an index of keys gives, and tables whose rows wait for buckets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog, connect
from paimonlab.errors import FilesConflictError, UnsupportedError
from paimonlab.spark.catalogs.catalog import register
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.writing import shuffle, write
from paimonlab.spark.writing.commits import commit_rows
from paimonlab.spec.schema.change_kinds import SetOption
from paimonlab.table.table import Table
from tests.interop.conftest import java, java_tools, oracle, pytest_generate_tests
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import Pair
from tests.java_values import java_rows, unordered

__all__ = ["java", "java_tools", "oracle", "pytest_generate_tests"]  # fixtures and their hook

SHARES = pytest.mark.parametrize("shares", [1, 3])


@pytest.fixture
def pair(catalog: Catalog, java: JavaPaimon) -> Pair:
    """Return the warehouse of Spark's session, opened by us and by Java."""
    return Pair(catalog, java)


def dynamic(spark: SparkSession, shares: int, target: int = 40, **options: str) -> None:
    """Create db.t (k, dt, v) with the primary key k, dt and partition dt."""
    given = {
        "primary-key": "k,dt",
        "write-only": "true",
        "dynamic-bucket.target-row-num": str(target),
        "dynamic-bucket.assigner-parallelism": str(shares),
    } | options
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    spark.sql(
        "CREATE TABLE paimon.db.t (k BIGINT NOT NULL, dt STRING NOT NULL, v STRING) "
        f"PARTITIONED BY (dt) TBLPROPERTIES ({properties})"
    )


def insert(spark: SparkSession, first: int, last: int, value: str, days: int = 3) -> None:
    frame = spark.range(first, last, 1, 4).selectExpr(
        "id k", f"concat('d', id % {days}) dt", f"'{value}' v"
    )
    frame.writeTo("paimon.db.t").append()


def opened(catalog: Catalog) -> Table:
    """Return table db.t."""
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    return table


def places_of(table: Table) -> dict[tuple[Any, ...], set[tuple[bytes, int]]]:
    """Return in which partitions and buckets there are rows of each key, as files say."""
    found: dict[tuple[Any, ...], set[tuple[bytes, int]]] = {}
    for split in table.scan().plan().splits:
        for file in split.files:
            rows = parquet.read_table(f"{table.path}/{split.bucket_path}/{file.file_name}")
            keys = [name for name in rows.schema.names if name.startswith("_KEY_")]
            for row in rows.select(keys).to_pylist():
                place = (split.partition, split.bucket)
                found.setdefault((split.partition, *row.values()), set()).add(place)
    return found


@SHARES
def test_two_inserts_give_one_row_per_key_and_no_key_changes_its_bucket(
    catalog: Catalog, spark: SparkSession, shares: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffle, "_FEW_BYTES", 0)
    dynamic(spark, shares)
    insert(spark, 0, 500, "old")
    insert(spark, 250, 750, "new")

    table = opened(catalog)
    rows = {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}
    assert rows == {k: "old" if k < 250 else "new" for k in range(750)}
    assert table.scan().count() == 750
    found = places_of(table)
    assert {len(places) for places in found.values()} == {1}
    assert len({bucket for places in found.values() for _, bucket in places}) >= 5
    assert {(k, v) for k, _, v in spark.table("paimon.db.t").collect()} == set(rows.items())


@SHARES
def test_java_reads_and_goes_on(pair: Pair, spark: SparkSession, shares: int) -> None:
    dynamic(spark, shares)
    insert(spark, 0, 300, "old")
    table = pair.open("db.t")
    changed = table.scan(where="k < 200").to_arrow()
    place = changed.schema.get_field_index("v")
    pair.write("java", "db.t", changed.set_column(place, "v", [["java"] * changed.num_rows]))
    insert(spark, 100, 400, "new")

    pair.assert_same("db.t")
    fields = pair.open("db.t").schema.fields
    found = spark.table("paimon.db.t").toArrow()
    assert unordered(java_rows(found, fields)) == unordered(pair.java_rows("db.t"))
    expected = {k: "java" if k < 100 else "new" for k in range(400)}
    assert {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()} == expected
    assert {len(places) for places in places_of(pair.open("db.t")).values()} == {1}


def test_the_first_insert_of_a_table_without_options(catalog: Catalog, spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (user_id BIGINT, item_id BIGINT, behavior STRING, dt STRING) "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'dt,user_id')"
    )
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 11, 'buy', 'x'), (2, 12, 'see', 'y')")
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 13, 'see', 'x')")

    rows = opened(catalog).scan().to_arrow().to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [
        (1, 13, "see", "x"),
        (2, 12, "see", "y"),
    ]


def test_keys_that_spark_has_no_expression_for(catalog: Catalog, spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (k DECIMAL(30, 2) NOT NULL, v INT) TBLPROPERTIES "
        "('primary-key' = 'k', 'dynamic-bucket.assigner-parallelism' = '3')"
    )
    for value in range(2):
        frame = spark.range(0, 100).selectExpr("cast(id as decimal(30, 2)) k", f"{value} v")
        frame.writeTo("paimon.db.t").append()

    rows = opened(catalog).scan().to_arrow().to_pylist()
    assert sorted(row["v"] for row in rows) == [1] * 100


@SHARES
def test_a_bucket_without_an_index_is_read(
    catalog: Catalog, spark: SparkSession, warehouse: Path, shares: int
) -> None:
    table = catalog.create_table(
        "db.t",
        {"k": "BIGINT NOT NULL", "dt": "STRING NOT NULL", "v": "STRING"},
        primary_keys=["k", "dt"],
        partition_keys=["dt"],
        options={"bucket": "4", "write-only": "true"},
    )
    insert(spark, 0, 100, "old")
    schema = Path(table.path) / "schema" / "schema-0"  # as no statement can change it
    parallelism = f'"dynamic-bucket.assigner-parallelism": "{shares}"'
    text = schema.read_text()
    assert '"bucket": "4"' in text
    schema.write_text(text.replace('"bucket": "4"', f'"bucket": "-1", {parallelism}'))
    catalog = connect(warehouse)
    register(Bridge(spark), "paimon", catalog)
    table = opened(catalog)
    insert(spark, 50, 150, "new")

    rows = {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}
    assert rows == {k: "old" if k < 50 else "new" for k in range(150)}
    assert {len(places) for places in places_of(opened(catalog)).values()} == {1}


def test_overwrites_give_buckets_anew(catalog: Catalog, spark: SparkSession) -> None:
    dynamic(spark, 3)
    insert(spark, 0, 300, "old")
    spark.sql("INSERT OVERWRITE paimon.db.t PARTITION (dt = 'd0') SELECT id, 'one' FROM range(9)")
    spark.range(5).selectExpr("id k", "'d1' dt", "'two' v").writeTo(
        "paimon.db.t"
    ).overwritePartitions()
    insert(spark, 0, 3, "new")  # 0 in d0, 1 in d1, 2 in d2

    table = opened(catalog)
    rows = table.scan().to_arrow().to_pylist()
    assert sorted((row["k"], row["v"]) for row in rows if row["dt"] == "d0") == [
        (k, "one" if k else "new") for k in range(9)
    ]
    assert sorted((row["k"], row["v"]) for row in rows if row["dt"] == "d1") == [
        (k, "new" if k == 1 else "two") for k in range(5)
    ]
    assert sum(row["dt"] == "d2" for row in rows) == 100
    spark.sql("INSERT OVERWRITE paimon.db.t SELECT 7, 'd7', 'all'")
    assert table.scan().to_arrow().to_pylist() == [{"k": 7, "dt": "d7", "v": "all"}]


@SHARES
def test_an_error_of_a_row_leaves_no_file(
    catalog: Catalog, spark: SparkSession, shares: int
) -> None:
    dynamic(spark, shares)
    table = opened(catalog)
    frame = spark.range(0, 100, 1, 4).selectExpr("id k", "'x' dt", "'v' v")
    catalog.alter_table("db.t", SetOption("dynamic-bucket.target-row-num", "20"))
    insert(spark, 0, 10, "old")
    before = set(Path(table.path).rglob("*.parquet"))
    bad = frame.selectExpr("if(k = 50, null, k) k", "dt", "v")
    with pytest.raises(Exception, match="null"):
        bad.writeTo("paimon.db.t").append()

    assert set(Path(table.path).rglob("*.parquet")) == before
    assert table.scan().count() == 10


def test_another_commit_to_the_index_is_a_conflict(
    catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    dynamic(spark, 3)
    insert(spark, 0, 100, "old")
    table = opened(catalog)

    def later(*given: Any, **named: Any) -> None:
        table.write(pa.table({"k": range(500, 600), "dt": ["d0"] * 100, "v": ["other"] * 100}))
        commit_rows(*given, **named)

    monkeypatch.setattr(write, "commit_rows", later)
    with pytest.raises(FilesConflictError, match="index of a bucket"):
        insert(spark, 100, 200, "new")
    assert table.scan().count() == 200


def moving(spark: SparkSession, shares: int, engine: str) -> None:
    """Create db.t (k, dt, v) with the primary key k and partition dt."""
    spark.sql(
        "CREATE TABLE paimon.db.t (k BIGINT NOT NULL, dt STRING NOT NULL, v STRING) "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'k', 'write-only' = 'true', "
        f"'merge-engine' = '{engine}', 'dynamic-bucket.target-row-num' = '40', "
        f"'dynamic-bucket.assigner-parallelism' = '{shares}')"
    )


@pytest.mark.parametrize(
    ("engine", "shares"),
    [("deduplicate", 1), ("deduplicate", 3), ("first-row", 1), ("partial-update", 3)],
)
def test_keys_that_move_to_another_partition(
    pair: Pair, spark: SparkSession, shares: int, engine: str
) -> None:
    moving(spark, shares, engine)
    insert(spark, 0, 300, "old", days=3)
    insert(spark, 150, 450, "new", days=4)
    if engine == "first-row":
        spark.sql("CALL paimon.sys.compact('db.t')")

    expected = {}
    for k in range(450):
        was, now = (f"d{k % 3}", "old"), (f"d{k % 4}", "new")
        if k < 150:
            expected[k] = was
        elif k < 300:
            moved = {"deduplicate": now, "first-row": was, "partial-update": (was[0], "new")}
            expected[k] = moved[engine]
        else:
            expected[k] = now
    rows = spark.table("paimon.db.t").collect()
    assert {row.k: (row.dt, row.v) for row in rows} == expected
    assert len(rows) == 450
    pair.assert_same("db.t")


def test_a_partition_alone_is_not_overwritten_where_keys_move(
    catalog: Catalog, spark: SparkSession
) -> None:
    moving(spark, 2, "deduplicate")
    insert(spark, 0, 10, "old")
    frame = spark.range(1).selectExpr("id k", "'d0' dt", "'v' v")
    with pytest.raises(UnsupportedError, match="some partitions"):
        spark.sql("INSERT OVERWRITE paimon.db.t PARTITION (dt = 'd0') SELECT 1, 'v'")
    with pytest.raises(UnsupportedError, match="some partitions"):
        frame.writeTo("paimon.db.t").overwritePartitions()
    spark.sql("INSERT OVERWRITE paimon.db.t SELECT 5, 'd9', 'all'")
    insert(spark, 5, 6, "moved")

    assert opened(catalog).scan().to_arrow().to_pylist() == [{"k": 5, "dt": "d2", "v": "moved"}]


def test_rows_wait_for_buckets(pair: Pair, spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (k BIGINT NOT NULL, dt STRING NOT NULL, v STRING) "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'k,dt', 'bucket' = '-2', "
        "'postpone.default-bucket-num' = '2')"
    )
    insert(spark, 0, 100, "old")
    insert(spark, 50, 150, "new")
    assert spark.table("paimon.db.t").count() == 0
    spark.sql("CALL paimon.sys.compact('db.t')")

    rows = {row.k: row.v for row in spark.table("paimon.db.t").collect()}
    assert rows == {k: "old" if k < 50 else "new" for k in range(150)}
    pair.assert_same("db.t")
    frame = spark.range(1).selectExpr("id k", "'d0' dt", "'only' v")
    frame.writeTo("paimon.db.t").overwritePartitions()
    spark.sql("CALL paimon.sys.compact('db.t')")
    assert [row.v for row in spark.table("paimon.db.t").where("dt = 'd0'").collect()] == ["only"]


def test_few_rows_are_one_share(catalog: Catalog, spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (k BIGINT, v INT) TBLPROPERTIES ('primary-key' = 'k', "
        "'write-only' = 'true')"
    )
    frame = spark.range(0, 1000, 1, 4).selectExpr("id k", "1 v")
    frame.writeTo("paimon.db.t").append()

    splits = opened(catalog).scan().plan().splits
    assert [(split.bucket, len(split.files)) for split in splits] == [(0, 1)]
