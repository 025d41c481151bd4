from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab.catalog import Catalog
from tests.spark.plans import physical_plan

COLUMNS = {
    "id": "INT",
    "few": "BIGINT",
    "d": "DATE",
    "n": "INT",
    "s": "STRING",
    "x": "DOUBLE",
    "m": "DECIMAL(9, 2)",
}
SETTINGS = ("spark.sql.cbo.enabled", "spark.sql.cbo.joinReorder.enabled")
QUERIES = [
    "SELECT * FROM {t} WHERE few = 3",
    "SELECT * FROM {t} WHERE few IN (3, 4, 900)",
    "SELECT id FROM {t} WHERE id > 100 AND few = 1",
    "SELECT id FROM {t} WHERE d < DATE '2020-01-15'",
    "SELECT id FROM {t} WHERE n IS NULL",
    "SELECT id FROM {t} WHERE s = 'text 7'",
    "SELECT id FROM {t} WHERE x >= 60.0 AND m < 12",
    "SELECT few, count(*) FROM {t} GROUP BY few",
    "SELECT a.id FROM {t} a JOIN {t} b ON a.few = b.id JOIN {t} c ON b.id = c.id WHERE c.n = 5",
]


def rows_and_columns(frame: DataFrame) -> tuple[int, int]:
    """Return how many rows Spark expects, and of how many columns it knows something."""
    stats: Any = frame._jdf.queryExecution().optimizedPlan().stats()
    rows = stats.rowCount()
    return (int(str(rows.get())) if rows.isDefined() else -1, int(stats.attributeStats().size()))


@pytest.fixture
def cbo(spark: SparkSession) -> Iterator[None]:
    """Let Spark's optimizer go by statistics of columns."""
    for setting in SETTINGS:
        spark.conf.set(setting, "true")
    yield
    for setting in SETTINGS:
        spark.conf.unset(setting)


@pytest.mark.usefixtures("cbo")
def test_spark_expects_as_many_rows_as_of_a_table_of_its_own(
    catalog: Catalog, spark: SparkSession, tmp_path: Path
) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    ids = range(200)
    table.write(
        pa.table(
            {
                "id": pa.array(ids, pa.int32()),
                "few": [i % 8 for i in ids],
                "d": pa.array([18262 + i % 31 for i in ids], pa.date32()),
                "n": pa.array([None if i % 5 == 0 else i % 10 for i in ids], pa.int32()),
                "s": [f"text {i % 20}" for i in ids],
                "x": [i / 2 for i in ids],
                "m": pa.array([i / 4 for i in ids]).cast(pa.decimal128(9, 2)),
            }
        )
    )
    spark.createDataFrame(table.scan().to_arrow()).write.parquet(str(tmp_path / "own"))
    own = "spark_catalog.default.own_rows"
    spark.sql(f"CREATE TABLE {own} USING parquet LOCATION '{tmp_path / 'own'}'")
    try:
        before = spark.sql("SELECT * FROM paimon.db.t WHERE few = 3")
        assert rows_and_columns(before) == (-1, 0)
        for name in (own, "paimon.db.t"):
            spark.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
        for query in QUERIES:
            found, expected = (
                rows_and_columns(spark.sql(query.format(t=name))) for name in ("paimon.db.t", own)
            )
            assert expected[0] >= 0
            # Spark's own statistics have about as many distinct values as there are.
            assert found[0] == pytest.approx(expected[0], rel=0.1), query
            assert found[1] == expected[1], query
    finally:
        spark.sql(f"DROP TABLE {own}")


@pytest.mark.usefixtures("cbo")
def test_what_is_known_of_columns_decides_what_is_broadcast(
    catalog: Catalog, spark: SparkSession
) -> None:
    for name in ("large", "other"):
        table = catalog.create_table(f"db.{name}", {"id": "BIGINT", "p": "INT", "v": "BIGINT"})
        ids = range(3000)
        table.write(
            pa.table({"id": ids, "p": pa.array([i % 4 for i in ids], pa.int32()), "v": ids})
        )
    query = "SELECT * FROM paimon.db.large a JOIN paimon.db.other b USING (id) WHERE b.v = 7"
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "1000")
    try:
        assert "BroadcastHashJoin" not in physical_plan(spark.sql(query))
        for name in ("large", "other"):
            spark.sql(f"ANALYZE TABLE paimon.db.{name} COMPUTE STATISTICS FOR ALL COLUMNS")
        assert "BroadcastHashJoin" in physical_plan(spark.sql(query))
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


@pytest.mark.usefixtures("cbo")
def test_rows_of_partitions_are_not_divided_twice(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "p": "INT"}, partition_keys=["p"])
    ids = range(80)
    table.write(
        pa.table({"id": pa.array(ids, pa.int32()), "p": pa.array([i % 8 for i in ids], pa.int32())})
    )
    spark.sql("ANALYZE TABLE paimon.db.t COMPUTE STATISTICS FOR ALL COLUMNS")

    one = spark.sql("SELECT id FROM paimon.db.t WHERE p = 3")
    half = spark.sql("SELECT id FROM paimon.db.t WHERE p < 4")

    assert [rows_and_columns(frame)[0] for frame in (one, half)] == [10, 40]
