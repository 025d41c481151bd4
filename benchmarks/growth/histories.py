"""Long histories, a tenth of whose snapshots have tags: planning their expiry, and checking them.

``python -m benchmarks.growth.histories WORK WAREHOUSE`` does one work, as `rows` asks for it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process

SNAPSHOTS = (1000, 10_000)
_MOST: Mapping[str, float] = {"expiry plan": 3.0, "fsck": 15.0}
"""CPU seconds that a work may take for the long history."""
_WORKS: Mapping[str, Callable[[pl.Table], object]] = {
    "expiry plan": lambda table: table.maintenance.expire_snapshots(
        retain_max=1, retain_min=1, max_deletes=1 << 30, dry_run=True
    ),
    "fsck": lambda table: table.fsck(),
    "orphan files, dry run": lambda table: table.maintenance.remove_orphan_files(dry_run=True),
}


def rows() -> Iterator[GrowthRow]:
    """Do each work on a shorter and a longer history."""
    with tempfile.TemporaryDirectory() as folder:
        warehouses = [str(Path(folder) / str(count)) for count in SNAPSHOTS]
        for warehouse, count in zip(warehouses, SNAPSHOTS, strict=True):
            _make(warehouse, count)
        for work in _WORKS:
            short, long = (in_new_process(__name__, work, warehouse) for warehouse in warehouses)
            most = _MOST.get(work, 11 * short)
            yield GrowthRow(
                work=f"{work}, tags on a tenth of the snapshots",
                sizes=tuple(f"{count:,} snapshots" for count in SNAPSHOTS),
                costs=(short, long),
                goal=f"at most {most:.0f} s" if work in _MOST else "at most 11 times",
                holds=long <= most,
                limit="each snapshot has two lists and a manifest, each of which is a file to read",
            )


def _make(warehouse: str, snapshots: int) -> None:
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    number = latest = 0
    while latest < snapshots:
        number += 1
        written = table.write(pa.table({"id": [number % 1000], "v": [str(number)]}))
        assert written is not None, "a row is a commit"
        latest = written.id
    for snapshot_id in range(1, latest + 1, 10):
        table.tags.create(f"t{snapshot_id}", snapshot=snapshot_id)


def _seconds(work: str, warehouse: str) -> float:
    table = pl.connect(warehouse).table("db.t")
    assert isinstance(table, pl.Table), "it was made so"
    start = time.process_time()
    _WORKS[work](table)
    return time.process_time() - start


if __name__ == "__main__":
    print(_seconds(sys.argv[1], sys.argv[2]))
