"""Rows that replace others are read at once, also where rows of level 0 are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

KINDS = {
    "vectors": "'deletion-vectors.enabled' = 'true'",
    "first row": "'merge-engine' = 'first-row'",
    "lookup": "'changelog-producer' = 'lookup'",
}
BY_PARTITION = "spark.sql.sources.partitionOverwriteMode"
NEW = "SELECT 1 AS id, 'new' AS v, 'a' AS p"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_read_however_they_replace_others(
    kind: str, spark: SparkSession, catalog: Catalog
) -> None:
    keyed = f"TBLPROPERTIES ('primary-key' = 'id,p', 'bucket' = '1', {KINDS[kind]})"
    made = f"TABLE paimon.db.t PARTITIONED BY (p) {keyed} AS"
    others = "SELECT 1 AS id, 'old' AS v, 'a' AS p UNION ALL SELECT 2, 'old', 'b'"

    spark.sql(f"CREATE {made} {others}")
    assert rows(spark, "SELECT * FROM paimon.db.t ORDER BY id") == [
        (1, "old", "a"),
        (2, "old", "b"),
    ]
    created = max(one.id for one in plain_table(catalog, "db.t").snapshots)
    spark.conf.set(BY_PARTITION, "dynamic")
    try:
        spark.sql(f"INSERT OVERWRITE paimon.db.t {NEW}")
    finally:
        spark.conf.unset(BY_PARTITION)
    assert rows(spark, "SELECT * FROM paimon.db.t ORDER BY id") == [
        (1, "new", "a"),
        (2, "old", "b"),
    ]
    spark.sql("INSERT OVERWRITE paimon.db.t PARTITION (p = 'b') SELECT 3, 'newer'")
    assert rows(spark, "SELECT * FROM paimon.db.t ORDER BY id") == [
        (1, "new", "a"),
        (3, "newer", "b"),
    ]
    spark.sql(f"INSERT OVERWRITE paimon.db.t {NEW}")
    assert rows(spark, "SELECT * FROM paimon.db.t") == [(1, "new", "a")]
    spark.sql(f"CREATE OR REPLACE {made} {others}")
    assert len(rows(spark, "SELECT * FROM paimon.db.t")) == 2
    assert sorted(plain_table(catalog, "db.t").scan().to_arrow()["v"].to_pylist()) == ["old"] * 2
    snapshots = [one for one in plain_table(catalog, "db.t").snapshots if one.id > created]
    assert not any(one.changelog_manifest_list for one in snapshots), "as in Java"


def test_a_stream_that_replaces_all_rows_can_be_read(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    catalog.create_table("db.source", {"g": "STRING NOT NULL"})
    options = {"bucket": "1", "deletion-vectors.enabled": "true"}
    columns = {"g": "STRING NOT NULL", "n": "BIGINT"}
    catalog.create_table("db.counts", columns, primary_keys=["g"], options=options)
    spark.sql("INSERT INTO paimon.db.source VALUES ('a'), ('a'), ('b')")
    counts = spark.readStream.table("paimon.db.source").groupBy("g").count()
    written = counts.withColumnRenamed("count", "n").writeStream.outputMode("complete")
    written = written.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)

    written.toTable("paimon.db.counts").awaitTermination()

    assert rows(spark, "SELECT * FROM paimon.db.counts ORDER BY g") == [("a", 2), ("b", 1)]
