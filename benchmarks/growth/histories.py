"""Long histories, of whose snapshots many have tags: planning their expiry, and checking them.

``python -m benchmarks.growth.histories WORK WAREHOUSE`` does one work, as `rows` asks for it;
``… WORK WAREHOUSE cold`` after the pages of the table were dropped from memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process
from paimonlab.catalog import FileSystemCatalog
from paimonlab.storage import LocalFileIO

SNAPSHOTS = (1000, 10_000)
BRANCHED = (300, 3000)
"""Snapshots of which a third has tags; of a sixtieth there are branches."""
_TIMES = 3
"""Each work is done in so many processes, and the least counts."""
_MOST: Mapping[str, float] = {"expiry plan": 3.0, "fsck": 15.0}
"""CPU seconds that a work may take for the long history."""
_MOST_COLD = 2
"""How many times as much a plan may take if the system has to read all files from the disk."""
_WORKS: Mapping[str, Callable[[pl.Table], object]] = {
    "expiry plan": lambda table: table.maintenance.expire_snapshots(
        retain_max=1, retain_min=1, max_deletes=1 << 30, dry_run=True
    ),
    "fsck": lambda table: table.fsck(),
    "orphan files, dry run": lambda table: table.maintenance.remove_orphan_files(dry_run=True),
}
_LIMIT = "each snapshot has two lists and a manifest, each of which is a file to read"


def rows() -> Iterator[GrowthRow]:
    """Do each work on a shorter and a longer history."""
    yield from rows_of_tags()
    yield from rows_of_branches()


def rows_of_tags() -> Iterator[GrowthRow]:
    """Measure histories of which a tenth of the snapshots has tags."""
    with tempfile.TemporaryDirectory() as folder:
        warehouses = [str(Path(folder) / str(count)) for count in SNAPSHOTS]
        for warehouse, count in zip(warehouses, SNAPSHOTS, strict=True):
            _make(warehouse, count, tags=count // 10)
        costs: dict[str, float] = {}
        for work in _WORKS:
            short, long = (_least(work, warehouse) for warehouse in warehouses)
            costs[work] = long
            most = _MOST.get(work, 11 * short)
            yield GrowthRow(
                work=f"{work}, tags on a tenth of the snapshots",
                sizes=tuple(f"{count:,} snapshots" for count in SNAPSHOTS),
                costs=(short, long),
                goal=f"at most {most:.0f} s" if work in _MOST else "at most 11 times",
                holds=long <= most,
                limit=_LIMIT,
            )
        cold = _least("expiry plan", warehouses[-1], "cold")
        yield GrowthRow(
            work="expiry plan, tags on a tenth of the snapshots, no page in memory",
            sizes=(f"{SNAPSHOTS[-1]:,} snapshots",),
            costs=(cold,),
            goal=f"at most {_MOST_COLD:.0f} times what it takes with all pages in memory",
            holds=cold <= _MOST_COLD * costs["expiry plan"],
            limit="33,000 files to read from the disk, which takes the system about 50 µs each",
        )


def rows_of_branches() -> Iterator[GrowthRow]:
    """Measure histories with more tags, and branches."""
    with tempfile.TemporaryDirectory() as folder:
        warehouses = [str(Path(folder) / str(count)) for count in BRANCHED]
        for warehouse, count in zip(warehouses, BRANCHED, strict=True):
            _make(warehouse, count, tags=count // 3, branches=count // 60)
        for work in ("expiry plan", "fsck"):
            short, long = (_least(work, warehouse) for warehouse in warehouses)
            yield GrowthRow(
                work=f"{work}, tags on a third of the snapshots, branches of a sixtieth",
                sizes=tuple(f"{count:,} snapshots" for count in BRANCHED),
                costs=(short, long),
                goal="at most 11 times",
                holds=long <= 11 * short,
                limit=_LIMIT,
            )


def _make(warehouse: str, snapshots: int, *, tags: int, branches: int = 0) -> None:
    # What is synced makes no difference to those who read it.
    catalog = FileSystemCatalog(warehouse, LocalFileIO(durability="none"))
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    number = latest = 0
    while latest < snapshots:
        number += 1
        written = table.write(pa.table({"id": [number % 1000], "v": [str(number)]}))
        assert written is not None, "a row is a commit"
        latest = written.id
    for snapshot_id in range(1, latest + 1, snapshots // tags):
        table.tags.create(f"t{snapshot_id}", snapshot=snapshot_id)
    for number in range(branches):
        table.branches.create(
            f"b{number}", tag=f"t{1 + number * (tags // branches) * (snapshots // tags)}"
        )


def _least(work: str, *arguments: str) -> float:
    return min(in_new_process(__name__, work, *arguments) for _ in range(_TIMES))


def _seconds(work: str, warehouse: str, *, is_cold: bool) -> float:
    table = pl.connect(warehouse).table("db.t")
    assert isinstance(table, pl.Table), "it was made so"
    if is_cold:
        _drop_pages(Path(table.path))
    start = time.process_time()
    _WORKS[work](table)
    return time.process_time() - start


def _drop_pages(folder: Path) -> None:
    """Let the system forget what it has in memory of the files of a folder."""
    os.sync()  # pages that are not on the disk yet are kept
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


if __name__ == "__main__":
    print(_seconds(sys.argv[1], sys.argv[2], is_cold="cold" in sys.argv[3:]))
