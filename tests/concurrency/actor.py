"""Somebody who works on a table of accounts: ``actor.py WAREHOUSE ROLE NUMBER SEED SECONDS``.

Waits until the file ``go`` is in the warehouse, works for some seconds, and prints as JSON what was
done and which documented errors came. Any other error ends the process.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import paimonlab
from paimonlab.errors import (
    FilesConflictError,
    PaimonError,
    SnapshotConflictError,
    SnapshotNotFoundError,
    TagNotFoundError,
)
from paimonlab.table.table import Table

WRITERS = 4
OWN_KEYS = 8
SHARED_KEYS = 8
KEYS = WRITERS * OWN_KEYS + SHARED_KEYS
BALANCE = 1000
_LEAST_TURNS = 10
TOTAL = KEYS * BALANCE
_LOST = (FilesConflictError, SnapshotConflictError)
_GONE = (SnapshotNotFoundError, TagNotFoundError)


@dataclass
class Actor:
    """One who works, and counts."""

    table: Table
    number: int
    random: random.Random
    until: float
    counts: Counter[str] = field(default_factory=Counter)
    balances: dict[int, int] = field(default_factory=dict)
    """Of a writer's own keys, as acknowledged."""

    def turns(self) -> Iterator[None]:
        """Return turns until the time is over, and on a slow machine a few more."""
        for turn in count():
            if turn >= _LEAST_TURNS and time.monotonic() >= self.until:
                return
            yield

    @contextmanager
    def tolerating(self, what: str, *errors: type[PaimonError]) -> Iterator[None]:
        """Count what is done, or one of some errors."""
        try:
            yield
        except errors as error:
            self.counts[type(error).__name__] += 1
        else:
            self.counts[what] += 1


def write(actor: Actor) -> None:
    """Move amounts: between own keys by writing rows, between shared ones by an update."""
    keys = range(actor.number * OWN_KEYS, (actor.number + 1) * OWN_KEYS)
    shared = range(WRITERS * OWN_KEYS, KEYS)
    has_keys = bool(actor.table.schema.primary_keys)
    own = dict.fromkeys(keys, BALANCE)
    for _ in actor.turns():
        amount = actor.random.randint(1, 50)
        if has_keys and actor.random.random() < 0.7:
            source, target = actor.random.sample(keys, 2)
            moved = own | {source: own[source] - amount, target: own[target] + amount}
            with actor.tolerating("write", *_LOST):
                actor.table.write(_rows({key: moved[key] for key in (source, target)}))
                own = moved
        else:
            source, target = actor.random.sample(shared, 2)
            change = f"amount + CASE WHEN id = {source} THEN -{amount} ELSE {amount} END"
            with actor.tolerating("update", *_LOST):
                actor.table.update({"amount": change}, where=f"id IN ({source}, {target})")
    actor.balances = own


def compact(actor: Actor) -> None:
    """Compact, now and then everything."""
    for _ in actor.turns():
        with actor.tolerating("compact", *_LOST, *_GONE):
            actor.table.compact(full=actor.random.random() < 0.3)
        time.sleep(0.05)


def expire(actor: Actor) -> None:
    """Keep three snapshots."""
    for _ in actor.turns():
        with actor.tolerating("expire"):
            actor.table.maintenance.expire_snapshots(retain_max=3)
        time.sleep(0.1)


def tag(actor: Actor) -> None:
    """Tag what is there, and delete what has many younger ones."""
    made: list[str] = []
    for turn, _ in enumerate(actor.turns()):
        with actor.tolerating("tag", *_GONE):
            actor.table.tags.create(f"t{turn}")
            made.append(f"t{turn}")
        if len(made) > 4:
            with actor.tolerating("untag"):
                actor.table.tags.delete(made.pop(0))
        time.sleep(0.1)


def read(actor: Actor) -> None:
    """Read the newest state, an old one, a tag; whole, or a few columns batch by batch."""
    for _ in actor.turns():
        what = actor.random.choice(["latest", "old", "tag", "batches", "lookup"])
        with actor.tolerating(f"read {what}", *_GONE):
            _READS[what](actor)


def _read_latest(actor: Actor) -> None:
    _check(actor.table.scan().to_arrow())


def _read_old(actor: Actor) -> None:
    _check(actor.table.scan(snapshot=actor.random.choice(actor.table.snapshots.ids())).to_arrow())


def _read_tag(actor: Actor) -> None:
    names = [*actor.table.tags.list()]
    if names:
        _check(actor.table.scan(tag=actor.random.choice(names)).to_arrow())


def _read_batches(actor: Actor) -> None:
    scan = actor.table.scan(["amount"])
    amounts = [pc.sum(batch["amount"]).as_py() or 0 for batch in scan.to_batches()]
    assert sum(amounts) == TOTAL, f"{sum(amounts)} in snapshot {scan.snapshot}"


def _read_key(actor: Actor) -> None:
    key = actor.random.randrange(KEYS)
    found = actor.table.scan(where=f"id = {key}").to_arrow()
    assert found["id"].to_pylist() == [key], f"key {key}: {found.to_pylist()}"


_READS: Mapping[str, Callable[[Actor], None]] = {
    "latest": _read_latest,
    "old": _read_old,
    "tag": _read_tag,
    "batches": _read_batches,
    "lookup": _read_key,
}
ROLES: Mapping[str, tuple[Callable[[Actor], None], ...]] = {
    "writer": (write,),
    "reader": (read, read),
    "keeper": (compact, expire, tag),
}
"""What the threads of a process do."""


def _rows(balances: Mapping[int, int]) -> pa.Table:
    ids, amounts = pa.array(balances, pa.int64()), pa.array(balances.values(), pa.int64())
    return pa.table({"id": ids, "amount": amounts})


def _check(rows: pa.Table) -> None:
    assert sorted(rows["id"].to_pylist()) == list(range(KEYS)), "keys are missing or twice"
    assert pc.sum(rows["amount"]).as_py() == TOTAL, f"{pc.sum(rows['amount'])} is not {TOTAL}"


def main(warehouse: Path, role: str, number: int, seed: int, seconds: float) -> None:
    """Work, and say what was done."""
    table = paimonlab.connect(warehouse).table("db.accounts")
    assert isinstance(table, Table)
    while not (warehouse / "go").exists():
        time.sleep(0.01)
    until = time.monotonic() + seconds
    jobs = [
        (work, Actor(table, number, random.Random(f"{seed} {role} {number} {thread}"), until))
        for thread, work in enumerate(ROLES[role])
    ]
    with ThreadPoolExecutor(len(jobs)) as pool:
        list(pool.map(lambda job: job[0](job[1]), jobs))
    counts = sum((actor.counts for _, actor in jobs), Counter[str]())
    balances = {key: value for _, actor in jobs for key, value in actor.balances.items()}
    print(json.dumps({"counts": counts, "balances": balances}))  # noqa: T201 - the answer


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
