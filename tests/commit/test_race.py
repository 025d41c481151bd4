"""Several processes commit to one table at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paimonlab.commit.race import LOSSES_PER_RETRY, Race, RetryOptions
from paimonlab.errors import SnapshotConflictError
from tests.small_tables import SmallTable

ROOT = Path(__file__).parents[2]


def _start(table: SmallTable, name: str, commits: int) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "tests.commit.racer", str(table.path), name, str(commits)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        program, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_eight_processes_with_thirty_commits_each_lose_none(tmp_path: Path) -> None:
    table = SmallTable(tmp_path).create()
    racers = [_start(table, f"p{number}", 30) for number in range(8)]

    (tmp_path / "go").touch()
    ends = [racer.communicate() for racer in racers]

    assert [racer.returncode for racer in racers] == [0] * 8, [end[1].decode() for end in ends]
    acknowledged = sorted(int(line) for out, _ in ends for line in out.split())
    assert acknowledged == list(range(1, 241))
    assert table.snapshots.ids() == acknowledged
    assert table.live_names() == sorted(f"p{p}-{n}" for p in range(8) for n in range(30))
    latest = table.snapshots.latest()
    assert latest is not None
    assert latest.total_record_count == 2400
    (tmp_path / "go").unlink()
    assert table.metadata_files() == table.referenced_files(), "lost attempts leave nothing"


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
