"""Processes of a cluster are killed: each statement is done once, or not at all.

``PAIMONLAB_CLUSTER_FAULTS`` says how many faults there are; one in seven kills the driver.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.spark.cluster import standalone_cluster

JOB = Path(__file__).parent / "faults_job.py"
FAULTS = int(os.environ.get("PAIMONLAB_CLUSTER_FAULTS", "4"))
SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
_DRIVER_KILLS = max(FAULTS // 7, 1)


def start(master: str, folder: Path) -> subprocess.Popen[str]:
    """Start a driver in a process group of its own."""
    with (folder / "errors").open("a") as errors:
        return subprocess.Popen(
            [sys.executable, str(JOB), master, str(folder), str(FAULTS)],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(JOB.parents[2])},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )


def kill_in_a_statement(
    driver: subprocess.Popen[str], journal: Path, chance: random.Random
) -> None:
    """Kill a driver some time after it began a statement: before, at or after its commit."""
    assert driver.stdout is not None
    for _ in range(chance.randint(1, 4)):
        assert driver.stdout.readline().startswith("statement"), "the driver ended too early"
    seconds = json.loads(journal.read_text())["seconds"]
    time.sleep(chance.uniform(0.3, 1.1) * seconds)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()


def note_kill(journal: Path) -> None:
    """Count it."""
    noted = json.loads(journal.read_text())
    noted["faults"]["driver"] += 1
    journal.write_text(json.dumps(noted))


@pytest.mark.cluster
def test_no_fault_doubles_or_loses_a_row(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201 - pytest shows it on failure
    folder = tmp_path / "work"
    folder.mkdir()
    with standalone_cluster(tmp_path / "cluster") as master:
        for _ in range(_DRIVER_KILLS):
            driver = start(master, folder)
            try:
                kill_in_a_statement(driver, folder / "journal.json", chance)
            finally:
                if driver.poll() is None:
                    os.killpg(driver.pid, signal.SIGKILL)
            note_kill(folder / "journal.json")
        driver = start(master, folder)
        try:
            output, _ = driver.communicate(timeout=240 + 60 * FAULTS)
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)

    assert driver.returncode == 0, (folder / "errors").read_text()[-4000:]
    found = json.loads(output.splitlines()[-1])
    print(found)  # noqa: T201
    assert sum(found["faults"].values()) >= FAULTS
