"""Followers of a table that many change at once: nothing twice, nothing lost, and it adds up.

One follower reads after every step; another seldom, starting anew now and then from a position or
as a consumer. Meanwhile the table is written, overwritten, compacted, rescaled and expired.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.following.follower import ChangeBatch, Follower
from tests.repetitions import times
from tests.table.following.followers import Row, apply, followed, restored, rows_of

SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
RUNS = 1
COLUMNS = {"p": "INT", "k": "INT", "a": "BIGINT", "b": "BIGINT"}


@dataclass
class Actors:
    """A table and all who work on it."""

    table: pl.Table
    rng: random.Random
    catalog: pl.Catalog
    knows_deletes: bool
    also: Literal["overwrites", "expires", "nothing else"]
    """What happens besides writes and compactions; overwrites are read."""
    is_exact: bool
    """Whether changes say what was there before."""
    all_read: list[ChangeBatch] = field(default_factory=list)
    seldom_read: list[ChangeBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.eager = followed(self.table, start=1)
        self.lazy = followed(self.table, start=1, consumer_id="lazy")
        self.lazy.poll()

    def step(self) -> None:
        """Let one of them act, then let those who follow look."""
        acts: list[Any] = [self.write] * 4 + [self.compact, self.full_compact, self.rescale]
        if self.also == "overwrites":
            acts += [self.overwrite, self.overwrite_all]
        elif self.also == "expires":
            acts += [self.expire] * 2
        self.rng.choice(acts)()
        self.all_read += iter(self.eager.poll, None)
        if self.rng.random() < 0.4:
            self.read_some()

    def write(self) -> None:
        """Upsert, and delete where the table can."""
        kinds = ["+I", "+U", "-D"] if self.knows_deletes else ["+I"]
        self.table.write(self.rows(kinds), row_kinds="kind")

    def overwrite(self) -> None:
        """Replace the partitions that rows come for."""
        self.table.overwrite(self.rows(["+I"]).drop_columns("kind"), dynamic=True)

    def rescale(self) -> None:
        """Give the whole table another number of buckets."""
        self.table.maintenance.rescale(buckets=self.rng.randint(1, 4))
        again = self.catalog.table("db.t")
        assert isinstance(again, pl.Table)
        self.table = again

    def overwrite_all(self) -> None:
        """Overwrite the whole table with its own rows, in another number of buckets."""
        rows = self.table.scan().to_arrow()
        change = pl.SetOption("bucket", str(self.rng.randint(1, 4)))
        changed = self.catalog.alter_table("db.t", change)
        changed.overwrite(rows, dynamic=False)
        self.table = changed

    def compact(self) -> None:
        """Compact what there is to compact."""
        self.table.compact()

    def full_compact(self) -> None:
        """Compact everything."""
        self.table.compact(full=True)

    def expire(self) -> None:
        """Let all snapshots go that nobody is still to read."""
        self.table.maintenance.expire_snapshots(1, 1, older_than=timedelta(0))

    def rows(self, kinds: list[str]) -> pa.Table:
        """Return some rows, no key twice."""
        keys = self.rng.sample(range(12), self.rng.randint(1, 8))
        values = [[self.rng.choice([None, *range(9)]) for _ in keys] for _ in "ab"]
        return pa.table(
            {
                "p": pa.array([self.rng.randrange(2) for _ in keys], pa.int32()),
                "k": pa.array(keys, pa.int32()),
                "a": pa.array(values[0], pa.int64()),
                "b": pa.array(values[1], pa.int64()),
                "kind": self.rng.choices(kinds, k=len(keys)),
            }
        )

    def read_some(self) -> None:
        """Read some batches, then perhaps start anew."""
        for _ in range(self.rng.randint(0, 4)):
            batch = self.lazy.poll()
            if batch is not None:
                self.seldom_read.append(batch)
        self.lazy.commit()
        how = self.rng.choice(["stays", "position", "consumer"])
        if how == "position":
            self.lazy = self.again(restored(self.lazy.position))
        elif how == "consumer" and not self.lazy.position.is_inside:
            self.lazy = self.again("latest-full")

    def again(self, start: Any) -> Follower:
        """Follow the table as it is opened now."""
        return followed(self.table, start=start, consumer_id="lazy")

    def check(self, note: str) -> None:
        """See that both read the same, and that it makes the table."""
        self.seldom_read += iter(self.lazy.poll, None)
        assert flat(self.seldom_read) == flat(self.all_read), note
        state: dict[Any, Row] = {}
        states = {}
        for batch in self.all_read:
            if self.is_exact:
                assert_exact(state, rows_of(batch), note)
            apply(state, rows_of(batch), keys=2)
            states[batch.snapshot_id] = sorted(state.values(), key=repr)
        assert sorted(state.values(), key=repr) == self.rows_at(None), note
        if self.also != "expires":
            told: list[Row] = []
            for snapshot_id in self.table.snapshots.ids():
                told = states.get(snapshot_id, told)
                assert self.rows_at(snapshot_id) == told, f"{note}, snapshot {snapshot_id}"

    def rows_at(self, snapshot: int | None) -> list[Row]:
        """Return the rows of a snapshot that a follower starts with; None: those of readers."""
        if snapshot is None:
            found = self.table.scan().to_arrow().to_pylist()
            return sorted((tuple(row.values()) for row in found), key=repr)
        options = {"scan.snapshot-id": str(snapshot)}
        follower = followed(self.table, start="from-snapshot-full", until=snapshot, options=options)
        return sorted((row[1:] for batch in follower for row in rows_of(batch)), key=repr)


def assert_exact(before: Mapping[Any, Row], rows: list[Row], note: str) -> None:
    """Every change fits the row that was there, if there was one."""
    state = dict(before)
    for number, (kind, *values) in enumerate(rows):
        key, row = tuple(values[:2]), tuple(values)
        if kind == "+I":
            assert key not in state, f"{note}: {key} is new, and was there"
        elif kind in ("-U", "-D"):
            assert state.pop(key, None) == row, f"{note}: {row} was not there"
        if kind == "-U":
            assert rows[number + 1][0] == "+U", note
        if kind in ("+I", "+U"):
            state[key] = row


def flat(batches: list[ChangeBatch]) -> list[Row]:
    return [(one.snapshot_id, *row) for one in batches for row in rows_of(one)]


SUMS = {
    "merge-engine": "aggregation",
    "fields.a.aggregate-function": "sum",
    "fields.b.aggregate-function": "max",
    "fields.b.ignore-retract": "true",
}
PARTIAL = {"merge-engine": "partial-update", "ignore-delete": "true"}
FIRST = {"merge-engine": "first-row", "ignore-delete": "true"}
LOOKUP = {"changelog-producer": "lookup"}
FULL = {"changelog-producer": "full-compaction"}
KINDS: dict[str, Mapping[str, str]] = {
    "none": {},
    "none, write-only": {"write-only": "true"},
    "input": {"changelog-producer": "input"},
    "lookup": LOOKUP,
    "lookup, aggregation": LOOKUP | SUMS,
    "lookup, partial-update": LOOKUP | PARTIAL,
    "lookup, first-row": LOOKUP | FIRST,
    "full-compaction": FULL,
    "full-compaction, aggregation": FULL | SUMS,
    "full-compaction, partial-update": FULL | PARTIAL,
}


@pytest.mark.parametrize("run", range(RUNS))
@pytest.mark.parametrize("expires", [True, False], ids=["expires", "keeps"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_comes_twice_or_never(
    tmp_path: Path, kind: str, run: int, *, expires: bool
) -> None:
    rng = random.Random(f"{SEED + run} {kind} {expires}")
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    options = {**KINDS[kind], "bucket": "2", "num-sorted-run.compaction-trigger": "2"}
    is_exact = options.get("changelog-producer") in ("lookup", "full-compaction")
    also: Any = "expires" if expires else "nothing else" if is_exact else "overwrites"
    if also == "overwrites":
        options["streaming-read-overwrite"] = "true"
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["p", "k"], partition_keys=["p"], options=options
    )
    actors = Actors(
        table, rng, catalog, "ignore-delete" not in options, also=also, is_exact=is_exact
    )

    for _ in range(times(10)):
        actors.step()
    actors.full_compact()
    actors.all_read += iter(actors.eager.poll, None)

    actors.check(f"PAIMONLAB_SEED={SEED} {kind}")
