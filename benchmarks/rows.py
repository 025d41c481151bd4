"""The rows that all engines write and read.

Columns: an int64 key, an int64, a double, a text of 20 bytes, a timestamp in microseconds and a
decimal(12, 2). Made from a fixed seed, kept as Parquet files that every engine loads before the
clock runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20261121
RUNS = 8
SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), nullable=False),
        ("a", pa.int64()),
        ("d", pa.float64()),
        ("s", pa.string()),
        ("t", pa.timestamp("us")),
        ("m", pa.decimal128(12, 2)),
    ]
)


def rows(keys: npt.NDArray[np.int64], random: np.random.Generator) -> pa.Table:
    """Make a row for each key."""
    count = len(keys)
    texts = random.integers(ord("a"), ord("z"), (count, 20), dtype=np.uint8)
    offsets = np.arange(0, 20 * count + 1, 20, dtype=np.int32)
    strings = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(texts))
    unscaled = np.zeros((count, 2), np.int64)
    unscaled[:, 0] = random.integers(0, 10**9, count)
    decimals = pa.Array.from_buffers(pa.decimal128(12, 2), count, [None, pa.py_buffer(unscaled)])
    return pa.table(
        [
            pa.array(keys),
            pa.array(random.integers(0, 10**6, count)),
            pa.array(random.random(count)),
            strings,
            pa.array(random.integers(16 * 10**14, 17 * 10**14, count)).cast(pa.timestamp("us")),
            decimals,
        ],
        schema=SCHEMA,
    )


def upserts(count: int, random: np.random.Generator) -> Iterator[pa.Table]:
    """Make `RUNS` batches of ``count`` / `RUNS` rows; half of the keys of each were there before."""
    size = count // RUNS
    known = 0
    for run in range(RUNS):
        again = random.choice(known, size // 2, replace=False) if run else np.empty(0, np.int64)
        new = np.arange(known, known + size - len(again))
        known += len(new)
        yield rows(random.permutation(np.concatenate([again, new])).astype(np.int64), random)


def make(folder: Path, count: int) -> None:
    """Write ``all.parquet`` (one batch) and ``run-0.parquet`` … unless they are there."""
    if (folder / f"run-{RUNS - 1}.parquet").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    shuffled = random.permutation(count).astype(np.int64)
    pq.write_table(rows(shuffled, random), folder / "all.parquet")
    for run, batch in enumerate(upserts(count, random)):
        pq.write_table(batch, folder / f"run-{run}.parquet")
