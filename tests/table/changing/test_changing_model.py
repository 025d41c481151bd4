"""Random writes, deletes, updates and overwrites against a list of rows."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.repetitions import times

Row = tuple[str, int, int | None, str | None]
Condition = tuple[str, Callable[[Row], bool | None]]

SCHEMA = pa.schema([("p", pa.string()), ("k", pa.int32()), ("n", pa.int64()), ("s", pa.string())])
DEFINITION = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "n": "BIGINT", "s": "STRING"}
VECTORS = {"deletion-vectors.enabled": "true"}
SMALL = {"deletion-vector.index-file.target-size": "30 b"}
BUCKETS = {"bucket": "2", "bucket-key": "k"}
BESIDE = {"index-file-in-data-file-dir": "true"}

REMOVES = {"partial-update.remove-record-on-delete": "true"}


@dataclass(frozen=True)
class Kind:
    """A kind of table."""

    options: Mapping[str, str]
    keys: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


KINDS = {
    "vectors": Kind(VECTORS | SMALL),
    "vectors, partitioned": Kind(VECTORS | SMALL | BESIDE, partitions=("p",)),
    "vectors of 64 bits, buckets": Kind(VECTORS | BUCKETS | {"deletion-vectors.bitmap64": "true"}),
    "vectors, buckets, partitioned": Kind(VECTORS | BUCKETS | BESIDE, partitions=("p",)),
    "rewriting": Kind({}),
    "rewriting, buckets, partitioned": Kind(BUCKETS, partitions=("p",)),
    "keys": Kind({"bucket": "2"}, keys=("k",)),
    "keys, dynamic buckets": Kind({"dynamic-bucket.target-row-num": "5"}, keys=("k",)),
    "keys with vectors": Kind(
        VECTORS | {"bucket": "2", "deletion-vectors.merge-on-read": "true"}, keys=("k",)
    ),
    "keys, partial-update": Kind(
        {"bucket": "1", "merge-engine": "partial-update"} | REMOVES, ("k",)
    ),
    "keys across partitions": Kind({}, keys=("k",), partitions=("p",)),
    "vectors, ORC": Kind(VECTORS | {"file.format": "orc"}),
    "rewriting, Avro": Kind({"file.format": "avro"}, partitions=("p",)),
    "keys, partitioned": Kind({"bucket": "2"}, keys=("p", "k"), partitions=("p",)),
}


@dataclass
class Hands:
    """Does the same to a table and to a list of rows."""

    table: Table
    kind: Kind
    hand: random.Random
    rows: list[Row] = field(default_factory=list)
    history: dict[int, list[Row]] = field(default_factory=dict)

    def row(self) -> Row:
        hand = self.hand
        number = None if hand.random() < 0.2 else hand.randint(-5, 5)
        text = None if hand.random() < 0.2 else hand.choice("abcä")
        return (hand.choice("xyz"), hand.randint(0, 30), number, text)

    def condition(self) -> Condition:
        hand, number = self.hand, self.hand.randint(-5, 25)
        return hand.choice(
            [
                (f"k < {number}", lambda row: row[1] < number),
                (f"n >= {number}", lambda row: None if row[2] is None else row[2] >= number),
                (f"NOT n = {number}", lambda row: None if row[2] is None else row[2] != number),
                ("s IS NULL", lambda row: row[3] is None),
                ("s = 'a'", lambda row: None if row[3] is None else row[3] == "a"),
                ("p = 'x'", lambda row: row[0] == "x"),
                ("p = 'y' AND k > 10", lambda row: row[0] == "y" and row[1] > 10),
                ("k IN (1, 3, 5, 7, 11)", lambda row: row[1] in {1, 3, 5, 7, 11}),
            ]
        )

    def write(self) -> None:
        new = [self.row() for _ in range(self.hand.randint(1, 12))]
        self.table.write(data(new))
        self.rows = self.merged([*self.rows, *new])

    def merged(self, rows: list[Row]) -> list[Row]:
        if not self.kind.keys:
            return rows
        places = [SCHEMA.names.index(key) for key in self.kind.keys]
        merged: dict[object, Row] = {}
        for row in rows:
            key = tuple(row[place] for place in places)
            merged[key] = self.completed(row, merged.get(key))
        return list(merged.values())

    def completed(self, row: Row, old: Row | None) -> Row:
        if old is None or "partial-update" not in self.kind.options.values():
            return row
        number, text = (old[place] if row[place] is None else row[place] for place in (2, 3))
        return (row[0], row[1], number, text)  # type: ignore[return-value]

    def delete(self) -> None:
        text, test = self.condition()
        snapshot = self.table.delete(text)
        kept = [row for row in self.rows if test(row) is not True]
        if len(kept) < len(self.rows):
            assert snapshot is not None
        elif snapshot is not None:  # a partition is dropped with files of rows that are gone
            assert text == "p = 'x'"
        self.rows = kept

    def update(self) -> None:
        text, test = self.condition()
        number, letter = self.hand.choice([("n + k", added), ("7", lambda _: 7)])
        snapshot = self.table.update({"n": number, "s": "p || coalesce(s, '?')"}, where=text)
        hit = [test(row) is True for row in self.rows]
        assert (snapshot is None) == (not any(hit))
        self.rows = [
            (row[0], row[1], letter(row), row[0] + (row[3] or "?")) if is_hit else row
            for row, is_hit in zip(self.rows, hit, strict=True)
        ]

    def overwrite(self) -> None:
        if self.kind.keys == ("k",) and self.kind.partitions:
            return  # whether a key that was elsewhere moves is another test's
        new = [self.row() for _ in range(self.hand.randint(1, 5))]
        self.table.overwrite(data(new))
        replaced = {row[0] for row in new}
        kept = [row for row in self.rows if self.kind.partitions and row[0] not in replaced]
        self.rows = self.merged([*kept, *new])

    def truncate(self) -> None:
        self.table.truncate()
        self.rows = []

    def check(self) -> None:
        snapshot = self.table.snapshot
        self.history[snapshot.id if snapshot else 0] = list(self.rows)
        assert found(self.table.scan()) == Counter(self.rows)
        assert self.table.scan().count() == len(self.rows)
        text, test = self.condition()
        wanted = Counter(row for row in self.rows if test(row) is True)
        assert found(self.table.scan(where=text)) == wanted
        assert self.table.scan(where=text).count() == wanted.total()
        limit = self.hand.randint(0, 10)
        some = self.table.scan(limit=limit).to_arrow()
        assert some.num_rows == min(limit, len(self.rows))


def added(row: Row) -> int | None:
    return None if row[2] is None else row[2] + row[1]


def data(rows: list[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    return pa.table([list(column) for column in columns], schema=SCHEMA)


def found(scan: Any) -> Counter[Row]:
    return Counter(tuple(row.values()) for row in scan.to_arrow().to_pylist())


@pytest.mark.parametrize("name", KINDS)
def test_a_table_has_the_rows_of_a_list(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    seed = int(os.environ.get("PAIMONLAB_SEED", random.randrange(10**6)))
    print("PAIMONLAB_SEED", seed, "kind", name)  # noqa: T201 - shown when the test fails
    hand = random.Random(seed)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        DEFINITION,
        primary_keys=kind.keys,
        partition_keys=kind.partitions,
        options=kind.options,
    )
    assert isinstance(table, Table)
    hands = Hands(table, kind, hand)
    hands.write()

    for _ in range(times(7)):
        verbs = [hands.write, hands.delete, hands.update, hands.overwrite, hands.truncate]
        hand.choices(verbs, [8, 8, 8, 2, 1])[0]()
        hands.check()

    for snapshot, rows in hands.history.items():
        assert found(table.scan(snapshot=snapshot)) == Counter(rows)
    assert no_junk(table) == []


def no_junk(table: Table) -> list[str]:
    """Name index files that no snapshot refers to."""
    known = {
        index.file_name
        for snapshot in table.snapshots.list()
        if snapshot.index_manifest
        for index in store_of(table).manifests.read_index(snapshot.index_manifest)
    }
    return [
        path.name
        for path in Path(table.path).rglob("index-*-*")
        if path.name not in known and not path.name.startswith("index-manifest")
    ]
