"""Print how many lines of Python a write and a scan run, for tables of some numbers of columns.

A program of its own: lines of threads that were there before it began could not be counted.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab

TYPES = ("DOUBLE", "STRING", "INT", "TIMESTAMP")
VALUES = (
    pa.array([1.5]),
    pa.array(["x"]),
    pa.array([3], pa.int32()),
    pa.array([5], pa.timestamp("us")),
)
_lines = 0


def columns(count: int) -> dict[str, str]:
    """Return names and types of so many columns."""
    return {f"c{number}": TYPES[number % len(TYPES)] for number in range(count)}


def main(folder: str, *counts: str) -> None:
    """Write and read a table of each number of columns."""
    threading.settrace(_count)
    sys.settrace(_count)
    found = [_work(Path(folder, count), int(count)) for count in counts]
    sys.settrace(None)
    print(json.dumps(found))  # noqa: T201


def _work(folder: Path, count: int) -> tuple[int, int]:
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    table = catalog.create_table("db.t", columns(count))
    rows = pa.table([*VALUES] * (count // len(VALUES)), names=list(columns(count)))
    begin = _lines
    table.write(rows)
    written = _lines
    read = table.scan().to_arrow()
    done = _lines
    assert read == rows
    return written - begin, done - written


def _count(_frame: Any, event: str, _argument: Any) -> Any:
    global _lines  # noqa: PLW0603
    _lines += event == "line"
    return _count


if __name__ == "__main__":
    main(*sys.argv[1:])
