"""Branches in Spark: read and written by name; what two branches hold together is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab import SetOption
from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from paimonlab.table.table import Table


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


def test_changes_and_fallbacks_are_refused(
    spark: SparkSession, catalog: Catalog, table: Table
) -> None:
    spark.conf.set("spark.paimon.incremental-between", "1,2")
    try:
        with pytest.raises(UnsupportedError, match="incremental-between"):
            values(spark, "t")
    finally:
        spark.conf.unset("spark.paimon.incremental-between")
    catalog.alter_table("db.t", SetOption("scan.fallback-branch", "dev"))
    with pytest.raises(UnsupportedError, match="fallback"):
        values(spark, "t")
    assert table.on_branch("dev").scan().count() == 2
