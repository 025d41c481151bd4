"""A commit of few random keys into large buckets, where compaction looks older rows up.

``python -m benchmarks.growth.lookup_changelogs WORK ROWS`` measures one size; 16,000,000 rows take
some minutes and 5 GB of disk. The first commit makes the lookup store; those of ``commits`` come
after it. ``first use`` deletes the store again and again: printed is what a commit takes that makes
it beyond one that has it, and then what reading the file takes, all columns into Arrow; the least of
several, in turns, in a process that has done each before. ``sustained`` goes on for 300 commits of
10,000 rows: printed are the medians of the first 50 and of the last 50.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process, numbers_of_new_process
from benchmarks.rows import rows as random_rows
from paimonlab.datafile.layout import KIND_FIELD, SEQUENCE_FIELD, file_columns
from paimonlab.read.lazy_file import LazyFile
from paimonlab.table.inside import store_of
from paimonlab.table.reading.scan import Scan

SIZES = (400_000, 1_600_000, 6_400_000, 16_000_000)
FIRST_SIZES = (1_600_000,)
KEYS = 1_000
COMMITS = 12
TURNS = 7
SUSTAINED_KEYS = 500_000
SUSTAINED_ROWS = 10_000
SUSTAINED_COMMITS = 300
SUSTAINED_CYCLE = 50
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
    yield row_of_first_use()
    yield row_of_sustained_commits()


def row_of_first_use() -> GrowthRow:
    """Make stores of files of each size, and read these."""
    pairs = [numbers_of_new_process(__name__, "first use", size) for size in FIRST_SIZES]
    makings, readings = zip(*pairs, strict=True)
    return GrowthRow(
        work="first use of a lookup store: reading a file and writing its store",
        sizes=tuple(f"{size / 1e6:g} M rows" for size in FIRST_SIZES),
        costs=makings,
        peers={"reading it, all columns": readings},
        goal="at most 1.5 times reading it",
        holds=all(ours <= 1.5 * read for ours, read in pairs),
        limit="the system's new pages for a file of 80 bytes a row",
    )


def row_of_sustained_commits() -> GrowthRow:
    """Upsert keys of one bucket for long; levels fill, are compacted, and their stores made."""
    first, last = numbers_of_new_process(__name__, "sustained", SUSTAINED_KEYS)
    return GrowthRow(
        work=f"{SUSTAINED_ROWS:,} of {SUSTAINED_KEYS:,} keys again, `changelog-producer` = "
        f"`lookup`, median of {SUSTAINED_CYCLE}",
        sizes=(f"the first {SUSTAINED_CYCLE} commits", f"the last of {SUSTAINED_COMMITS}"),
        costs=(first, last),
        goal="at most 1.1 times",
        holds=last <= 1.1 * first,
    )


def _seconds(work: str, size: int) -> Sequence[float]:
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        stores = Path(folder, "stores")
        catalog = pl.connect(
            {"warehouse": f"{folder}/warehouse", "lookup.cache-folder": str(stores)}
        )
        catalog.create_database("db")
        options = {"bucket": "1", "changelog-producer": "lookup"}
        table = catalog.create_table("db.t", _COLUMNS, primary_keys=["k"], options=options)
        for start in range(0, size, _AT_ONCE):
            table.write(random_rows(np.arange(start, min(start + _AT_ONCE, size)), random))
        table.compact(full=True)

        def upserted(keys: int = KEYS) -> float:
            batch = random_rows(random.choice(size, keys, replace=False), random)
            return _cpu_of(lambda: table.write(batch))

        if work == "commits":
            return [statistics.mean([upserted() for _ in range(COMMITS + 2)][2:])]
        if work == "sustained":
            costs = [upserted(SUSTAINED_ROWS) for _ in range(SUSTAINED_COMMITS)]
            ends = costs[:SUSTAINED_CYCLE], costs[-SUSTAINED_CYCLE:]
            return [statistics.median(side) for side in ends]
        read = _reader(table)
        upserted()
        turns = []
        for _ in range(TURNS):
            shutil.rmtree(stores)
            turns.append((upserted(), upserted(), _cpu_of(read)))
        making, having, reading = (min(costs) for costs in zip(*turns, strict=True))
        return [making - having, reading]


def _reader(table: pl.Table) -> Callable[[], object]:
    """Return what reads the only file of a table, all of its columns, into Arrow."""
    scan = table.scan()
    assert isinstance(scan, Scan), "it is of the newest snapshot"
    plan, file_io = scan.read_plan(), store_of(table).file_io
    (split,) = scan.plan().splits
    (file,) = split.files
    columns = file_columns(plan.schema)
    fields = (*columns.keys, SEQUENCE_FIELD, KIND_FIELD, *columns.values)

    def read() -> pa.Table:
        with LazyFile(split, file, plan, file_io) as opened:
            batches = opened.data.batches(fields, batch_rows=plan.bounds.batch_rows)
            return pa.Table.from_batches(list(batches))

    return read


def _cpu_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    print(*_seconds(sys.argv[1], int(sys.argv[2])))
