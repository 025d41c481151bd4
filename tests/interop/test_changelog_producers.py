"""Compactions on both sides report the same changes of the same writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.interop.pair import KIND, Pair, skip_where_values_stay

pytestmark = pytest.mark.interop

COLUMNS = {"k": "INT NOT NULL", "g": "INT", "v": "INT", "t": "STRING"}
LOOKUP = {"changelog-producer": "lookup"}
FULL = {"changelog-producer": "full-compaction", "num-sorted-run.compaction-trigger": "100"}
VECTORS = {"deletion-vectors.enabled": "true"}
AGGREGATION = {
    "merge-engine": "aggregation",
    "fields.v.aggregate-function": "sum",
    "fields.t.aggregate-function": "last_value",
}
PARTIAL = {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}
GROUPS = {
    "merge-engine": "partial-update",
    "fields.g.sequence-group": "v",
    "fields.v.aggregate-function": "sum",
}
FIRST = {"merge-engine": "first-row", "ignore-delete": "true"}
SAME = {"changelog-producer.row-deduplicate": "true"}

TABLES: dict[str, dict[str, str]] = {
    "lookup": LOOKUP,
    "lookup, rows that stay left out": LOOKUP | SAME,
    "lookup, a column ignored": LOOKUP
    | SAME
    | {"changelog-producer.row-deduplicate-ignore-fields": "t,g"},
    "lookup, sequence field": LOOKUP | {"sequence.field": "g"},
    "lookup, vectors": LOOKUP | VECTORS,
    "lookup, vectors, sequence field": LOOKUP | VECTORS | {"sequence.field": "g"} | SAME,
    "lookup, aggregation": LOOKUP | AGGREGATION,
    "lookup, aggregation, vectors": LOOKUP | AGGREGATION | VECTORS,
    "lookup, partial update": LOOKUP | PARTIAL,
    "lookup, sequence groups": LOOKUP | GROUPS | VECTORS,
    "lookup, first row": LOOKUP | FIRST,
    "full": FULL,
    "full, rows that stay left out": FULL | SAME | {"sequence.field": "g"},
    "full, aggregation": FULL | AGGREGATION,
    "full, sequence groups": FULL | GROUPS | SAME,
    "vectors": VECTORS,
    "vectors, aggregation": VECTORS | AGGREGATION,
    "vectors, partial update": VECTORS | PARTIAL,
    "first row": FIRST,
    "forced lookup, sequence groups": GROUPS | {"force-lookup": "true"},
    "lookup, avro above": LOOKUP | {"file.format.per.level": "0:avro", "file.format": "parquet"},
}


def random_batch(rng: np.random.Generator, turn: int, options: dict[str, str]) -> pa.Table:
    count, keys = (150, 200) if turn == 0 else (20, 60)
    chances = [0.6, 0.15, 0.05, 0.2]
    if options.get("merge-engine") == "partial-update" and "fields.g.sequence-group" not in options:
        chances = [0.75, 0.1, 0, 0.15]
    return pa.table(
        {
            "k": pa.array(rng.integers(0, keys, count), pa.int32()),
            "g": pa.array(rng.integers(0, 4, count).tolist(), pa.int32()),
            "v": pa.array([None if n == 0 else n for n in rng.integers(0, 4, count)], pa.int32()),
            "t": rng.choice(["a", "b"], count).tolist(),
            KIND: rng.choice(["+I", "+U", "-U", "-D"], count, p=chances).tolist(),
        }
    )


def changes(pair: Pair, name: str, start: int) -> tuple[list[list[Any]], int]:
    table = pair.open(name)
    latest = table.snapshot
    assert latest is not None
    found = table.changes(start, latest.id, mode="changelog").to_arrow().to_pylist()
    rows = [list(row.values()) for row in found]
    return sorted(rows, key=lambda row: row[1]), latest.id


@pytest.mark.parametrize("options", TABLES.values(), ids=list(TABLES))
def test_both_report_the_same(
    pair: Pair, options: dict[str, str], rng: np.random.Generator
) -> None:
    skip_where_values_stay(pair, options)
    usual = {"bucket": "1", "num-sorted-run.compaction-trigger": "4"}
    # What a writer does by itself, or what somebody does for writers who do not.
    own = {"write-only": str(rng.random() < 0.5).lower()}
    for name, more in (("java", {}), ("us", own)):
        pair.create("java", f"db.{name}", COLUMNS, pk=["k"], options=usual | options | more)
    seen = {"java": 0, "us": 0}
    producer = options.get("changelog-producer")

    for turn in range(5):
        rows = random_batch(rng, turn, options)
        is_full = turn in (2, 4)
        pair.write("java", "db.java", rows)
        if is_full:
            pair.java("compact", table="db.java")
        pair.write("us", "db.us", rows)
        if own["write-only"] == "true":
            pair.open("db.us").compact()
        if is_full:
            pair.open("db.us").compact(full=True)

        if producer is not None:
            theirs, seen["java"] = changes(pair, "db.java", seen["java"])
            ours, seen["us"] = changes(pair, "db.us", seen["us"])
            assert ours == theirs, turn
            assert ours or producer == "full-compaction" or turn
        pair.assert_same("db.us")
        assert sorted(pair.our_rows("db.us")) == sorted(pair.our_rows("db.java")), turn
        if options.get("deletion-vectors.enabled"):
            # No two files that a reader sees share a key.
            assert len({row[0] for row in pair.our_rows("db.us")}) == len(pair.our_rows("db.us"))
    assert pair.open("db.us").fsck().is_clean
