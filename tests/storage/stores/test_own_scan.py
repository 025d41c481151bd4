"""Spark reads tables on HDFS by its own scan; the same rows come by our reader."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.errors import UnsupportedError
from paimonlab.spark import connect
from paimonlab.spark.reading.own_scan import READER_KEY
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from tests.spark.conftest import spark as _spark

spark = _spark
pytestmark = pytest.mark.interop
OWN, OURS = "FileScan parquet", "by Python"


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)


def read(spark: SparkSession, query: str) -> tuple[list[tuple[Any, ...]], str]:
    plan = str(spark.sql(f"EXPLAIN {query}").collect()[0][0])
    return sorted(tuple(row) for row in spark.sql(query).collect()), plan


def test_the_same_rows_come_by_both_readers(spark: SparkSession, hdfs_server: str) -> None:
    options = {"warehouse": f"{hdfs_server}/{uuid.uuid4()}"}
    catalog = pl.connect(options)
    connect(options, catalog="far", spark=spark)
    catalog.create_database("db")
    day = dt.date(2024, 1, 1)
    schema = {"id": "BIGINT NOT NULL", "v": "STRING", "dt": "DATE", "p": "STRING"}

    parted = catalog.create_table("db.parted", schema, partition_keys=["dt", "p"])
    rows = [{"id": i, "v": f"v{i}", "dt": day, "p": "a b/%" if i % 2 else "c"} for i in range(40)]
    parted.write(rows)
    spark.sql("ALTER TABLE far.db.parted ADD COLUMN more INT")
    spark.sql("ALTER TABLE far.db.parted RENAME COLUMN v TO w")
    spark.sql("INSERT INTO far.db.parted VALUES (99, 'w', DATE '2024-01-02', 'c', 7)")
    wanted: dict[str, list[tuple[Any, ...]]] = {
        "parted": sorted(
            [(r["id"], r["v"], day, r["p"], None) for r in rows]
            + [(99, "w", dt.date(2024, 1, 2), "c", 7)]
        )
    }
    of_keys = {"id": "BIGINT NOT NULL", "v": "STRING"}
    keyed = {"primary-key": "id", "bucket": "1"}
    given = {
        "runs": {"write-only": "true"},
        "deleted": {"deletion-vectors.enabled": "true"},
    }
    for name, more in given.items():
        table = catalog.create_table(f"db.{name}", of_keys, options=keyed | more)
        for step in range(3):
            table.write(pa.table({"id": range(step * 10, step * 10 + 20), "v": [f"{step}"] * 20}))
        wanted[name] = [(number, f"{min(number // 10, 2)}") for number in range(40)]

    for name, expected in wanted.items():
        query = f"SELECT * FROM far.db.{name}"
        by_own, plan = read(spark, query)
        assert by_own == expected
        is_own = name != "runs"
        assert (OWN in plan) == is_own, plan
        assert (OURS in plan) != is_own, plan
        with setting(spark, READER_KEY, "python"):
            by_ours, plan = read(spark, query)
            assert by_ours == expected
            assert f"by Python ({READER_KEY} says so)" in plan
    some, plan = read(spark, "SELECT id FROM far.db.parted WHERE p = 'a b/%' AND id > 30")
    assert (some, OWN in plan) == ([(31,), (33,), (35,), (37,), (39,)], True)
    [[path]] = spark.sql("SELECT __paimon_file_path FROM far.db.parted WHERE id = 99").collect()
    assert path.startswith(hdfs_server)

    with setting(spark, READER_KEY, "java"), pytest.raises(UnsupportedError, match="'java'"):
        spark.sql("SELECT * FROM far.db.parted").collect()
    told = {"hadoop.dfs.client.read.shortcircuit": "true"}
    connect(options | told, catalog="other", spark=spark)
    rows_of_other, plan = read(spark, "SELECT * FROM other.db.parted")
    assert rows_of_other == wanted["parted"]
    assert "by Python (the session has another dfs.client.read.shortcircuit than" in plan
    with setting(spark, "dfs.client.read.shortcircuit", "true"):
        assert OWN in read(spark, "SELECT * FROM other.db.parted")[1]
    said = {check.name: check.found for check in checks(measured(catalog))}
    assert said["Spark reads"].startswith("by its own scan")
