"""Rows of a large target that meet no row of the source are left out before they are shuffled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab.catalog import Catalog
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.rows import changes, joining
from paimonlab.spark.rows.statements import RowStatement
from tests.spark.rows.test_statements import KINDS, counts, rows

ON = "ON t.id = s.id AND t.v <=> s.v AND t.n < 100"
SOURCE = "SELECT id, v, n FROM VALUES (1, 'a', 5L), (2, NULL, 6L), (7, 'g', 7L) AS s (id, v, n)"
MERGE = f"""
    MERGE INTO paimon.db.t t USING ({SOURCE}) s {ON}
    WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT *
    """


MATCHED = "WHEN MATCHED THEN UPDATE SET v = s.v"


@pytest.fixture
def frames(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[DataFrame]]:
    """Take every target for a large one; return what is joined."""
    found: list[DataFrame] = []

    def joined(bridge: Bridge, statement: RowStatement, target: DataFrame) -> DataFrame:
        found.append(joining.joined(bridge, statement, target))
        return found[-1]

    monkeypatch.setattr(changes, "joined", joined)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    yield found
    spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def is_filtered(frame: DataFrame) -> bool:
    return "might_contain" in frame._jdf.queryExecution().optimizedPlan().toString()


@pytest.mark.parametrize("kind", ["dynamic", "append-vectors"])
def test_a_merge_looks_only_at_rows_that_may_match(
    kind: str, catalog: Catalog, spark: SparkSession, frames: list[DataFrame]
) -> None:
    columns = {"id": "INT NOT NULL", "v": "STRING", "n": "BIGINT"}
    table = catalog.create_table("db.t", columns, **KINDS[kind])
    spark.sql(
        "INSERT INTO paimon.db.t SELECT /*+ REPARTITION(1) */ cast(id AS INT), "
        "if(id = 2, NULL, if(id = 1, 'a', 'other')), id FROM range(6)"
    )

    assert counts(spark, MERGE) == (3, 2, 0, 1)

    assert is_filtered(frames[-1])
    expected = [(0, "other", 0), (1, "a", 5), (2, None, 6), *((n, "other", n) for n in (3, 4, 5))]
    assert rows(table) == [*expected, (7, "g", 7)]


def test_what_may_have_other_rows_again_is_not_read_twice(
    catalog: Catalog, spark: SparkSession, frames: list[DataFrame]
) -> None:
    catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING", "n": "BIGINT"})
    spark.sql("INSERT INTO paimon.db.t SELECT id, 'a', id FROM range(20)")
    random = "SELECT cast(rand() * 20 AS BIGINT) id, 'b' v, 1L n"
    grouped = "SELECT id, max('b') v, 1L n FROM range(3) GROUP BY id"
    made = spark.sparkContext.parallelize([(1, "c", 1)])
    spark.createDataFrame(made, "id long, v string, n long").createOrReplaceTempView("made")
    clauses = f"{MATCHED} WHEN NOT MATCHED THEN INSERT *"

    for source in (random, grouped, "SELECT * FROM made"):
        spark.sql(f"MERGE INTO paimon.db.t t USING ({source}) s ON t.id = s.id {clauses}")
        assert not is_filtered(frames[-1])
    by_source = "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -1"
    spark.sql(f"MERGE INTO paimon.db.t t USING (SELECT 1L id) s ON t.id = s.id {by_source}")
    spark.sql(f"MERGE INTO paimon.db.t t USING (SELECT 1D id, 'x' v) s ON t.id = s.id {MATCHED}")
    assert not any(map(is_filtered, frames[-2:]))


def test_a_merge_of_a_table_into_itself_finds_its_rows(
    catalog: Catalog, spark: SparkSession, frames: list[DataFrame]
) -> None:
    table = catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING"})
    spark.sql("INSERT INTO paimon.db.t SELECT id, 'a' FROM range(5)")
    source = "SELECT id + 3 AS id, concat(v, 'b') AS v FROM paimon.db.t WHERE id < 3"

    spark.sql(
        f"MERGE INTO paimon.db.t t USING ({source}) s ON s.id = t.id "
        "WHEN MATCHED AND t.id > 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED THEN INSERT *"
    )

    assert is_filtered(frames[-1])
    assert rows(table) == [(0, "a"), (1, "a"), (2, "a"), (3, "ab"), (5, "ab")]
