"""A commit of few known keys where an index of all keys says which bucket each is in.

``python -m benchmarks.growth.dynamic_buckets ROWS`` measures one size. Dynamic buckets are
one bucket here whatever the size, so that as many files are written. The first commit makes the
lookup store; those measured come after it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process

SIZES = (400_000, 3_200_000, 16_000_000)
KEYS = 1_000
COMMITS = 40
_AT_ONCE = 1_600_000


def rows() -> Iterator[GrowthRow]:
    """Update random keys of tables of each size."""
    costs = tuple(in_new_process(__name__, size) for size in SIZES)
    yield GrowthRow(
        work=f"{KEYS:,} known keys written, dynamic buckets, one bucket",
        sizes=tuple(f"{size / 1e6:g} M keys" for size in SIZES),
        costs=costs,
        goal="at most 1.3 times",
        holds=costs[-1] <= 1.3 * costs[0],
        limit="commits; new keys: the file of their bucket's hashes is written again",
    )


def _seconds(size: int) -> float:
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        catalog = pl.connect(
            {"warehouse": f"{folder}/warehouse", "lookup.cache-folder": f"{folder}/stores"}
        )
        catalog.create_database("db")
        options = {"write-only": "true", "dynamic-bucket.target-row-num": str(2 * size)}
        columns = {"k": "BIGINT NOT NULL", "v": "BIGINT"}
        table = catalog.create_table("db.t", columns, primary_keys=["k"], options=options)
        for start in range(0, size, _AT_ONCE):
            keys = np.arange(start, min(start + _AT_ONCE, size))
            table.write(pa.table({"k": keys, "v": keys}))
        seconds = []
        for _ in range(COMMITS + 2):
            keys = random.choice(size, KEYS, replace=False)
            start_time = time.process_time()
            table.write(pa.table({"k": keys, "v": keys}))
            seconds.append(time.process_time() - start_time)
        return statistics.mean(seconds[2:])


if __name__ == "__main__":
    print(_seconds(int(sys.argv[1])))
