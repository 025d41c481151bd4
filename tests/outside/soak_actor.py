"""Somebody who works on a table until told to stop: ``soak_actor.py FOLDER ROLE NUMBER SEED``.

FOLDER has the warehouse and the notes of the actors, who may be killed or stopped at any time:
what one wrote down is true, whatever it did not get to write down may have happened or not.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab as pl
from paimonlab.errors import (
    CommitOutcomeUnknownError,
    FilesConflictError,
    PostCommitError,
    SnapshotConflictError,
    SnapshotNotFoundError,
    TagNotFoundError,
)
from paimonlab.table.table import Table

CONSUMER = "soak"
"""The name that the follower's progress is kept under."""
KEYS = 40
"""Of each writer."""
STOP = "stop"
"""The file whose coming ends the work of all but the follower."""
STOP_FOLLOWING = "stop-following"
"""The file after whose coming nothing changes any more."""
_LOST = (FilesConflictError, SnapshotConflictError)
_GONE = (SnapshotNotFoundError, TagNotFoundError)


def table_of(folder: Path) -> Table:
    """Open the table that all work on."""
    table = pl.connect(folder / "warehouse").table("db.t")
    assert isinstance(table, Table)
    return table


def ledger_of(folder: Path, number: int) -> Path:
    """Return the notes of a writer."""
    return folder / f"writer-{number}.jsonl"


def followed_of(folder: Path) -> Path:
    """Return the notes of the follower."""
    return folder / "followed.json"


def _turns(folder: Path) -> Iterator[None]:
    while not (folder / STOP).exists():
        yield


def write(folder: Path, number: int, chance: random.Random) -> None:
    """Put and take away rows of own keys; write down what is meant before, what is sure after."""
    table = table_of(folder)
    with ledger_of(folder, number).open("a", encoding="utf-8") as ledger:
        start = int(time.time() * 1000) % 10**9 * 1000  # values rise over all lives of a writer
        for turn, _ in enumerate(_turns(folder)):
            keys = chance.sample(range(number * KEYS, (number + 1) * KEYS), chance.randint(1, 6))
            values = [None if chance.random() < 0.2 else start + turn] * len(keys)
            change = dict(zip(keys, values, strict=True))
            _note(ledger, {"meant": change})
            _note(ledger, {_outcome(table, change): change})


def _outcome(table: Table, change: Mapping[int, int | None]) -> str:
    values = [value for value in change.values() if value is not None]
    keys = pa.array(change, pa.int64())
    try:
        if values:
            table.write(pa.table({"k": keys, "v": pa.array(values, pa.int64())}))
        else:
            table.delete(f"k IN ({', '.join(map(str, change))})")
    except (CommitOutcomeUnknownError, PostCommitError) as error:
        return "sure" if isinstance(error, PostCommitError) else "unknown"
    except _LOST:
        return "not"
    return "sure"


def _note(ledger: Any, note: Mapping[str, Any]) -> None:
    ledger.write(json.dumps(note) + "\n")
    ledger.flush()
    os.fsync(ledger.fileno())


def keep(folder: Path, _number: int, chance: random.Random) -> None:
    """Compact, expire, tag, remove orphans."""
    table = table_of(folder)
    for turn, _ in enumerate(_turns(folder)):
        what = chance.choice(["compact", "expire", "tag", "untag", "orphans"])
        try:
            if what == "compact":
                table.compact(full=chance.random() < 0.3)
            elif what == "expire":
                table.maintenance.expire_snapshots(retain_max=3, retain_min=1)
            elif what == "tag":
                table.tags.create(f"t{os.getpid()}-{turn}")
            elif what == "untag" and len(names := [*table.tags.list()]) > 3:
                table.tags.delete(chance.choice(names))
            elif what == "orphans":
                table.maintenance.remove_orphan_files(dry_run=False)
        except (*_LOST, *_GONE, CommitOutcomeUnknownError, PostCommitError):
            continue
        time.sleep(0.02)


def follow(folder: Path, _number: int, _chance: random.Random) -> None:
    """Apply all changes to a dict; the dict and the position are kept as one."""
    _follow_from(table_of(folder), followed_of(folder), folder / STOP_FOLLOWING)


def _follow_from(table: Table, notes: Path, end: Path) -> None:
    rows: dict[str, int] = {}
    start: Any = "latest-full"
    if notes.exists():
        kept = json.loads(notes.read_text(encoding="utf-8"))
        rows, start = kept["rows"], pl.Position.from_bytes(kept["position"].encode())
    options = {"continuous.discovery-interval": "50 ms"}
    with table.follow(start, consumer_id=CONSUMER, options=options) as follower:
        while True:
            is_over = end.exists()
            before = follower.position
            batch = follower.poll()
            if batch is not None:
                apply(batch.data, rows)
            if follower.position != before:  # also behind snapshots without rows, which may expire
                _replace(notes, {"rows": rows, "position": follower.position.to_bytes().decode()})
            elif is_over:
                return
            else:
                time.sleep(0.02)


def apply(changes: pa.Table, rows: dict[str, int]) -> None:
    """Apply changes to rows by key, in their order."""
    columns = [changes[name].to_pylist() for name in ("rowkind", "k", "v")]
    for kind, key, value in zip(*columns, strict=True):
        if kind in ("+I", "+U"):
            rows[str(key)] = value
        elif kind == "-D":
            rows.pop(str(key), None)


def _replace(path: Path, content: Mapping[str, Any]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)


_ROLES = {"writer": write, "keeper": keep, "follower": follow}


def main(folder: Path, role: str, number: int, seed: str) -> None:
    """Work."""
    _ROLES[role](folder, number, random.Random(f"{seed} {role} {number} {os.getpid()}"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
