"""Snapshots and change streams of servers, by this library and by Paimon's own action.

``python -m benchmarks.ingest.speed [kafka mysql postgres] [--rows 1000000] [--changes 600000]
[--repeat 3]`` prints medians: rows a second from the first row read to the last commit, rows for
each CPU second of the reader's processes, and its peak memory. Paimon's own action (in Flink, one
JVM) is run beside ours where a JDK and its jars can be had, ``--java-repeat`` times. Where the
server does not tell that rows are read, the clock of ours begins with its table and that of the
action with its first snapshot, so that the start of Flink does not count. ``--core`` gives the
reader a processor of its own, and lets it rest while changes are written.
"""

from __future__ import annotations

import argparse
import os
import signal
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
from paimonlab.spec.types.text import format_type
from tests.catalog.jdbc.servers import PASSWORD as POSTGRES_PASSWORD
from tests.catalog.jdbc.servers import USER as POSTGRES_USER
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
        readers: dict[str, tuple[Reader, int]] = {"paimonlab": (_ours, options.repeat)}
        if options.java_repeat and (tools := _tools()) is not None:
            readers["Java action"] = partial(_java, tools), options.java_repeat
        for name, (reader, repeat) in readers.items():
            rounds = [_measured(kind, reader, options) for _ in range(repeat)]
            for work, count in (("snapshot", options.rows), ("changes", options.changes)):
                _print(kind, name, work, count, [one[work] for one in rounds])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=600_000)
    parser.add_argument("--repeat", type=int, default=3, help="0: only Paimon's action")
    parser.add_argument("--java-repeat", type=int, default=1, help="0: only ours")
    parser.add_argument("--core", action="store_true", help="readers have one processor")
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
    if options.core:
        os.sched_setaffinity(0, {0})  # the servers and this program; the reader has another
    with place(kind) as there, tempfile.TemporaryDirectory() as folder:
        texts = [f"{number * 7919 % 99_991:040d}" for number in range(1_000)]
        for first in range(0, options.rows, 1_000):
            there.write([(first + one, 0.5, text) for one, text in enumerate(texts)])
        with reader(there, folder) as process:
            if options.core:
                os.sched_setaffinity(process.pid, {1})
            is_read = there.is_read or (lambda: _is_begun(folder, reader))
            _after(is_read, process)
            begun = time.monotonic(), _cpu(process.pid)
            _after(lambda: _count(folder) >= options.rows, process)
            snapshot = _since(process.pid, begun)
            begun = time.monotonic(), _cpu(process.pid)
            if options.core:
                process.send_signal(signal.SIGSTOP)  # the writer is slower than the reader
            for first in range(options.rows, options.rows + options.changes, 1_000):
                there.write([(first + one, 0.5, text) for one, text in enumerate(texts)])
            there.write([(LAST, 0.5, "last")])
            if options.core:
                begun = time.monotonic(), begun[1]
                process.send_signal(signal.SIGCONT)
            _after(lambda: _has_last(folder), process)
            return {"snapshot": snapshot, "changes": _since(process.pid, begun)}


def _is_begun(folder: str, reader: Reader) -> bool:
    """Tell whether a job reads, where its server does not tell; Flink starts after its table."""
    catalog = pm.connect(folder)
    if not catalog.has_table("ods.t"):
        return False
    return reader is _ours or catalog.table("ods.t").snapshot is not None


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


def _count(folder: str) -> int:
    catalog = pm.connect(folder)
    if not catalog.has_table("ods.t"):
        return 0
    snapshot = catalog.table("ods.t").snapshot
    return 0 if snapshot is None else int(snapshot.total_record_count or 0)


def _has_last(folder: str) -> bool:
    """Tell whether the row that comes last is there; ids of Kafka are texts with Paimon's action."""
    table = pm.connect(folder).table("ods.t")
    is_text = format_type(table.schema.field("id").type).startswith("STRING")
    where = pm.col("id") == (str(LAST) if is_text else LAST)
    return int(table.scan(where=where, columns=["id"]).to_arrow().num_rows) == 1


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
    action, settings = _ACTIONS[there.kind]
    arguments = [action, "--warehouse", folder, "--database", "ods", "--table", "t"]
    arguments += ["--primary_keys", "id", "--table_conf", "bucket=2"]
    for setting in settings:
        arguments += [f"--{there.kind}_conf", setting.format(address=there.address)]
    with (
        tempfile.TemporaryDirectory() as scratch,
        running(tools, Path(scratch, "log"), *arguments, compiles_all=True) as process,
    ):
        yield process


_ACTIONS = {
    "kafka": (
        "kafka_sync_table",
        (
            "properties.bootstrap.servers={address}",
            "topic=t",
            "value.format=debezium-json",
            "scan.startup.mode=earliest-offset",
        ),
    ),
    "mysql": (
        "mysql_sync_table",
        (
            "hostname=127.0.0.1",
            "port={address}",
            f"username={USER}",
            f"password={PASSWORD}",
            "database-name=d",
            "table-name=t",
            "server-time-zone=UTC",
        ),
    ),
    "postgres": (
        "postgres_sync_table",
        (
            "hostname=127.0.0.1",
            "port={address}",
            f"username={POSTGRES_USER}",
            f"password={POSTGRES_PASSWORD}",
            "database-name=postgres",
            "schema-name=public",
            "table-name=t",
            "slot.name=action",
            "decoding.plugin.name=pgoutput",
        ),
    ),
}
"""Paimon's action for a kind of source, and what it is told of the place."""


if __name__ == "__main__":
    main()
