"""How soon a follower has what another process commits, and what waiting costs it.

``python -m benchmarks.growth.following WAREHOUSE SECONDS`` writes a row now and then, as `rows`
asks for it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import ROOT, GrowthRow

COMMITS = 30
PAUSES = (0.2, 2.0)
"""Seconds between commits, on average."""
IDLE_SECONDS = 20.0


def rows() -> Iterator[GrowthRow]:
    """Follow a table that gets a row now and then; then one that gets none."""
    medians, cost = list[float](), 0.0
    for pause in PAUSES:
        with tempfile.TemporaryDirectory() as folder:
            medians.append(statistics.median(_delays(folder, pause)))
            cost = _idle_share(folder)
    yield GrowthRow(
        work="from a commit to its rows in a follower in another process, median",
        sizes=tuple(f"every {pause} s" for pause in PAUSES),
        costs=tuple(medians),
        unit="s",
        goal="at most 0.1 s",
        holds=max(medians) <= 0.1,
    )
    yield GrowthRow(
        work="a follower that waits",
        sizes=(f"{IDLE_SECONDS:.0f} s",),
        costs=(100 * cost,),
        unit="% of a core",
        goal="at most 0.5 %",
        holds=cost <= 0.005,
    )


def _table(warehouse: str) -> pl.Table:
    catalog = pl.connect(warehouse)
    if not catalog.has_database("db"):
        catalog.create_database("db")
        catalog.create_table("db.t", {"committed": "DOUBLE"})
    table = catalog.table("db.t")
    assert isinstance(table, pl.Table)
    return table


def _delays(warehouse: str, pause: float) -> Iterator[float]:
    table = _table(warehouse)
    table.write(pa.table({"committed": np.array([0.0])}))
    command = [sys.executable, "-m", "benchmarks.growth.following", warehouse, str(pause)]
    with subprocess.Popen(command, cwd=ROOT) as process, table.follow("latest") as follower:
        for _, batch in zip(range(COMMITS), follower, strict=False):
            yield time.time() - batch.data["committed"][0].as_py()
        process.wait()


def _idle_share(warehouse: str) -> float:
    """Let a follower wait; return the share of a core that this takes."""
    follower = _table(warehouse).follow("latest")
    thread = threading.Thread(target=next, args=(follower, None))
    thread.start()
    time.sleep(1)  # the first look loads modules
    wall, cpu = time.monotonic(), time.process_time()
    time.sleep(IDLE_SECONDS)
    share = (time.process_time() - cpu) / (time.monotonic() - wall)
    follower.close()
    thread.join()
    return share


def _write(warehouse: str, pause: float) -> None:
    table, random = _table(warehouse), np.random.default_rng(1)
    for _ in range(COMMITS):
        time.sleep(random.exponential(pause))
        # What counts is the time after the commit's own work: nearly all of it is done by then.
        table.write(pa.table({"committed": np.array([time.time()])}))


if __name__ == "__main__":
    _write(sys.argv[1], float(sys.argv[2]))
