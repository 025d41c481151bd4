"""Branches in Spark: read and written by name, and what two branches hold together."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab import SetOption
from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Make a table with a branch that begins with its first snapshot."""
    made = catalog.create_table(
        "db.t", {"id": "BIGINT", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    )
    made.write(pa.table({"id": [1], "v": ["a"]}))
    made.branches.create("dev", snapshot=1)
    made.write(pa.table({"id": [2], "v": ["main"]}))
    made.on_branch("dev").write(pa.table({"id": [2], "v": ["dev"]}))
    return made


def values(spark: SparkSession, name: str) -> str:
    sql = f"SELECT id, v FROM paimon.db.`{name}` ORDER BY id"
    return " ".join(f"{row.id}{row.v}" for row in spark.sql(sql).collect())


def test_a_branch_is_read_and_written_by_its_name(spark: SparkSession, table: Table) -> None:
    assert values(spark, "t$branch_dev") == "1a 2dev"
    assert values(spark, "t") == "1a 2main"

    spark.sql("INSERT INTO paimon.db.`t$branch_dev` VALUES (3, 'x')")

    assert values(spark, "t$branch_dev") == "1a 2dev 3x"
    assert values(spark, "t") == "1a 2main"
    assert table.on_branch("dev").scan().count() == 3
    rows = spark.sql("SELECT count(*) FROM paimon.db.`t$branch_dev$snapshots`").collect()
    assert rows[0][0] == 3


def test_partitions_that_a_branch_lacks_come_from_its_fallback(
    spark: SparkSession, catalog: Catalog
) -> None:
    made = catalog.create_table(
        "db.f",
        {"id": "INT", "p": "INT", "v": "STRING"},
        primary_keys=["id", "p"],
        partition_keys=["p"],
        options={"bucket": "1", "write-only": "true"},
    )
    made.write(numbered([(1, 1, "main")]))
    made.branches.create("old", snapshot=1)
    old = made.on_branch("old")
    for value in ("a", "b"):  # two runs to be merged
        old.write(numbered([(1, 1, "hidden"), (1, 2, value), (2, 2, value)]))
    catalog.alter_table("db.f", SetOption("scan.fallback-branch", "old"))
    both = [(1, 1, "main"), (1, 2, "b"), (2, 2, "b")]

    assert rows_of(spark, "SELECT * FROM paimon.db.f") == both
    assert rows_of(spark, "SELECT count(*) FROM paimon.db.f") == [(3,)]
    assert rows_of(spark, "SELECT v FROM paimon.db.f WHERE p = 2 AND id = 1") == [("b",)]
    spark.sql("INSERT INTO paimon.db.f VALUES (9, 2, 'new')")  # hides the partition
    assert rows_of(spark, "SELECT * FROM paimon.db.f") == [both[0], (9, 2, "new")]
    assert rows_of(spark, "SELECT * FROM paimon.db.f VERSION AS OF 1") == both[:1]
    spark.sql("DELETE FROM paimon.db.f WHERE id < 9")  # changes rows of the branch alone
    assert rows_of(spark, "SELECT * FROM paimon.db.f") == [(9, 2, "new")]
    assert old.scan().count() == 3
    with pytest.raises(UnsupportedError, match="fallback"):
        spark.sql("SELECT __paimon_bucket FROM paimon.db.f")


def numbered(rows: list[tuple[int, int, str]]) -> pa.Table:
    ids, parts, values = zip(*rows, strict=True)
    return pa.table(
        {"id": pa.array(ids, pa.int32()), "p": pa.array(parts, pa.int32()), "v": values}
    )


def rows_of(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())
