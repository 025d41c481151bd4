"""How long a row takes from the commit of its source until readers of the table see it.

``python -m benchmarks.ingest.latency [kafka mysql postgres] [--seconds 30]`` writes 5,000 rows a second for half a
minute while a job of another process commits each second, into a table with a key and one without,
and prints percentiles beside the load of the machine. A row is visible when the file of its
snapshot is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import paimonlab as pm
from benchmarks.ingest.sources import KINDS, Place, place, source_at

RATE = 5_000
BATCH = 50
SECONDS = 30
WARM_UP_SECONDS = 5
INTERVAL_SECONDS = 1.0
_GOAL_SECONDS = 2.0


def main(kinds: list[str]) -> None:
    """Measure each kind of source, with and without a key."""
    if kinds[:1] == ["job"]:
        run_job(*kinds[1:])
        return
    seconds = SECONDS
    if "--seconds" in kinds:
        place_of = kinds.index("--seconds")
        seconds = int(kinds[place_of + 1])
        del kinds[place_of : place_of + 2]
    print(f"{RATE:,} rows/s, interval {INTERVAL_SECONDS} s; goal: p99 at most {_GOAL_SECONDS} s")
    for kind in kinds or KINDS:
        for key in ("key", "none"):
            with place(kind) as there, tempfile.TemporaryDirectory() as folder:
                rate, found = measured(there, folder, key, seconds)
            p50, p99 = np.percentile(found, [50, 99])
            load = os.getloadavg()[0]
            print(
                f"{kind:9} {key:4} p50 {p50:5.2f} s, p99 {p99:5.2f} s, longest {found.max():5.2f} s; "
                f"{rate:,.0f} rows/s, load {load:.1f}",
                flush=True,
            )


def measured(there: Place, folder: str, key: str, seconds: int) -> tuple[float, np.ndarray]:
    """Write rows while a job runs; return rows a second, and how long each row took."""
    there.write([(0, time.time(), "first")])
    command = [sys.executable, "-m", "benchmarks.ingest.latency", "job"]
    with subprocess.Popen(
        [*command, folder, there.kind, there.address, key], stdout=subprocess.PIPE, text=True
    ) as job:
        assert job.stdout is not None
        while not _has_rows(folder):
            assert job.poll() is None, "the job ended"
            time.sleep(0.2)
        began = time.time()
        count = _write(there, began, seconds)
        rate = count / (time.time() - began)
        time.sleep(3 * INTERVAL_SECONDS)
        job.terminate()
    return rate, _seconds(folder, began + WARM_UP_SECONDS)


def _write(there: Place, began: float, seconds: int) -> int:
    written = 0
    while time.time() - began < seconds:
        due = int((time.time() - began) * RATE)
        while written < due:
            now = time.time()
            there.write([(1 + written + one, now, "x" * 40) for one in range(BATCH)])
            written += BATCH
        time.sleep(BATCH / RATE / 4)
    return written


def _has_rows(folder: str) -> bool:
    catalog = pm.connect(folder)
    return catalog.has_table("ods.t") and catalog.table("ods.t").snapshot is not None


def _seconds(folder: str, since: float) -> np.ndarray:
    table = pm.connect(folder).table("ods.t")
    found = []
    for snapshot in table.snapshots.list():
        if snapshot.id == 1:
            continue
        span = {"incremental-between": f"{snapshot.id - 1},{snapshot.id}"}
        rows = table.scan(columns=["t"], options=span).to_arrow()
        path = Path(table.path) / "snapshot" / f"snapshot-{snapshot.id}"
        times = rows["t"].to_numpy()
        found.append((path.stat().st_ctime - times)[times >= since])
    return np.concatenate(found)


def run_job(warehouse: str, kind: str, address: str, key: str) -> None:
    """Read the table until this process is ended."""
    job = pm.connect(warehouse).ingest(
        source_at(kind, address),
        into="ods",
        name="latency",
        primary_keys=["id"] if key == "key" else (),
        interval=INTERVAL_SECONDS,
        options={"bucket": 2 if key == "key" else -1},
    )
    job.run(None)


if __name__ == "__main__":
    main(sys.argv[1:])
