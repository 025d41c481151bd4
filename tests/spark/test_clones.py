"""The catalog in the sessions that Spark clones for streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import UnsupportedError
from paimonlab.spark import connect
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Return a table with two rows."""
    made = catalog.create_table(
        "db.t", {"id": "BIGINT", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    )
    made.write(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    return made


def run_batches(
    spark: SparkSession, folder: Path, each: Callable[[DataFrame, int], None], batches: int = 1
) -> None:
    """Let a streaming query hand ids, a file a batch, to a function."""
    for number in range(batches):
        source = spark.range(10 * number + 10, 10 * number + 13, numPartitions=1)
        source.write.mode("append").parquet(str(folder / "in"))
    query = (
        spark.readStream.schema("id bigint")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "in"))
        .writeStream.foreachBatch(each)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    try:
        query.awaitTermination(240)
    finally:
        query.stop()


def test_batches_of_a_stream_read_and_write_tables(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    seen: list[list[int]] = []

    def each(batch: DataFrame, number: int) -> None:
        session = batch.sparkSession
        batch.createOrReplaceTempView("batch")
        rows = session.sql("SELECT id FROM paimon.db.t WHERE id < 100 ORDER BY id").collect()
        seen.append([row.id for row in rows])
        session.sql("INSERT INTO paimon.db.t SELECT id, 'sql' FROM batch")
        batch.selectExpr("id + 100 AS id", "'frame' AS v").writeTo("paimon.db.t").append()
        assert session.sql("SELECT snapshot_id FROM paimon.db.`t$snapshots`").count() > 1
        session.sql(f"CALL paimon.sys.create_tag(table => 'db.t', tag => 'batch{number}')")

    run_batches(spark, tmp_path, each, batches=2)

    assert seen == [[1, 2], [1, 2, 10, 11, 12]]
    found = table.scan().to_arrow().sort_by("id").to_pydict()
    new = [10, 11, 12, 20, 21, 22]
    assert found["id"] == [1, 2, *new, *(number + 100 for number in new)]
    assert found["v"] == ["a", "b", *["sql"] * 6, *["frame"] * 6]
    assert list(table.tags.list()) == ["batch0", "batch1"]


def test_a_stream_has_the_settings_of_its_start(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    table.write(pa.table({"id": [3], "v": ["c"]}))
    counts: list[int] = []

    def each(batch: DataFrame, _: int) -> None:
        session = batch.sparkSession
        counts.append(session.table("paimon.db.t").count())
        session.conf.set("spark.paimon.scan.snapshot-id", "2")
        counts.append(session.table("paimon.db.t").count())
        session.sql("SELECT * FROM paimon.db.`t$files`").collect()
        counts.append(session.table("paimon.db.t").count())
        session.conf.unset("spark.paimon.scan.snapshot-id")

    spark.conf.set("spark.paimon.scan.snapshot-id", "1")
    try:
        run_batches(spark, tmp_path, each)
    finally:
        spark.conf.unset("spark.paimon.scan.snapshot-id")

    assert counts == [2, 3, 3]


def test_an_error_in_a_batch_is_told_as_itself(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    errors: list[BaseException] = []

    def each(batch: DataFrame, _: int) -> None:
        try:
            batch.sparkSession.sql("DELETE FROM paimon.db.`t$files`")
        except UnsupportedError as error:
            errors.append(error)

    run_batches(spark, tmp_path, each)

    assert [str(error).split(" is ")[0] for error in errors] == ["DELETE FROM paimon.db.`t$files`"]


def test_a_clone_has_every_catalog_of_its_session_and_no_other(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    other = open_catalog(tmp_path / "other")
    other.create_database("there")
    session = spark.newSession()
    connect(tmp_path / "other", spark=session, catalog="second")

    clone = SparkSession(spark.sparkContext, session._jsparkSession.cloneSession())

    assert [row.namespace for row in clone.sql("SHOW DATABASES IN second").collect()] == ["there"]
    with pytest.raises(Exception, match="paimon"):
        clone.sql("SHOW TABLES IN paimon.db")
