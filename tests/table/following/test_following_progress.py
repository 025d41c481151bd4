"""Positions and consumers: a follower goes on where one stopped, loses and repeats nothing."""

from __future__ import annotations

import os
import random
from collections import Counter
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SnapshotExpiredError, SnapshotNotFoundError
from paimonlab.read import pieces
from paimonlab.read.read_plan import ReadBounds, ReadPlan
from paimonlab.scan.following import Position
from paimonlab.table.following.follower import ChangeBatch
from tests.table.following.followers import (
    FakeClock,
    apply,
    by_snapshot,
    everything,
    followed,
    restored,
    rows_of,
    write,
)

SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)


@pytest.fixture
def keyed(catalog: pl.Catalog) -> pl.Table:
    table = catalog.create_table(
        "db.t",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},  # pieces in one order
    )
    write(table, ("+I", 1, "a"), ("+I", 2, "b"), ("+I", 3, "c"))
    write(table, ("+U", 1, "a2"), ("-D", 2, "b"))
    return table


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let followers hand out a row or two at a time."""
    small = partial(ReadPlan, bounds=ReadBounds(batch_rows=2))
    monkeypatch.setattr("paimonlab.table.plans.read.ReadPlan", small)


def restarts(table: pl.Table, start: Any, **asked: Any) -> list[ChangeBatch]:
    """Follow a table with a new follower for every batch."""
    found: list[ChangeBatch] = []
    while True:
        batch = next(followed(table, start=start, until="latest", **asked), None)
        if batch is None:
            return found
        found.append(batch)
        start = restored(batch.position)


def flat(batches: list[ChangeBatch]) -> list[tuple[Any, ...]]:
    return [(one.snapshot_id, *row) for one in batches for row in rows_of(one)]


# Positions.


@pytest.mark.usefixtures("small_pieces")
def test_a_large_snapshot_comes_in_pieces(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.a", {"id": "INT", "v": "STRING"})
    write(table, *[("+I", number, "x") for number in range(7)])

    batches = list(table.follow(until="latest"))

    assert [one.data.num_rows for one in batches] == [2, 2, 2, 1]
    assert [one.is_last for one in batches] == [False, False, False, True]
    assert [one.position.is_inside for one in batches] == [True, True, True, False]
    for number, batch in enumerate(batches):
        rest = list(table.follow(restored(batch.position), until="latest"))
        assert flat(rest) == flat(batches[number + 1 :])


@pytest.mark.usefixtures("small_pieces")
def test_a_position_inside_belongs_to_its_condition(keyed: pl.Table) -> None:
    inside = next(keyed.follow(1)).position
    behind = next(keyed.follow(2)).position

    assert inside.is_inside
    with pytest.raises(ValueError, match="another condition"):
        next(keyed.follow(inside, where="id > 0"))
    assert not behind.is_inside
    assert everything(keyed, behind, where="id > 0") == {}


@pytest.mark.usefixtures("small_pieces")
def test_a_position_inside_outlives_other_snapshots(keyed: pl.Table) -> None:
    follower = keyed.follow("latest-full", until="latest")
    first = next(follower)
    write(keyed, ("+I", 7, "g"))

    rest = list(keyed.follow(first.position, until="latest"))

    state: dict[Any, Any] = {}
    for batch in (first, *rest):
        apply(state, rows_of(batch))
    assert sorted(state.values()) == [(1, "a2"), (3, "c"), (7, "g")]


def test_pieces_of_small_files_come_together(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.b", {"id": "INT", "v": "STRING"}, options={"bucket": "8", "bucket-key": "id"}
    )
    write(table, *[("+I", number, "x") for number in range(50)])

    (batch,) = table.follow(until="latest")

    assert batch.data.num_rows == 50
    assert len(list(Path(table.path).glob("bucket-*"))) > 4


def test_a_piece_is_bounded_in_bytes(catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_PIECE_BYTES", 1)
    table = catalog.create_table(
        "db.b", {"id": "INT", "v": "STRING"}, options={"bucket": "4", "bucket-key": "id"}
    )
    write(table, *[("+I", number, "x") for number in range(50)])

    assert len(list(table.follow(until="latest"))) == 4


# Random histories.


class History:
    """A table that is written at random, and the rows it must have."""

    def __init__(self, table: pl.Table, rng: random.Random) -> None:
        self.table = table
        self.rng = rng
        self.rows: dict[int, str] = {}
        self.appended: Counter[tuple[int, str]] = Counter()
        """Of an append table: what followers are told."""

    def step(self) -> None:
        """Do something to the table."""
        what = self.rng.choice(["write"] * 5 + ["overwrite", "compact", "statistics"])
        if what == "compact":
            self.table.compact_manifests()
        elif what == "statistics":
            self.table.maintenance.analyze()
        else:
            self._write(overwrites=what == "overwrite")

    def _write(self, *, overwrites: bool) -> None:
        keys = self.rng.sample(range(30), self.rng.randint(1, 9))
        values = [self.rng.choice("xyz") + str(self.rng.randrange(99)) for _ in keys]
        data = {"id": pa.array(keys, pa.int32()), "v": values}
        kinds = [self.rng.choice(["+I", "+U", "-D"]) for _ in keys]
        if overwrites:
            self.table.overwrite(pa.table(data))
            self.rows = dict(zip(keys, values, strict=True))
        elif self.table.primary_keys:
            if self.table.options.get("changelog-producer") == "input":
                kinds = self._true_kinds(keys, kinds, data)
            self.table.write(pa.table({**data, "kind": kinds}), row_kinds="kind")
            for kind, key, value in zip(kinds, data["id"].to_pylist(), data["v"], strict=True):
                self.rows.pop(key, None) if kind == "-D" else self.rows.__setitem__(key, value)
        else:
            self.table.write(pa.table(data))
            self.appended.update(zip(keys, values, strict=True))

    def _true_kinds(self, keys: list[int], kinds: list[str], data: dict[str, Any]) -> list[str]:
        """Say what really happens to keys, as who fills a changelog must."""
        data["v"] = [
            self.rows.get(key, value) if kind == "-D" else value
            for kind, key, value in zip(kinds, keys, data["v"], strict=True)
        ]
        return [
            ("+U" if key in self.rows else "+I") if kind != "-D" else kind
            for kind, key in zip(kinds, keys, strict=True)
        ]


@pytest.mark.parametrize("run", range(2))
@pytest.mark.parametrize("producer", ["none", "input"])
@pytest.mark.usefixtures("small_pieces")
def test_random_histories_of_keys_add_up(catalog: pl.Catalog, producer: str, run: int) -> None:
    seed = SEED + run
    rng = random.Random(seed)
    table = catalog.create_table(
        "db.r",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={
            "bucket": str(rng.choice([1, 3])),
            "changelog-producer": producer,
            "streaming-read-overwrite": "true",
            "write-only": "true",
        },
    )
    history = History(table, rng)
    start: Any = 1
    state: dict[Any, tuple[Any, ...]] = {}
    if rng.random() < 0.7:
        start = "latest-full"
        for _ in range(rng.randint(0, 4)):
            history.step()
        while table.snapshot is None:  # with nothing there, what is full comes later
            history.step()
    follower = followed(table, start=start)
    first = follower.position
    whole: list[ChangeBatch] = []
    for _ in range(8):
        history.step()
        whole += iter(follower.poll, None)
        state.clear()
        for batch in whole:
            apply(state, rows_of(batch))
        assert {row[0]: row[1] for row in state.values()} == history.rows, f"seed {seed}"

    piecewise = restarts(table, first)

    assert flat(piecewise) == flat(whole), f"seed {seed}"
    for batch in rng.sample(whole, min(4, len(whole))):
        rest = list(followed(table, start=restored(batch.position), until="latest"))
        number = whole.index(batch)
        assert flat(rest) == flat(whole[number + 1 :]), f"seed {seed}"
    found = table.scan().to_arrow().to_pylist()
    assert {row["id"]: row["v"] for row in found} == history.rows, f"seed {seed}"


@pytest.mark.parametrize("run", range(2))
@pytest.mark.usefixtures("small_pieces")
def test_random_histories_of_appends_come_once(catalog: pl.Catalog, run: int) -> None:
    seed = SEED + run
    rng = random.Random(seed)
    table = catalog.create_table(
        "db.r",
        {"id": "INT", "v": "STRING"},
        options=rng.choice([{}, {"bucket": "2", "bucket-key": "id"}]),
    )
    history = History(table, rng)
    for _ in range(8):
        history.step()

    whole = list(followed(table, start=1, until="latest"))

    assert Counter(row[1:] for one in whole for row in rows_of(one)) == history.appended, seed
    assert flat(restarts(table, 1)) == flat(whole), f"seed {seed}"


# Consumers.


def test_progress_is_kept_by_whole_snapshots(keyed: pl.Table) -> None:
    follower = followed(keyed, start=1, until="latest", consumer_id="c")
    assert keyed.consumers.list() == {}

    next(follower)
    assert keyed.consumers.list() == {"c": 1}
    next(follower)
    assert keyed.consumers.list() == {"c": 2}
    follower.commit()
    assert keyed.consumers.list() == {"c": 3}
    follower.close()

    write(keyed, ("+I", 9, "z"))
    assert everything(keyed, consumer_id="c") == {3: [("+I", 9, "z")]}
    assert keyed.consumers.list() == {"c": 4}
    assert everything(keyed, "latest", options={"consumer-id": "c"}) == {}


def test_rows_that_were_not_dealt_with_come_again(keyed: pl.Table) -> None:
    def stops_at_2() -> None:
        with keyed.follow(1, consumer_id="c") as follower:
            for batch in follower:
                assert batch.snapshot_id == 1

    with pytest.raises(AssertionError):
        stops_at_2()

    assert [*everything(keyed, consumer_id="c")] == [2]


def test_close_does_not_count_the_last_batch(keyed: pl.Table) -> None:
    follower = keyed.follow(1, consumer_id="c")
    next(follower)
    follower.close()
    assert follower.poll() is None
    assert keyed.consumers.get("c") == 1


def test_leaving_a_block_counts_the_last_batch(keyed: pl.Table) -> None:
    with keyed.follow(1, consumer_id="c") as follower:
        next(follower)
    assert keyed.consumers.get("c") == 2


def test_progress_never_passes_a_position_that_its_caller_could_keep(keyed: pl.Table) -> None:
    follower = keyed.follow(start="latest", consumer_id="c")
    assert follower.poll() is None
    for _ in range(3):
        write(keyed, ("+I", 1, "a"))
        assert follower.poll() is not None
        keyed.compact(full=True)  # a snapshot without rows to follow
        kept = follower.position

        assert follower.poll() is None
        keyed.maintenance.expire_snapshots(retain_max=1, retain_min=1)

        assert keyed.consumers.get("c") == kept.snapshot_id < follower.position.snapshot_id
        assert everything(keyed, kept) == {}


@pytest.mark.usefixtures("small_pieces")
def test_nothing_is_kept_before_all_rows_of_the_start_came(keyed: pl.Table) -> None:
    write(keyed, ("+I", 5, "e"), ("+I", 6, "f"), ("+I", 7, "g"))
    follower = keyed.follow(consumer_id="c", until="latest")
    batches = []
    for batch in follower:
        assert keyed.consumers.list() == {}
        batches.append(batch)

    assert len(batches) > 1
    assert keyed.consumers.list() == {"c": 4}


@pytest.mark.usefixtures("small_pieces")
def test_a_snapshot_amid_which_it_stopped_comes_again(keyed: pl.Table) -> None:
    with keyed.follow(1, consumer_id="c") as follower:
        assert not next(follower).is_last

    assert keyed.consumers.get("c") == 1
    assert [*everything(keyed, consumer_id="c")] == [1, 2]


def test_where_progress_counts_and_where_not(keyed: pl.Table) -> None:
    keyed.consumers.reset("c", 2)
    again = {"consumer.ignore-progress": "true", "consumer.mode": "at-least-once"}

    assert [*everything(keyed, 1, consumer_id="c")] == [2]
    keyed.consumers.reset("c", 2)
    assert [*everything(keyed, 1, consumer_id="c", options=again)] == [1, 2]
    keyed.consumers.reset("c", 1)
    assert everything(keyed, Position(snapshot_id=3), consumer_id="c") == {}
    assert keyed.consumers.get("c") == 3
    with pytest.raises(ValueError, match="blank"):
        keyed.follow(consumer_id=" ")


def test_progress_that_leads_nowhere_is_an_error(keyed: pl.Table) -> None:
    keyed.consumers.reset("far", 9)
    with pytest.raises(SnapshotNotFoundError, match=r"'far' reads it next.*ignore-progress"):
        keyed.follow(consumer_id="far")
    keyed.consumers.reset("near", 1)
    Path(keyed.path, "snapshot", "snapshot-1").unlink()
    Path(keyed.path, "snapshot", "EARLIEST").unlink(missing_ok=True)
    with pytest.raises(SnapshotExpiredError, match=r"'near' reads it next.*has expired"):
        keyed.follow(consumer_id="near")


def test_a_consumer_that_waits_does_not_expire(keyed: pl.Table) -> None:
    options = {"consumer.expiration-time": "40 s", "continuous.discovery-interval": "5 s"}
    path = Path(keyed.path, "consumer", "consumer-c")
    times: list[int] = []

    def look() -> None:
        times.append(path.stat().st_mtime_ns)
        os.utime(path, ns=(0, 0))

    clock = FakeClock(*[look] * 4, lambda: write(keyed, ("+I", 9, "z")))
    next(followed(keyed, clock, start="latest", consumer_id="c", options=options))

    assert [bool(one) for one in times] == [True, False, True, False]
    assert keyed.consumers.get("c") == 3
    assert keyed.consumers.expire(timedelta(days=365)) == []


def test_changes_are_followed_in_one_table_at_a_time(keyed: pl.Table) -> None:
    both = [followed(keyed, start=1, until="latest") for _ in range(2)]

    assert by_snapshot(both[0]) == by_snapshot(both[1])
