from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import NotFoundError, PaimonError
from paimonlab.table.system import SYSTEM_TABLES
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Make a partitioned primary-key table with two commits and a tag."""
    made = catalog.create_table(
        "db.t",
        {"id": "BIGINT", "v": "STRING", "dt": "STRING"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "2"},
    )
    made.write(pa.table({"id": [1, 2, 3], "v": ["a", "b", "c"], "dt": ["x", "x", "y"]}))
    made.write(pa.table({"id": [1], "v": ["z"], "dt": ["x"]}))
    made.tags.create("first", snapshot=1)
    return made


def rows(spark: SparkSession, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(sql).collect()]


@pytest.mark.parametrize("name", sorted(set(SYSTEM_TABLES) - {"row_tracking"}))
def test_spark_shows_what_python_shows(
    name: str, spark: SparkSession, catalog: Catalog, table: Table
) -> None:
    expected = catalog.system_table(f"db.t${name}").scan().to_arrow()

    shown = spark.table(f"paimon.db.`t${name}`").toArrow()

    assert shown.column_names == expected.column_names
    assert unordered(shown) == unordered(expected)


def unordered(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def test_rows_with_ids_are_shown(spark: SparkSession, catalog: Catalog) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    made = catalog.create_table("db.ids", {"a": "INT", "b": "ARRAY<INT>"}, options=options)
    made.write(pa.table({"a": [1, 2], "b": [[1], None]}))
    made.write(pa.table({"a": [3], "b": [[2, 3]]}))
    made.write_columns(pa.table({"_ROW_ID": [1, 2], "a": [20, 30]}))

    found = spark.sql("SELECT * FROM paimon.db.`ids$row_tracking` ORDER BY _ROW_ID").toArrow()

    assert found.to_pydict() == {
        "a": [1, 20, 30],
        "b": [[1], None, [2, 3]],
        "_ROW_ID": [0, 1, 2],
        "_SEQUENCE_NUMBER": [3, 3, 3],
    }
    plain = spark.sql("SELECT a, b FROM paimon.db.ids WHERE a > 1 ORDER BY a").toArrow()
    assert plain.to_pydict() == {"a": [20, 30], "b": [None, [2, 3]]}
    assert rows(spark, "SELECT count(*), sum(a) FROM paimon.db.ids") == [(3, 51)]


def test_the_tables_of_a_catalog_are_shown(spark: SparkSession, table: Table) -> None:
    assert rows(
        spark, "SELECT table_name, value FROM paimon.sys.all_table_options WHERE key = 'bucket'"
    ) == [("t", "2")]
    assert rows(spark, "SELECT table_name, partitioned FROM paimon.sys.tables") == [("t", True)]


def test_snapshots_are_rows(spark: SparkSession, table: Table) -> None:
    assert rows(
        spark,
        "SELECT snapshot_id, commit_kind, total_record_count, delta_record_count "
        "FROM paimon.db.`t$snapshots` ORDER BY snapshot_id DESC",
    ) == [(2, "APPEND", 4, 1), (1, "APPEND", 3, 3)]


def test_types_are_those_of_the_java_connector(spark: SparkSession, table: Table) -> None:
    types = dict(spark.table("paimon.db.`t$snapshots`").dtypes)

    assert types["snapshot_id"] == "bigint"
    assert types["commit_time"] == "timestamp_ntz"
    assert types["commit_kind"] == "string"
    assert isinstance(
        rows(spark, "SELECT commit_time FROM paimon.db.`t$snapshots`")[0][0], datetime
    )


def test_only_the_columns_asked_for_are_computed(spark: SparkSession, table: Table) -> None:
    plan = spark.sql("SELECT bucket FROM paimon.db.`t$files`")._jdf.queryExecution().toString()

    assert "LocalTableScan" in plan
    assert "min_value_stats" not in plan.split("== Physical Plan ==")[1]


def test_system_tables_join_filter_and_count(spark: SparkSession, table: Table) -> None:
    assert rows(spark, "SELECT count(*) FROM paimon.db.`t$tags`") == [(1,)]
    assert rows(spark, "SELECT value FROM paimon.db.`t$options` WHERE key = 'bucket'") == [("2",)]
    assert rows(
        spark,
        "SELECT s.snapshot_id FROM paimon.db.`t$snapshots` s "
        "JOIN paimon.db.`t$tags` t ON s.snapshot_id = t.snapshot_id",
    ) == [(1,)]
    assert rows(spark, "SELECT sum(record_count) FROM paimon.db.`t$files`") == [(4,)]


def test_an_empty_system_table_has_its_columns(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.empty", {"id": "INT"})

    frame = spark.table("paimon.db.`empty$snapshots`")

    assert frame.columns[0] == "snapshot_id"
    assert frame.collect() == []


def test_they_are_described_but_not_listed(spark: SparkSession, table: Table) -> None:
    assert rows(spark, "DESCRIBE paimon.db.`t$options`") == [
        ("key", "string", None),
        ("value", "string", None),
    ]
    assert rows(spark, "SHOW TABLES IN paimon.db") == [("db", "t", False)]


def test_they_show_the_newest_state_each_time(spark: SparkSession, table: Table) -> None:
    count = "SELECT count(*) FROM paimon.db.`t$snapshots`"
    assert rows(spark, count) == [(2,)]

    table.write(pa.table({"id": [9], "v": ["q"], "dt": ["z"]}))

    assert rows(spark, count) == [(3,)]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO paimon.db.`t$options` VALUES ('a', 'b')",
        "INSERT OVERWRITE paimon.db.`t$options` VALUES ('a', 'b')",
        "DELETE FROM paimon.db.`t$options`",
        "DROP TABLE paimon.db.`t$options`",
        "ALTER TABLE paimon.db.`t$options` ADD COLUMN c INT",
        "ALTER TABLE paimon.db.`t$options` RENAME TO db.u",
        "TRUNCATE TABLE paimon.db.`t$options`",
        "SELECT * FROM paimon.db.`t$options` VERSION AS OF 1",
    ],
)
def test_they_are_read_only_and_of_now(
    sql: str, spark: SparkSession, catalog: Catalog, table: Table
) -> None:
    with pytest.raises((PaimonError, AnalysisException)):
        spark.sql(sql)

    assert catalog.tables("db") == ["t"]


def test_an_unknown_system_table_is_named(spark: SparkSession, table: Table) -> None:
    with pytest.raises((PaimonError, AnalysisException), match=r"t\$snapshot\b"):
        spark.sql("SELECT * FROM paimon.db.`t$snapshot`")


def test_a_branch_is_read_by_its_name(spark: SparkSession, table: Table) -> None:
    table.branches.create("dev", tag="first")

    rows = spark.sql("SELECT id, v FROM paimon.db.`t$branch_dev` ORDER BY id").toArrow()

    assert rows.to_pydict() == {"id": [1, 2, 3], "v": ["a", "b", "c"]}
    with pytest.raises(NotFoundError, match="other"):
        spark.sql("SELECT * FROM paimon.db.`t$branch_other`")
