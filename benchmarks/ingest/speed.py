"""Snapshots and change streams of servers, by this library and by Paimon's own action.

``python -m benchmarks.ingest.speed [kafka mysql postgres] [--rows 1000000] [--changes 600000]
[--repeat 3]`` prints medians: rows a second from the first row read to the last commit, rows for
each CPU second of the reader's processes, and its peak memory. Paimon's action is run with MySQL
where a JDK and its jars can be had; it has none for whole runs of the other two here.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import paimonlab as pm
from benchmarks.ingest.sources import KINDS, Place, place
from tests.ingest.java.action import running
from tests.ingest.mysql.server import PASSWORD, USER
from tests.interop.java_build import JavaMissingError, JavaTools

Reader: TypeAlias = Callable[[Place, str], AbstractContextManager[subprocess.Popen[bytes]]]
"""Starts what reads a place into a warehouse."""

LAST = 1_000_000_000
"""Id of the row that comes last."""
_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_SECONDS = 0.1
_LIMIT_SECONDS = 1_800


@dataclass(frozen=True, slots=True)
class Found:
    """What one run took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def main() -> None:
    """Measure each kind of source."""
    options = _options()
    print(f"load {os.getloadavg()[0]:.1f} before", flush=True)
    for kind in options.kinds or KINDS:
        readers: dict[str, Reader] = {"paimonlab": _ours}
        if kind == "mysql" and (tools := _tools()) is not None:
            readers["Java action"] = partial(_java, tools)
        for name, reader in readers.items():
            rounds = [_measured(kind, reader, options) for _ in range(options.repeat)]
            for work, count in (("snapshot", options.rows), ("changes", options.changes)):
                _print(kind, name, work, count, [one[work] for one in rounds])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=600_000)
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


def _tools() -> JavaTools | None:
    try:
        return JavaTools.find()
    except JavaMissingError as missing:
        print(f"no Java action: {missing}")
        return None


def _print(kind: str, name: str, work: str, count: int, rounds: list[Found]) -> None:
    seconds = statistics.median(one.seconds for one in rounds)
    cpu = statistics.median(one.cpu_seconds for one in rounds)
    peak = max(one.peak_bytes for one in rounds)
    print(
        f"{kind:9} {work:9} {name:12} {count / seconds:10,.0f} rows/s "
        f"{count / cpu:10,.0f} rows per CPU s, peak {peak >> 20:,} MB, "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def _measured(kind: str, reader: Reader, options: argparse.Namespace) -> dict[str, Found]:
    """Read a table of rows, then changes of them while they are made."""
    with place(kind) as there, tempfile.TemporaryDirectory() as folder:
        texts = [f"{number * 7919 % 99_991:040d}" for number in range(1_000)]
        for first in range(0, options.rows, 1_000):
            there.write([(first + one, 0.5, text) for one, text in enumerate(texts)])
        with reader(there, folder) as process:
            is_read = there.is_read or (lambda: pm.connect(folder).has_table("ods.t"))
            _after(is_read, process)
            begun = time.monotonic(), _cpu(process.pid)
            _after(lambda: _count(folder) >= options.rows, process)
            snapshot = _since(process.pid, begun)
            begun = time.monotonic(), _cpu(process.pid)
            for first in range(options.rows, options.rows + options.changes, 1_000):
                there.write([(first + one, 0.5, text) for one, text in enumerate(texts)])
            there.write([(LAST, 0.5, "last")])
            _after(lambda: _count(folder, f"id = {LAST}") == 1, process)
            return {"snapshot": snapshot, "changes": _since(process.pid, begun)}


def _after(look: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _LIMIT_SECONDS
    while not look():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the reader ended, or takes too long")
        time.sleep(_LOOK_SECONDS)


def _since(pid: int, begun: tuple[float, float]) -> Found:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    peak = int(status.partition("VmHWM:")[2].split()[0]) << 10
    return Found(time.monotonic() - begun[0], max(_cpu(pid) - begun[1], 1 / _TICKS), peak)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / _TICKS


def _count(folder: str, where: str | None = None) -> int:
    catalog = pm.connect(folder)
    if not catalog.has_table("ods.t"):
        return 0
    table = catalog.table("ods.t")
    snapshot = table.snapshot
    if snapshot is None:
        return 0
    if where is None:
        return int(snapshot.total_record_count or 0)
    return int(table.scan(where=where, columns=["id"]).to_arrow().num_rows)


@contextmanager
def _ours(there: Place, folder: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "benchmarks.ingest.speed_job", folder, there.kind]
    with subprocess.Popen([*command, there.address]) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def _java(tools: JavaTools, there: Place, folder: str) -> Iterator[subprocess.Popen[bytes]]:
    conf = {
        "hostname": "127.0.0.1",
        "port": there.address,
        "username": USER,
        "password": PASSWORD,
        "database-name": "d",
        "table-name": "t",
        "server-time-zone": "UTC",
    }
    told = [f"--mysql_conf={key}={value}" for key, value in conf.items()]
    told = [part for one in told for part in one.split("=", 1)]
    arguments = [
        *("mysql_sync_table", "--warehouse", folder, "--database", "ods", "--table", "t"),
        *("--table_conf", "bucket=2"),
        *told,
    ]
    log = Path(tempfile.mkdtemp()) / "log"
    with running(tools, log, *arguments) as process:
        yield process


if __name__ == "__main__":
    main()
