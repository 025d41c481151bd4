from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession, functions
from pyspark.sql.types import BinaryType, DataType, LongType, StringType

from paimonlab.catalog import Catalog
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.writing import shuffle, small_rows
from paimonlab.spark.writing.executor_small_rows import LONG_COLUMN
from paimonlab.spark.writing.small_rows import batches_of_any_size, marked, most_text_bytes

BYTES_OF_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
TABLES = {
    "append": {},
    "buckets of texts": {"primary-key": "s", "bucket": "3"},
    "dynamic buckets, shares": {"primary-key": "k", "dynamic-bucket.assigner-parallelism": "2"},
    "waiting": {"primary-key": "k", "bucket": "-2"},
    "keys that move": {"primary-key": "k", "partition": "p"},
}


@pytest.fixture
def bridge(spark: SparkSession) -> Bridge:
    return Bridge(spark)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the lengths of few rows as at those of many."""
    monkeypatch.setattr(small_rows, "_FEW_BYTES", 0)
    monkeypatch.setattr(shuffle, "_FEW_BYTES", 0)
    monkeypatch.setattr(small_rows, "_with_long", {})


def text(number: int) -> str:
    return str(number)


def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pydict({"n": [sum(1 for _ in batches)]})


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("longest", [20, 7_000])
def test_rows_arrive_whether_they_are_long_or_not(
    kind: str, longest: int, catalog: Catalog, spark: SparkSession
) -> None:
    options = ", ".join(f"'{key}' = '{value}'" for key, value in TABLES[kind].items())
    spark.sql(
        "CREATE TABLE paimon.db.t (k BIGINT, p INT, s STRING, u STRING)"
        + (f" TBLPROPERTIES ({options})" if options else "")
    )
    texts = f"repeat(chr(cast(97 + id % 26 AS INT)), cast(if(id = 77, {longest}, id % 9) AS INT))"
    rows = spark.range(0, 100, 1, 2).selectExpr(
        "id k", "cast(id % 3 AS INT) p", f"concat({texts}, id) s", "if(id % 5 = 0, null, 'u') u"
    )
    rows.writeTo("paimon.db.t").append()
    if kind == "waiting":  # rows can be read once they are compacted
        spark.sql("CALL paimon.sys.compact(table => 'db.t')")
    table = catalog.table("db.t")
    found = sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["k"])
    assert found == [row.asDict() for row in rows.orderBy("k").collect()]
    if kind != "waiting":
        names = {file.file_name for split in table.scan().plan().splits for file in split.files}
        stored = {path.name for path in Path(table.path).rglob("data-*")}
        assert stored == names, "tasks that met a long row deleted what they wrote"
    assert len(small_rows._with_long) == int(longest > small_rows._LEAST_BYTES)


def test_tasks_take_the_bytes_of_a_batch_from_the_job(
    bridge: Bridge, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def batches() -> int:
        (row,) = spark.range(0, 500, 1, 1).mapInArrow(counted, "n bigint").collect()
        return int(row.n)

    monkeypatch.setattr(small_rows, "ANY_BYTES", 1_000)
    with batches_of_any_size(bridge):
        assert batches() > 3
    assert batches() == 1


def test_spark_looks_at_rows_of_any_other_size(bridge: Bridge, spark: SparkSession) -> None:
    rows = spark.range(10).select("id", functions.lit("x").alias("s"))
    assert marked(bridge, rows) is not None
    assert marked(bridge, rows.withColumn("b", functions.lit(b"x"))) is None
    assert marked(bridge, rows.mapInArrow(lambda batches: batches, rows.schema)) is None
    assert marked(bridge, rows.withColumn("v", functions.udf(text, useArrow=False)("id"))) is None
    assert marked(bridge, rows.withColumn(LONG_COLUMN.upper(), functions.lit("x"))) is None
    spark.conf.set(BYTES_OF_BATCH, "1m")
    try:
        assert marked(bridge, rows) is None
    finally:
        spark.conf.unset(BYTES_OF_BATCH)


@pytest.mark.parametrize(
    ("types", "row_bytes", "most"),
    [
        ([LongType(), StringType()], 2_000, 1_974),
        ([LongType(), StringType()], 1_000, None),
        ([LongType()] * 10, 170, 0),
        ([LongType()] * 10, 169, None),
        ([BinaryType()], 2_000, None),
    ],
)
def test_bytes_of_texts(types: list[DataType], row_bytes: int, most: int | None) -> None:
    assert most_text_bytes(types, row_bytes) == most
