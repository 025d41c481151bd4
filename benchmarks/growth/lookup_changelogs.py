"""A commit of few random keys into large buckets, where compaction looks older rows up.

``python -m benchmarks.growth.lookup_changelogs WORK ROWS`` measures one size; 16,000,000 rows take
some minutes and 5 GB of disk. The first commit makes the lookup store; those of ``commits`` come
after it. ``first use`` is what the first takes beyond those that follow, ``reading`` a scan.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process
from benchmarks.rows import rows as random_rows

SIZES = (400_000, 1_600_000, 6_400_000, 16_000_000)
FIRST_ROWS = 1_600_000
KEYS = 1_000
COMMITS = 12
_AT_ONCE = 1_600_000
_COLUMNS = {
    "k": "BIGINT NOT NULL",
    "a": "BIGINT",
    "d": "DOUBLE",
    "s": "STRING",
    "t": "TIMESTAMP(6)",
    "m": "DECIMAL(12, 2)",
}


def rows() -> Iterator[GrowthRow]:
    """Upsert random keys of buckets of each size."""
    costs = tuple(in_new_process(__name__, "commits", size) for size in SIZES)
    yield GrowthRow(
        work=f"{KEYS:,} random upserts, `changelog-producer` = `lookup`, one bucket",
        sizes=tuple(f"{size / 1e6:g} M rows" for size in SIZES),
        costs=costs,
        goal="at most 1.3 times",
        holds=costs[-1] <= 1.3 * costs[0],
        limit="commits, writing and compacting small files",
    )
    first, reading = (
        in_new_process(__name__, work, FIRST_ROWS) for work in ("first use", "reading")
    )
    yield GrowthRow(
        work="first use of a lookup store: reading a file and writing its store",
        sizes=(f"{FIRST_ROWS / 1e6:g} M rows",),
        costs=(first,),
        peers={"reading it": (reading,)},
        goal="at most 1.5 times reading it",
        holds=first <= 1.5 * reading,
        limit="the system's new pages for a file of 80 bytes a row",
    )


def _seconds(work: str, size: int) -> float:
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        catalog = pl.connect(
            {"warehouse": f"{folder}/warehouse", "lookup.cache-folder": f"{folder}/stores"}
        )
        catalog.create_database("db")
        options = {"bucket": "1", "changelog-producer": "lookup"}
        table = catalog.create_table("db.t", _COLUMNS, primary_keys=["k"], options=options)
        for start in range(0, size, _AT_ONCE):
            table.write(random_rows(np.arange(start, min(start + _AT_ONCE, size)), random))
        table.compact(full=True)
        if work == "reading":
            return min(_scanned(table) for _ in range(3))
        seconds = []
        for _ in range(COMMITS + 2):
            batch = random_rows(random.choice(size, KEYS, replace=False), random)
            start_time = time.process_time()
            table.write(batch)
            seconds.append(time.process_time() - start_time)
        if work == "first use":
            return seconds[0] - statistics.median(seconds[2:])
        return statistics.mean(seconds[2:])


def _scanned(table: pl.Table) -> float:
    start = time.process_time()
    for _ in table.scan().to_batches():
        pass
    return time.process_time() - start


if __name__ == "__main__":
    print(_seconds(sys.argv[1], int(sys.argv[2])))
