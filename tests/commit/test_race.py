"""Several processes commit to one table at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import paimonlab
from paimonlab.commit.race import LOSSES_PER_RETRY, Race, RetryOptions
from paimonlab.errors import SnapshotConflictError
from tests.small_tables import SmallTable

ROOT = Path(__file__).parents[2]
COMMITS = int(os.environ.get("PAIMONLAB_RACE_COMMITS", "6"))
"""Of each process."""


@pytest.mark.parametrize(
    "definition",
    [
        {"options": {"bucket": "-1"}},
        {"options": {"bucket": "1", "write-only": "true"}, "primary_keys": ["id"]},
    ],
    ids=["append", "primary key"],
)
def test_eight_processes_lose_no_commit(tmp_path: Path, definition: dict[str, Any]) -> None:
    catalog = paimonlab.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"}, **definition)
    program = [sys.executable, "-m", "tests.commit.racer", str(tmp_path), "8", str(COMMITS)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()
    acknowledged = sorted(int(line) for line in done.stdout.split())
    assert acknowledged == list(range(1, 8 * COMMITS + 1))
    assert [snapshot.id for snapshot in table.snapshots.list()] == acknowledged
    rows = sorted(table.scan().to_arrow()["id"].to_pylist())
    assert rows == [number * 1000 + round_ for number in range(8) for round_ in range(COMMITS)]
    small = SmallTable(Path(table.path))
    data_files = [file for file in small.metadata_files() if "bucket-" in file]
    assert len(data_files) == 8 * COMMITS
    assert set(small.metadata_files()) - set(data_files) == set(small.referenced_files()), (
        "lost attempts leave nothing"
    )


class _Clock:
    """A clock that only pauses and attempts move on."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    def race(self, options: RetryOptions) -> Race:
        return Race("db.t", options, clock=self.now, sleep=self.sleep, draw=lambda: 1.0)


def test_a_retry_stands_for_many_lost_races() -> None:
    race = _Clock().race(RetryOptions(max_retries=2))

    for _ in range(2 * LOSSES_PER_RETRY):
        race.lost(7)
    with pytest.raises(SnapshotConflictError, match=r"db\.t.*33 attempts.*snapshot 7"):
        race.lost(7)


def test_pauses_grow_from_retry_to_retry_and_shrink_inside_one() -> None:
    clock = _Clock()
    race = clock.race(RetryOptions(max_retries=20, max_wait_millis=100))

    for _ in range(5 * LOSSES_PER_RETRY):
        race.lost(1)

    assert clock.pauses[:3] == pytest.approx([0.010, 0.005, 0.010 / 3])
    grown = clock.pauses[LOSSES_PER_RETRY - 1 :: LOSSES_PER_RETRY]
    assert grown == pytest.approx([0.02, 0.04, 0.08, 0.1, 0.1])


def test_pauses_are_as_long_as_attempts() -> None:
    clock = _Clock()
    race = clock.race(RetryOptions())

    clock.seconds += 0.3
    race.lost(1)
    clock.seconds += 0.3
    race.lost(1)

    assert clock.pauses == pytest.approx([0.3, 0.15])


def test_no_retries_give_up_at_once() -> None:
    race = _Clock().race(RetryOptions(max_retries=0))

    with pytest.raises(SnapshotConflictError, match="1 attempts"):
        race.lost(1)


def test_time_runs_out() -> None:
    clock = _Clock()
    race = clock.race(RetryOptions(timeout_millis=2500))

    race.lost(1)
    clock.seconds += 2.5
    with pytest.raises(SnapshotConflictError, match="2 attempts"):
        race.lost(1)
