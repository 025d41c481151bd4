"""How soon a follower has what another process commits, and what waiting costs it.

``python -m benchmarks.growth.following OPTIONS SECONDS`` writes a row now and then, as `rows` asks
for it; options are those of a catalog, as JSON. The store is one of S3 on this machine (moto).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import ROOT, GrowthRow
from tests.storage.stores.server import make_bucket, running

COMMITS = 30
PAUSES = (0.2, 2.0)
"""Seconds between commits, on average."""
IDLE_SECONDS = 20.0


def rows() -> Iterator[GrowthRow]:
    """Follow a table that gets a row now and then; then one that gets none."""
    yield from rows_of_disk()
    yield from rows_of_store()


def rows_of_disk() -> Iterator[GrowthRow]:
    """Follow tables on the local disk."""
    medians, cost = list[float](), 0.0
    for pause in PAUSES:
        with tempfile.TemporaryDirectory() as folder:
            options = {"warehouse": folder}
            medians.append(statistics.median(_delays(options, pause)))
            cost = _idle_share(options)
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


def rows_of_store() -> Iterator[GrowthRow]:
    """Follow tables in a store of S3 on this machine."""
    medians, cost = list[float](), 0.0
    with tempfile.TemporaryDirectory() as folder, running(Path(folder, "log")) as url:
        for number, pause in enumerate(PAUSES):
            make_bucket(url, f"bucket-{number}")
            options = _in_bucket(url, f"bucket-{number}")
            medians.append(statistics.median(_delays(options, pause)))
            cost = _idle_share(options)
    yield GrowthRow(
        work="from a commit to its rows in a follower in another process, on a store, median",
        sizes=tuple(f"every {pause} s" for pause in PAUSES),
        costs=tuple(medians),
        unit="s",
        goal="at most 0.5 s",
        holds=max(medians) <= 0.5,
        limit="some requests to the store for the commit, and some to read it",
    )
    yield GrowthRow(
        work="a follower that waits, on a store",
        sizes=(f"{IDLE_SECONDS:.0f} s",),
        costs=(100 * cost,),
        unit="% of a core",
        goal="at most 0.5 %",
        holds=cost <= 0.005,
    )


def _in_bucket(url: str, bucket: str) -> Mapping[str, str]:
    return {
        "warehouse": f"s3://{bucket}/w",
        "s3.endpoint": url,
        "s3.access-key": "any",
        "s3.secret-key": "any",
    }


def _table(options: Mapping[str, str]) -> pl.Table:
    catalog = pl.connect(options)
    if not catalog.has_database("db"):
        catalog.create_database("db")
        catalog.create_table("db.t", {"number": "BIGINT"})
    table = catalog.table("db.t")
    assert isinstance(table, pl.Table)
    return table


def _delays(options: Mapping[str, str], pause: float) -> Iterator[float]:
    """Yield the seconds from when each snapshot says that it was committed.

    A commit takes that time before it writes manifests and publishes: what that takes is counted.
    """
    table = _table(options)
    table.write(pa.table({"number": np.array([0])}))
    command = [sys.executable, "-m", "benchmarks.growth.following", json.dumps(options), str(pause)]
    delivered = dict[int, float]()
    with subprocess.Popen(command, cwd=ROOT) as process, table.follow("latest") as follower:
        for _, batch in zip(range(COMMITS), follower, strict=False):
            delivered[batch.snapshot_id] = time.time()
        process.wait()
    for snapshot_id, seconds in delivered.items():
        yield seconds - table.snapshots.get(snapshot_id).time_millis / 1000


def _idle_share(options: Mapping[str, str]) -> float:
    """Let a follower wait; return the share of a core that this takes."""
    follower = _table(options).follow("latest")
    thread = threading.Thread(target=next, args=(follower, None))
    thread.start()
    time.sleep(1)  # the first look loads modules
    wall, cpu = time.monotonic(), time.process_time()
    time.sleep(IDLE_SECONDS)
    share = (time.process_time() - cpu) / (time.monotonic() - wall)
    follower.close()
    thread.join()
    return share


def _write(options: Mapping[str, str], pause: float) -> None:
    table, random = _table(options), np.random.default_rng(1)
    for number in range(COMMITS):
        time.sleep(random.exponential(pause))
        table.write(pa.table({"number": np.array([number])}))


if __name__ == "__main__":
    _write(json.loads(sys.argv[1]), float(sys.argv[2]))
