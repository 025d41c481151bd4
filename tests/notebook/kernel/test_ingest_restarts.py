"""A kernel that is restarted while it reads a source: the next one goes on, exactly once."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_client.manager import start_new_kernel

import paimonlab as pm
from paimonlab.ingest import noted_jobs
from tests.ingest.endless_job import Numbers
from tests.notebook.kernel.test_kernel import PATIENCE_SECONDS, Kernel
from tests.waiting import until

_ROOT = Path(__file__).parents[3]
_JOB = """
import atexit, os, pathlib, threading
import paimonlab as pm
from tests.ingest.endless_job import Numbers

atexit.register(lambda: pathlib.Path({ended!r}, str(os.getpid())).touch())
catalog = pm.connect({warehouse!r})
job = catalog.ingest(Numbers(10**6, 0.002), into="ods", name="job", max_rows=3)
"""
_LEFT = "assert not [one for one in threading.enumerate() if 'ingest' in one.name]"


def test_a_job_goes_on_after_its_kernel_was_restarted_or_interrupted(tmp_path: Path) -> None:
    warehouse, ended = tmp_path / "w", tmp_path / "ended"
    ended.mkdir()
    setup = _JOB.format(warehouse=str(warehouse), ended=str(ended))
    manager, client = start_new_kernel(
        startup_timeout=PATIENCE_SECONDS,
        cwd=str(_ROOT),
        env={**os.environ, "PAIMONLAB_PROGRESS": "0"},
    )
    kernel = Kernel(manager, client)

    def runs(code: str) -> None:
        reply, outputs = kernel.run(code)
        assert reply["status"] == "ok", outputs

    def further() -> None:
        at = _epoch(warehouse)
        until(lambda: _epoch(warehouse) > at + 2)

    try:
        manager.shutdown_wait_time = PATIENCE_SECONDS  # nobody kills it before
        runs(setup)
        request = kernel.start("job.run(None)")
        further()
        manager.interrupt_kernel()
        reply, _ = kernel.finish(request)
        assert reply["ename"] == "IngestInterrupted"
        # No lines of code: to read those of a run takes a busy machine seconds.
        assert len(reply["traceback"]) == 1
        assert "'job' was interrupted after epoch" in reply["traceback"][0]
        runs("job.start()")
        further()
        runs(f"job.stop()\n{_LEFT}\njob.start()")
        further()
        manager.restart_kernel()
        client.wait_for_ready(timeout=PATIENCE_SECONDS)
        assert len([*ended.iterdir()]) == 1, "it came to its end"
        runs(f"{setup}\njob.start()")
        further()
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert len([*ended.iterdir()]) == 1, "it was killed"
    catalog = pm.connect(warehouse)
    count = len(_numbers(catalog))
    catalog.ingest(Numbers(count + 5, 0), into="ods", name="job").run(None)

    assert _numbers(catalog) == [*range(count + 5)]
    identifiers = [one.commit_identifier for one in catalog.table("ods.t").snapshots.list()]
    assert identifiers == [*range(1, len(identifiers) + 1)]


def _epoch(warehouse: Path) -> int:
    found = noted_jobs(pm.connect(warehouse))
    return found[0].epoch if found else 0


def _numbers(catalog: pm.Catalog) -> list[int]:
    found: list[int] = catalog.table("ods.t").scan().to_arrow()["no"].to_pylist()
    return sorted(found)
