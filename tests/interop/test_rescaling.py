"""Partitions that we gave other buckets Java reads, writes to and compacts as those it gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab import SetOption
from tests.interop.pair import KIND, SIDES, Pair, Side, skip_where_values_stay
from tests.java_values import unordered

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("is_keyed", [False, True])
def test_java_goes_on_in_new_buckets(pair: Pair, is_keyed: bool) -> None:
    options = {"bucket": "2"} if is_keyed else {"bucket": "2", "bucket-key": "k"}
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "n": "BIGINT"}
    keys = ["p", "k"] if is_keyed else []
    pair.create("java", "db.t", columns, pk=keys, partition=["p"], options=options)
    for number in range(4):
        pair.write(SIDES[number % 2], "db.t", rows(5 * number))
    before = unordered(pair.our_rows("db.t"))

    pair.open("db.t").maintenance.rescale(buckets=3)

    pair.assert_same("db.t")
    assert unordered(pair.our_rows("db.t")) == before
    for number in range(2, 6):
        pair.write(SIDES[number % 2], "db.t", rows(5 * number))
        pair.assert_same("db.t")
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    pair.open("db.t").maintenance.rescale(buckets=1)
    pair.assert_same("db.t")
    assert pair.open("db.t").fsck(deep=True).is_clean


LOOKUP = {"changelog-producer": "lookup"}
VECTORS = {"deletion-vectors.enabled": "true"}
SUMS = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
GROUPS = {
    "merge-engine": "partial-update",
    "fields.g.sequence-group": "v,t",
    "fields.v.aggregate-function": "sum",
    "fields.t.aggregate-function": "listagg",
}
ENGINES: dict[str, dict[str, str]] = {
    "sequence field, lookup": LOOKUP | {"sequence.field": "g"},
    "deletes, vectors, lookup": LOOKUP | VECTORS,
    "deletes, sums, vectors": SUMS | VECTORS,
    "first and last values": {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "first_value",
        "fields.t.aggregate-function": "last_value",
    },
    "sequence groups, full-compaction": GROUPS | {"changelog-producer": "full-compaction"},
    "deletes, partial update, full-compaction": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
        "changelog-producer": "full-compaction",
    },
    "first row, lookup": LOOKUP | {"merge-engine": "first-row"},
}
COLUMNS = {"k": "INT NOT NULL", "g": "INT", "v": "INT", "t": "STRING"}


@pytest.mark.parametrize("kind", ENGINES)
def test_what_comes_later_is_merged_as_without_it(
    pair: Pair, kind: str, rng: np.random.Generator
) -> None:
    options = {"bucket": "2", **ENGINES[kind]}
    if kind.startswith("deletes"):
        skip_where_values_stay(pair, options)
    for name in ("plain", "java", "us"):
        pair.create("java", f"db.{name}", COLUMNS, pk=["k"], options=options)

    told = {name: Told(pair, f"db.{name}") for name in ("plain", "java", "us")}
    for turn in range(5):
        rows = random_rows(rng, turn, has_deletes=kind.startswith("deletes"))
        pair.write("java", "db.plain", rows)
        pair.write("java", "db.java", rows)
        pair.write(SIDES[turn % 2], "db.us", rows)
        if turn in (1, 3):
            buckets = str(4 - turn)
            pair.alter("java", "db.java", SetOption("bucket", buckets), ["set", "bucket", buckets])
            pair.java("rescale", table="db.java", buckets=buckets)
            pair.open("db.us").maintenance.rescale(buckets=int(buckets))
        if turn in (3, 4) and "changelog-producer" in options:
            for name in told:
                pair.java("compact", table=f"db.{name}")
            assert told["us"].now() == told["plain"].now(), turn
            if options["changelog-producer"] == "lookup":
                assert told["java"].now() == told["plain"].now(), turn
        pair.assert_same("db.us")
        found = [unordered(pair.java_rows(f"db.{name}")) for name in told]
        assert found[2] == found[1], turn
        assert found[1] == found[0], turn
    assert pair.open("db.us").fsck(deep=True).is_clean


def random_rows(rng: np.random.Generator, turn: int, *, has_deletes: bool) -> pa.Table:
    count = 60 if turn == 0 else 20
    kinds = ["+I", "+U", "-D"] if has_deletes else ["+I"]
    return pa.table(
        {
            "k": pa.array(rng.choice(80, count, replace=False), pa.int32()),
            "g": pa.array(rng.integers(0, 5, count), pa.int32()),
            "v": pa.array([None if n == 0 else n for n in rng.integers(0, 5, count)], pa.int32()),
            "t": rng.choice(["a", "b"], count).tolist(),
            KIND: rng.choice(kinds, count).tolist(),
        }
    )


@dataclass
class Told:
    """What all changes that were ever told make of each key of a table."""

    pair: Pair
    name: str
    seen: int = 0
    state: dict[Any, Any] = field(default_factory=dict)

    def now(self) -> dict[Any, Any]:
        """Add those that are new."""
        table = self.pair.open(self.name)
        assert table.snapshot is not None
        for last in range(self.seen + 1, table.snapshot.id + 1):
            for change in table.changes(last - 1, last, mode="changelog").to_arrow().to_pylist():
                if change.pop("rowkind") in ("-U", "-D"):
                    assert self.state.pop(change["k"]) == change
                else:
                    assert self.state.setdefault(change["k"], change) is change
        self.seen = table.snapshot.id
        return self.state


@pytest.mark.parametrize("side", SIDES)
def test_writers_wait_for_compaction_whatever_lookup_wait_says(pair: Pair, side: Side) -> None:
    options = LOOKUP | {"bucket": "1", "lookup-wait": "false"}
    pair.create("java", "db.t", COLUMNS, pk=["k"], options=options)
    rng = np.random.default_rng(0)

    for turn in range(2):
        pair.write(side, "db.t", random_rows(rng, turn, has_deletes=False))

    kinds = [one["commitKind"] for one in pair.java("snapshots", table="db.t")]
    assert kinds == ["APPEND", "COMPACT"] * 2


@pytest.mark.parametrize("side", SIDES)
def test_partitions_of_postponed_tables_get_a_number_of_their_own(pair: Pair, side: Side) -> None:
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "n": "BIGINT"}
    pair.create("java", "db.t", columns, pk=["p", "k"], partition=["p"], options={"bucket": "-2"})
    pair.write(side, "db.t", rows(0))
    pair.open("db.t").compact()
    before = unordered(pair.our_rows("db.t"))
    pair.write(side, "db.t", rows(20))

    if side == "us":
        pair.open("db.t").maintenance.rescale(buckets=3)
    else:
        pair.java("rescale", table="db.t", buckets="3")

    pair.assert_same("db.t")
    assert unordered(pair.our_rows("db.t")) == before
    pair.java("compact_postponed", table="db.t", buckets=1)
    pair.assert_same("db.t")
    assert len(pair.our_rows("db.t")) == 20
    assert {file.total_buckets for file in pair.open("db.t").scan().plan().splits} == {3}
    assert pair.open("db.t").fsck(deep=True).is_clean


def rows(first: int) -> pa.Table:
    keys = range(first, first + 10)
    return pa.table(
        {
            "p": ["xy"[key % 2] for key in keys],
            "k": pa.array(keys, pa.int32()),
            "n": [key * 10 + first for key in keys],
        }
    )
