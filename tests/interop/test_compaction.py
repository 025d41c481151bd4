"""Both write and compact one table in turn, as its options ask; a twin is never compacted."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from tests.interop.pair import KIND, Pair, Side, difference
from tests.java_values import unordered
from tests.repetitions import times

pytestmark = pytest.mark.interop

COLUMNS = {
    "k": "INT NOT NULL",
    "p": "STRING NOT NULL",
    "a": "INT",
    "b": "STRING",
    "g": "INT",
    "d": "DECIMAL(12, 2)",
}
DECIMAL = pa.decimal128(12, 2)
PARTIAL = {"merge-engine": "partial-update"}
ADDS, ALL = ["+I", "+U"], ["+I", "+U", "-U", "-D"]
ENGINES: dict[str, tuple[Mapping[str, str], list[str]]] = {
    "deduplicate": ({}, ALL),
    "sequence field": ({"sequence.field": "g"}, ADDS),
    "ignored deletes": ({"ignore-delete": "true"}, ALL),
    "partial-update": (PARTIAL, ADDS),
    "sequence groups": (
        {**PARTIAL, "fields.g.sequence-group": "a,d", "fields.a.aggregate-function": "sum"},
        ADDS,
    ),
    "aggregation": (
        {
            "merge-engine": "aggregation",
            "fields.a.aggregate-function": "sum",
            "fields.b.aggregate-function": "listagg",
            "fields.d.aggregate-function": "max",
        },
        ADDS,
    ),
}
LAYOUTS = [
    {"bucket": "1", "num-sorted-run.compaction-trigger": "2"},
    {"bucket": "2", "num-sorted-run.compaction-trigger": "3", "num-levels": "3"},
    {"bucket": "1", "num-sorted-run.compaction-trigger": "2", "file.format": "orc"},
    {"bucket": "1", "num-sorted-run.compaction-trigger": "2", "target-file-size": "4 kb"},
]


@pytest.mark.parametrize("engine", ENGINES)
def test_compaction_by_either_changes_no_row(
    pair: Pair, engine: str, rng: np.random.Generator
) -> None:
    meaning, kinds = ENGINES[engine]
    layout = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    how = {"pk": ["k", "p"], "partition": ["p"]}
    pair.create("us", "db.t", COLUMNS, options={**layout, **meaning}, **how)
    plain = {"bucket": "1", "write-only": "true", **meaning}
    pair.create("java", "db.twin", COLUMNS, options=plain, **how)
    steps = [str(layout)]
    expected: list[str] = []

    for _ in range(times(6)):
        count = int(rng.choice([1, 8, 40]))
        data = rows(count, kinds, rng)
        side: Side = "us" if rng.random() < 0.6 else "java"
        steps.append(f"{side} writes {count} rows")
        pair.write(side, "db.t", data)
        pair.write("java", "db.twin", data)
        if rng.random() < 0.2:
            steps.append("we compact")
            pair.open("db.t").compact()
        expected = unordered(pair.java_rows("db.twin"))
        for found in (pair.our_rows("db.t"), pair.java_rows("db.t")):
            assert unordered(found) == expected, (difference(unordered(found), expected), steps)

    pair.open("db.t").compact(full=True)
    assert unordered(pair.java_rows("db.t")) == expected, steps
    kinds_of = [one.commit_kind.value for one in pair.open("db.t").snapshots.list()]
    assert "COMPACT" in kinds_of
    assert pair.open("db.t").fsck(deep=True).is_clean


def rows(count: int, kinds: list[str], rng: np.random.Generator) -> pa.Table:
    def some(values: pa.Array, share: float = 0.3) -> pa.Array:
        return pa.array(values.to_pylist(), values.type, mask=rng.random(count) < share)

    cents = rng.integers(0, 10**6, count)
    return pa.table(
        {
            "k": pa.array(rng.integers(0, 30, count), pa.int32()),
            "p": pa.array(rng.choice(["x", "y"], count).tolist()),
            "a": some(pa.array(rng.integers(-50, 50, count), pa.int32())),
            "b": some(pa.array(rng.choice(list("abcdef"), count).tolist())),
            "g": some(pa.array(rng.integers(0, 20, count), pa.int32()), 0.1),
            "d": some(pa.array([Decimal(int(one)).scaleb(-2) for one in cents], DECIMAL)),
            KIND: pa.array(rng.choice(kinds, count).tolist()),
        }
    )


@pytest.mark.parametrize("producer", ["us", "java"])
def test_both_make_the_same_of_the_same_runs(pair: Pair, producer: str) -> None:
    pair.create(
        "us", "db.t", {"k": "INT NOT NULL", "v": "INT"}, pk=["k"],
        options={"bucket": "1", "write-only": "true"},
    )  # fmt: skip
    for turn, kind in enumerate(["+I", "+U", "-D", "+I"]):
        keys = pa.array(np.arange(4) + turn, pa.int32())
        values = pa.array([turn] * 4, pa.int32())
        pair.write("us", "db.t", pa.table({"k": keys, "v": values, KIND: [kind] * 4}))

    if producer == "us":
        pair.open("db.t").compact(full=True)
    else:
        pair.java("compact", table="db.t")

    (entry,) = pair.java("files", table="db.t")
    file = entry["file"]
    assert (file["level"], file["rows"]) == (5, 6)
    assert (file["minSeq"], file["maxSeq"]) == (0, 15)
    log = pair.java.rows("db.t$audit_log")
    assert sorted(row[:2] for row in log) == [
        ["+I", 0], ["+I", 3], ["+I", 4], ["+I", 5], ["+I", 6], ["+U", 1],
    ]  # fmt: skip
