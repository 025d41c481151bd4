"""The tables that all Paimon engines read, written once: same files for everyone."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import paimonlab as pl
from benchmarks.rows import RUNS, SEED, rows, upserts

PARTITIONS = 500
FILES = 5000
SNAPSHOTS = 1000
BUCKET_ROWS = 8_000_000
"""Of one bucket."""
LARGE_ROWS = 28_000_000
"""Of 72 bytes each in Arrow: 2 GB."""
_COLUMNS = {
    "k": "BIGINT",
    "a": "BIGINT",
    "d": "DOUBLE",
    "s": "STRING",
    "t": "TIMESTAMP(6)",
    "m": "DECIMAL(12, 2)",
}
_OPTIONS = {"bucket": "4", "write-only": "true", "write-buffer-size": "1 gb"}
_FEW = {
    "few_upserts": ("small_bucket", 400_000),
    "few_upserts_medium": ("medium_bucket", 1_600_000),
    "few_upserts_large": ("large_bucket", 6_400_000),
    "few_upserts_huge": ("huge_bucket", 16_000_000),
}
"""Tables of one bucket whose keys are upserted a few at a time, and their rows."""
_AT_ONCE = 1_600_000
_MERGED = {
    "merge": {},
    "sums": {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": "sum",
        "fields.d.aggregate-function": "max",
    },
    "parts": {"merge-engine": "partial-update", "fields.t.sequence-group": "s,m"},
}
"""Tables of the same 8 runs, by merge engine."""


def main(folder: Path, rows_folder: Path, works: Collection[str]) -> None:
    """Make the tables that works need, where missing."""
    catalog = pl.connect(folder)
    catalog.create_database("db", exist_ok=True)
    if not catalog.has_table("db.append"):
        table = catalog.create_table("db.append", _COLUMNS)
        table.write(pq.read_table(rows_folder / "all.parquet"))
    for name, engine in _MERGED.items():
        if not catalog.has_table(f"db.{name}"):
            options = {**_OPTIONS, **engine}
            table = catalog.create_table(
                f"db.{name}", _COLUMNS, primary_keys=["k"], options=options
            )
            for run in range(RUNS):
                table.write(pq.read_table(rows_folder / f"run-{run}.parquet"))
    if not catalog.has_table("db.vectors"):
        vectors = {"deletion-vectors.enabled": "true"}
        table = catalog.create_table("db.vectors", _COLUMNS, options=vectors)
        table.write(pq.read_table(rows_folder / "all.parquet"))
        table.delete("a < 100000")
    if not catalog.has_table("db.files"):
        _many_files(catalog)
    if "expire" in works and not catalog.has_table("db.history"):
        _history(catalog)
    _large_tables(catalog, works)


def _large_tables(catalog: pl.Catalog, works: Collection[str]) -> None:
    for work, (name, count) in _FEW.items():
        if work in works:
            _compacted_bucket(catalog, name, count)
    if "stream" in works:
        _runs(catalog, "large", LARGE_ROWS, buckets=4)
    if "compact_bucket" in works:
        _runs(catalog, "bucket", BUCKET_ROWS, buckets=1)


def _runs(catalog: pl.Catalog, name: str, count: int, *, buckets: int) -> None:
    """Write upserts of many rows, unless they are there."""
    if catalog.has_table(f"db.{name}"):
        return
    options = {**_OPTIONS, "bucket": str(buckets)}
    table = catalog.create_table(f"db.{name}", _COLUMNS, primary_keys=["k"], options=options)
    for batch in upserts(count, np.random.default_rng(SEED)):
        table.write(batch)


def _compacted_bucket(catalog: pl.Catalog, name: str, count: int) -> None:
    """Write rows into one bucket and compact it, unless they are there."""
    if catalog.has_table(f"db.{name}"):
        return
    options = {"bucket": "1", "changelog-producer": "lookup"}
    table = catalog.create_table(f"db.{name}", _COLUMNS, primary_keys=["k"], options=options)
    random = np.random.default_rng(SEED)
    for start in range(0, count, _AT_ONCE):
        table.write(rows(np.arange(start, min(start + _AT_ONCE, count)), random))
    table.compact(full=True)


def _many_files(catalog: pl.Catalog) -> None:
    """Write one file into each partition at every commit."""
    table = catalog.create_table("db.files", {"p": "INT", "v": "BIGINT"}, partition_keys=["p"])
    partitions = np.arange(PARTITIONS, dtype=np.int32)
    for commit in range(FILES // PARTITIONS):
        values = np.full(PARTITIONS, commit, np.int64)
        table.write(pa.table({"p": partitions, "v": values}))


def _history(catalog: pl.Catalog) -> None:
    """Replace one of ten partitions at every commit, so that each leaves a file to delete."""
    options = {"write-only": "true"}  # commits expire nothing
    table = catalog.create_table(
        "db.history", {"p": "INT", "v": "BIGINT"}, partition_keys=["p"], options=options
    )
    for commit in range(SNAPSHOTS):
        rows = {"p": np.array([commit % 10], np.int32), "v": np.array([commit])}
        table.overwrite(pa.table(rows), dynamic=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
