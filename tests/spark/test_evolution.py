from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog import Catalog
from paimonlab.table.table import Table
from tests.spark.plans import physical_plan


def same_as_ours(spark: SparkSession, table: Table, order: str) -> list[dict[str, Any]]:
    """Check that Spark and our own reader return the same rows, and return them."""
    found = spark.sql(f"SELECT * FROM paimon.{table.name} ORDER BY {order}").toArrow()
    expected = table.scan().to_arrow().sort_by(order)
    assert found.schema.names == expected.schema.names
    assert found.to_pylist() == expected.to_pylist()
    return found.to_pylist()


@pytest.fixture(params=["append", "primary key"])
def old(request: pytest.FixtureRequest, catalog: Catalog) -> Table:
    """Return table db.t (id INT, a INT, b STRING) with rows 1 and 2."""
    has_key = request.param == "primary key"
    table = catalog.create_table(
        "db.t",
        {"id": "INT NOT NULL", "a": "INT", "b": "STRING"},
        primary_keys=["id"] if has_key else [],
        options={"bucket": "1", "write-only": "true"} if has_key else {},
    )
    write(table, id=[1, 2], a=[10, 20], b=["x", "y"])
    return table


def write(table: Table, **columns: list[Any]) -> None:
    schema = pa.schema([table.arrow_schema.field(name) for name in columns])
    table.write(pa.table(columns, schema=schema))


def test_a_renamed_column_keeps_its_old_rows(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    table = catalog.alter_table("db.t", pl.RenameColumn("b", "c"))
    write(table, id=[3], a=[30], c=["z"])

    rows = same_as_ours(spark, table, "id")

    assert [row["c"] for row in rows] == ["x", "y", "z"]
    found = spark.sql("SELECT id FROM paimon.db.t WHERE c >= 'y' ORDER BY id").collect()
    assert [row.id for row in found] == [2, 3]


def test_two_columns_that_swap_their_names(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    catalog.alter_table("db.t", pl.AddColumn("e", "STRING"))
    catalog.alter_table("db.t", pl.RenameColumn("b", "tmp"))
    catalog.alter_table("db.t", pl.RenameColumn("e", "b"))
    table = catalog.alter_table("db.t", pl.RenameColumn("tmp", "e"))
    write(table, id=[3], a=[30], b=["new b"], e=["new e"])

    rows = same_as_ours(spark, table, "id")

    assert [(row["b"], row["e"]) for row in rows] == [
        (None, "x"),
        (None, "y"),
        ("new b", "new e"),
    ]


def test_a_column_dropped_and_added_again_is_null_in_old_rows(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    catalog.alter_table("db.t", pl.DropColumn("b"))
    table = catalog.alter_table("db.t", pl.AddColumn("b", "STRING"))
    write(table, id=[3], a=[30], b=["z"])

    rows = same_as_ours(spark, table, "id")

    assert [row["b"] for row in rows] == [None, None, "z"]
    assert spark.sql("SELECT id FROM paimon.db.t WHERE b = 'x'").collect() == []
    found = spark.sql("SELECT id FROM paimon.db.t WHERE b IS NULL ORDER BY id").collect()
    assert [row.id for row in found] == [1, 2]


def test_a_column_added_again_with_another_type(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    catalog.alter_table("db.t", pl.DropColumn("b"))
    table = catalog.alter_table("db.t", pl.AddColumn("b", "BIGINT"))
    write(table, id=[3], a=[30], b=[7])

    rows = same_as_ours(spark, table, "id")

    assert [row["b"] for row in rows] == [None, None, 7]


def test_a_widened_column_is_still_read_by_spark_itself(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    table = catalog.alter_table("db.t", pl.UpdateColumnType("a", "BIGINT"))
    write(table, id=[3], a=[2**40], b=["z"])

    rows = same_as_ours(spark, table, "id")

    assert [row["a"] for row in rows] == [10, 20, 2**40]
    frame = spark.sql("SELECT id FROM paimon.db.t WHERE a > 15 ORDER BY id")
    assert [row.id for row in frame.collect()] == [2, 3]
    assert "Python" not in physical_plan(frame)


def test_a_cast_that_only_java_and_we_make_goes_through_our_reader(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "a": "DOUBLE"})
    write(table, id=[1, 2], a=[1e10, 0.1])
    table = catalog.alter_table("db.t", pl.UpdateColumnType("a", "STRING"))
    write(table, id=[3], a=["text"])

    same_as_ours(spark, table, "id")

    frame = spark.sql("SELECT id FROM paimon.db.t WHERE a = 'text'")
    assert [row.id for row in frame.collect()] == [3]
    plan = physical_plan(frame)
    assert "Python" in plan
    assert "FileScan parquet" in plan


def test_other_options_do_not_divide_the_scan(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    catalog.alter_table("db.t", pl.SetOption("target-file-size", "64 mb"))
    table = catalog.alter_table("db.t", pl.AddColumn("n", "INT"))
    write(table, id=[3], a=[30], b=["z"], n=[1])

    same_as_ours(spark, table, "id")

    assert physical_plan(spark.sql("SELECT * FROM paimon.db.t")).count("FileScan parquet") == 1


def test_an_update_after_a_rename_hides_the_old_row(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table(
        "db.t",
        {"id": "INT NOT NULL", "v": "INT"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    write(table, id=[1, 2, 3], v=[1, 2, 3])
    table = catalog.alter_table("db.t", pl.RenameColumn("v", "w"))
    write(table, id=[2], w=[20])
    table = catalog.alter_table("db.t", pl.UpdateColumnType("w", "BIGINT"))
    write(table, id=[3], w=[30])

    rows = same_as_ours(spark, table, "id")

    assert [row["w"] for row in rows] == [1, 20, 30]


def test_time_travel_reads_with_the_schema_of_that_time(
    catalog: Catalog, old: Table, spark: SparkSession
) -> None:
    table = catalog.alter_table("db.t", pl.RenameColumn("b", "c"))
    table = catalog.alter_table("db.t", pl.DropColumn("a"))
    write(table, id=[3], c=["z"])

    then = spark.sql("SELECT * FROM paimon.db.t VERSION AS OF 1 ORDER BY id")
    now = spark.sql("SELECT * FROM paimon.db.t ORDER BY id")

    assert then.columns == ["id", "a", "b"]
    assert [tuple(row) for row in then.collect()] == [(1, 10, "x"), (2, 20, "y")]
    assert now.columns == ["id", "c"]
    assert [tuple(row) for row in now.collect()] == [(1, "x"), (2, "y"), (3, "z")]


def test_random_changes_agree_with_our_reader(
    catalog: Catalog, spark: SparkSession, rng: np.random.Generator
) -> None:
    table = catalog.create_table(
        "db.t",
        {"id": "INT NOT NULL", "c0": "TINYINT", "c1": "STRING"},
        primary_keys=["id"],
        options={"bucket": "2", "write-only": "true"},
    )
    wider = {"TINYINT": "SMALLINT", "SMALLINT": "INT", "INT": "BIGINT", "BIGINT": "STRING"}
    types = {"c0": "TINYINT", "c1": "STRING"}
    for _ in range(8):
        name = str(rng.choice(list(types)))
        fresh = f"c{rng.integers(5)}"
        match rng.integers(4):
            case 0 if fresh not in types:
                types[fresh] = str(rng.choice(["TINYINT", "INT", "STRING"]))
                table = catalog.alter_table("db.t", pl.AddColumn(fresh, types[fresh]))
            case 1 if len(types) > 1:
                del types[name]
                table = catalog.alter_table("db.t", pl.DropColumn(name))
            case 2 if fresh not in types:
                types[fresh] = types.pop(name)
                table = catalog.alter_table("db.t", pl.RenameColumn(name, fresh))
            case 3 if types[name] in wider:
                types[name] = wider[types[name]]
                table = catalog.alter_table("db.t", pl.UpdateColumnType(name, types[name]))
        ids = rng.choice(50, 30, replace=False)
        columns = {
            name: [f"t{v}" if kind == "STRING" else int(v) for v in rng.integers(0, 100, 30)]
            for name, kind in types.items()
        }
        write(table, id=ids.tolist(), **columns)

        same_as_ours(spark, table, "id")
