"""A driver of streams is killed at random and started again: every row arrives once.

``PAIMONLAB_STREAM_KILLS`` says how often it is killed. The table with a key adds up what arrives
for each key, so that a row that is written again shows.
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
from tests.spark.streaming.restarted_job import SINKS

JOB = Path(__file__).parent / "restarted_job.py"
KILLS = int(os.environ.get("PAIMONLAB_STREAM_KILLS", "1"))
SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
WAIT_SECONDS = 300
_AHEAD = 6
"""Commits that streams have before them at most, when none is added."""
COLUMNS = {"id": "BIGINT", "v": "STRING", "n": "INT"}
ADDED_UP = {"bucket": "2", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum"}


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


def kill(driver: subprocess.Popen[str], tmp_path: Path, chance: random.Random) -> bool:
    """Kill a driver after a few batches, at a random moment; False if it ended before."""
    wanted = done(tmp_path) + chance.randint(0, 4)
    end = time.monotonic() + WAIT_SECONDS
    while done(tmp_path) < wanted and time.monotonic() < end and driver.poll() is None:
        time.sleep(0.05)
    time.sleep(chance.uniform(0, 1.5))
    if driver.poll() is None:
        os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    return driver.returncode == -signal.SIGKILL


def done(tmp_path: Path) -> int:
    """Return how many batches Spark has noted as done."""
    return len(list(tmp_path.glob("checkpoints/*/commits/[0-9]*")))


def begun(tmp_path: Path) -> set[Path]:
    """Return the batches that were begun and are not noted as done."""
    offsets = tmp_path.glob("checkpoints/*/offsets/[0-9]*")
    return {path for path in offsets if not (path.parents[1] / "commits" / path.name).exists()}


def fill(source: Table, first: int, commits: int) -> int:
    """Commit rows, three at a time; return the next id."""
    for number in range(commits):
        ids = range(first + 3 * number, first + 3 * number + 3)
        ones = pa.array([1] * 3, pa.int32())
        source.write(pa.table({"id": pa.array(ids), "v": ["a"] * 3, "n": ones}))
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
    counted = catalog.create_table("db.counted", COLUMNS, primary_keys=["id"], options=ADDED_UP)
    log = tmp_path / "errors"
    count, hit = fill(source, 0, 4), set[Path]()
    kills = 0
    while kills < KILLS:
        driver = start(tmp_path, log)
        try:
            assert driver.stdout is not None
            assert driver.stdout.readline() == "running\n", log.read_text()[-4000:]
            kills += kill(driver, tmp_path, chance)
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
        assert driver.returncode in (0, -signal.SIGKILL), log.read_text()[-4000:]
        hit |= begun(tmp_path)
        if count < 3 * (done(tmp_path) // len(SINKS) + _AHEAD):
            count = fill(source, count, chance.randint(1, 2))
        expire(source, set(SINKS))
    driver = start(tmp_path, log)
    try:
        driver.communicate(timeout=1200)
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)

    assert driver.returncode == 0, log.read_text()[-4000:]
    said = f"{KILLS} kills, in {len(hit)} of {done(tmp_path)} batches; {count} rows"
    print(said)  # noqa: T201
    ids = list(range(count))
    assert hit or KILLS < 20, "no kill ended a batch"
    assert sorted(sink.scan().to_arrow()["id"].to_pylist()) == ids
    assert sorted(counted.scan().to_arrow().select(["id", "n"]).to_pylist(), key=by_id) == [
        {"id": number, "n": 1} for number in ids
    ]
    found = twice.scan().to_arrow()
    assert Counter(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True)) == Counter(
        (number, verb) for number in ids for verb in ("first", "second")
    )
    earliest = source.snapshots.earliest_id()
    assert earliest is not None
    assert earliest > 1 or KILLS < 20, "nothing expired while the streams were down"


def by_id(row: dict[str, int]) -> int:
    """Return what to sort rows by."""
    return row["id"]
