"""Seconds from interrupting a cell to a free kernel, and until its Spark job is gone.

``python -m benchmarks.interrupt`` starts a kernel for each engine, lets it run a ``%%paimon`` cell
that would take minutes, interrupts it, and waits until the kernel is idle, then until Spark has
no job left. The native engine merges the runs of a table of some million rows, 200 times. ``ingest``
is a job that commits rows as fast as it can; what it had read is read again by the next run.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

PATIENCE_SECONDS = 300
AFTER_SECONDS = 3.0
"""How long a cell runs before it is interrupted."""
SPARK = """
import tempfile, time
from pyspark.sql import SparkSession
%load_ext paimonlab
warehouse = tempfile.TemporaryDirectory(prefix="paimonlab-interrupt ")
%paimon_connect "{warehouse.name}"
"""
SPARK_CELL = """%%paimon
SELECT count_if(sha2(CAST(a.id * b.id AS STRING), 512) > 'x') FROM range(1000000) a, range(1000000) b
"""
NATIVE = """
import tempfile
import numpy as np, pyarrow as pa, paimonlab
%load_ext paimonlab
warehouse = tempfile.TemporaryDirectory(prefix="paimonlab-interrupt ")
catalog = paimonlab.connect(warehouse.name)
catalog.create_database("db")
options = {"bucket": "4", "write-only": "true"}
table = catalog.create_table(
    "db.t", {"id": "BIGINT NOT NULL", "v": "STRING"}, primary_keys=["id"], options=options
)
for run in range(12):
    ids = np.arange(run, 6_000_000, 12 - run % 3, dtype=np.int64)
    table.write(pa.table({"id": ids, "v": pa.array(ids).cast("string")}))
%paimon_connect "{warehouse.name}" --engine native
"""
NATIVE_CELL = "%%paimon --limit 0 --yes rows <<\n" + "SELECT * FROM db.t;\n" * 200
INGEST = """
import tempfile, time
import numpy as np, pyarrow as pa, paimonlab
from paimonlab.ingest import batches
warehouse = tempfile.TemporaryDirectory(prefix="paimonlab-interrupt ")
catalog = paimonlab.connect(warehouse.name)

def made(read):
    number = 50_000 * read
    while True:
        ids = np.arange(number, number + 50_000, dtype=np.int64)
        yield pa.table({"id": ids % 1_000_000, "v": pa.array(ids).cast("string")})
        number += len(ids)

def job():
    return catalog.ingest(
        batches(made, table="a.t", primary_keys=["id"]),
        into="ods", name="job", interval=0.5, options={"bucket": 2},
    )
"""
INGEST_CELL = "job().run(None)"
SETUPS = {
    "spark": (SPARK, SPARK_CELL),
    "native": (NATIVE, NATIVE_CELL),
    "ingest": (INGEST, INGEST_CELL),
}
ENDS = {"ingest": "IngestInterrupted"}
"""How a cell ends that is interrupted; others are cancelled."""
GONE = """
tracker = SparkSession.active().sparkContext.statusTracker()
while tracker.getActiveJobsIds():
    time.sleep(0.02)
"""


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", nargs="+", default=[*SETUPS], choices=SETUPS)
    parser.add_argument("--runs", type=int, default=5, help="interrupts of each")
    options = parser.parse_args()
    for engine in options.engines:
        _measure(engine, options.runs)


def _measure(engine: str, runs: int) -> None:
    manager, client = start_new_kernel(
        startup_timeout=PATIENCE_SECONDS, env={**os.environ, "PAIMONLAB_PROGRESS": "0"}
    )
    try:
        setup, cell = SETUPS[engine]
        _finish(client, client.execute(setup), wants="ok")
        for _ in range(runs):
            idle, gone = _interrupted(manager, client, cell, engine)
            until_gone = "" if gone is None else f"; its Spark job gone after {gone:.2f} s"
            print(f"{engine}: kernel free {idle:.2f} s after the interrupt{until_gone}", flush=True)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _interrupted(
    manager: KernelManager,
    client: BlockingKernelClient,
    cell: str,
    engine: str,
) -> tuple[float, float | None]:
    """Return seconds until the kernel is idle, and until no Spark job is left."""
    request = client.execute(cell)
    time.sleep(AFTER_SECONDS)
    begin = time.perf_counter()
    manager.interrupt_kernel()
    error = _finish(client, request, wants="error")
    idle = time.perf_counter() - begin
    if error["ename"] != ENDS.get(engine, "Cancelled"):
        raise SystemExit("the cell ended elsewhere:\n" + "\n".join(error["traceback"]))
    if engine != "spark":
        return idle, None
    _finish(client, client.execute(GONE), wants="ok")
    return idle, time.perf_counter() - begin


def _finish(client: BlockingKernelClient, request: str, *, wants: str) -> dict[str, Any]:
    """Wait until the kernel is idle again; return the reply."""
    state = ""
    while state != "idle":
        message = client.get_iopub_msg(timeout=PATIENCE_SECONDS)
        if message["parent_header"].get("msg_id") == request and message["msg_type"] == "status":
            state = message["content"]["execution_state"]
    while True:
        reply = client.get_shell_msg(timeout=PATIENCE_SECONDS)
        if reply["parent_header"].get("msg_id") == request:
            break
    content: dict[str, Any] = reply["content"]
    if content["status"] != wants:
        raise SystemExit(f"a cell ended with {content['status']}, not {wants}: {content}")
    return content


if __name__ == "__main__":
    main()
