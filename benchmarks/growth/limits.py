"""Reads of ten rows: of a smaller and a larger table.

``python -m benchmarks.growth.limits TABLE WAREHOUSE`` makes one read, as `rows` asks for it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process

ROWS = (200_000, 2_000_000)
_COLUMNS = {"id": "BIGINT NOT NULL", "v": "DOUBLE", "s": "STRING"}
_DEFINITIONS: Mapping[str, dict[str, Any]] = {
    "append": {},
    "primary key": {"primary_keys": ["id"], "options": {"bucket": "1"}},
}


def rows() -> Iterator[GrowthRow]:
    """Read ten rows of each kind of table, after a read of one."""
    with tempfile.TemporaryDirectory() as folder:
        warehouses = [str(Path(folder) / str(count)) for count in ROWS]
        for warehouse, count in zip(warehouses, ROWS, strict=True):
            _make(warehouse, count)
        for name in _DEFINITIONS:
            few, many = (in_new_process(__name__, name, warehouse) for warehouse in warehouses)
            yield GrowthRow(
                work=f"read of 10 rows, {name}",
                sizes=tuple(f"{count:,} rows" for count in ROWS),
                costs=(few, many),
                unit="CPU ms",
                goal="at most 15 ms",
                holds=many <= 15,
            )


def _make(warehouse: str, count: int) -> None:
    random = np.random.default_rng(1)
    data = pa.table(
        {
            "id": np.arange(count),
            "v": random.random(count),
            "s": pa.array(np.char.mod("%08d", random.integers(0, 10**8, count))),
        }
    )
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    for name, definition in _DEFINITIONS.items():
        catalog.create_table(f"db.{_name(name)}", _COLUMNS, **definition).write(data)


def _name(name: str) -> str:
    return name.replace(" ", "_")


def _millis(name: str, warehouse: str) -> float:
    table = pl.connect(warehouse).table(f"db.{_name(name)}")
    table.scan(limit=1).to_arrow()
    start = time.process_time()
    table.scan(limit=10).to_arrow()
    return (time.process_time() - start) * 1000


if __name__ == "__main__":
    print(_millis(sys.argv[1], sys.argv[2]))
