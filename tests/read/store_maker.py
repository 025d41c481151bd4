"""A process that makes lookup stores until it is killed: ``python -m tests.read.store_maker``.

With ``--drop`` it deletes those that are there, and ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from paimonlab.read.lookup_options import LookupStorePlan
from paimonlab.read.lookup_stores.kept_stores import KeptStores, StoredColumns
from paimonlab.read.lookup_stores.key_filter import KeyFilter
from paimonlab.read.lookup_stores.store_file import StoreFile, StoreIdentity
from paimonlab.spec.types.text import parse_type

KEYS = pa.schema([pa.field("k", pa.int64(), nullable=False)])
VALUES = pa.schema([("v", pa.int64())])
FILES = 8
ROWS = 40_000


def found(folder: str, number: int) -> StoreFile | None:
    """Open the store of a file, after making it if need be."""
    key_filter = KeyFilter.of((parse_type("BIGINT"),), 0.05)
    kept = KeptStores(
        LookupStorePlan(folder=folder), ("group",), StoredColumns(KEYS, VALUES, key_filter)
    )
    identity = StoreIdentity(
        table_path="t",
        bucket_path="b",
        file_name=f"file-{number}",
        file_size_bytes=number,
        columns="k v",
        compression="none",
        fpp=0.05,
    )
    return kept.find(identity, lambda: rows(number))


def rows(number: int) -> Iterator[pa.Table]:
    """Yield the rows of a file."""
    keys = np.arange(ROWS) * (number + 1)
    batch = pa.table([keys, keys + number], schema=pa.schema([*KEYS, *VALUES]))
    yield from (batch.slice(start, ROWS // 4) for start in range(0, ROWS, ROWS // 4))


def main(folder: str) -> None:
    """Make stores, and make others drop them, for ever."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for number in range(FILES):
            found(folder, number)  # None where the other process has just dropped it
        drop(folder)


def drop(folder: str) -> None:
    """Delete all stores."""
    KeptStores(LookupStorePlan(folder=folder), ("group",), StoredColumns(KEYS)).drop_others(())


if __name__ == "__main__":
    (drop if "--drop" in sys.argv else main)(sys.argv[1])
