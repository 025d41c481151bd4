"""Processes that are stopped, taken over and interrupted: no row is lost, none comes twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import paimonlab as pm
from paimonlab.ingest import noted_jobs
from tests.ingest.endless_job import LIVES_MILLIS, Numbers
from tests.waiting import until

LIMIT = 120


def test_who_was_stopped_and_taken_over_commits_nothing_more(tmp_path: Path) -> None:
    warehouse = tmp_path / "w"
    with _process(warehouse) as stalled:
        until(lambda: _epoch(warehouse) >= 3)
        stalled.send_signal(signal.SIGSTOP)
        time.sleep(LIVES_MILLIS / 1000)
        at = _epoch(warehouse)
        with _process(warehouse) as successor:
            until(lambda: _epoch(warehouse) >= at + 3)
            stalled.send_signal(signal.SIGCONT)
            told = _errors(stalled)
            assert "another process" in told, told
            reached = _epoch(warehouse)
            until(lambda: _epoch(warehouse) > reached)
            successor.send_signal(signal.SIGINT)
            assert "IngestInterrupted" in _errors(successor)
    catalog = pm.connect(warehouse)
    done = len(_numbers(catalog))

    catalog.ingest(Numbers(done + 20, 0), into="ods", name="job").run(None)

    assert _numbers(catalog) == list(range(done + 20))
    identifiers = [one.commit_identifier for one in catalog.table("ods.t").snapshots.list()]
    assert identifiers == list(range(1, len(identifiers) + 1))


def _process(warehouse: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.ingest.endless_job", str(warehouse), "1000000"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def _errors(process: subprocess.Popen[str]) -> str:
    try:
        _, told = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    assert process.returncode != 0
    return told


def _epoch(warehouse: Path) -> int:
    found = noted_jobs(pm.connect(warehouse))
    return found[0].epoch if found else 0


def _numbers(catalog: pm.Catalog) -> list[int]:
    found: list[int] = catalog.table("ods.t").scan().to_arrow()["no"].to_pylist()
    return sorted(found)
