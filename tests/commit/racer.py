"""Processes that write to one table at once. Arguments: warehouse, how many, commits of each.

Run as a program of its own: it forks before any thread has started. Prints the snapshot id of
each commit that was acknowledged.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import paimonlab
from tests.preloading import load_what_it_takes


def _open(warehouse: Path) -> paimonlab.Table:
    table = paimonlab.connect(str(warehouse)).table("db.t")
    assert isinstance(table, paimonlab.Table)
    return table


def _race(table: paimonlab.Table, number: int, commits: int) -> Iterator[int]:
    """Write a row in each commit; yield the snapshots."""
    for round_ in range(commits):
        snapshot = table.write(pa.table({"id": [number * 1000 + round_]}))
        assert snapshot is not None
        yield snapshot.id


def _write_to_a_copy(warehouse: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(warehouse, Path(scratch, "copy"))
        list(_race(_open(copy), number=0, commits=1))


def main(warehouse: Path, racers: int, commits: int) -> int:
    """Let them start together; return how many failed."""
    load_what_it_takes(lambda: _write_to_a_copy(warehouse))
    waiting, starting = os.pipe()
    children = []
    for number in range(racers):
        child = os.fork()
        if child == 0:
            os.close(starting)
            os.read(waiting, 1)  # until there is nobody who could write
            for snapshot in _race(_open(warehouse), number, commits):
                os.write(1, f"{snapshot}\n".encode())  # in one piece: others print, too
            os._exit(0)
        children.append(child)
    os.close(starting)
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
