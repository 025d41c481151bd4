"""Ctrl-C is answered at once, whatever a job waits for; nothing is lost and nothing comes twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import paimonlab as pm
from paimonlab.ingest import apart
from tests.ingest.interrupted_job import ENDS, LONG_SECONDS, PARTS

LIMIT = 120


def test_an_interrupt_waits_for_no_disk(tmp_path: Path) -> None:
    warehouse = tmp_path / "w"
    command = [sys.executable, "-m", "tests.ingest.interrupted_job", str(warehouse)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for part in (*PARTS, *ENDS):
            assert process.stdout.readline() == "hangs\n", part
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "answered\n", part
            seconds = time.monotonic() - began
            # Far less than it would have waited, on a machine however busy.
            assert seconds < LONG_SECONDS / 2, part
        assert process.stdout.read() == "ended\n"
        assert process.wait(LIMIT) == 0
    found = pm.connect(warehouse).table("ods.t").scan().to_arrow()["no"].to_pylist()
    assert sorted(found) == [*range(len(found))]


def test_the_log_says_that_a_run_waits_for_the_one_before(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(apart, "_TOLD_SECONDS", 0.01)
    begun = threading.Event()

    def work() -> None:
        assert begun.wait(60)
        while not caplog.messages:
            time.sleep(0.01)

    apart.leave(work, of="w/job", name="end of ingest job j")
    begun.set()
    apart.wait_for_left("w/job")

    told = "w/job: waiting for what an interrupt left to do: end of ingest job j"
    assert caplog.messages[0] == told
