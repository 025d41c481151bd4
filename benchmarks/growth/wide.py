"""A row of 5,000 columns: written, and scanned.

``python -m benchmarks.growth.wide WHAT COLUMNS`` measures one of `_WORKS`, as `rows` asks for it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process

COLUMNS = 5000
_TYPES = ("DOUBLE", "STRING", "INT", "TIMESTAMP")


def rows() -> Iterator[GrowthRow]:
    """Write and scan one row of 500 and of 5,000 columns."""
    sizes = (COLUMNS // 10, COLUMNS)
    for work in ("write", "scan"):
        ours, plain = (
            tuple(in_new_process(__name__, what, columns) for columns in sizes)
            for what in (work, f"plain {work}")
        )
        yield GrowthRow(
            work=f"{work} of one row",
            sizes=tuple(f"{columns:,} columns" for columns in sizes),
            costs=ours,
            peers={"plain pyarrow": plain},
            goal="1 s",
            holds=ours[-1] <= 1,
            limit="each column has its price in pyarrow, too",
        )


def _seconds(folder: str, work: str, columns: int) -> float:
    names = [f"c{number}" for number in range(columns)]
    values = (pa.array([1.5]), pa.array(["x"]), pa.array(np.array([3], np.int32)))
    row = (*values, pa.array([5], pa.timestamp("us")))
    rows = pa.table([*row] * (columns // len(row)), names=names)
    path = f"{folder}/plain.parquet"
    if work.startswith("plain"):
        pq.write_table(rows, path, compression="zstd")
        start = time.process_time()
        if work == "plain write":
            pq.write_table(rows, path, compression="zstd")
        else:
            pq.ParquetFile(path).read()
        return time.process_time() - start
    catalog = pl.connect(folder)
    catalog.create_database("db")
    types = {name: _TYPES[number % len(_TYPES)] for number, name in enumerate(names)}
    table = catalog.create_table("db.t", types)
    small = catalog.create_table("db.small", {"a": "INT"})
    small.write(pa.table({"a": values[2]}))
    small.scan().to_arrow()
    start = time.process_time()
    table.write(rows)
    if work == "scan":
        start = time.process_time()
        table.scan().to_arrow()
    return time.process_time() - start


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as warehouse:
        print(_seconds(warehouse, sys.argv[1], int(sys.argv[2])))
