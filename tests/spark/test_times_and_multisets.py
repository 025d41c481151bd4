"""TIME and MULTISET, which Spark has under other names or only behind a setting."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import types as st

from paimonlab import AddColumn
from paimonlab.catalog import Catalog
from paimonlab.table.table import Table
from tests.spark.plans import physical_plan

COLUMNS = {
    "id": "INT",
    "opens": "TIME(3)",
    "tags": "MULTISET<STRING>",
    "hours": "ROW<ends TIME(0), n INT>",
}
ROWS: list[dict[str, Any]] = [
    {
        "id": 1,
        "opens": dt.time(8, 30, 0, 250_000),
        "tags": [("a", 2), ("b", 1)],
        "hours": {"ends": dt.time(17), "n": 1},
    },
    {"id": 2, "opens": None, "tags": None, "hours": None},
    {
        "id": 3,
        "opens": dt.time(23, 59, 59, 999_000),
        "tags": [],
        "hours": {"ends": None, "n": 2},
    },
]


def made(catalog: Catalog, options: dict[str, str], columns: dict[str, str] = COLUMNS) -> Table:
    """Make db.t with `ROWS`; with a key if it has buckets, in two commits that overlap."""
    keys = ["id"] if "bucket" in options else []
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=options)
    rows = [{name: row[name] for name in columns} for row in ROWS]
    if keys:
        table.write(pa.Table.from_pylist(rows[:1], schema=table.arrow_schema))
    table.write(pa.Table.from_pylist(rows, schema=table.arrow_schema))
    return table


@pytest.mark.parametrize(
    "options",
    [{}, {"file.format": "orc"}, {"bucket": "1", "write-only": "true"}],
    ids=["append", "orc", "keys"],
)
def test_columns_beside_them_are_read_and_they_can_be_cast(
    options: dict[str, str], catalog: Catalog, spark: SparkSession
) -> None:
    made(catalog, options)

    assert spark.sql("SELECT id FROM paimon.db.t ORDER BY id").collect() == [(1,), (2,), (3,)]
    texts = spark.sql(
        "SELECT CAST(opens AS STRING), CAST(tags AS STRING), CAST(hours.ends AS STRING), hours.n "
        "FROM paimon.db.t ORDER BY id"
    ).collect()
    assert texts == [
        ("08:30:00.25", "{a -> 2, b -> 1}", "17:00:00", 1),
        (None, None, None, None),
        ("23:59:59.999", "{}", None, 2),
    ]
    found = spark.sql("SELECT id, tags['a'] FROM paimon.db.t WHERE opens > TIME'12:00:00'")
    assert found.collect() == [(3, None)]
    assert spark.sql("SELECT max(opens) FROM paimon.db.t").collect() == [(ROWS[2]["opens"],)]


@pytest.mark.parametrize("options", [{}, {"bucket": "2"}], ids=["append", "keys"])
def test_they_are_written_and_changed(
    options: dict[str, str], catalog: Catalog, spark: SparkSession
) -> None:
    columns = {name: COLUMNS[name] for name in ("id", "opens", "tags")}
    table = made(catalog, options, columns)

    def told() -> list[tuple[Any, ...]]:
        rows = table.scan().to_arrow().sort_by("id").to_pylist()
        return [tuple(row.values()) for row in rows]

    if not options:  # Spark reads TIME itself as it reads an INT
        assert "FileScan parquet" in physical_plan(spark.table("paimon.db.t").select("opens"))
    spark.sql("INSERT INTO paimon.db.t VALUES (4, TIME'00:00:00.001', map('c', 3))")
    spark.sql("UPDATE paimon.db.t SET opens = TIME'01:02:03' WHERE id = 1")
    spark.sql("DELETE FROM paimon.db.t WHERE opens = TIME'23:59:59.999'")
    spark.sql(
        "MERGE INTO paimon.db.t t USING (SELECT 2 AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET tags = map('x', 1)"
    )

    assert told() == [
        (1, dt.time(1, 2, 3), [("a", 2), ("b", 1)]),
        (2, None, [("x", 1)]),
        (4, dt.time(0, 0, 0, 1000), [("c", 3)]),
    ]
    collected = [tuple(row) for row in spark.table("paimon.db.t").orderBy("id").collect()]
    assert collected == [(*row[:2], dict(row[2])) for row in told()]


def test_a_time_may_be_of_the_partition_and_come_later(
    catalog: Catalog, spark: SparkSession
) -> None:
    columns = {"id": "INT", "opens": "TIME(3)"}
    table = catalog.create_table("db.p", columns, partition_keys=["opens"])
    rows = [{"id": row["id"], "opens": row["opens"]} for row in ROWS]
    table.write(pa.Table.from_pylist(rows, schema=table.arrow_schema))
    plain = catalog.create_table("db.a", {"id": "INT"})
    plain.write(pa.table({"id": pa.array([1], pa.int32())}))
    catalog.alter_table("db.a", AddColumn("opens", "TIME(3)"), AddColumn("h", COLUMNS["hours"]))

    found = spark.sql("SELECT id, opens FROM paimon.db.p ORDER BY id").collect()
    assert found == [tuple(row.values()) for row in rows]
    one = spark.sql("SELECT id FROM paimon.db.p WHERE opens = TIME'08:30:00.250'")
    assert one.collect() == [(1,)]
    assert spark.table("paimon.db.a").collect() == [(1, None, None)]
    empty = catalog.create_table("db.e", COLUMNS)
    assert empty.scan().count() == 0
    assert spark.sql("SELECT count(*) FROM paimon.db.e").collect() == [(0,)]
    assert spark.table("paimon.db.e").collect() == []


def test_spark_says_what_types_they_are(catalog: Catalog, spark: SparkSession) -> None:
    made(catalog, {})

    described = {row.col_name: row.data_type for row in spark.sql("DESCRIBE paimon.db.t").collect()}
    assert described["opens"] == "time(6)"
    assert described["tags"] == "map<string,int>"
    assert spark.table("paimon.db.t").schema["opens"].dataType == st.TimeType(6)
    with pytest.raises(AnalysisException, match="UNSUPPORTED_TIME_TYPE"):  # Spark's own word
        spark.sql("CREATE TABLE paimon.db.n (opens TIME(3))")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    try:
        spark.sql("CREATE TABLE paimon.db.n (opens TIME(3))")
    finally:
        spark.conf.unset("spark.sql.timeType.enabled")
    created = catalog.table("db.n")
    assert isinstance(created, Table)
    assert created.arrow_schema.field("opens").type == pa.time32("ms")
