"""Runs many sequences of random statements in one session of Spark, with one Java that reads each.

``python -m tests.random_changes.many FOLDER --seed 1 --first 0 --count 100`` appends a line of JSON
for each sequence to ``FOLDER/log.jsonl``: its seed, kind and number, what became of it, and the CPU
seconds that it took. What went wrong is in ``FOLDER/wrong.txt``; the program ends with 1 then.

Sequence ``n`` is the ``n // k``-th of the kind ``n % k`` of k kinds. In each second one Spark takes
small tables for large ones, and broadcasts none. One in ``--compiled`` is run with Spark's compiled
plans, the others with interpreted ones, which small tables take less time with.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.spark import connect
from tests.interop.java_build import COMPILED_WITH, JavaTools, is_since_1_4
from tests.interop.oracle import JavaPaimon, Oracle
from tests.interop.pair import Pair
from tests.random_changes.kinds import KINDS
from tests.random_changes.running import Running, second_table
from tests.random_changes.sequences import sequence
from tests.spark.interpreting import INTERPRETED
from tools import short_java

CONF = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}
NOT_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Return what this process and those below it have taken, ended ones included."""
    parents: dict[int, int] = {}
    taken: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            taken[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        total += taken.get(pid, 0.0)
        waiting += [child for child, parent in parents.items() if parent == pid]
    return total


@contextmanager
def settings(spark: SparkSession, chosen: dict[str, str]) -> Iterator[None]:
    """Set something for a while."""
    for key, value in chosen.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in chosen:
            spark.conf.unset(key)


def run_one(
    of: tuple[Catalog, SparkSession, Pair], number: int, asked: argparse.Namespace
) -> tuple[dict[str, Any], str]:
    """Run a sequence; return its line of the log, and what is wrong with it."""
    catalog, spark, pair = of
    names = [*KINDS]
    name = names[number % len(names)]
    of_kind, wrong, javas = number // len(names), "", "reads it"
    how = {} if number % asked.compiled == 0 else dict(INTERPRETED)
    before = cpu_seconds()
    try:
        made = sequence(name, asked.seed, of_kind, asked.statements)
        with settings(spark, how | (NOT_BROADCAST if (number // len(names)) % 2 else {})):
            running = Running(catalog, spark, made)
            running.run()
        is_known = is_since_1_4(asked.java) and any("remove" in key for key in made.kind.options)
        if is_known or not running.java_reads_it(pair):
            javas = "differs as documented"
    except (ConnectionError, Py4JNetworkError):  # Spark has ended: nothing is said of the sequence
        raise
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - it is the answer
        wrong = traceback.format_exc()
    line = {
        "seed": asked.seed,
        "kind": name,
        "number": of_kind,
        "outcome": "wrong" if wrong else "clean",
        "java": asked.java if javas == "reads it" else javas,
        "cpu": round(cpu_seconds() - before, 2),
    }
    return line, wrong


def commit() -> str:
    """Return what is run."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def main() -> int:
    """Run them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=len(KINDS))
    parser.add_argument("--statements", type=int, default=5)
    parser.add_argument("--java", default=COMPILED_WITH)
    parser.add_argument("--compiled", type=int, default=10)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    short_java.let_spark_have_them()
    setattr(os, "fsync", os.fstat)  # noqa: B010 - nobody cuts the power here
    wrong_ones, revision = 0, commit()
    with tempfile.TemporaryDirectory() as scratch:
        oracle = Oracle(JavaTools.find(), Path(scratch), asked.java)
        warehouse = Path(scratch, "warehouse")
        catalog = open_catalog(warehouse)
        catalog.create_database("db")
        spark = connect(warehouse, master="local[2]", memory="1g", conf=CONF)
        second_table(catalog, spark, asked.seed)
        pair = Pair(catalog, JavaPaimon(oracle, warehouse))
        for number in range(asked.first, asked.first + asked.count):
            line, wrong = run_one((catalog, spark, pair), number, asked)
            with (asked.folder / "log.jsonl").open("a") as log:
                log.write(json.dumps(line | {"commit": revision}) + "\n")
            if wrong:
                wrong_ones += 1
                with (asked.folder / "wrong.txt").open("a") as log:
                    log.write(f"{json.dumps(line)}\n{wrong}\n")
        spark.stop()
        oracle.close()
    return 1 if wrong_ones else 0


if __name__ == "__main__":
    raise SystemExit(main())
