"""Golden tables: Spark returns the rows that Java Paimon reads, now and at every snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab.catalog import connect as open_catalog
from paimonlab.spark import connect
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.table.table import Table
from tests.golden.expected import Case, expected
from tests.java_values import java_rows, normal_rows, unordered

TRAVELLED = ["evo_append", "evo_parquet", "evo_nested_parquet", "lookup_dv"]
OTHER_KINDS = [
    "append_dv",
    "bucket_mod_pk",
    "comp_avro_zstd",
    "comp_orc_zstd",
    "cross",
    "dataevo",
    "dv64_append",
    "dv64_pk",
    "evo_nested_avro",
    "evo_nested_orc",
    "evo_orc",
    "findex",
    "idx_in_data_dir",
    "layout",
    "mani_orc",
    "per_level",
    "pk_dv",
    "pk_dv_small",
    "rowtrack",
    "thin_avro",
    "thin_parquet",
]
"""What Spark's own Parquet reader would read wrong, or not at all."""
MERGED = [
    *("agg_default", "agg_seq", "ignore_del", "pk_agg", "pk_agg_sketch"),
    *("pk_first", "pk_partial", "pu_group_remove", "pu_remove"),
]
"""Merge engines: some make rows that no file has."""
TABLES = [
    Case("java-1.3.1", name)
    for name in [
        *TRAVELLED,
        "append_bucketed",
        "br_fallback",
        "cl_lookup",
        "dyn_part",
        "ident",
        "lsm",
        "part_date",
        "part_dec",
        "part_double",
        "part_ts",
        "pk_comp",
        "pk_part",
        "types_avro",
        "types_pk_avro",
        "rowkind",
        "seq_desc",
        *OTHER_KINDS,
        *MERGED,
    ]
] + [
    *(Case("java-1.4.2", name) for name in ["evo_orc", "lsm", "pk_comp", "pk_dv", "thin_avro"]),
    *(Case("java-0.9", name) for name in ["evo_parquet", "lsm", "part_ts", "pk_comp"]),
]


@pytest.fixture(autouse=True)
def far_zone(spark: SparkSession) -> Iterator[None]:
    """Run in a zone that would show a shift."""
    spark.conf.set("spark.sql.session.timeZone", "America/St_Johns")
    yield
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def opened(case: Case, spark: SparkSession) -> Table:
    warehouse = expected(case).warehouse
    connect(warehouse, spark=spark)
    table = open_catalog(warehouse).table(f"db.{case.table}")
    assert isinstance(table, Table)
    return table


def assert_rows(found: DataFrame, schema: TableSchema, rows: Sequence[Sequence[Any]]) -> None:
    shown = java_rows(found.toArrow().cast(arrow_schema(schema.fields)), schema.fields)
    assert unordered(shown) == unordered(normal_rows(rows, schema.fields))


@pytest.mark.parametrize("case", TABLES, ids=str)
def test_spark_returns_the_rows_that_java_reads(case: Case, spark: SparkSession) -> None:
    schema = opened(case, spark).schema

    found = spark.table(f"paimon.db.{case.table}")

    assert_rows(found, schema, expected(case).latest)


@pytest.mark.parametrize("name", TRAVELLED)
def test_spark_travels_to_every_snapshot(name: str, spark: SparkSession) -> None:
    case = Case("java-1.3.1", name)
    table = opened(case, spark)

    for snapshot, rows in expected(case).snapshots.items():
        schema = table.schemas.get(table.snapshots.get(snapshot).schema_id)
        found = spark.sql(f"SELECT * FROM paimon.db.{name} VERSION AS OF {snapshot}")
        assert_rows(found, schema, rows)
