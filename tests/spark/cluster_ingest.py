"""A job that executors of a cluster read and write while they are killed, for `cluster_job`.

One is killed by the reader, in the midst of its part, and one by the driver, when it knows what a
batch has and its rows are yet to be written: those that the executor kept are read again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pyspark.cloudpickle import register_pickle_by_value

from paimonlab.catalog import Catalog
from paimonlab.ingest.changes import Event, JsonValue
from paimonlab.ingest.spark.running import SparkRunner
from tests.ingest import parted_log
from tests.ingest.parted_log import PARTS, PartedLog

_KEYS = 40
_LINES = 120
_EXECUTOR = "CoarseGrainedExecutorBackend"


class DeadlyLog(PartedLog):
    """Kills the executor that reads it, once, if a file asks for it; notes which reads it."""

    @property
    def order(self) -> Path:
        return self.folder / "kill"

    @property
    def reader(self) -> Path:
        return self.folder / "reader"

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        executor = _executor()
        for event in super().read_part(part, wanted):
            yield event
            if executor is None:
                continue
            if self._is_ordered():
                os.kill(executor, signal.SIGKILL)
                os._exit(1)
            self.reader.write_text(str(executor), encoding="ascii")

    def _is_ordered(self) -> bool:
        try:
            self.order.unlink()
        except FileNotFoundError:
            return False
        return True


def _executor() -> int | None:
    """Return the executor that this process works for; None: it is the driver."""
    pid = os.getppid()
    while pid > 1:
        if _EXECUTOR in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8"):
            return pid
        pid = int(
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1]
        )
    return None


def changes_under_kills(catalog: Catalog, folder: Path) -> dict[str, Any]:
    """Read changes while two executors are killed; say so, and what the tables have then."""
    for module in (parted_log, sys.modules[__name__]):
        register_pickle_by_value(module)  # executors know nothing of tests
    log = DeadlyLog(folder)
    told: Any = {"primary_keys": {"keyed": ["id"]}, "options": {"bucket": "-1"}}
    job = catalog.ingest(log, into="ods", name="shop", engine="spark", **told)
    newest: dict[int, int] = {}
    written = SparkRunner._prepared_all

    def killing(runner: SparkRunner, number: int) -> Any:
        os.kill(int(log.reader.read_text(encoding="ascii")), signal.SIGKILL)
        return written(runner, number)

    _add(log, 0, newest)
    log.order.touch()
    job.run()
    was_killed = not log.order.exists()
    _add(log, _LINES, newest)
    with patch.object(SparkRunner, "_prepared_all", killing):
        job.run()
    keyed = catalog.table("ods.keyed").scan().to_arrow().to_pylist()
    ids = catalog.table("ods.log").scan().to_arrow()["id"].to_pylist()
    return {
        "killed": was_killed,
        "keyed": {int(row["id"]): int(row["n"]) for row in keyed} == newest,
        "keys": len(keyed),
        "log": sorted(map(int, ids)) == [*range(2 * _LINES)],
        "epoch": job.status.epoch,
    }


def _add(log: PartedLog, first: int, newest: dict[int, int]) -> None:
    lines: list[list[str]] = [[] for _ in range(PARTS)]
    for number in range(first, first + _LINES):
        key = number * 7 % _KEYS
        newest[key] = number
        lines[key % PARTS].append(_line("keyed", key, number))
        lines[number % PARTS].append(_line("log", number, number))
    for part, found in enumerate(lines):
        log.add(part, found)


def _line(table: str, key: int, number: int) -> str:
    source = {"db": "shop", "table": table}
    return json.dumps({"op": "c", "after": {"id": key, "n": number}, "source": source})
