"""Spark: a full scan of a merged table beside Spark's own scan of the same files unmerged.

``python -m benchmarks.spark_scan [rows]`` prints CPU seconds of the whole process tree (driver,
JVM, Python workers), which other work on the machine disturbs less than the time on the clock.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, SparkSession

import paimonlab
from benchmarks.rows import SEED, upserts
from paimonlab.spark import connect
from paimonlab.spark.reading import mask_source, relation
from paimonlab.spark.reading.mask_cache import MaskCache

ROWS = 4_000_000
ROUNDS = 7
WARM_UP = 3
COLUMNS = {
    "k": "BIGINT NOT NULL",
    "a": "BIGINT",
    "d": "DOUBLE",
    "s": "STRING",
    "t": "TIMESTAMP(6)",
    "m": "DECIMAL(12, 2)",
}


@dataclass
class Seconds:
    """What the rounds of one scan cost."""

    cpu: list[float]
    clock: list[float]


def main(rows: int = ROWS) -> None:
    """Write the table, scan it in three ways, print what each costs."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        table = make_table(Path(folder), rows)
        spark = connect(folder, master="local[2]", memory="4g")
        files = [str(path) for path in Path(table.path).rglob("*.parquet")]
        scans: dict[str, Callable[[], None]] = {
            "Spark's own scan, unmerged": lambda: consume(
                spark.read.parquet(*files).select(*COLUMNS)
            ),
            "merged, masks known": lambda: consume(spark.table("paimon.db.t")),
            "merged, masks computed": lambda: from_scratch(spark),
        }
        report(measure(scans))
        spark.stop()


def make_table(folder: Path, rows: int) -> paimonlab.Table:
    """Write 8 half-overlapping commits into 4 buckets."""
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    options = {"bucket": "4", "write-only": "true"}
    table = catalog.create_table("db.t", COLUMNS, primary_keys=["k"], options=options)
    for batch in upserts(rows, np.random.default_rng(SEED)):
        table.write(batch)
    return table


def consume(frame: DataFrame) -> None:
    """Compute all rows and columns, keep nothing."""
    frame.write.format("noop").mode("overwrite").save()


def from_scratch(spark: SparkSession) -> None:
    """Scan as the first query of a snapshot does: plan it, compute its masks."""
    relation._relations.clear()  # noqa: SLF001 - there is no reason to forget but this
    mask_source._CACHE = MaskCache()  # noqa: SLF001
    consume(spark.table("paimon.db.t"))


def measure(scans: dict[str, Callable[[], None]]) -> dict[str, Seconds]:
    """Repeat the scans in turn; the first rounds warm up."""
    found = {name: Seconds([], []) for name in scans}
    for turn in range(ROUNDS + WARM_UP):
        for name, scan in scans.items():
            cpu, clock = tree_cpu_seconds(os.getpid()), time.perf_counter()
            scan()
            if turn >= WARM_UP:
                found[name].cpu.append(tree_cpu_seconds(os.getpid()) - cpu)
                found[name].clock.append(time.perf_counter() - clock)
    return found


def report(found: dict[str, Seconds]) -> None:
    """Print medians and their ratio to the first."""
    base = statistics.median(next(iter(found.values())).cpu)
    print(f"{'':28} CPU s  clock s  CPU ratio")
    for name, seconds in found.items():
        cpu = statistics.median(seconds.cpu)
        clock = statistics.median(seconds.clock)
        print(f"{name:28} {cpu:5.2f}  {clock:7.2f}  {cpu / base:9.2f}")


def tree_cpu_seconds(root: int) -> float:
    """CPU seconds of a process, its descendants, and those of them that have ended (Linux)."""
    parents: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    tree = [root]
    for process in tree:  # grows while it is walked
        tree += parents.get(process, [])
    return sum(ticks.get(process, 0) for process in tree) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
