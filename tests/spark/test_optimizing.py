from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab import AddColumn
from paimonlab.catalog import Catalog
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.table.table import Table
from tests.spark.plans import files_read, physical_plan

KINDS = ("append", "partitions", "keys", "vectors", "two shapes", "first-row")
DAYS = 8


def made(catalog: Catalog, kind: str) -> Table:
    """Make db.t of a kind: a few commits whose rows overlap, so that some are no rows any more."""
    options = {"write-only": "true"}
    keys: list[str] = []
    if kind in {"keys", "vectors", "first-row"}:
        keys, options["bucket"] = ["id", "day"], "2"
    if kind in {"vectors", "first-row"}:
        options["write-only"] = "false"
    if kind == "vectors":
        options["deletion-vectors.enabled"] = "true"
    if kind == "first-row":
        options["merge-engine"] = "first-row"
    partitions = [] if kind == "append" else ["day"]
    table = catalog.create_table(
        "db.t",
        {"id": "INT", "day": "INT", "v": "INT"},
        primary_keys=keys,
        partition_keys=partitions,
        options=options,
    )
    for number in range(3):
        ids = range(number * 20, number * 20 + 40)
        rows = {"id": ids, "day": [i % DAYS for i in ids], "v": [number] * 40}
        if number == 2 and kind == "two shapes":
            table = catalog.alter_table("db.t", AddColumn("w", "INT"))
        table.write(pa.table({name: pa.array(rows[name], pa.int32()) for name in rows}))
    if kind == "keys":
        table.delete("v = 1 AND id < 30")
    return table


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_without_a_scan(catalog: Catalog, spark: SparkSession, kind: str) -> None:
    rows = made(catalog, kind).scan().to_arrow()
    days = rows.column("day").to_pylist()

    for condition, expected in {
        "TRUE": rows.num_rows,
        "day IN (1, 5)": days.count(1) + days.count(5),
        "day % 4 = 3": days.count(3) + days.count(7),
        "day > 100": 0,
    }.items():
        frame = spark.sql(f"SELECT count(*) AS n, 2 * count(1) FROM paimon.db.t WHERE {condition}")
        if kind != "append" or condition == "TRUE":
            assert "Scan" not in physical_plan(frame).replace("Scan OneRowRelation", ""), condition
        assert [tuple(row) for row in frame.collect()] == [(expected, 2 * expected)], condition


OTHER_COUNTS = (
    "SELECT count(v) FROM paimon.db.t",
    "SELECT count(DISTINCT day) FROM paimon.db.t",
    "SELECT count(*) FILTER (WHERE v = 1) FROM paimon.db.t",
    "SELECT count(*) FROM paimon.db.t WHERE v = 1",
    "SELECT count(*) FROM paimon.db.t WHERE day = 1 OR v = 1",
    "SELECT count(*) FROM paimon.db.t WHERE day = (SELECT max(day) FROM paimon.db.t)",
    "SELECT count(*) FROM (SELECT DISTINCT day FROM paimon.db.t)",
    "SELECT count(*) FROM (SELECT explode(array(id, v)) FROM paimon.db.t)",
    "SELECT count(*) FROM (SELECT * FROM paimon.db.t LIMIT 7)",
    "SELECT day, count(*) FROM paimon.db.t GROUP BY day ORDER BY day",
    "SELECT count(*) FROM paimon.db.t HAVING count(*) > 1000000",
    "SELECT (SELECT count(*) FROM paimon.db.t WHERE day = d) FROM VALUES (1), (99) AS x(d)",
)
"""Queries that count, and read rows for it or not."""


def test_other_counts_are_those_of_plain_rows(catalog: Catalog, spark: SparkSession) -> None:
    rows = made(catalog, "keys").scan().to_arrow()
    spark.createDataFrame(rows).createOrReplaceTempView("plain_rows")

    for query in OTHER_COUNTS:
        found = spark.sql(query).collect()
        plain = spark.sql(query.replace("paimon.db.t", "plain_rows")).collect()
        assert found == plain, query


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_reads_no_more_files_than_have_its_rows(
    catalog: Catalog, spark: SparkSession, kind: str
) -> None:
    rows = made(catalog, kind).scan(columns=["id", "day", "v"]).to_arrow()
    all_rows = {tuple(row.values()) for row in rows.to_pylist()}
    whole = files_read(spark.sql("SELECT id, day, v FROM paimon.db.t"))

    few = spark.sql("SELECT id, day, v FROM paimon.db.t LIMIT 3")
    assert files_read(few) < whole
    for limit in (0, 25, 1000):
        found = spark.sql(f"SELECT id, day, v FROM paimon.db.t LIMIT {limit}").collect()
        assert len(found) == min(limit, rows.num_rows)
        assert {tuple(row) for row in found} <= all_rows
    if kind != "append":
        of_a_day = spark.sql("SELECT id, day, v FROM paimon.db.t WHERE day = 3 LIMIT 2").collect()
        assert [row.day for row in of_a_day] == [3, 3]
    top = spark.sql("SELECT id FROM paimon.db.t ORDER BY id DESC LIMIT 2").collect()
    assert [row.id for row in top] == sorted(rows.column("id").to_pylist())[:-3:-1]


def test_the_size_of_the_partitions_decides_what_is_broadcast(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = made(catalog, "partitions")
    splits = [split.size_bytes for split in table.scan(where="day = 3").plan().splits]
    frame = spark.sql("SELECT * FROM paimon.db.t WHERE day = 3")
    stats = frame._jdf.queryExecution().optimizedPlan().collectLeaves().apply(0).stats()

    assert int(stats.sizeInBytes()) == sum(splits)


def test_equal_parts_of_a_query_are_one_object(catalog: Catalog, spark: SparkSession) -> None:
    made(catalog, "partitions")
    part = "SELECT id FROM paimon.db.t WHERE day = 3"
    frame = spark.sql(f"{part} UNION ALL {part}")
    leaves = frame._jdf.queryExecution().optimizedPlan().collectLeaves()

    first, second = leaves.apply(0).relation(), leaves.apply(1).relation()
    assert first.location().equals(second.location())
    assert leaves.apply(0).sameResult(leaves.apply(1))


def test_nothing_is_asked_about_tables_of_others(
    catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("no table of ours")

    monkeypatch.setattr(SnapshotFileIndex, "_narrowed", forbidden)
    monkeypatch.setattr(SnapshotFileIndex, "_row_count", forbidden)

    assert spark.range(5).where("id > 1").count() == 3


@pytest.mark.parametrize("kind", ["partitions", "keys", "vectors", "first-row"])
def test_what_asks_for_partitions_reads_no_rows(
    catalog: Catalog, spark: SparkSession, kind: str
) -> None:
    table = made(catalog, kind)
    table.delete("day = 6") if kind != "first-row" else None
    spark.createDataFrame(table.scan().to_arrow()).createOrReplaceTempView("plain_rows")

    for query in (
        "SELECT day, count(*) AS n FROM t GROUP BY day",
        "SELECT count(*), day + 1, count(1) * 2 FROM t WHERE day > 3 GROUP BY day",
        "SELECT max(day), min(day), max(day % 5) FROM t",
        "SELECT max(day) FROM t WHERE day < 0",
        "SELECT count(DISTINCT day) FROM t",
        "SELECT DISTINCT day FROM t WHERE day IN (1, 2, 6, 99)",
        "SELECT day, max(day) FROM t GROUP BY day HAVING max(day) > 3",
    ):
        frame = spark.sql(query.replace("FROM t", "FROM paimon.db.t"))
        assert "FileScan" not in physical_plan(frame), query
        plain = spark.sql(query.replace("FROM t", "FROM plain_rows"))
        assert sorted(map(tuple, frame.collect())) == sorted(map(tuple, plain.collect())), query
    for query in (
        "SELECT day, count(v) AS n FROM t GROUP BY day",
        "SELECT day, sum(day) FROM t GROUP BY day",
        "SELECT day, count(*) FROM t WHERE v = 1 GROUP BY day",
        "SELECT max(day), count(*) FROM t",
        "SELECT day % 2, count(*) FROM t GROUP BY 1",
    ):
        frame = spark.sql(query.replace("FROM t", "FROM paimon.db.t"))
        plain = spark.sql(query.replace("FROM t", "FROM plain_rows"))
        assert sorted(map(tuple, frame.collect())) == sorted(map(tuple, plain.collect())), query


def test_groups_of_partitions_of_many_types_are_those_of_rows(
    catalog: Catalog, spark: SparkSession
) -> None:
    columns = {"s": "STRING", "f": "DOUBLE", "d": "DATE", "b": "BOOLEAN", "v": "INT"}
    table = catalog.create_table("db.t", columns, partition_keys=["s", "f", "d", "b"])
    table.write(
        pa.table(
            {
                "s": ["a", None, "a", "ä b", "a"],
                "f": [0.0, -0.0, float("nan"), None, -0.0],
                "d": pa.array([0, None, 20_000, 0, 0], pa.date32()),
                "b": [True, None, False, True, True],
                "v": pa.array(range(5), pa.int32()),
            }
        )
    )
    spark.createDataFrame(table.scan().to_arrow()).createOrReplaceTempView("plain_rows")

    for columns_asked in ("s", "d", "b", "f", "s, b", "d, f", "s, f, d, b"):
        query = f"SELECT {columns_asked}, count(*) FROM t GROUP BY {columns_asked}"
        frame = spark.sql(query.replace("FROM t", "FROM paimon.db.t"))
        plain = spark.sql(query.replace("FROM t", "FROM plain_rows"))
        assert sorted(map(str, frame.collect())) == sorted(map(str, plain.collect())), query


@pytest.mark.parametrize("kind", ["append", "compacted", "keys"])
def test_least_and_greatest_values_are_those_of_plain_rows(
    catalog: Catalog, spark: SparkSession, kind: str
) -> None:
    table = catalog.create_table(
        "db.t",
        {"p": "INT", "k": "BIGINT", "d": "DATE", "m": "DECIMAL(20, 2)", "n": "INT", "s": "STRING"},
        primary_keys=[] if kind == "append" else ["p", "k"],
        partition_keys=["p"],
        options={"bucket": "-1" if kind == "append" else "1", "write-only": "true"},
    )
    for number in range(2):
        ids = range(number * 5, number * 5 + 10)
        digits = [Decimal(f"{(i - 7) * 10**15}.25") for i in ids]
        columns = {
            "p": pa.array([i % 2 for i in ids], pa.int32()),
            "k": pa.array([i * 10**12 for i in ids], pa.int64()),
            "d": pa.array([i - 5 for i in ids], pa.date32()),
            "m": pa.array([None if i % 3 == 0 else m for i, m in zip(ids, digits, strict=True)]),
            "n": pa.nulls(10, pa.int32()),
            "s": [f"{'long text ' * 4}{i}" for i in ids],
        }
        table.write(pa.table({**columns, "m": columns["m"].cast(pa.decimal128(20, 2))}))
    if kind != "append":
        table.delete("k = 0 OR k >= 13000000000000")
    if kind == "compacted":
        table.compact(full=True)
    spark.createDataFrame(table.scan().to_arrow()).createOrReplaceTempView("plain_rows")

    for query, is_known in {
        "SELECT min(k), max(k), max(d) - min(d), count(*) + max(p), max(m), min(m), max(n)": True,
        "SELECT max(k) FROM t WHERE p = 1": True,
        "SELECT max(k), count(1) FROM t WHERE p > 1": True,
        "SELECT max(k) FILTER (WHERE n IS NULL)": False,
        "SELECT max(s), min(k)": False,
        "SELECT max(-k)": False,
        "SELECT max(k), sum(k)": False,
        "SELECT max(k) FROM t WHERE k < 5000000000000": False,
    }.items():
        text = query if " FROM t" in query else f"{query} FROM t"
        frame = spark.sql(text.replace("FROM t", "FROM paimon.db.t"))
        is_read = "FileScan" in physical_plan(frame)
        assert is_read is not (is_known and kind != "keys") or "p > 1" in query, query
        assert frame.collect() == spark.sql(text.replace("FROM t", "FROM plain_rows")).collect()
