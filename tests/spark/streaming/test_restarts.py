"""A driver of streams is killed at random and started again: every row arrives once.

``PAIMONLAB_STREAM_KILLS`` says how often it is killed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa

from paimonlab.catalog import connect as open_catalog
from paimonlab.table.table import Table

JOB = Path(__file__).parent / "restarted_job.py"
KILLS = int(os.environ.get("PAIMONLAB_STREAM_KILLS", "2"))
SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
WAIT_SECONDS = 20
COLUMNS = {"id": "BIGINT", "v": "STRING"}


def start(tmp_path: Path, log: Path) -> subprocess.Popen[str]:
    """Start the driver in a process group of its own."""
    with log.open("a") as errors:
        return subprocess.Popen(
            [sys.executable, str(JOB), str(tmp_path / "warehouse"), str(tmp_path / "checkpoints")],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(JOB.parents[3])},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )


def wait_for_batches(tmp_path: Path, more: int) -> None:
    """Wait until so many batches more are done, or none comes any more."""
    wanted = done(tmp_path) + more
    end = time.monotonic() + WAIT_SECONDS
    while done(tmp_path) < wanted and time.monotonic() < end:
        time.sleep(0.05)


def done(tmp_path: Path) -> int:
    """Return how many batches Spark has noted as done."""
    return len(list(tmp_path.glob("checkpoints/*/commits/[0-9]*")))


def fill(source: Table, first: int, commits: int) -> int:
    """Commit rows, three at a time; return the next id."""
    for number in range(commits):
        ids = range(first + 3 * number, first + 3 * number + 3)
        source.write(pa.table({"id": pa.array(ids), "v": ["a"] * 3}))
    return first + 3 * commits


def expire(source: Table, consumers: set[str]) -> None:
    """Let snapshots expire once consumers keep those that are still to be read."""
    if consumers <= set(source.consumers.list()):
        source.maintenance.expire_snapshots(retain_max=1)


def test_every_row_arrives_once_however_often_the_driver_is_killed(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201 - pytest shows it on failure
    catalog = open_catalog(tmp_path / "warehouse")
    catalog.create_database("db")
    source, sink, twice = (
        catalog.create_table(f"db.{name}", COLUMNS) for name in ("source", "sink", "twice")
    )
    log = tmp_path / "errors"
    count = fill(source, 0, 4)
    for _ in range(KILLS):
        driver = start(tmp_path, log)
        try:
            assert driver.stdout is not None
            assert driver.stdout.readline() == "running\n", log.read_text()[-4000:]
            wait_for_batches(tmp_path, chance.randint(0, 4))
            time.sleep(chance.uniform(0, 1.5))
        finally:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.communicate()
        count = fill(source, count, 2)
        expire(source, {"sink", "twice"})
    driver = start(tmp_path, log)
    try:
        driver.communicate(timeout=600)
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)

    assert driver.returncode == 0, log.read_text()[-4000:]
    assert sorted(sink.scan().to_arrow()["id"].to_pylist()) == list(range(count))
    found = twice.scan().to_arrow()
    assert Counter(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True)) == Counter(
        (number, verb) for number in range(count) for verb in ("first", "second")
    )
