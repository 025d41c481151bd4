"""Promises of ingest jobs at full size, each against real servers, by one command.

``python -m benchmarks.ingest.acceptance`` runs all of them, ``… 8 11`` some; ``--list`` names them
with their numbers. Most are tests that run small in every run of the test suite: what makes them
large is an environment variable, which is printed, so that one can be run by itself. A test that
is skipped, since a server cannot be had, counts as failed. The exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Something that is run by itself."""

    number: int
    what: str
    tests: Sequence[str] = ()
    """Files and folders of tests."""
    named: str = ""
    """Which of them, as ``-k`` of pytest takes it."""
    module: str | None = None
    """A program in their place."""
    size: Mapping[str, str] = field(default_factory=dict)
    """Environment variables."""


_MYSQL, _POSTGRES, _KAFKA = (f"tests/ingest/{one}" for one in ("mysql", "postgres", "kafka"))
PROMISES = (
    Promise(
        number=1,
        what="1 million rows in four tables, 200,000 changes meanwhile",
        tests=(_MYSQL, _POSTGRES, _KAFKA),
        named="many_rows",
        size={"PAIMONLAB_INGEST_ROWS": "1000000"},
    ),
    Promise(
        number=5,
        what="two shards, one altered 1,000 rows before the other, in each evolve",
        tests=(_MYSQL, _POSTGRES, _KAFKA),
        named="shard_is_altered or shards_that_are_behind",
        size={"PAIMONLAB_INGEST_SHARD_ROWS": "1000"},
    ),
    Promise(
        number=8,
        what="46,000 changes of rows with long values, REPLICA IDENTITY DEFAULT and FULL",
        tests=(_POSTGRES,),
        named="long_values or not_logged or whole_old_rows",
        size={"PAIMONLAB_INGEST_LONG_CHANGES": "46000"},
    ),
    Promise(
        number=9,
        what="lost log, slot, topic, offsets, key and rights: an error within ten seconds",
        tests=(_MYSQL, _POSTGRES, _KAFKA),
        named="is_lost or are_lost or lost_offsets or rights or gave_up or user_needs or goes_away",
    ),
    Promise(
        number=10,
        what="ten minutes without changes, ten paused, a table read anew, one added (also 14)",
        module="benchmarks.ingest.waiting",
        size={"PAIMONLAB_INGEST_IDLE_SECONDS": "610"},
    ),
    Promise(
        number=11,
        what="500 tables for ten minutes",
        module="benchmarks.ingest.many",
    ),
    Promise(
        number=12,
        what="a transaction of 1 million rows and 302 tables, in part rolled back",
        tests=(_MYSQL, _POSTGRES),
        named="large_transaction or two_phases",
        size={"PAIMONLAB_INGEST_TRANSACTION_ROWS": "1000000"},
    ),
    Promise(
        number=13,
        what="300 transactions of Kafka, some aborted; new partitions, compaction, lost offsets",
        tests=(_KAFKA,),
        named="transactions or committed or new_partitions or compacted or offsets",
        size={"PAIMONLAB_INGEST_KAFKA_TRANSACTIONS": "300"},
    ),
    Promise(
        number=14,
        what="two processes of one job, tables read anew and added while others are followed",
        tests=(
            "tests/ingest/test_steering.py",
            "tests/ingest/test_takeovers.py",
            _MYSQL,
            _POSTGRES,
        ),
        named="steering or takeovers or read_anew_and_added",
    ),
    Promise(
        number=16,
        what="cells of notebooks, a kernel interrupted and restarted, no password anywhere",
        tests=(
            "tests/notebook/views/test_ingest.py",
            "tests/notebook/kernel/test_ingest_restarts.py",
        ),
    ),
)


def main() -> None:
    """Run what is asked for, one after the other."""
    # Shells let what they run in the background ignore it, and tests interrupt themselves.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = _options()
    chosen = [one for one in PROMISES if not options.numbers or one.number in options.numbers]
    if options.list:
        for one in chosen:
            print(f"{one.number:>2}  {one.what}")
        return
    failed = [one for one in chosen if not _holds(one)]
    raise SystemExit(1 if failed else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    numbers = [one.number for one in PROMISES]
    parser.add_argument("numbers", nargs="*", type=int, choices=[*numbers, []])
    parser.add_argument("--list", action="store_true", help="run none")
    return parser.parse_args()


def _holds(promise: Promise) -> bool:
    """Run one, and print how it came out."""
    command = [sys.executable, "-m"]
    if promise.module is not None:
        command.append(promise.module)
    else:
        command += ["pytest", "-q", "-p", "no:cacheprovider", "--durations=1", *promise.tests]
        command += ["-k", promise.named] if promise.named else []
    size = " ".join(f"{name}={value}" for name, value in promise.size.items())
    print(f"{promise.number:>2}  {promise.what}\n    {size} {' '.join(command[1:])}", flush=True)
    begun = time.monotonic()
    environment = os.environ | promise.size
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    spent = time.monotonic() - begun
    holds = done.returncode == 0 and not re.search(r"\d+ skipped", done.stdout)
    if not holds:
        print(done.stdout[-20_000:], done.stderr[-5_000:], sep="\n")
    said = [one for one in done.stdout.splitlines() if one.strip()]
    lines = said if promise.module is not None else _summary(said)
    for line in lines if holds else ():
        print(f"    {line}")
    verdict = "holds" if holds else "FAILED"
    print(f"    {verdict}, {spent:,.0f} s, load {os.getloadavg()[0]:.0f}", flush=True)
    return holds


def _summary(lines: Sequence[str]) -> Sequence[str]:
    """Return how many tests passed, and the longest of them."""
    longest = [one for one in lines if re.match(r"\d+\.\d+s (call|setup|teardown) ", one)]
    return [*longest, lines[-1]]


if __name__ == "__main__":
    main()
