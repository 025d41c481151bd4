from __future__ import annotations

import random
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.spec.snapshot import CommitKind
from paimonlab.spec.statistics.table import ColumnStatistics
from tests.golden import RELEASES
from tests.golden.expected import Case
from tests.golden.test_rows import open_table


@pytest.mark.parametrize("writer", [*RELEASES, "java-0.9"])
def test_statistics_of_java_are_read(writer: str) -> None:
    _, table = open_table(Case(writer, "analyze"))

    found = table.statistics
    assert found is not None
    assert (found.snapshot_id, found.merged_record_count, found.merged_record_size) == (1, 1, 100)
    assert found.columns == {
        "a": ColumnStatistics(
            id=0, distinct_count=1, min="1", max="1", null_count=0, average_length=4, max_length=4
        )
    }


def test_statistics_are_of_merged_rows_and_committed(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.t",
        {
            "id": "INT",
            "s": "STRING",
            "d": "DATE",
            "n": "DECIMAL(20, 2)",
            "f": "DOUBLE",
            "b": "BYTES",
            "l": "ARRAY<INT>",
        },
        primary_keys=["id"],
        options={"bucket": "2"},
    )
    assert table.maintenance.analyze() is None
    write(table, [1, 2, 3, 4], ["ä", "bbb", None, "bbb"])
    write(table, [4, 3], ["cc", None])

    snapshot = table.maintenance.analyze()

    assert snapshot
    assert (snapshot.id, snapshot.commit_kind) == (3, CommitKind.ANALYZE)
    assert table.scan().count() == 4
    found = table.statistics
    assert found is not None
    assert (found.snapshot_id, found.schema_id, found.merged_record_count) == (2, 0, 4)
    assert list(found.columns) == ["id", "s", "d", "n", "f", "b"]
    columns = found.columns
    assert columns["id"] == stats(0, 4, "1", "4", 0, 4, 4)
    assert columns["s"] == stats(1, 3, None, None, 1, 2, 3)
    assert columns["d"] == stats(2, 1, "2026-01-02", "2026-01-02", 0, 4, 4)
    assert columns["n"] == stats(3, 4, "-1.50", "2.50", 0, 16, 16)
    assert columns["f"] == stats(4, 4, "0.5", "NaN", 0, 8, 8)
    assert columns["b"] == stats(5, 1, None, None, 0, 2, 2)
    write(table, [9], ["x"])
    assert table.statistics == found, "they hold until the schema changes"
    altered = catalog.alter_table("db.t", pl.AddColumn("more", "INT"))
    altered.write(pa.table({"id": pa.array([10], pa.int32())}))
    assert altered.statistics is None


def write(table: pl.Table, ids: list[int], texts: list[str | None]) -> None:
    count = len(ids)
    table.write(
        pa.table(
            {
                "id": pa.array(ids, pa.int32()),
                "s": texts,
                "d": [date(2026, 1, 2)] * count,
                "n": pa.array(
                    [Decimal(id) - Decimal("1.50" if id == 4 else "2.50") for id in ids],
                    pa.decimal128(20, 2),
                ),
                "f": [float("nan") if id == 3 else id / 2 for id in ids],
                "b": [b"\x00\x01"] * count,
                "l": pa.array([[1]] * count, pa.list_(pa.int32())),
            }
        )
    )


def stats(
    id: int,
    distinct: int,
    low: str | None,
    high: str | None,
    nulls: int,
    average: int,
    longest: int,
) -> ColumnStatistics:
    return ColumnStatistics(
        id=id,
        distinct_count=distinct,
        min=low,
        max=high,
        null_count=nulls,
        average_length=average,
        max_length=longest,
    )


def test_columns_are_chosen(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", {"a": "INT", "b": "STRING", "l": "ARRAY<INT>"})
    table.write(pa.table({"a": pa.array([None], pa.int32()), "b": pa.array([None], pa.string())}))

    table.maintenance.analyze(["b"])
    assert table.statistics
    assert table.statistics.columns == {"b": stats(1, 0, None, None, 1, 0, 0)}
    table.maintenance.analyze([])
    assert table.statistics.columns == {}
    assert table.statistics.merged_record_count == 1
    with pytest.raises(ColumnNotFoundError):
        table.maintenance.analyze(["c"])
    with pytest.raises(UnsupportedError, match="'l'"):
        table.maintenance.analyze(["l"])


def test_first_snapshots_may_have_expired(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", {"a": "INT"})
    for number in range(3):
        table.write(pa.table({"a": pa.array([number], pa.int32())}))
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)

    assert table.maintenance.analyze()

    assert table.statistics
    assert table.statistics.merged_record_count == 3


def test_many_distinct_values_are_estimated(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", {"a": "BIGINT", "few": "BIGINT"})
    values = np.arange(400_000) * 7919
    table.write(pa.table({"a": values, "few": values % 65_000}))

    table.maintenance.analyze()

    assert table.statistics
    many, few = (table.statistics.columns[name].distinct_count for name in ("a", "few"))
    assert many is not None
    assert abs(many - 400_000) < 400_000 * 0.02
    assert few == 65_000


def test_random_columns_agree_with_sets(catalog: pl.Catalog) -> None:
    random_ = random.Random(7)
    table = catalog.create_table("db.t", {"a": "INT"})
    values = [random_.choice([None, *range(-50, 50)]) for _ in range(500)]
    for start in range(0, 500, 100):
        table.write(pa.table({"a": pa.array(values[start : start + 100], pa.int32())}))

    table.maintenance.analyze()

    present = [value for value in values if value is not None]
    assert table.statistics
    assert table.statistics.columns["a"] == stats(
        0, len(set(present)), str(min(present)), str(max(present)), values.count(None), 4, 4
    )
