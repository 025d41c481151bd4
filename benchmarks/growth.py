"""What must not grow: the price of a commit, and of planning one partition of many files.

``python -m benchmarks.growth`` measures paimonlab alone: the thousandth commit beside the first
ones, and a plan of one of 100 partitions with 100,000 files. The manifests are real, the data files
of the plan are only named. ``--commits 10000 --tables "upkept append"`` is about tables that look after
themselves: commits expire snapshots, merge manifests and compact.

First and last commits are made in turns, ten by ten, the first ones by a new process: whatever else
the machine does slows both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab as pl
from paimonlab.spec.binary_row.rows import encode_one
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta, SimpleStats

CYCLE = 100
"""Commits on each side of a comparison: some merges of small manifests, many compactions."""
TURN = 10
"""Commits of one side before the other has its turn."""
PARTITIONS = 100


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--tables", nargs="+", default=list(_DEFINITIONS), choices=_DEFINITIONS)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--plan", metavar="WAREHOUSE", help="plan a table that is there")
    parser.add_argument(
        "--first", metavar="WAREHOUSE", help="make first commits, as it is asked to"
    )
    options = parser.parse_args()
    if options.first:
        _first(options.first, *options.tables)
        return
    if options.plan:
        _plan(options.plan)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables:
            sides = _sides(Path(folder), name, options.commits)
            for what, of in (("median", statistics.median), ("mean", statistics.mean)):
                first, last = map(of, sides)
                print(
                    f"{name}, {what}: {CYCLE} commits {1000 * first:.1f} ms each, the last "
                    f"{CYCLE} of {options.commits} {1000 * last:.1f} ms: "
                    f"{last / first:.2f} times as much",
                    flush=True,
                )
        _name_files(Path(folder) / "files", options.files)
        command = [sys.executable, "-m", "benchmarks.growth", "--plan", f"{folder}/files"]
        subprocess.run(command, check=True)  # nothing cached, and memory of its own


_EXPIRING = {"snapshot.num-retained.max": "50"}
_DEFINITIONS: Mapping[str, dict[str, Any]] = {
    "append": {},
    "primary key": {"primary_keys": ["id"], "options": {"bucket": "1", "write-only": "true"}},
    "upkept append": {"options": _EXPIRING},
    "upkept primary key": {"primary_keys": ["id"], "options": {"bucket": "1", **_EXPIRING}},
}


def _sides(folder: Path, name: str, number: int) -> tuple[list[float], list[float]]:
    """Make commits; return the processor time of the first and of the last ones, seconds."""
    commits = _commits(str(folder / "last"), name)
    for _ in range(number - CYCLE):
        next(commits)
    command = [sys.executable, "-m", "benchmarks.growth", "--first", str(folder / "first")]
    first, last = list[float](), list[float]()
    with subprocess.Popen(
        [*command, "--tables", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        for _ in range(CYCLE // TURN):
            print(file=process.stdin, flush=True)
            first += map(float, process.stdout.readline().split())
            last += (next(commits) for _ in range(TURN))
    return first, last


def _first(warehouse: str, name: str) -> None:
    """Make some commits for each line that comes in."""
    commits = _commits(warehouse, name)
    for _ in sys.stdin:
        print(*(next(commits) for _ in range(TURN)), flush=True)


def _commits(warehouse: str, name: str) -> Iterator[float]:
    """Write one row a commit; yield the processor time of each, seconds.

    A write whose bucket is compacted commits twice, and as levels fill nearly every one does; so
    the time is that of one commit.
    """
    catalog = pl.connect(f"{warehouse}/{name.replace(' ', '-')}")
    catalog.create_database("db")
    definition = _DEFINITIONS[name]
    table = catalog.create_table("db.t", {"id": "BIGINT NOT NULL", "v": "STRING"}, **definition)
    before = 0
    for number in count():
        row = pa.table({"id": [number], "v": ["x"]})
        start = time.process_time()
        latest = table.write(row)
        seconds = time.process_time() - start
        assert latest is not None, "a row is a commit"
        yield seconds / (latest.id - before)
        before = latest.id


def _name_files(folder: Path, count: int) -> None:
    catalog = pl.connect(str(folder))
    catalog.create_database("db")
    columns = {"dt": "STRING", "id": "BIGINT", "v": "STRING"}
    table = catalog.create_table("db.files", columns, partition_keys=["dt"])
    types = [field.type for field in table.schema.fields]
    for _ in range(10):
        messages = []
        for day in range(PARTITIONS):
            name = f"d{day:03}"
            low, high = (
                encode_one([pa.scalar(name), pa.scalar(number), pa.scalar(text)], types)
                for number, text in ((1, "a" * 16), (9, "z" * 16))
            )
            files = [
                _file(SimpleStats(low, high, (0, 0, 0))) for _ in range(count // PARTITIONS // 10)
            ]
            partition = encode_one([pa.scalar(name)], types[:1])
            messages.append(
                CommitMessage(
                    partition=partition, bucket=0, total_buckets=-1, new_files=tuple(files)
                )
            )
        table.commit(messages)


def _file(stats: SimpleStats) -> DataFileMeta:
    return DataFileMeta(
        file_name=f"data-{uuid.uuid4()}-0.parquet",
        file_size_bytes=1000,
        row_count=10,
        value_stats=stats,
        min_sequence_number=0,
        max_sequence_number=9,
        schema_id=0,
        file_source=0,
    )


def _plan(warehouse: str) -> None:
    table = pl.connect(warehouse).table("db.files")
    assert isinstance(table, pl.Table)
    for what, day in (("nothing cached", 50), ("manifests cached", 51)):
        start = time.perf_counter()
        files = table.scan(where=f"dt = 'd{day:03}'").plan().files.num_rows
        seconds = time.perf_counter() - start
        print(f"plan of one partition of {PARTITIONS}, {files:,} files, {what}: {seconds:.2f} s")
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(f"most memory: {int(peak.split()[1]) // 1024} MB")


if __name__ == "__main__":
    main()
