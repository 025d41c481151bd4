"""What must not grow: the price of a write of many groups with the number of its batches.

``python -m benchmarks.many_groups`` writes the same rows as one batch and as many, to an append
table of many partitions and to a primary-key table of many buckets. Processor time; each write is a
process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import paimonlab as pl

ROWS = 2_000_000
BATCHES = 16
PARTITIONS = 512
BUCKETS = 1024
_COLUMNS = {"id": "BIGINT NOT NULL", "part": "INT NOT NULL", "v": "DOUBLE", "s": "STRING"}
_DEFINITIONS: Mapping[str, dict[str, Any]] = {
    f"append, {PARTITIONS} partitions": {"partition_keys": ["part"]},
    f"primary key, {BUCKETS} buckets": {
        "primary_keys": ["id"],
        "options": {"bucket": str(BUCKETS), "write-only": "true"},
    },
}


def main() -> None:
    """Parse the command line, measure, print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", nargs=2, metavar=("TABLE", "BATCHES"), help="as asked to")
    options = parser.parse_args()
    if options.write:
        name, batches = options.write
        print(_seconds(_DEFINITIONS[name], int(batches)))
        return
    for name in _DEFINITIONS:
        one, many = (_in_new_process(name, batches) for batches in (1, BATCHES))
        print(
            f"write of {ROWS:,} rows, {name}: {one:.2f} s of processors as one batch, "
            f"{many:.2f} s as {BATCHES}: {many / one:.2f} times as much",
            flush=True,
        )


def _in_new_process(name: str, batches: int) -> float:
    command = [sys.executable, "-m", "benchmarks.many_groups", "--write", name, str(batches)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _seconds(definition: Mapping[str, Any], batches: int) -> float:
    random = np.random.default_rng(1)
    rows = pa.table(
        {
            "id": np.arange(ROWS),
            "part": random.integers(0, PARTITIONS, ROWS).astype("int32"),
            "v": random.random(ROWS),
            "s": pa.array(np.char.mod("%08d", random.integers(0, 10**8, ROWS))),
        }
    )
    given = pa.Table.from_batches(
        rows.slice(number * ROWS // batches, ROWS // batches).to_batches()[0]
        for number in range(batches)
    )
    with tempfile.TemporaryDirectory() as folder:
        catalog = pl.connect(folder)
        catalog.create_database("db")
        table = catalog.create_table("db.t", _COLUMNS, **definition)
        start = time.process_time()
        table.write(given)
        return time.process_time() - start


if __name__ == "__main__":
    main()
