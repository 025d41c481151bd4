"""Dynamic and postponed buckets under the hands of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.interop.pair import KIND, SIDES, Pair, Side

pytestmark = pytest.mark.interop

COLUMNS = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
DYNAMIC = {"bucket": "-1", "dynamic-bucket.target-row-num": "7", "write-only": "true"}


def random_keys(rng: np.random.Generator, turn: int, kinds: bool = True) -> pa.Table:
    keys = rng.integers(0, 25 + 5 * turn, 30)
    found = {
        "p": rng.choice(["x", "y z"], 30).tolist(),
        "k": pa.array(keys, pa.int32()),
        "v": [f"{turn}-{number}" for number in range(30)],
    }
    if kinds:
        found[KIND] = rng.choice(["+I", "+U", "-D"], 30, p=[0.6, 0.2, 0.2]).tolist()
    return pa.table(found)


def index_counts(pair: Pair) -> dict[Any, int]:
    """Return how many keys the index of each bucket has, and check that each stays in one."""
    table = pair.open("db.t")
    snapshot = table.snapshot
    assert snapshot is not None
    assert snapshot.index_manifest is not None
    entries = table.parts.manifests.read_index(snapshot.index_manifest)
    assert len({(one.partition, one.bucket) for one in entries}) == len(entries)
    return {(one.partition, one.bucket): one.row_count for one in entries}


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("options", [{}, {"dynamic-bucket.max-buckets": "2"}], ids=str)
def test_keys_of_dynamic_buckets_stay_where_either_put_them(
    pair: Pair, first: Side, options: dict[str, str], rng: np.random.Generator
) -> None:
    pair.create(first, "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options=DYNAMIC | options)
    second: Side = "java" if first == "us" else "us"
    known: dict[tuple[str, int], str] = {}

    for turn, side in enumerate((first, second, first, second, first)):
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        for row in rows.to_pylist():
            known.pop((row["p"], row["k"]), None)
            if row[KIND] != "-D":
                known[row["p"], row["k"]] = row["v"]
        pair.assert_same("db.t")
        found = {(p, k): v for p, k, v in pair.our_rows("db.t")}
        assert found == known
        assert len(found) == len(pair.our_rows("db.t"))

    counts = index_counts(pair)
    assert sum(counts.values()) >= len(known)
    assert max(counts.values()) <= 7 or options
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    pair.write("us", "db.t", random_keys(rng, 9))
    pair.assert_same("db.t")


def test_our_buckets_are_those_java_would_have_chosen(pair: Pair) -> None:
    tables = {}
    for side in SIDES:
        pair.create(side, f"db.{side}", COLUMNS, pk=["p", "k"], partition=["p"], options=DYNAMIC)
        for first in (0, 13, 26):
            keys = pa.array(range(first, first + 20), pa.int32())
            texts = [str(key) for key in range(20)]
            pair.write(side, f"db.{side}", pa.table({"p": ["x"] * 20, "k": keys, "v": texts}))
        rows = pair.java.rows(f"db.{side}$files")
        tables[side] = sorted((row[1], row[6], row[8], row[9]) for row in rows)
    assert tables["us"] == tables["java"]


ACROSS = {"p": "STRING", "k": "INT NOT NULL", "v": "STRING"}


@pytest.mark.parametrize("first", SIDES)
def test_keys_move_across_partitions_under_both_hands(
    pair: Pair, first: Side, rng: np.random.Generator
) -> None:
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "5", "write-only": "true"}
    pair.create(first, "db.t", ACROSS, pk=["k"], partition=["p"], options=options)
    second: Side = "java" if first == "us" else "us"
    known: dict[int, tuple[str, str]] = {}

    for turn, side in enumerate((first, second, first, second, first)):
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        for row in rows.to_pylist():
            known.pop(row["k"], None)
            if row[KIND] != "-D":
                known[row["k"]] = (row["p"], row["v"])
        pair.assert_same("db.t")
        assert {k: (p, v) for p, k, v in pair.our_rows("db.t")} == known
        assert len(pair.our_rows("db.t")) == len(known)

    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    pair.write("us", "db.t", random_keys(rng, 9))
    pair.assert_same("db.t")


@pytest.mark.parametrize("first", SIDES)
def test_rows_wait_until_a_compaction_gives_them_buckets(
    pair: Pair, first: Side, rng: np.random.Generator
) -> None:
    pair.create(first, "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options={"bucket": "-2"})
    second: Side = "java" if first == "us" else "us"
    known: dict[tuple[str, int], str] = {}

    for turn, side in enumerate((first, second, first)):
        before = pair.our_rows("db.t")
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        for row in rows.to_pylist():
            known.pop((row["p"], row["k"]), None)
            if row[KIND] != "-D":
                known[row["p"], row["k"]] = row["v"]
        assert sorted(pair.our_rows("db.t")) == sorted(before)
        pair.assert_same("db.t")
        if turn:
            pair.java("compact_postponed", table="db.t", buckets=turn + 1)
            assert {(p, k): v for p, k, v in pair.our_rows("db.t")} == known
            pair.assert_same("db.t")

    table = pair.open("db.t")
    assert {split.total_buckets for split in table.scan().plan().splits} == {2}


def test_java_reads_the_changelog_we_write(pair: Pair, rng: np.random.Generator) -> None:
    options = {"bucket": "2", "changelog-producer": "input"}
    pair.create("us", "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options=options)
    wanted = []
    for turn, side in enumerate(SIDES):
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        wanted += [(row[KIND], row["p"], row["k"], row["v"]) for row in rows.to_pylist()]
    latest = pair.open("db.t").snapshot
    assert latest is not None

    between = {
        "incremental-between": f"0,{latest.id}",
        "incremental-between-scan-mode": "changelog",
    }
    javas = pair.java("read", table="db.t$audit_log", options=between)
    ours = pair.open("db.t").changes(0, latest.id, mode="changelog").to_arrow()

    assert sorted(tuple(row.values()) for row in ours.to_pylist()) == sorted(wanted)
    assert sorted(tuple(row) for _, row in javas) == sorted(wanted)
    pair.assert_same("db.t")
