"""One job with hundreds of tables: memory, commits and files.

``python -m benchmarks.ingest.many [--tables 500] [--seconds 600] [--interval 10]`` writes five rows a
second for each table to one topic of Kafka, in Debezium's JSON, while a job of another process
reads them, and prints what the job took beside the goals: 1 GB of memory, a commit per table and
interval, ten files per bucket. The exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import paimonlab as pm
from paimonlab.spec.snapshot import CommitKind
from tests.ingest.kafka.broker import Broker, broker

RATE = 5
"""Rows a second of each table."""
KEYS = 200
_STEP_SECONDS = 0.2


def main() -> None:
    """Write, read, print."""
    options = _options()
    if options.job:
        run_job(*options.job, interval=options.interval)
        return
    with broker() as made, tempfile.TemporaryDirectory() as folder:
        made.create("t", 2)
        _write(made, options.tables, 2 * _STEP_SECONDS)  # every table has a row
        command = [sys.executable, "-m", "benchmarks.ingest.many", "--interval"]
        command += [str(options.interval), "--job", folder, made.address]
        with subprocess.Popen(command) as job:
            catalog = pm.connect(folder)
            while not (
                catalog.has_database("ods") and len(catalog.tables("ods")) == options.tables
            ):
                _check_runs(job)
                time.sleep(1)
            written = _write(made, options.tables, options.seconds)
            time.sleep(3 * options.interval + 5)
            status = Path(f"/proc/{job.pid}/status").read_text(encoding="ascii")
            _check_runs(job)
            job.terminate()
        peak = int(status.partition("VmHWM:")[2].split()[0]) >> 10
        _print(folder, options, written, peak)


def _check_runs(job: subprocess.Popen[bytes]) -> None:
    if job.poll() is not None:
        raise SystemExit(f"the job ended with {job.returncode}; a number below 0 is a signal")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--interval", type=float, default=10)
    parser.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _write(made: Broker, tables: int, seconds: float) -> int:
    from confluent_kafka import Producer  # noqa: PLC0415 - an extra

    producer = Producer({"bootstrap.servers": made.address, "linger.ms": 20, "log_level": 0})
    began, written = time.monotonic(), 0
    while (spent := time.monotonic() - began) < seconds:
        due = int((spent + _STEP_SECONDS) * RATE) * tables
        while written < due:
            id = written // tables % KEYS
            event = {
                "before": None,
                "after": {"id": id, "n": written, "v": "x" * 40},
                "source": {"db": "d", "table": f"t{written % tables}"},
                "op": "c",
            }
            value, key = json.dumps(event).encode(), b'{"id":%d}' % id
            producer.produce("t", value, key, partition=id % 2)
            producer.poll(0)
            written += 1
        time.sleep(_STEP_SECONDS)
    producer.flush(60)
    return written


def run_job(warehouse: str, address: str, *, interval: float) -> None:
    """Read the topic until this process is ended."""
    source = pm.kafka(address).topic("t", format="debezium-json")
    job = pm.connect(warehouse).ingest(
        source, into="ods", name="many", interval=interval, options={"bucket": 1}
    )
    status = job.run(None)
    raise SystemExit(f"the job ended by itself: {status}")


def _print(folder: str, options: argparse.Namespace, written: int, peak: int) -> None:
    catalog = pm.connect(folder)
    commits: list[int] = []
    files: list[int] = []
    for name in catalog.tables("ods"):
        table = catalog.table(f"ods.{name}")
        commits.append(sum(one.commit_kind is CommitKind.APPEND for one in table.snapshots.list()))
        found = catalog.relation(f"ods.{name}$files").scan().to_arrow()
        places = zip(found["partition"].to_pylist(), found["bucket"].to_pylist(), strict=True)
        files += Counter(map(str, places)).values()
    most_commits = (options.seconds + 3 * options.interval + 10) / options.interval + 2
    print(
        f"{len(commits)} tables, {written:,} rows in {options.seconds:.0f} s, "
        f"interval {options.interval:.0f} s, load {os.getloadavg()[0]:.1f}\n"
        f"peak memory {peak:,} MB (goal 1,024)\n"
        f"commits per table {max(commits)} (goal {most_commits:.0f})\n"
        f"files per bucket {statistics.median(files):.0f}, most {max(files)} (goal 10)"
    )
    is_kept = peak <= 1_024 and max(commits) <= most_commits and max(files) <= 10
    if not is_kept or len(commits) != options.tables:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
