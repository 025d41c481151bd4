from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab.catalog import Catalog
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.executor_rows import SnapshotRows
from paimonlab.spark.reading.scan import Abilities, SnapshotScan
from paimonlab.spark.reading.scan_builders import scan_builder
from paimonlab.table.table import Table
from tests.spark.plans import files_read, physical_plan, pieces_read, read_schemas

KEYS: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "boolean": ("BOOLEAN", pa.bool_(), [True, False, None]),
    "tinyint": ("TINYINT", pa.int8(), [1, -2, None]),
    "smallint": ("SMALLINT", pa.int16(), [1, -300, None]),
    "int": ("INT", pa.int32(), [1, -70_000, None]),
    "bigint": ("BIGINT", pa.int64(), [1, -(2**40), None]),
    "float": ("FLOAT", pa.float32(), [1.5, -0.1, None]),
    "double": ("DOUBLE", pa.float64(), [1.5, float("inf"), 0.1, None]),
    "string": ("STRING", pa.string(), ["a", 'b"\\ü', "x=1/y", None]),
    "char": ("CHAR(3)", pa.string(), ["a", "abc", None]),
    "binary": ("BYTES", pa.binary(), [b"a\x00", b"\xff", None]),
    "date": ("DATE", pa.date32(), [date(2024, 2, 29), date(1969, 12, 31), None]),
    "decimal": (
        "DECIMAL(20, 2)",
        pa.decimal128(20, 2),
        [Decimal("1.50"), Decimal("-12345678901234567.89"), None],
    ),
    "timestamp": (
        "TIMESTAMP(6)",
        pa.timestamp("us"),
        [datetime(2024, 7, 1, 12, 0, 0, 1), datetime(1960, 1, 1), None],
    ),
}


@pytest.mark.parametrize("kind", KEYS)
def test_filters_on_partitions_find_what_they_find_in_plain_rows(
    catalog: Catalog, spark: SparkSession, kind: str
) -> None:
    declared, arrow, values = KEYS[kind]
    table = catalog.create_table("db.t", {"p": declared, "v": "INT"}, partition_keys=["p"])
    rows = pa.table(
        {
            "p": pa.array([value for value in values for _ in range(2)], arrow),
            "v": pa.array(range(2 * len(values)), pa.int32()),
        }
    )
    table.write(rows)
    read = spark.table("paimon.db.t")
    padded = "rpad(p, 3, ' ')" if kind == "char" else "p"
    stored = table.scan().to_arrow()
    plain = spark.createDataFrame(stored).selectExpr(f"{padded} AS p", "v")
    plain.createOrReplaceTempView("plain")
    conditions = [
        "p IS NULL",
        "p IS NOT NULL AND v > 1",
        "p = (SELECT max(p) FROM plain)",
        "p <=> NULL OR v = 0",
        "hash(p) % 2 = 0",
        "coalesce(cast(p AS STRING), 'none') <> cast(v AS STRING)",
    ]
    answered = values_of(plain.selectExpr("p", "v", *conditions))

    assert values_of(read) == [row[:2] for row in answered]
    for place, condition in enumerate(conditions, 2):
        wanted = [row[:2] for row in answered if row[place]]
        assert values_of(read.where(condition)) == wanted, condition
    others = "NOT (p IN (SELECT p FROM plain WHERE v < 2))"
    assert values_of(read.where(others)) == values_of(plain.where(others))


def values_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows in the order of their second column."""
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: row[1])


@pytest.fixture
def sales(catalog: Catalog) -> Catalog:
    """Return a catalog with db.sales: a file in each of 40 partitions."""
    table = catalog.create_table(
        "db.sales", {"p": "INT", "shop": "STRING", "v": "INT"}, partition_keys=["p", "shop"]
    )
    table.write(
        pa.table(
            {
                "p": pa.array([i // 2 for i in range(40)], pa.int32()),
                "shop": ["east" if i % 2 else "west" for i in range(40)],
                "v": pa.array(range(40), pa.int32()),
            }
        )
    )
    return catalog


@pytest.mark.parametrize(
    ("condition", "files"),
    [
        ("p = 3", 2),
        ("p % 10 = 3 AND shop LIKE '%st'", 4),
        ("p IN (1, 2) AND shop = 'east'", 2),
        ("upper(shop) = 'EAST'", 20),
        ("p > 100", 0),
    ],
)
def test_only_files_of_partitions_with_wanted_values_are_read(
    sales: Catalog, spark: SparkSession, condition: str, files: int
) -> None:
    frame = spark.sql(f"SELECT v FROM paimon.db.sales WHERE {condition}")

    assert files_read(frame) == files
    assert read_schemas(physical_plan(frame)) in ([{"v"}], [])
    assert "Filter (" not in physical_plan(frame)


def test_a_join_reads_only_partitions_that_the_other_side_has(
    sales: Catalog, spark: SparkSession
) -> None:
    catalog = sales
    days = catalog.create_table("db.days", {"p": "INT", "name": "STRING"})
    days.write(
        pa.table({"p": pa.array(range(20), pa.int32()), "name": [f"day {i}" for i in range(20)]})
    )

    frame = spark.sql(
        "SELECT s.v, d.name FROM paimon.db.sales s JOIN paimon.db.days d ON s.p = d.p "
        "WHERE d.name IN ('day 3', 'day 11') ORDER BY v"
    )

    assert files_read(frame) == 4 + 1
    assert "dynamicpruning" in physical_plan(frame)
    assert [row.v for row in frame.collect()] == [6, 7, 22, 23]


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("SELECT v FROM sales JOIN days USING (p)", 4 + 1),
        ("SELECT v FROM days JOIN (SELECT p + 0 q, v FROM sales) ON p = q", 4 + 1),
        ("SELECT v FROM (SELECT v, p q FROM sales) s RIGHT JOIN days d ON q = d.p", 40 + 1),
        ("SELECT v FROM (SELECT v, p q FROM sales) s JOIN days d ON d.p = q AND v > 6", 3 + 1),
        ("SELECT v FROM sales LEFT JOIN days USING (p)", 40 + 1),
        ("SELECT v FROM sales WHERE p IN (SELECT p FROM days)", 4 + 1),
        ("SELECT v FROM sales WHERE p NOT IN (SELECT p FROM days WHERE p > 0)", 40 + 1),
        ("SELECT v FROM sales LEFT ANTI JOIN days USING (p)", 40 + 1),
        ("SELECT v FROM sales WHERE v IN (SELECT p FROM days)", 40 + 1),
        ("SELECT count(v) FROM sales s JOIN sales o USING (v) JOIN days d ON s.p = d.p", 44 + 1),
    ],
)
def test_a_small_side_without_a_condition_says_which_partitions_are_read(
    sales: Catalog, spark: SparkSession, query: str, files: int
) -> None:
    days = sales.create_table("db.days", {"p": "INT"})
    days.write(pa.table({"p": pa.array([3, 11, None, 99], pa.int32())}))
    for name in ("sales", "days"):
        spark.table(f"paimon.db.{name}").createOrReplaceTempView(name)
        rows = sales.table(f"db.{name}").scan().to_arrow()
        spark.createDataFrame(rows).createOrReplaceTempView(f"plain_{name}")
    plain = query.replace("sales", "plain_sales").replace("days", "plain_days")

    frame = spark.sql(query)

    assert files_read(frame) == files
    found, expected = ([row[0] for row in one.collect()] for one in (frame, spark.sql(plain)))
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_the_switch_of_spark_for_pruning_while_a_query_runs_is_obeyed(
    sales: Catalog, spark: SparkSession
) -> None:
    days = sales.create_table("db.days", {"p": "INT"})
    days.write(pa.table({"p": pa.array([3], pa.int32())}))
    key = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
    spark.conf.set(key, "false")
    try:
        frame = spark.sql("SELECT v FROM paimon.db.sales JOIN paimon.db.days USING (p)")
        assert "<=>" not in str(frame._jdf.queryExecution().optimizedPlan())
        assert files_read(frame) == 40 + 1
    finally:
        spark.conf.unset(key)


@pytest.mark.parametrize("kind", ["orc", "mixed", "changes"])
def test_our_reader_reads_only_partitions_that_the_other_side_has(
    catalog: Catalog, spark: SparkSession, kind: str
) -> None:
    first = "parquet" if kind == "mixed" else "orc"
    table = catalog.create_table(
        "db.sales",
        {"p": "INT", "at": "TIME" if kind == "orc" else "INT", "v": "INT"},
        partition_keys=["p"],
        options={"file.format": first},
    )
    rows = pa.table({"p": pa.array(range(20), pa.int32()), "v": pa.array(range(20), pa.int32())})
    table.write(rows)
    if kind == "mixed":
        spark.sql("ALTER TABLE paimon.db.sales SET TBLPROPERTIES ('file.format' = 'orc')")
        catalog.table("db.sales").write(rows)
    days = catalog.create_table("db.days", {"p": "INT"})
    days.write(pa.table({"p": pa.array([3, 11, None, 99], pa.int32())}))
    sales = "paimon.db.sales"
    if kind == "changes":
        sales = "paimon_incremental_query('paimon.db.sales', 0, 1)"
    mixed = kind == "mixed"

    for query in (
        f"SELECT v FROM {sales} JOIN paimon.db.days USING (p)",
        f"SELECT v FROM {sales} WHERE p IN (SELECT p FROM paimon.db.days)",
        f"SELECT v FROM paimon.db.days d JOIN (SELECT p q, v FROM {sales}) ON d.p = q",
    ):
        frame = spark.sql(query)
        found = sorted(row.v for row in frame.collect())
        assert found == ([3, 3, 11, 11] if mixed else [3, 11]), query
        assert pieces_read(frame, "db.sales") == 2, query
    frame = spark.sql(f"SELECT v FROM {sales} LEFT JOIN paimon.db.days USING (p)")
    assert len(frame.collect()) == (40 if mixed else 20)
    assert pieces_read(frame, "db.sales") == 20


def test_what_one_thread_tells_a_scan_is_not_taken_by_another(
    sales: Catalog, spark: SparkSession
) -> None:
    table = sales.table("db.sales")
    assert isinstance(table, Table)
    bridge = Bridge(spark)
    rows = SnapshotRows(SnapshotScan(table.scan(), Abilities(own_reader=True)))
    scan: Any = scan_builder(bridge, rows, "key").build()

    scan.filter([bridge.java_class("org.apache.spark.sql.sources.EqualTo")("p", 3).toV2()])

    with ThreadPoolExecutor(1) as other:
        assert len(other.submit(scan.planInputPartitions).result()) == 40
    assert [len(scan.planInputPartitions()) for _ in range(2)] == [2, 40]
