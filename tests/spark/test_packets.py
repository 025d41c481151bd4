"""Rows pass in packets to the tasks that write their buckets: all of them, in their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError
from paimonlab.spark.writing import executor_packets, shuffle
from paimonlab.spark.writing.executor_packets import (
    PART,
    ROWS,
    SHARE,
    BucketShares,
    Packing,
    unpacked,
)
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.table.table import Table
from paimonlab.write.write_plan import WritePlan

COLUMNS = {"k": "BIGINT", "s": "STRING", "n": "INT"}
KEYED = {"bucket": "5"}


@pytest.fixture
def plan(catalog: Catalog) -> WritePlan:
    table = catalog.create_table("db.t", COLUMNS, primary_keys=["k"], options=KEYED)
    return write_plan(definition_of(table), store_of(table).layout)


def batches(rng: np.random.Generator, count: int) -> list[pa.RecordBatch]:
    made = []
    for _ in range(count):
        rows = int(rng.integers(0, 200))
        keys = rng.integers(0, 50, rows)
        texts = pa.array(["x" * int(one) for one in rng.integers(0, 90, rows)])
        numbers = pa.array(rng.integers(0, 9, rows), pa.int32(), mask=rng.random(rows) < 0.2)
        made.append(pa.RecordBatch.from_arrays([pa.array(keys), texts, numbers], [*COLUMNS]))
    return made


def test_rows_arrive_in_their_order(
    plan: WritePlan, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_packets, "HELD_BYTES", 4_000)
    (key,) = [plan.schema.field("k")]
    given, sent = [batches(rng, 12) for _ in range(2)], list[pa.RecordBatch]()
    for sender, rows in enumerate(given):
        monkeypatch.setattr(executor_packets, "_sender", lambda sender=sender: sender)
        sent += Packing(BucketShares(plan, 3), 100)(iter(rows))
    assert max(len(one) for batch in sent for one in batch[ROWS].to_pylist()) == 100
    for share in range(3):
        ours = [one for one in sent if one[SHARE][0].as_py() == share]
        whole = pa.Table.from_batches(ours)
        # What Spark makes of them: other batches, and the last part of each before the first.
        order = np.argsort(-whole[PART].to_numpy(), kind="stable") if share else slice(None)
        mixed = whole.take(pa.array(np.arange(len(whole))[order])).to_batches(max_chunksize=7)
        found = pa.Table.from_batches(unpacked(iter(mixed)))
        expected = pa.concat_tables(pa.Table.from_batches(rows) for rows in given)
        buckets = bucket_ids(expected, [key], plan.buckets)
        expected = expected.filter(pa.array(buckets % 3 == share))
        if share:  # packets are complete in another order
            found, expected = (
                rows.sort_by([(one, "ascending") for one in COLUMNS]) for rows in (found, expected)
            )
        assert found.equals(expected)


def test_an_error_reaches_each_task_that_writes(
    plan: WritePlan, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_packets, "_sender", lambda: 0)

    def broken() -> pa.RecordBatch:
        raise DataError("a row is wrong")

    rows = (broken() if number else one for number, one in enumerate(batches(rng, 3)))
    sent = list(Packing(BucketShares(plan, 3), 50)(rows))
    assert {one[SHARE][0].as_py() for one in sent} == {0, 1, 2}
    for share in range(3):
        rest = iter([one for one in sent if one[SHARE][0].as_py() == share])
        with pytest.raises(DataError, match="a row is wrong"):
            list(unpacked(rest))
        assert not list(rest), "Spark's side is read to its end"


@pytest.mark.parametrize("options", [KEYED, {"dynamic-bucket.assigner-parallelism": "3"}])
def test_statements_write_what_they_should(
    options: dict[str, str], catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffle, "_FEW_BYTES", 0)
    table = catalog.create_table("db.t", COLUMNS, primary_keys=["k"], options=options)
    rows = spark.range(0, 300, 1, 3).selectExpr("id k", "concat('s', id) s", "cast(1 as int) n")
    rows.writeTo("paimon.db.t").append()
    spark.sql("UPDATE paimon.db.t SET s = upper(s), n = 2 WHERE length(s) = 2")
    spark.sql(
        "MERGE INTO paimon.db.t t USING (SELECT id k FROM range(290, 310)) s ON t.k = s.k + 0 "
        "WHEN MATCHED AND t.k > 295 THEN DELETE WHEN MATCHED THEN UPDATE SET n = 3 "
        "WHEN NOT MATCHED THEN INSERT (k, s, n) VALUES (s.k, 'new', 4)"
    )
    expected: dict[int, tuple[str | None, int | None]]
    expected = {one: (f"s{one}", 1) for one in range(296)}
    expected |= {one: (f"S{one}", 2) for one in range(10)}
    expected |= {one: (f"s{one}", 3) for one in range(290, 296)}
    expected |= dict.fromkeys(range(300, 310), ("new", 4))
    assert of(table) == expected
    files = [one.file_name for split in table.scan().plan().splits for one in split.files]
    assert len({name.rsplit("-", 1)[0] for name in files}) >= 2, "several tasks have written"
    spark.sql("INSERT INTO paimon.db.t SELECT id, 'again', 5 FROM range(250, 320, 1, 3)")
    expected |= dict.fromkeys(range(250, 320), ("again", 5))
    assert of(table) == expected
    spark.sql("INSERT OVERWRITE paimon.db.t SELECT id, null, null FROM range(0, 100, 1, 4)")
    assert of(table) == dict.fromkeys(range(100), (None, None))


def of(table: Table) -> dict[int, tuple[str | None, int | None]]:
    """Return the rows by their key."""
    return {row["k"]: (row["s"], row["n"]) for row in table.scan().to_arrow().to_pylist()}
