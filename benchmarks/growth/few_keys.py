"""Few keys asked of a table whose runs overlap: a range, and a list of keys, beside reading all.

``python -m benchmarks.growth.few_keys RUNS`` measures one number of runs: what all rows, a
range of 100 keys, a list of 100, a lookup of 100 and one of one cost, with masks forgotten; then
one of one with keys and values forgotten as well, and nine tenths of the rows.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

import paimonlab as pl
from benchmarks.growth.row import ROOT, GrowthRow
from benchmarks.rows import rows as random_rows
from paimonlab.read.key_blocks import shared_blocks
from paimonlab.read.mask_cache import shared_masks
from paimonlab.read.value_blocks import shared_values

KEYS = 1_000_000
RUNS = (8, 256)
_ROWS = 2_000_000
_REPEAT = 5
_COLUMNS = {
    "k": "BIGINT NOT NULL",
    "a": "BIGINT",
    "d": "DOUBLE",
    "s": "STRING",
    "t": "TIMESTAMP(6)",
    "m": "DECIMAL(12, 2)",
}


def rows() -> Iterator[GrowthRow]:
    """Ask for keys of 8 and of 256 overlapping runs."""
    for runs in RUNS:
        command = [sys.executable, "-m", __name__, str(runs)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        everything, part, many, lookup, one, cold, most = map(float, done.stdout.split())
        for work, cost, goal, holds in (
            ("a range of 100 keys", part, "at most 1.1 times", part <= 1.1 * everything),
            ("`IN` of 100 keys", many, "1.5 times a lookup", many <= 1.5 * lookup),
            ("one key looked up", one, "at most 0.2 times", one <= 0.2 * everything),
            ("one key looked up first", cold, "at most 0.2 times", cold <= 0.2 * everything),
            ("nine tenths of the keys", most, "at most 1.1 times", most <= 1.1 * everything),
        ):
            yield GrowthRow(
                work=f"{work} of {KEYS:,}, {_ROWS:,} rows in {runs} runs that overlap",
                sizes=("all rows", "those"),
                costs=(everything, cost),
                goal=goal,
                holds=holds,
                limit="a page of each column for each row",
            )


def _measure(runs: int) -> Iterator[float]:
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        catalog = pl.connect(folder)
        catalog.create_database("db")
        options = {"bucket": "1", "write-only": "true"}
        table = catalog.create_table("db.t", _COLUMNS, primary_keys=["k"], options=options)
        for _ in range(runs):
            table.write(random_rows(random.choice(KEYS, _ROWS // runs, replace=False), random))

        def some() -> list[int]:
            keys: list[int] = random.choice(KEYS, 100, replace=False).tolist()
            return keys

        def part() -> None:
            low = int(random.integers(0, KEYS - 100))
            table.scan(where=(pl.col("k") >= low) & (pl.col("k") < low + 100)).to_arrow()

        yield _seconds(lambda: table.scan().to_arrow())
        yield _seconds(part)
        yield _seconds(lambda: table.scan(where=pl.col("k").is_in(some())).to_arrow())
        yield _seconds(lambda: table.lookup({"k": some()}))
        yield _seconds(lambda: table.lookup({"k": some()[:1]}))

        def first() -> None:
            shared_blocks.clear()
            shared_values.clear()
            table.lookup({"k": some()[:1]})

        yield statistics.mean(_seconds(first) for _ in range(4))
        yield _seconds(lambda: table.scan(where=pl.col("k") < KEYS // 10 * 9).to_arrow())


def _seconds(act: Callable[[], object]) -> float:
    seconds = []
    for _ in range(_REPEAT + 1):
        shared_masks.clear()
        start = time.process_time()
        act()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds[1:])


if __name__ == "__main__":
    print(*_measure(int(sys.argv[1])))
