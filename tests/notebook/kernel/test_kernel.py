"""A real kernel: what is printed while Spark works, and what an interrupt leaves behind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

PATIENCE_SECONDS = 120
SETUP = """
import os, tempfile
from pyspark.sql import SparkSession

%load_ext paimonlab
warehouse = tempfile.TemporaryDirectory(prefix="paimonlab-test ")
%paimon_connect "{warehouse.name}"
%paimon CREATE DATABASE db
%paimon CREATE TABLE db.t (id BIGINT, v STRING)
"""
SLEEP = """%%paimon
SELECT java_method('java.lang.Thread', 'sleep', 90000L) FROM range(0, 8, 1, 8)
"""
NO_JOBS = """
import time
tracker = SparkSession.active().sparkContext.statusTracker()
end = time.monotonic() + 20
while jobs := list(tracker.getActiveJobsIds()):
    assert time.monotonic() < end, jobs
    time.sleep(0.1)
"""


class Kernel:
    """A kernel, and all messages of one cell at a time."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client

    def start(self, code: str) -> str:
        return self.client.execute(code, store_history=True)

    def finish(self, request: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the reply to a cell and its outputs, oldest first."""
        outputs = []
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE_SECONDS)
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            outputs.append({"type": message["msg_type"], **message["content"]})
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE_SECONDS)
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"], outputs

    def wait_for_tasks(self) -> None:
        """Wait until the line of progress shows that Spark works."""
        text = ""
        while "tasks" not in text:
            message = self.client.get_iopub_msg(timeout=PATIENCE_SECONDS)
            text = message["content"].get("text", "")

    def run(self, code: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return self.finish(self.start(code))


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    switches = {"PAIMONLAB_DETERMINISTIC": "0", "PAIMONLAB_PROGRESS": "1"}
    manager, client = start_new_kernel(
        startup_timeout=PATIENCE_SECONDS, env={**os.environ, **switches}
    )
    started = Kernel(manager, client)
    reply, outputs = started.run(SETUP)
    assert reply["status"] == "ok", outputs
    try:
        yield started
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_an_interrupt_cancels_the_job_and_the_session_stays_usable(kernel: Kernel) -> None:
    request = kernel.start(SLEEP)
    kernel.wait_for_tasks()

    kernel.manager.interrupt_kernel()
    reply, outputs = kernel.finish(request)

    assert reply["status"] == "error"
    assert reply["ename"] == "Cancelled"
    assert reply["traceback"][0].startswith("Cancelled: cancelled after")
    reply, outputs = kernel.run("%paimon SELECT 6 * 7 AS answer")
    assert reply["status"] == "ok", outputs
    assert "42" in outputs[-1]["data"]["text/plain"]
    reply, outputs = kernel.run(NO_JOBS)  # Spark's list is a little behind
    assert reply["status"] == "ok", outputs


def test_an_interrupted_write_leaves_the_table_as_it_was(kernel: Kernel) -> None:
    sleep = "java_method('java.lang.Thread', 'sleep', 90000L)"
    request = kernel.start(f"%%paimon\nINSERT INTO db.t SELECT id, {sleep} FROM range(0, 2, 1, 2)")
    kernel.wait_for_tasks()

    kernel.manager.interrupt_kernel()
    reply, _ = kernel.finish(request)

    assert reply["ename"] == "Cancelled"
    _, outputs = kernel.run("%paimon SELECT count(*) AS commits FROM db.t$snapshots")
    assert outputs[-1]["data"]["text/plain"].splitlines()[3].strip() == "0"
    reply, outputs = kernel.run("%paimon INSERT INTO db.t VALUES (1, 'a')")
    assert reply["status"] == "ok", outputs


SLOW = """
SELECT java_method('java.lang.Thread', 'sleep', 1500L) FROM range(0, 2, 1, 2)
"""


def progress(outputs: list[dict[str, Any]]) -> str:
    return "".join(output["text"] for output in outputs if output["type"] == "stream")


def test_progress_is_one_line_that_is_gone_in_the_end(kernel: Kernel) -> None:
    _, outputs = kernel.run(f"%%paimon{SLOW}")

    text = progress(outputs)
    assert "/2 tasks" in text
    assert "\n" not in text
    while "\b" in text:  # as front ends do
        text = re.sub("[^\b]\b", "", text)
    assert text == ""


@pytest.mark.parametrize(
    ("setting", "options"),
    [("PAIMONLAB_DETERMINISTIC=1", ""), ("PAIMONLAB_PROGRESS=0", ""), ("X=1", " --no-progress")],
)
def test_progress_can_be_switched_off(kernel: Kernel, setting: str, options: str) -> None:
    name = setting.partition("=")[0]
    kernel.run(f"%env {setting}")

    _, outputs = kernel.run(f"%%paimon{options}{SLOW}")

    kernel.run(f"del os.environ['{name}']")
    assert progress(outputs) == ""


def test_an_error_is_short_and_stops_the_cells_behind_it(kernel: Kernel) -> None:
    reply, outputs = kernel.run("%%paimon\nSELECT idd\nFROM range(3)")

    assert reply["status"] == "error"
    *_, block, error = outputs
    assert error["type"] == "error"
    assert error["ename"] == "QueryError"
    assert len(block["data"]["text/plain"].splitlines()) + len(error["traceback"]) <= 8
    assert len(error["evalue"].splitlines()) == 1
    assert "<details>" in block["data"]["text/html"]
    assert not any(output["type"] == "stream" for output in outputs)
