"""Spark, our own reader and Java Paimon on the same tables, live."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog import Catalog
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.json import type_to_json
from paimonlab.spec.types.text import format_type, parse_type
from tests.interop.conftest import java, java_tools, oracle, pytest_generate_tests
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import Pair, random_rows
from tests.java_values import java_rows, unordered

__all__ = ["java", "java_tools", "oracle", "pytest_generate_tests"]  # fixtures and their hook

pytestmark = pytest.mark.interop

CHANGES: list[tuple[Any, list[Any]]] = [
    (pl.RenameColumn("b", "bb"), ["rename", "b", "bb"]),
    (pl.UpdateColumnType("a", "BIGINT"), ["type", "a", "BIGINT"]),
    (pl.DropColumn("c"), ["drop", "c"]),
    (pl.AddColumn("c", "STRING"), ["add", "c", "STRING"]),  # another column of the old name
    (pl.UpdateColumnType("d", "DECIMAL(20, 4)"), ["type", "d", "DECIMAL(20, 4)"]),
    (pl.RenameColumn("a", "b"), ["rename", "a", "b"]),  # takes the name of a renamed one
    (pl.UpdateColumnType("b", "STRING"), ["type", "b", "STRING"]),
]


@pytest.fixture
def pair(catalog: Catalog, java: JavaPaimon) -> Pair:
    """Return the warehouse of Spark's session, opened by us and by Java."""
    return Pair(catalog, java)


def assert_all_agree(pair: Pair, spark: SparkSession, name: str) -> None:
    """Check that Spark, we and Java read the same rows."""
    pair.assert_same(name)
    fields = pair.open(name).schema.fields
    found = spark.table(f"paimon.{name}").toArrow().cast(arrow_schema(fields))
    assert unordered(java_rows(found, fields)) == unordered(pair.java_rows(name))


@pytest.mark.parametrize("key", [[], ["k"]], ids=["append", "keyed"])
def test_after_every_change_of_a_column_all_three_agree(
    pair: Pair, spark: SparkSession, key: list[str], rng: np.random.Generator
) -> None:
    columns = {
        "k": "INT NOT NULL",
        "a": "INT",
        "b": "STRING",
        "c": "DOUBLE",
        "d": "DECIMAL(9, 2)",
    }
    options = {"bucket": "1", "write-only": "true"} if key else {}
    pair.create("java", "db.t", columns, pk=key, options=options)

    def write_rows(turn: int) -> None:
        schema = pair.open("db.t").schema
        kinds = {field.name: format_type(field.type) for field in schema.fields}
        rows = random_rows(kinds, 8, rng)
        keys = pa.array(rng.choice(20, 8, replace=False), pa.int32())
        place = schema.field_names.index("k")
        pair.write(
            "java" if turn % 2 else "us", "db.t", rows.set_column(place, rows.field(place), keys)
        )

    write_rows(1)
    for turn, (ours, javas) in enumerate(CHANGES):
        pair.alter("java" if turn % 2 else "us", "db.t", ours, javas)
        write_rows(turn)
        assert_all_agree(pair, spark, "db.t")


def test_java_reads_what_spark_wrote_and_spark_what_java_wrote(
    pair: Pair, spark: SparkSession
) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (id BIGINT NOT NULL, dt DATE NOT NULL, n TIMESTAMP_NTZ, "
        "z TIMESTAMP, d DECIMAL(20, 3), s STRING, a ARRAY<INT>) PARTITIONED BY (dt) "
        "TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '3', 'write-only' = 'true')"
    )
    frame = spark.range(0, 500, 1, 3).selectExpr(
        "id",
        "date_add(date'2024-02-28', cast(id % 3 as int)) dt",
        "cast(timestamp_micros(id * 1234567890123) as timestamp_ntz) n",
        "timestamp_micros(-id * 1234567890123) z",
        "cast(id * 1.001 as decimal(20, 3)) d",
        "if(id % 7 = 0, null, concat('ü', id)) s",
        "array(cast(id as int), null) a",
    )
    frame.writeTo("paimon.db.t").append()
    assert_all_agree(pair, spark, "db.t")

    schema = pair.open("db.t").arrow_schema
    ours = pair.open("db.t").scan(where="id < 40").to_arrow().slice(0, 10)
    changed = ours.set_column(5, schema.field("s"), pa.array(["java"] * ours.num_rows))
    pair.write("java", "db.t", changed)
    assert_all_agree(pair, spark, "db.t")
    assert spark.sql("SELECT count(*) FROM paimon.db.t WHERE s = 'java'").collect()[0][0] == 10

    frame.selectExpr("id", "dt", "n", "z", "d", "'again' s", "a").where("id < 100").writeTo(
        "paimon.db.t"
    ).append()
    assert_all_agree(pair, spark, "db.t")


def test_java_reads_what_spark_overwrote(pair: Pair, spark: SparkSession) -> None:
    spark.sql("CREATE TABLE paimon.db.o (a INT, dt STRING) PARTITIONED BY (dt)")
    spark.sql("INSERT INTO paimon.db.o VALUES (1, 'x'), (2, 'y y'), (3, null)")
    spark.sql("INSERT OVERWRITE paimon.db.o PARTITION (dt = 'y y') SELECT 20")
    assert_all_agree(pair, spark, "db.o")

    frame = spark.createDataFrame([(30, None)], "a int, dt string")
    frame.writeTo("paimon.db.o").overwritePartitions()
    assert_all_agree(pair, spark, "db.o")
    assert sorted(row.a for row in spark.table("paimon.db.o").collect()) == [1, 20, 30]


def test_sparks_own_scan_reads_variants_that_java_shredded(pair: Pair, spark: SparkSession) -> None:
    shape = parse_type("ROW<v ROW<a INT, n DECIMAL(5, 2), r ROW<x ARRAY<INT>>>>")
    options = {"parquet.variant.shreddingSchema": json.dumps(type_to_json(shape))}
    pair.create("java", "db.t", {"k": "INT NOT NULL", "v": "VARIANT"}, options=options)
    texts = [
        '{"a":1,"b":"x","n":1.5}',
        '{"a":null,"n":true,"r":{"q":null,"x":[1,"u"]}}',
        *("null", "[]", None),
    ]
    rows = pa.table({"k": pa.array(range(5), pa.int32()), "v": pl.parse_json(texts)})

    pair.write("java", "db.t", rows)

    found = spark.sql("SELECT to_json(v) FROM paimon.db.t ORDER BY k").collect()
    assert [text for (text,) in found] == texts
    ours = pair.open("db.t").scan(["k", "v"]).to_arrow().sort_by("k")
    assert pl.to_json(ours["v"]).to_pylist() == texts


def test_java_reads_what_jobs_of_spark_rewrote(pair: Pair, spark: SparkSession) -> None:
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    options = {
        "sorted": {"target-file-size": "4 kb"},
        "rescaled": {"bucket": "1"},
        "postponed": {"bucket": "-2", "postpone.default-bucket-num": "3"},
        "indexed": {},
    }
    for name, chosen in options.items():
        keys = ["id"] if "bucket" in chosen else []
        table = pair.catalog.create_table(f"db.{name}", columns, primary_keys=keys, options=chosen)
        for first in (0, 500):
            ids = [number * 7919 % 1009 for number in range(first, first + 1000)]
            texts = [f"{first}-{number}" for number in range(1000)]
            table.write(pa.table({"id": pa.array(ids, pa.int32()), "v": texts}))
    spark.sql("ALTER TABLE paimon.db.indexed SET TBLPROPERTIES ('file-index.bitmap.columns' = 'v')")
    expected = {name: pair.our_rows(f"db.{name}") for name in options if name != "postponed"}

    for call in (
        "compact(table => 'db.sorted', order_strategy => 'zorder', order_by => 'id,v')",
        "rescale(table => 'db.rescaled', bucket_num => 3)",
        "compact(table => 'db.postponed')",
        "rewrite_file_index(table => 'db.indexed')",
    ):
        spark.sql(f"CALL paimon.sys.{call}")
    spark.sql("ANALYZE TABLE paimon.db.sorted COMPUTE STATISTICS FOR ALL COLUMNS")

    for name in options:
        assert_all_agree(pair, spark, f"db.{name}")
    for name, rows in expected.items():
        assert unordered(pair.our_rows(f"db.{name}")) == unordered(rows)
    assert unordered(pair.our_rows("db.postponed")) == unordered(expected["rescaled"])
