"""Paimon 0.9 reads the tables we write; ``make interop`` runs this, ``make test`` does not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.spec.schema.change_kinds import SchemaChange
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type
from tests.interop.conftest import without_java
from tests.interop.java_build import JavaMissingError, JavaTools
from tests.interop.paimon09.spark35 import Spark35
from tests.interop.pair import KIND, random_rows
from tests.java_values import java_rows, unordered

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        os.environ.get("PAIMONLAB_INTEROP") != "require",
        reason="Paimon 0.9 needs another Spark (400 MB); `make interop` runs it",
    ),
]

COLUMNS = {
    "f_boolean": "BOOLEAN",
    "f_tinyint": "TINYINT",
    "f_smallint": "SMALLINT",
    "f_int": "INT",
    "f_bigint": "BIGINT",
    "f_float": "FLOAT",
    "f_double": "DOUBLE",
    "f_string": "STRING",
    "f_varchar": "VARCHAR(20)",
    "f_bytes": "BYTES",
    "f_date": "DATE",
    "f_ts3": "TIMESTAMP(3)",
    "f_ts6": "TIMESTAMP(6)",
    "f_ltz3": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "f_ltz6": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    **{f"f_dec{p}": f"DECIMAL({p}, {p // 3})" for p in (1, 9, 10, 18, 19, 29, 38)},
    "f_array": "ARRAY<STRING>",
    "f_map": "MAP<STRING, INT>",
    "f_row": "ROW<x INT, y DECIMAL(20, 2)>",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the warehouse of all tests here: a Spark session has one."""
    return tmp_path_factory.mktemp("warehouse09")


@pytest.fixture(scope="module")
def spark35(
    java_tools: JavaTools, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Spark35]:
    try:
        started = Spark35(java_tools, shared, tmp_path_factory.mktemp("spark35"))
    except JavaMissingError as missing:
        without_java(missing)
    yield started
    started.close()


@pytest.fixture(scope="module")
def catalog(shared: Path) -> pl.Catalog:
    opened = pl.connect(shared)
    opened.create_database("db")
    return opened


def assert_same(spark: Spark35, table: pl.Table, where: str | None = None) -> None:
    """Both read the same rows."""
    sql = f"SELECT * FROM {table.name}" + (f" WHERE {where}" if where else "")
    theirs = spark.rows(sql).cast(nullable(table.arrow_schema))
    ours = table.scan(where=where).to_arrow()
    fields: Sequence[DataField] = table.schema.fields
    assert unordered(without_rows_of_nulls(java_rows(theirs, fields))) == unordered(
        without_rows_of_nulls(java_rows(ours, fields))
    )


def without_rows_of_nulls(rows: list[list[Any]]) -> list[list[Any]]:
    """Take a ROW of nulls for a null, as 0.9 does."""
    return [[None if value == [None, None] else value for value in row] for row in rows]


def nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])


@pytest.mark.parametrize("pk", [[], ["f_int", "f_string"]], ids=["append", "keyed"])
def test_values_of_all_types(
    spark35: Spark35, catalog: pl.Catalog, pk: list[str], rng: np.random.Generator
) -> None:
    columns = COLUMNS | {name: f"{COLUMNS[name]} NOT NULL" for name in pk}
    name = f"db.types{len(pk)}"
    table = catalog.create_table(
        name, columns, primary_keys=pk, options={"bucket": "2"} if pk else {}
    )

    for _ in range(3):
        rows = random_rows(columns, 40, rng)
        kinds = pa.array(rng.choice(["+I", "-D"], 40) if pk else ["+I"] * 40)
        table.write(rows.append_column(KIND, kinds), row_kinds=KIND)

    assert_same(spark35, table)


def test_columns_that_are_not_compressed(
    spark35: Spark35, catalog: pl.Catalog, rng: np.random.Generator
) -> None:
    columns = {"k": "INT NOT NULL", "noise": "DOUBLE", "text": "STRING"}
    table = catalog.create_table("db.noisy", columns)
    numbers = range(9000)
    table.write(
        pa.table(
            {
                "k": pa.array(numbers, pa.int32()),
                "noise": rng.random(len(numbers)),
                "text": [f"text {number}" for number in numbers],
            }
        )
    )

    assert_same(spark35, table)


def test_partitions_and_filters(
    spark35: Spark35, catalog: pl.Catalog, rng: np.random.Generator
) -> None:
    columns = {"p": "VARCHAR(9)", "d": "DATE", "v": "INT"}
    table = catalog.create_table("db.parted", columns, partition_keys=["p", "d"])
    rows = random_rows(columns, 20, rng)
    table.write(rows)
    table.write(rows.slice(0, 5))

    assert_same(spark35, table)
    assert_same(spark35, table, "v > 0")
    assert_same(spark35, table, "p = 'a'")
    assert_same(spark35, table, "d IS NULL")


def test_a_changed_schema(spark35: Spark35, catalog: pl.Catalog, rng: np.random.Generator) -> None:
    columns = {"k": "INT NOT NULL", "a": "INT", "b": "STRING"}
    table = catalog.create_table("db.changed", columns, primary_keys=["k"], options={"bucket": "1"})
    changes: list[SchemaChange] = [
        pl.RenameColumn("b", "c"),
        pl.UpdateColumnType("a", "BIGINT"),
        pl.AddColumn("b", "DECIMAL(9, 2)"),
        pl.DropColumn("c"),
    ]

    for change in changes:
        types: Mapping[str, str] = {
            field.name: format_type(field.type) for field in table.schema.fields
        }
        table.write(random_rows(types, 10, rng))
        table = catalog.alter_table("db.changed", change)
        assert_same(spark35, table)


def test_a_table_of_09_that_we_write_on(spark35: Spark35, catalog: pl.Catalog) -> None:
    spark35.run(
        "CREATE TABLE db.theirs (k INT NOT NULL, v STRING) "
        "TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '2')"
    )
    spark35.run("INSERT INTO db.theirs VALUES (1, 'a'), (2, 'b')")
    table = catalog.table("db.theirs")
    assert isinstance(table, pl.Table)
    assert_same(spark35, table)

    table.write(pa.table({"k": pa.array([2, 3], pa.int32()), "v": ["B", "C"]}))
    assert_same(spark35, table)
    spark35.run("INSERT INTO db.theirs VALUES (3, 'CC'), (4, 'd')")

    assert_same(spark35, table)
    rows = sorted(row["v"] for row in table.scan().to_arrow().to_pylist())
    assert rows == ["B", "CC", "a", "d"]
