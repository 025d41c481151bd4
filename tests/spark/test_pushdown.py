from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import CorruptMetadataError
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.scan import Abilities, SnapshotScan
from paimonlab.table.table import Table
from tests.spark.plans import physical_plan, pushed_filters, read_schemas


@pytest.fixture
def merged(catalog: Catalog) -> Catalog:
    """Return a catalog with table db.t: two overlapping runs in each of two buckets."""
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "dt": "STRING NOT NULL", "amount": "INT", "note": "STRING"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "2", "write-only": "true"},
    )
    for first in (0, 50):
        ids = list(range(first, first + 100))
        table.write(
            pa.table(
                {
                    "id": ids,
                    "dt": [f"d{i % 3}" for i in ids],
                    "amount": pa.array([i + first for i in ids], pa.int32()),
                    "note": [f"note {i}" for i in ids],
                }
            )
        )
    return catalog


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many files scans were given, the latest at the end."""
    counts: list[int] = []
    listing = SnapshotFileIndex._list

    def counting(
        self: SnapshotFileIndex, splits: Sequence[DataSplit], rows: frozenset[int] | None
    ) -> tuple[object, int]:
        counts.append(sum(len(split.files) for split in splits))
        return listing(self, splits, rows)

    monkeypatch.setattr(SnapshotFileIndex, "_list", counting)
    return counts


def test_only_the_columns_asked_for_are_read(merged: Catalog, spark: SparkSession) -> None:
    plan = physical_plan(spark.sql("SELECT amount FROM paimon.db.t"))

    assert read_schemas(plan) == [{"amount"}]


def test_a_filter_column_is_read_too_and_its_filter_is_pushed(
    merged: Catalog, spark: SparkSession
) -> None:
    frame = spark.sql("SELECT note FROM paimon.db.t WHERE amount > 120 AND dt = 'd1'")
    plan = physical_plan(frame)

    assert read_schemas(plan) == [{"note", "amount"}]
    (pushed,) = pushed_filters(plan)
    assert "GreaterThan(amount,120)" in pushed
    assert "dt" not in pushed


def test_count_reads_no_file(merged: Catalog, spark: SparkSession) -> None:
    frame = spark.sql("SELECT count(*) FROM paimon.db.t")

    assert read_schemas(physical_plan(frame)) == []
    assert frame.collect()[0][0] == 150


def test_count_of_rows_with_a_condition_reads_its_column_only(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = catalog.create_table("db.a", {"x": "INT", "y": "STRING"})
    table.write(pa.table({"x": pa.array([1, 2, 3], pa.int32()), "y": ["a", None, "c"]}))
    frame = spark.sql("SELECT count(*) FROM paimon.db.a WHERE x > 1")

    plan = physical_plan(frame)
    assert read_schemas(plan) == [{"x"}]
    assert "__paimon_winners" not in plan
    assert frame.collect()[0][0] == 2


def test_spark_reads_the_files_itself_in_generated_code(
    merged: Catalog, spark: SparkSession
) -> None:
    plan = physical_plan(spark.sql("SELECT id, amount FROM paimon.db.t"))

    assert "FileScan parquet" in plan
    assert "Batched: true" in plan
    assert "Python" not in plan


@pytest.mark.parametrize(
    ("where", "files"),
    [
        ("dt = 'd1'", 4),
        ("dt IN ('d0', 'd2')", 8),
        ("dt = 'd1' AND id = 7", 1),
        ("id < 40", 6),
        ("dt > 'e'", 0),
        ("amount > 60 OR dt = 'd0'", 12),
    ],
)
def test_filters_prune_files(
    merged: Catalog,
    spark: SparkSession,
    listed: list[int],
    where: str,
    files: int,
) -> None:
    expected = merged.table("db.t").scan(where=where).to_arrow().sort_by("id")

    found = spark.sql(f"SELECT * FROM paimon.db.t WHERE {where} ORDER BY id").toArrow()

    assert found.to_pylist() == expected.to_pylist()
    assert listed == [files]


def test_many_values_of_an_in_prune_as_few_do(
    catalog: Catalog, spark: SparkSession, listed: list[int]
) -> None:
    day = dt.date(2020, 1, 1)
    kinds = {"k": "BIGINT NOT NULL", "s": "STRING", "d": "DATE", "n": "DECIMAL(9, 2)"}
    kinds["c"] = "CHAR(6)"
    options = {"bucket": "1", "write-only": "true"}
    keyed: dict[str, Any] = {"primary_keys": ["k"], "options": options}
    for name, more in (("a", {}), ("k", keyed)):
        table = catalog.create_table(f"db.{name}", kinds, **more)
        for first in range(0, 4000, 1000):
            numbers = range(first, first + 1000, 5)
            table.write(
                {
                    "k": numbers,
                    "s": [f"s{one:04}" for one in numbers],
                    "d": [day + dt.timedelta(one) for one in numbers],
                    "n": [Decimal(one) / 4 for one in numbers],
                    "c": [f"c{one:04}" for one in numbers],
                }
            )
    chosen = [*range(1000, 1600), *range(3000, 3600), *range(9000, 9010)]
    values = {
        "k": [str(one) for one in chosen],
        "s": [f"'s{one:04}'" for one in chosen],
        "d": [f"DATE '{day + dt.timedelta(one)}'" for one in chosen],
        "n": [f"{Decimal(one) / 4}" for one in chosen],
        "c": [f"'c{one:04}'" for one in chosen[:1200:5]],
    }
    conditions = {column: f"{column} IN ({', '.join(values[column])})" for column in values}

    for column, where in conditions.items():
        if column != "c":  # here values are as they are stored
            ours = catalog.table("db.a").scan(["k"], where)
            assert (ours.plan().files.num_rows, ours.count()) == (2, 240)
    for name, column in (("k", "k"), ("a", "s"), ("a", "c"), ("a", "d")):
        found = spark.sql(f"SELECT k FROM paimon.db.{name} WHERE {conditions[column]}").collect()
        assert (len(found), listed.pop()) == (240, 2), column


def test_a_filter_without_a_predicate_prunes_nothing(merged: Catalog, spark: SparkSession) -> None:
    found = spark.sql("SELECT id FROM paimon.db.t WHERE amount % 2 = 1 AND id % 5 = 0").collect()

    # Of ids 50 and above the second run won: amount is id + 50 there, else id.
    assert sorted(row.id for row in found) == [i for i in range(150) if i % 2 == 1 and i % 5 == 0]


def test_a_key_that_an_older_file_holds_is_not_resurrected_by_pruning(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = catalog.create_table(
        "db.r",
        {"id": "INT NOT NULL", "v": "INT"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    for value in (10, 20):
        table.write(
            pa.table({"id": pa.array([1, 2], pa.int32()), "v": pa.array([value] * 2, pa.int32())})
        )

    assert spark.sql("SELECT * FROM paimon.db.r WHERE v = 10").collect() == []
    assert spark.sql("SELECT count(*) FROM paimon.db.r WHERE v = 20").collect()[0][0] == 2


def test_masks_are_not_computed_before_they_are_needed(
    merged: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("a plan needs no mask")

    monkeypatch.setattr(SnapshotScan, "native_splits", forbidden)

    assert spark.sql("SELECT id FROM paimon.db.t").schema.names == ["id"]


def test_names_of_files_are_joined_to_folders_as_the_layout_does(
    merged: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = merged.table("db.t")
    assert isinstance(table, Table)
    scan = SnapshotScan(table.scan(), Abilities())
    layout = scan.scan.store.layout
    (split, *_) = scan.plan.splits
    names = ["a-1.parquet", "sub/b.parquet", "c d.parquet", "e.parquet"]
    files = [replace(split.files[0], file_name=name) for name in names]
    expected = [layout.data_file(split.bucket_path, name) for name in names]

    assert [scan.path(split, file) for file in [*files, *files]] == [*expected, *expected]
    for unsafe in ("..", "../x", "/etc/passwd", ""):
        with pytest.raises(CorruptMetadataError):
            scan.path(split, replace(split.files[0], file_name=unsafe))
    looked = list[object]()
    monkeypatch.setattr(type(layout), "data_file", lambda *given: looked.append(given))
    for file in (files[0], files[-1]):
        scan.path(split, file)
    assert not looked


def test_rows_that_wait_for_compaction_are_counted_where_they_are_read(
    spark: SparkSession, catalog: Catalog
) -> None:
    """Of tables with deletion vectors; the setting says nothing to others."""
    spark.sql(
        "CREATE TABLE paimon.db.dv (id INT NOT NULL, v STRING) TBLPROPERTIES ('primary-key' = 'id',"
        " 'bucket' = '1', 'deletion-vectors.enabled' = 'true', 'write-only' = 'true')"
    )
    spark.sql("CREATE TABLE paimon.db.plain (id INT, v STRING)")
    spark.sql("INSERT INTO paimon.db.plain VALUES (1, 'append')")
    for rows in ("(2, 'dv'), (3, 'x')", "(2, 'new')"):
        spark.sql(f"INSERT INTO paimon.db.dv VALUES {rows}")
    counted, both = "SELECT count(*) FROM paimon.db.dv", "SELECT * FROM paimon.db.{}"
    assert spark.sql(counted).collect() == [(0,)]

    spark.conf.set("spark.paimon.deletion-vectors.merge-on-read", "true")
    try:
        assert spark.sql(counted).collect() == [(2,)]
        union = f"{both.format('plain')} UNION ALL {both.format('dv')} ORDER BY id"
        assert spark.sql(union).collect() == [(1, "append"), (2, "new"), (3, "x")]
    finally:
        spark.conf.unset("spark.paimon.deletion-vectors.merge-on-read")
