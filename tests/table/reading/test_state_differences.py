"""The difference of two states against a dict of the rows that readers see.

The dict merges rows by itself, one after the other; it knows nothing of files and levels.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl

SEED = int(os.environ.get("PAIMONLAB_SEED", "1"))
COLUMNS = {"p": "STRING", "k": "INT", "a": "STRING", "b": "INT"}
ARROW = pa.schema([("p", pa.string()), ("k", pa.int32()), ("a", pa.string()), ("b", pa.int32())])
KIND = "kind"
Row = dict[str, Any]
Merge = Callable[[Row | None, str, Row], Row | None]
"""From what readers see of a key, a kind and a row to what they see then."""


def newest(old: Row | None, kind: str, row: Row) -> Row | None:
    return None if kind == "-D" else row


def newest_without_deletes(old: Row | None, kind: str, row: Row) -> Row | None:
    return old if kind == "-D" else row


def largest_b(old: Row | None, kind: str, row: Row) -> Row | None:
    return row if old is None or row["b"] >= old["b"] else old


def not_null(old: Row | None, kind: str, row: Row) -> Row | None:
    if kind == "-D":
        return None
    given = {name: value for name, value in row.items() if value is not None}
    return {**row, **(old or {}), **given}


def summed(old: Row | None, kind: str, row: Row) -> Row | None:
    added = row["b"] or 0
    if old is None:
        return row
    if kind == "-D":
        return {**old, "b": old["b"] - added}
    largest = max((one for one in (old["a"], row["a"]) if one is not None), default=None)
    return {**row, "a": largest, "b": old["b"] + added}


def first(old: Row | None, kind: str, row: Row) -> Row | None:
    return row if old is None else old


PARTIAL = {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}
SUMS = {
    "merge-engine": "aggregation",
    "fields.a.aggregate-function": "max",
    "fields.a.ignore-retract": "true",
    "fields.p.ignore-retract": "true",
    "fields.b.aggregate-function": "sum",
}
LOOKUP = {"changelog-producer": "lookup"}
VECTORS = {"deletion-vectors.enabled": "true"}
ENGINES: Mapping[str, tuple[Merge, str, dict[str, str]]] = {
    "deduplicate": (newest, "IIID", {}),
    "deduplicate, ignoring deletes": (newest_without_deletes, "IID", {"ignore-delete": "true"}),
    "deduplicate, with a sequence": (largest_b, "I", {"sequence.field": "b"}),
    "deduplicate, with vectors": (newest, "IIID", VECTORS),
    "deduplicate, looked up": (newest, "IIID", LOOKUP),
    "partial-update": (not_null, "IIIID", PARTIAL),
    "partial-update, looked up": (not_null, "IIIID", PARTIAL | LOOKUP),
    "partial-update, with vectors": (not_null, "I", {"merge-engine": "partial-update"} | VECTORS),
    "aggregation": (summed, "IIID", SUMS),
    "aggregation, fully compacted": (
        summed,
        "IIID",
        SUMS | {"changelog-producer": "full-compaction"},
    ),
    "first-row": (first, "I", {"merge-engine": "first-row"}),
}
PLACES: Mapping[str, tuple[list[str], list[str], str]] = {
    "fixed buckets": ([], ["k"], "2"),
    "partitions": (["p"], ["p", "k"], "1"),
    "dynamic buckets": (["p"], ["p", "k"], "-1"),
    "moving keys": (["p"], ["k"], "-1"),
}
CASES = [
    *((engine, "fixed buckets") for engine in ENGINES),
    *(("deduplicate", place) for place in PLACES if place != "fixed buckets"),
    ("deduplicate, with vectors", "moving keys"),
    ("deduplicate, looked up", "moving keys"),
    ("partial-update", "dynamic buckets"),
    ("partial-update, with vectors", "partitions"),
    ("aggregation, fully compacted", "dynamic buckets"),
    ("first-row", "dynamic buckets"),
]


class Modelled:
    """A table and what readers of each snapshot see."""

    def __init__(self, folder: Path, engine: str, place: str, seed: int) -> None:
        self.random = random.Random(f"{engine}, {place}, {seed}")
        self.merge, self.kinds, options = ENGINES[engine]
        self.partition_keys, self.keys, bucket = PLACES[place]
        self.total_buckets = int(bucket)
        self.catalog = catalog = pl.connect(folder / "warehouse")
        catalog.create_database("db")
        few = {"dynamic-bucket.target-row-num": "4"} if bucket == "-1" else {}
        self.table = catalog.create_table(
            "db.t",
            COLUMNS,
            partition_keys=self.partition_keys,
            primary_keys=self.keys,
            options={"bucket": bucket, "num-sorted-run.compaction-trigger": "4", **few, **options},
        )
        self.rows: dict[tuple[Any, ...], Row] = {}
        self.states: dict[int, dict[tuple[Any, ...], Row]] = {}

    def key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.keys)

    def step(self) -> None:
        roll = self.random.random()
        if roll < 0.7 or not self.states:
            self.write()
        elif roll < 0.85:
            self.table.compact(full=self.random.random() < 0.5)
        elif roll < 0.92 and self.total_buckets > 0:
            self.rescale()
        else:
            self.overwrite()
        latest = self.table.snapshots.latest()
        if latest is None:
            return  # all rows were deletes that are ignored
        self.states[latest.id] = {key: dict(row) for key, row in self.rows.items()}

    def rescale(self) -> None:
        """Move the rows to another number of buckets."""
        self.table.compact(full=True)
        self.total_buckets = 3 - self.total_buckets
        self.table.maintenance.rescale(buckets=self.total_buckets)
        found = self.catalog.table("db.t")
        assert isinstance(found, pl.Table)
        self.table = found

    def some(self) -> list[Row]:
        keys = self.random.sample(range(14), self.random.randint(1, 6))
        return [
            {
                "p": self.random.choice("xy") if self.partition_keys else "x",
                "k": key,
                "a": self.random.choice(["u", "v", None]),
                "b": self.random.randint(0, 3),
            }
            for key in keys
        ]

    def kind(self, row: Row) -> str:
        """Take back from a sum only what was added."""
        can_delete = self.merge is not summed or self.key(row) in self.rows
        return "-D" if self.random.choice(self.kinds) == "D" and can_delete else "+I"

    def write(self) -> None:
        changes = [(self.kind(row), row) for row in self.some()]
        rows = pa.Table.from_pylist([row for _, row in changes], ARROW)
        self.table.write(
            rows.append_column(KIND, pa.array([kind for kind, _ in changes])), row_kinds=KIND
        )
        for kind, row in changes:
            merged = self.merge(self.rows.get(self.key(row)), kind, row)
            self.rows.pop(self.key(row), None)
            if merged is not None:
                self.rows[self.key(row)] = merged

    def overwrite(self) -> None:
        """Write the rows of partitions again, some left out: in other files, and other buckets."""
        kept = [row for row in self.rows.values() if self.random.random() < 0.8]
        self.random.shuffle(kept)
        if not kept:
            return
        some = "p" in self.keys and self.random.random() < 0.5
        self.table.overwrite(pa.Table.from_pylist(kept, ARROW), dynamic=some)
        partitions = {row["p"] for row in kept}
        others = [row for row in self.rows.values() if some and row["p"] not in partitions]
        self.rows = {self.key(row): row for row in [*kept, *others]}

    def expected(self, start: int, end: int) -> list[tuple[str, Row]]:
        old, new = self.states[start], self.states[end]
        gone = [
            ("-", row)
            for key, row in old.items()
            if key not in new or ("p" not in self.keys and row["p"] != new[key]["p"])
        ]
        return [*gone, *(("+", row) for key, row in new.items() if old.get(key) != row)]


def changes_of(
    table: pl.Table, start: int, end: int, where: str | None = None
) -> list[tuple[str, Row]]:
    found = table.changes(start, end, mode="diff", where=where).to_arrow().to_pylist()
    return [("-" if row.pop("rowkind") in ("-D", "-U") else "+", row) for row in found]


def ordered(rows: list[Any]) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize(("engine", "place"), CASES)
def test_a_difference_is_that_of_the_rows_readers_see(
    tmp_path: Path, engine: str, place: str
) -> None:
    model = Modelled(tmp_path, engine, place, SEED)
    told = f"PAIMONLAB_SEED={SEED}, {engine}, {place}"
    for _ in range(8):
        model.step()
    for snapshot_id, state in model.states.items():
        seen = model.table.scan(snapshot=snapshot_id).to_arrow().to_pylist()
        assert ordered(seen) == ordered([*state.values()]), f"{told}, snapshot {snapshot_id}"

    ids = sorted(model.states)
    pairs = [(start, end) for number, start in enumerate(ids) for end in ids[number:]]
    for start, end in model.random.sample(pairs, min(8, len(pairs))):
        found, wanted = changes_of(model.table, start, end), model.expected(start, end)
        assert ordered(found) == ordered(wanted), f"{told}: {start} to {end}"
        for where, holds in model.random.sample([*WHERE.items()], 1):
            kept = [one for one in wanted if holds(one[1])]
            found = changes_of(model.table, start, end, where)
            assert ordered(found) == ordered(kept), f"{told}: {start} to {end}, {where}"


WHERE: Mapping[str, Callable[[Row], bool]] = {
    "k > 5 AND k < 9": lambda row: 5 < row["k"] < 9,
    "a = 'u'": lambda row: row["a"] == "u",
    "p = 'x'": lambda row: row["p"] == "x",
}
