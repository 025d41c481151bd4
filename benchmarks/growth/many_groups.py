"""A write of many groups: as one batch and as many, to an append table and to one with keys.

``python -m benchmarks.growth.many_groups TABLE BATCHES`` makes one write, as `rows` asks for it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process

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


def rows() -> Iterator[GrowthRow]:
    """Write the same rows as one batch and as many."""
    for name in _DEFINITIONS:
        one, many = (in_new_process(__name__, name, batches) for batches in (1, BATCHES))
        yield GrowthRow(
            work=f"write of {ROWS:,} rows, {name}",
            sizes=("1 batch", f"{BATCHES} batches"),
            costs=(one, many),
            goal="at most 1.1 times",
            holds=many <= 1.1 * one,
        )


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
    print(_seconds(_DEFINITIONS[sys.argv[1]], int(sys.argv[2])))
