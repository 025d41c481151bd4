"""What every engine's process does: load rows, run one work, print one line of JSON.

Only the standard library and pyarrow, for it runs in the environments of all engines.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

RUNS = 8
PARTITIONS = 32
MANY_PARTITIONS = 512
LIMIT = 10
FEW_KEYS = 1_000


@dataclass(frozen=True)
class Task:
    """What this process has to do."""

    work: str
    rows: Path
    """Folder of the rows."""
    scratch: Path
    """Folder of this process alone."""
    warehouse: Path
    """Warehouse with the tables that all Paimon engines read."""
    repeat: int
    processor_seconds: list[float] = field(default_factory=list)
    """Of each repetition, once it was timed."""

    def copies(self, table: str, count: int) -> list[str]:
        """Copy a table of the warehouse into the scratch folder: what changes it needs its own."""
        names = [f"t{number}" for number in range(count)]
        for name in names:
            shutil.copytree(self.warehouse / "db.db" / table, self.scratch / "db.db" / name)
        return names

    def all_rows(self) -> pa.Table:
        """Load the rows of one big batch."""
        return pq.read_table(self.rows / "all.parquet").combine_chunks()

    def partitioned_rows(self, partitions: int) -> pa.Table:
        """Load the same rows with a column ``p`` that tells their partition."""
        rows = self.all_rows()
        keys = rows["k"].combine_chunks()
        quotients = pc.multiply(pc.divide(keys, partitions), partitions)
        return rows.append_column("p", pc.subtract(keys, quotients).cast(pa.int32()))

    def files(self, table: str) -> list[Path]:
        """List the data files of a table of the warehouse, for engines that read plain files."""
        return sorted((self.warehouse / "db.db" / table).glob("bucket-*/*.parquet"))

    def upserts(self) -> list[pa.Table]:
        """Load the batches of upserts."""
        names = [f"run-{run}.parquet" for run in range(RUNS)]
        return [pq.read_table(self.rows / name).combine_chunks() for name in names]


Work = Callable[[Task], tuple[list[float], Any]]
"""Returns the seconds of every repetition and something that tells the result is right."""


def timed(task: Task, run: Callable[[int], Any], *, warm: int = 0) -> tuple[list[float], Any]:
    """Run something ``warm`` times untimed, then as often as the task says.

    BENCH_CLOCK=cpu counts the seconds of processors instead of those of the clock on the wall,
    which the task keeps in any case.
    """
    seconds, result = [], None
    for number in range(warm + task.repeat):
        used, start = time.process_time(), time.perf_counter()
        result = run(number)
        took, used = time.perf_counter() - start, time.process_time() - used
        if number >= warm:
            seconds.append(took)
            task.processor_seconds.append(used)
    is_cpu = os.environ.get("BENCH_CLOCK") == "cpu"
    return (task.processor_seconds if is_cpu else seconds), result


def main(works: Mapping[str, Work]) -> None:
    """Read the task from the command line, run it, print the outcome."""
    work, rows, scratch, warehouse, repeat = sys.argv[1:6]
    task = Task(work, Path(rows), Path(scratch), Path(warehouse), int(repeat))
    if work not in works:
        print(json.dumps({"missing": True}))
        return
    seconds, result = works[work](task)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    used = {"processor_seconds": task.processor_seconds, "peak_bytes": peak}
    print(json.dumps({"seconds": seconds, "result": result, **used}))
