"""A scan of files that were written with many schemas, beside the same files of one.

``python -m benchmarks.growth.schemas VERSIONS WAREHOUSE`` scans a table, as `rows` asks for it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator

import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process

FILES = 150
VERSIONS = (1, FILES)
_TIMES = 3
"""Each scan is done in so many processes, and the least counts."""


def rows() -> Iterator[GrowthRow]:
    """Scan tables of as many files, one of one schema, one of a schema for each file."""
    with tempfile.TemporaryDirectory() as warehouse:
        for versions in VERSIONS:
            _make(warehouse, versions)
        costs = tuple(
            min(in_new_process(__name__, versions, warehouse) for _ in range(_TIMES))
            for versions in VERSIONS
        )
    yield GrowthRow(
        work=f"first scan of {FILES} files, a file of it",
        sizes=tuple(f"{versions} schema version{'s' * (versions > 1)}" for versions in VERSIONS),
        costs=costs,
        unit="CPU ms",
        goal="at most 2 times",
        holds=costs[-1] <= 2 * costs[0],
        limit="a file of each schema is read and compared with the latest",
    )


def _make(warehouse: str, versions: int) -> None:
    catalog = pl.connect(warehouse)
    catalog.create_database("db", exist_ok=True)
    table = catalog.create_table(f"db.t{versions}", {"id": "BIGINT", "v0": "BIGINT"})
    for number in range(FILES):
        name = table.schema.field_names[-1]
        table.write(pa.table({"id": [number], name: [number]}))
        if number + 1 < versions:
            table = catalog.alter_table(table.name, pl.RenameColumn(name, f"v{number + 1}"))


def _millis(versions: int, warehouse: str) -> float:
    table = pl.connect(warehouse).table(f"db.t{versions}")
    start = time.process_time()
    found = table.scan().to_arrow()
    assert found.num_rows == FILES, "a row of each file"
    return (time.process_time() - start) * 1000 / FILES


if __name__ == "__main__":
    print(_millis(int(sys.argv[1]), sys.argv[2]))
