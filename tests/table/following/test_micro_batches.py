"""Batches whose ends are known before their rows are read, beside a follower of the same table."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SnapshotExpiredError, SnapshotReplacedError
from paimonlab.read.changed_rows import read_change_split
from paimonlab.scan.following import Position
from paimonlab.table.following.admission import BatchLimits
from paimonlab.table.following.follow import (
    FollowRequest,
    change_source,
    first_position,
    progress_of,
)
from paimonlab.table.following.micro_batches import MicroBatch, MicroBatches
from paimonlab.table.following.options import rules_of
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.query import with_read_options

NO_LIMITS = BatchLimits()


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    """Return an empty table of three buckets."""
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "3", "changelog-producer": "input"},
    )


def batches_of(table: pl.Table, **options: str) -> MicroBatches:
    """Open a table for batches, as after a start of the program."""
    request = FollowRequest(options={key.replace("_", "-"): item for key, item in options.items()})
    definition, store = with_read_options(definition_of(table), store_of(table), request.options)
    return MicroBatches(
        source=change_source(definition, store, request, rules_of(definition, store, None)),
        first=partial(first_position, definition, store, request),
        progress=progress_of(definition, store, request),
        clock=lambda: 10_000_000_000_000,
    )


def rows_of(table: pl.Table, batch: MicroBatch) -> list[tuple[str, int, str]]:
    """Read a batch."""
    found = []
    for split in batch.splits:
        for rows in read_change_split(split, batch.plan, store_of(table).file_io):
            found += [tuple(row.values()) for row in rows.to_pylist()]
    return found


def write(table: pl.Table, ids: list[int]) -> None:
    """Commit rows."""
    table.write(pa.table({"id": pa.array(ids, pa.int32()), "v": [f"v{each}" for each in ids]}))


def test_batches_are_what_a_follower_sees_whatever_limits_and_restarts(table: pl.Table) -> None:
    chance = random.Random(20261123)
    batches = batches_of(table)
    position = batches.first()
    found: list[tuple[str, int, str]] = []
    for _ in range(30):
        if chance.random() < 0.5:
            write(table, chance.sample(range(50), chance.randint(1, 20)))
        if chance.random() < 0.2:
            table.compact(full=True)
        limits = BatchLimits(max_files=chance.choice([None, 1, 2]))
        end = batches.end_of_next(position, limits)
        first = rows_of(table, batches.batch(position, end)) if end != position else []
        if chance.random() < 0.4:  # a crash after the end was written down
            batches = batches_of(table)
            position, end = (Position.from_bytes(each.to_bytes()) for each in (position, end))
            if end != position:
                assert rows_of(table, batches.batch(position, end)) == first
        found += first
        position = end
    while (end := batches.end_of_next(position, NO_LIMITS)) != position:
        found += rows_of(table, batches.batch(position, end))
        position = end

    with table.follow(
        until="latest", options={"scan.mode": "from-snapshot", "scan.snapshot-id": "1"}
    ) as follower:
        expected = [tuple(row.values()) for each in follower for row in each.data.to_pylist()]
    assert sorted(found) == sorted(expected)


def test_a_batch_waits_for_its_fewest_rows_but_not_too_long(table: pl.Table) -> None:
    batches = batches_of(table)
    now = [1000]
    batches.clock = lambda: now[0]
    write(table, [1, 2])
    limits = BatchLimits(min_rows=5)
    begin = batches.first()
    start = batches.end_of_next(begin, NO_LIMITS)
    again = batches.end_of_next(begin, limits, max_delay_millis=100)
    write(table, [3])

    assert again == begin
    assert batches.end_of_next(start, limits, max_delay_millis=100) == start
    now[0] = 1101
    assert batches.end_of_next(start, limits, max_delay_millis=100) != start


def test_what_is_there_comes_wholly_when_nothing_later_does(table: pl.Table) -> None:
    batches = batches_of(table)
    write(table, [1, 2])
    start = batches.end_of_next(batches.first(), NO_LIMITS)
    write(table, [3])
    batches.end_here()
    write(table, [4])

    end = batches.end_of_next(start, BatchLimits(min_rows=5), max_delay_millis=10**15)

    assert [row[1] for row in rows_of(table, batches.batch(start, end))] == [3]
    assert batches.end_of_next(end, NO_LIMITS) == end


def test_what_is_gone_is_an_error(table: pl.Table) -> None:
    write(table, [1])
    batches = batches_of(table)
    start = batches.end_of_next(batches.first(), NO_LIMITS)
    write(table, [2])
    end = batches.end_of_next(start, NO_LIMITS)
    write(table, [3])
    for name in ("snapshot-1", "snapshot-2", "EARLIEST"):
        Path(table.path, "snapshot", name).unlink(missing_ok=True)

    with pytest.raises(SnapshotExpiredError):
        batches_of(table).batch(start, end)
    with pytest.raises(SnapshotExpiredError):
        batches_of(table).end_of_next(start, NO_LIMITS)


def test_a_rollback_is_an_error(table: pl.Table) -> None:
    write(table, [1])
    write(table, [2])
    batches = batches_of(table)
    start = batches.end_of_next(batches.first(), NO_LIMITS)
    write(table, [3])
    end = batches.end_of_next(start, NO_LIMITS)
    table.maintenance.rollback_to(snapshot=1)

    with pytest.raises(SnapshotReplacedError):
        batches_of(table).batch(start, end)
    with pytest.raises(SnapshotReplacedError):
        batches_of(table).end_of_next(start, NO_LIMITS)


def test_progress_of_a_consumer_is_what_was_committed(table: pl.Table) -> None:
    write(table, [1])
    batches = batches_of(table, consumer_id="reader")
    start = batches.end_of_next(batches.first(), NO_LIMITS)
    write(table, [2])
    end = batches.end_of_next(start, NO_LIMITS)

    batches.commit(start)
    early = dict(table.consumers.list())["reader"]
    batches.commit(end)

    assert (early, dict(table.consumers.list())["reader"]) == (2, 3)
    assert batches_of(table, consumer_id="reader").first().snapshot_id == 3
