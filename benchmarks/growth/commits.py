"""The price of a commit: the last ones of a thousand beside the first ones.

First and last commits are made in turns, ten by ten, each by a process of its own: whatever else the
machine does slows both. Each counts with the least of three, since one process takes up to half as
much again as another that does the same. ``python -m benchmarks.growth.commits --commits 10000
--tables "upkept append"`` is about tables that look after themselves: commits expire snapshots, merge
manifests and compact. Of these the mean tells what a commit costs: some compact, the others do not, and
their median says which of the two are more. The other arguments, ``--in`` and ``--before``, make the
commits of one side.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, cells, markdown

CYCLE = 100
"""Commits on each side of a comparison: some merges of small manifests, many compactions."""
TURN = 10
"""Commits of one side before the other has its turn."""
ROUNDS = 3
"""Pairs of processes; the least of each side counts."""
COMMITS = 1000


def rows() -> Iterator[GrowthRow]:
    """Compare the last commits of `COMMITS` with the first ones, in each kind of table."""
    yield from _rows(list(_DEFINITIONS), COMMITS)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=COMMITS)
    parser.add_argument("--tables", nargs="+", default=list(_DEFINITIONS), choices=_DEFINITIONS)
    parser.add_argument("--in", dest="warehouse", help="make commits in turns in this folder")
    parser.add_argument("--before", type=int, default=0, help="commits before the first turn")
    options = parser.parse_args()
    if options.warehouse:
        _serve(options.warehouse, *options.tables, before=options.before)
    else:
        print(markdown([cells(row, "") for row in _rows(options.tables, options.commits)]))


def _rows(tables: Sequence[str], commits: int) -> Iterator[GrowthRow]:
    with tempfile.TemporaryDirectory() as folder:
        for name in tables:
            rounds = [_sides(Path(folder) / str(number), name, commits) for number in range(ROUNDS)]
            for what, of in _AVERAGES[name.startswith(_UPKEPT) :]:
                first, last = (
                    1000 * min(of(times) for times in side) for side in zip(*rounds, strict=True)
                )
                yield GrowthRow(
                    work=f"a commit of one row, {name} table, {what} of {CYCLE}",
                    sizes=("at first", f"at the end of {commits:,}"),
                    costs=(first, last),
                    unit="CPU ms",
                    goal="at most 1.2 times",
                    holds=last <= 1.2 * first,
                )


_AVERAGES = (("median", statistics.median), ("mean", statistics.mean))
_UPKEPT = "upkept"
_EXPIRING = {"snapshot.num-retained.max": "50"}
_DEFINITIONS: Mapping[str, dict[str, Any]] = {
    "append": {},
    "primary key": {"primary_keys": ["id"], "options": {"bucket": "1", "write-only": "true"}},
    "upkept append": {"options": _EXPIRING},
    "upkept primary key": {"primary_keys": ["id"], "options": {"bucket": "1", **_EXPIRING}},
}


def _sides(folder: Path, name: str, number: int) -> tuple[list[float], list[float]]:
    """Make commits; return the processor time of the first and of the last ones, seconds."""
    first, last = list[float](), list[float]()
    with (
        _process(folder / "first", name, before=0) as one,
        _process(folder / "last", name, before=number - CYCLE) as other,
    ):
        for _ in range(CYCLE // TURN):
            first += _turn(one)
            last += _turn(other)
    return first, last


def _process(folder: Path, name: str, *, before: int) -> subprocess.Popen[str]:
    """Start a process of one side; it is ready when it has made the commits before."""
    module = (sys.executable, "-m", "benchmarks.growth.commits", "--tables", name)
    arguments = ("--in", str(folder), "--before", str(before))
    command = [*module, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None, "it is a pipe"
    assert process.stdout.readline() == "ready\n"
    return process


def _turn(process: subprocess.Popen[str]) -> list[float]:
    """Have one side make its next commits; return the processor time of each, seconds."""
    assert process.stdin is not None, "it is a pipe"
    assert process.stdout is not None, "it is a pipe"
    print(file=process.stdin, flush=True)
    return [*map(float, process.stdout.readline().split())]


def _serve(warehouse: str, name: str, *, before: int) -> None:
    """Make commits, then some more for each line that comes in."""
    commits = _commits(warehouse, name)
    for _ in range(before):
        next(commits)
    print("ready", flush=True)
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


if __name__ == "__main__":
    main()
