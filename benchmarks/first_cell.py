"""What the first cell of SQL without Spark takes in a kernel, right after connecting and with a pause.

``python -m benchmarks.first_cell`` starts kernels as JupyterLab does, runs ``%load_ext``, ``%paimon_connect`` and a query
twice, and prints seconds from the question to the answer, and processor seconds of the kernel meanwhile: least and
median. Cells follow each other at once, as "Run all" does, and with a pause. Beside it the least that any answer by
these libraries can take in a kernel: pyarrow is there, and a cell imports sqlglot's Spark and DuckDB, and opens a
database. Source files are compiled as installing does; PYTHONDONTWRITEBYTECODE is ignored.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from benchmarks.growth.row import ROOT
from benchmarks.native_small import build

QUERIES = {
    "rows": "SELECT * FROM db.t LIMIT 10",
    "condition": "SELECT id, city FROM db.t WHERE id > 5 LIMIT 10",
    "group": "SELECT city, count(*) AS n, sum(amount) AS s FROM db.t WHERE id > 5 GROUP BY city ORDER BY city",
}
_LIBRARIES = """import sqlglot.dialects.spark, duckdb
duckdb.connect(":memory:").sql("SELECT 1").to_arrow_table()"""


def main() -> None:
    """Build, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=7, help="how many of each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        for query in QUERIES.values():
            _first_and_second(folder, 0, query)  # compiles
        libraries = [_libraries() for _ in range(options.kernels)]
        walls, cpus = zip(*libraries, strict=True)
        print(f"libraries alone: {_shown(walls)} s, {_shown(cpus)} CPU s")
        for (name, query), pause in product(QUERIES.items(), (0.0, 0.5, 2.0)):
            found = [_first_and_second(folder, pause, query) for _ in range(options.kernels)]
            for place, part in (("first", 0), ("second", 1)):
                walls, cpus = zip(*(one[part] for one in found), strict=True)
                print(f"{name}, pause {pause} s, {place}: {_shown(walls)} s, {_shown(cpus)} CPU s")


def _shown(seconds: tuple[float, ...]) -> str:
    return f"{min(seconds):.3f} ({statistics.median(seconds):.3f})"


def _first_and_second(folder: str, pause: float, query: str) -> list[tuple[float, float]]:
    """Ask a new kernel twice; return seconds and processor seconds of both."""
    with _kernel() as (client, process_id):
        _run(client, "%load_ext paimonlab")
        time.sleep(pause)
        _run(client, f"%paimon_connect {folder} --engine native")
        time.sleep(pause)
        return [_timed(client, process_id, f"%%paimon\n{query}") for _ in range(2)]


def _libraries() -> tuple[float, float]:
    with _kernel() as (client, process_id):
        _run(client, "import pyarrow.compute")
        return _timed(client, process_id, _LIBRARIES)


@contextmanager
def _kernel() -> Iterator[tuple[BlockingKernelClient, int]]:
    manager = KernelManager()
    manager.start_kernel(env=_environment(os.environ))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client, int(manager.provisioner.pid)  # type: ignore[union-attr]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in given.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT)}


def _timed(client: BlockingKernelClient, process_id: int, code: str) -> tuple[float, float]:
    clock = (~process_id << 3) | 2  # that of a process, in Linux
    begin, cpu = time.monotonic(), time.clock_gettime(clock)
    _run(client, code)
    return time.monotonic() - begin, time.clock_gettime(clock) - cpu


def _run(client: BlockingKernelClient, code: str) -> None:
    """Run a cell; it is over when its answer is there."""
    reply = client.execute_interactive(code, output_hook=lambda _message: None, timeout=60)
    if reply["content"]["status"] != "ok":
        raise RuntimeError(f"{code}: {reply['content']}")


if __name__ == "__main__":
    main()
