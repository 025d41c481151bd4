"""A table of many snapshots whose data files are there, for views that read rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from paimonlab.catalog import FileSystemCatalog
from paimonlab.storage.local import LocalFileIO

TABLE = "db.rows"
BUCKETS = 2
WRITES_A_DAY = 49
"""That go into one partition before it is compacted."""
_FIRST_DAY = dt.date(2026, 1, 1)
_NEW = 0.9
"""Share of the rows of a write whose key is new; the others are written again."""


def build_rows(folder: Path, snapshots: int, rows: int) -> None:
    """Write the table: days one after the other, each but the last compacted at its end."""
    catalog = FileSystemCatalog(str(folder), LocalFileIO(durability="none"))
    catalog.create_database("db")
    table = catalog.create_table(
        TABLE,
        {
            "dt": "STRING NOT NULL",
            "id": "BIGINT NOT NULL",
            "name": "STRING",
            "amount": "DECIMAL(12, 2)",
            "at": "TIMESTAMP(6)",
        },
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": str(BUCKETS), "write-only": "true"},
    )
    writes = snapshots * WRITES_A_DAY // (WRITES_A_DAY + 1)
    for number, batch in zip(range(writes), _batches(rows // writes), strict=False):
        table.write(batch)
        if number % WRITES_A_DAY == WRITES_A_DAY - 1 and number + 1 < writes:
            table.compact(full=True, partitions=[{"dt": _day(number)}])


def _batches(count: int) -> Iterator[pa.Table]:
    drawn = np.random.default_rng(7)
    new = int(count * _NEW)
    number = 0
    while True:
        first = number % WRITES_A_DAY * new
        again = drawn.integers(0, max(first, 1), count - new)
        ids = np.unique(np.concatenate([np.arange(first, first + new), again]))
        yield pa.table(
            {
                "dt": pa.array([_day(number)] * len(ids)),
                "id": ids,
                "name": pa.array([f"name {one % 997}" for one in ids]),
                "amount": pa.array((ids % 10_000).astype(np.int32)).cast(pa.decimal128(12, 2)),
                "at": pa.array(1_767_225_600_000_000 + ids * 1000).cast(pa.timestamp("us")),
            }
        )
        number += 1


def _day(number: int) -> str:
    return str(_FIRST_DAY + dt.timedelta(days=number // WRITES_A_DAY))
