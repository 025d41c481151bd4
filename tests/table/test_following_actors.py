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
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.following.follower import ChangeBatch, Follower
from tests.table.followers import Row, apply, followed, restored, rows_of

SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
RUNS = 2
COLUMNS = {"p": "INT", "k": "INT", "a": "BIGINT", "b": "BIGINT"}


@dataclass
class Actors:
    """A table and all who work on it."""

    table: pl.Table
    rng: random.Random
    catalog: pl.Catalog
    knows_deletes: bool
    overwrites: bool
    """Whether overwrites happen, and are read; else snapshots expire."""
    all_read: list[ChangeBatch] = field(default_factory=list)
    seldom_read: list[ChangeBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.eager = followed(self.table, start=1)
        self.lazy = followed(self.table, start=1, consumer_id="lazy")
        self.lazy.poll()

    def step(self) -> None:
        """Let one of them act, then let those who follow look."""
        acts: list[Any] = [self.write] * 4 + [self.compact, self.full_compact]
        acts += [self.overwrite, self.rescale] if self.overwrites else [self.expire] * 2
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
        for batch in self.all_read:
            apply(state, rows_of(batch), keys=2)
        found = [tuple(row.values()) for row in self.table.scan().to_arrow().to_pylist()]
        assert sorted(state.values(), key=repr) == sorted(found, key=repr), note


def flat(batches: list[ChangeBatch]) -> list[Row]:
    return [(one.snapshot_id, *row) for one in batches for row in rows_of(one)]


KINDS: dict[str, Mapping[str, str]] = {
    "none": {},
    "none, write-only": {"write-only": "true"},
    "input": {"changelog-producer": "input"},
}


@pytest.mark.parametrize("run", range(RUNS))
@pytest.mark.parametrize("overwrites", [True, False], ids=["overwrites", "expires"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_comes_twice_or_never(
    tmp_path: Path, kind: str, run: int, *, overwrites: bool
) -> None:
    seed = SEED + run
    rng = random.Random(f"{seed} {kind} {overwrites}")
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    options = {**KINDS[kind], "bucket": "2", "num-sorted-run.compaction-trigger": "2"}
    if overwrites:
        options["streaming-read-overwrite"] = "true"
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["p", "k"], partition_keys=["p"], options=options
    )
    actors = Actors(table, rng, catalog, knows_deletes=True, overwrites=overwrites)

    for _ in range(14):
        actors.step()

    actors.check(f"PAIMONLAB_SEED={SEED} {kind}")
