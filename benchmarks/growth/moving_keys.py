"""A commit of few known keys, some of which move to another partition.

``python -m benchmarks.growth.moving_keys ROWS`` measures one size. The primary key lacks the
partition column, so each commit has to know where its keys are. The table has as many files
whatever the size. The first commit makes the store of keys; those measured come after it.
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
from benchmarks.growth.row import GrowthRow, in_new_process, peak_resident

SIZES = (400_000, 3_200_000, 16_000_000)
KEYS = 1_000
COMMITS = 12
_PARTITIONS = 4
_AT_ONCE = 1_600_000


def rows() -> Iterator[GrowthRow]:
    """Upsert random keys of tables of each size."""
    costs = tuple(in_new_process(__name__, size) for size in SIZES)
    yield GrowthRow(
        work=f"{KEYS:,} known keys written, a quarter stay in their partition",
        sizes=tuple(f"{size / 1e6:g} M keys" for size in SIZES),
        costs=costs,
        goal="at most 1.3 times",
        holds=costs[-1] <= 1.3 * costs[0],
        limit="commits, and writing small files: a row and a delete of each key that moves",
    )


def _seconds(size: int) -> float:
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        catalog = pl.connect(
            {"warehouse": f"{folder}/warehouse", "lookup.cache-folder": f"{folder}/stores"}
        )
        catalog.create_database("db")
        table = catalog.create_table(
            "db.t",
            {"p": "INT NOT NULL", "k": "BIGINT NOT NULL", "v": "BIGINT"},
            primary_keys=["k"],
            partition_keys=["p"],
            options={"write-only": "true", "dynamic-bucket.target-row-num": str(2 * size)},
        )
        writer = table.new_writer("loader")
        for number, start in enumerate(range(0, size, _AT_ONCE)):
            keys = np.arange(start, min(start + _AT_ONCE, size))
            writer.write(_rows(keys, random))
            table.commit(writer.prepare_commit(number), identifier=number, user="loader")
        del writer
        before = peak_resident()
        seconds = []
        for _ in range(COMMITS + 2):
            data = _rows(random.choice(size, KEYS, replace=False), random)
            start_time = time.process_time()
            table.write(data)
            seconds.append(time.process_time() - start_time)
        print(
            f"first {seconds[0]:.2f} s, peak {before / 1e6:.0f} -> {peak_resident() / 1e6:.0f} MB"
        )
        return statistics.mean(seconds[2:])


def _rows(keys: np.ndarray, random: np.random.Generator) -> pa.Table:
    partitions = random.integers(0, _PARTITIONS, len(keys)).astype(np.int32)
    return pa.table({"p": partitions, "k": keys, "v": keys})


if __name__ == "__main__":
    print(_seconds(int(sys.argv[1])))
