"""A commit of few random keys into large buckets, where compaction looks older rows up.

``python -m benchmarks.growth.lookup_changelogs ROWS`` measures one size; 16,000,000 rows take some
minutes and 5 GB of disk. The first commit makes the lookup store; those measured come after it.
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

SIZES = (400_000, 1_600_000, 6_400_000)
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
    costs = tuple(in_new_process(__name__, size) for size in SIZES)
    yield GrowthRow(
        work=f"{KEYS:,} random upserts, `changelog-producer` = `lookup`, one bucket",
        sizes=tuple(f"{size / 1e6:g} M rows" for size in SIZES),
        costs=costs,
        goal="at most 1.3 times",
        holds=costs[-1] <= 1.3 * costs[0],
        limit="commits, writing and compacting small files",
    )


def _seconds(size: int) -> float:
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
        seconds = []
        for _ in range(COMMITS + 2):
            batch = random_rows(random.choice(size, KEYS, replace=False), random)
            start_time = time.process_time()
            table.write(batch)
            seconds.append(time.process_time() - start_time)
        return statistics.mean(seconds[2:])


if __name__ == "__main__":
    print(_seconds(int(sys.argv[1])))
