"""The tables that all Paimon engines read, written once: same files for everyone."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import paimonlab as pl
from benchmarks.rows import RUNS, SEED, upserts

PARTITIONS = 500
FILES = 5000
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


def main(folder: Path, rows_folder: Path, *, large: bool) -> None:
    """Make ``append``, ``merge`` and its like, ``vectors``, ``files`` and ``large``, where missing."""
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
    if large and not catalog.has_table("db.large"):
        table = catalog.create_table("db.large", _COLUMNS, primary_keys=["k"], options=_OPTIONS)
        for batch in upserts(LARGE_ROWS, np.random.default_rng(SEED)):
            table.write(batch)


def _many_files(catalog: pl.Catalog) -> None:
    """Write one file into each partition at every commit."""
    table = catalog.create_table("db.files", {"p": "INT", "v": "BIGINT"}, partition_keys=["p"])
    partitions = np.arange(PARTITIONS, dtype=np.int32)
    for commit in range(FILES // PARTITIONS):
        values = np.full(PARTITIONS, commit, np.int64)
        table.write(pa.table({"p": partitions, "v": values}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), large=sys.argv[3] == "large")
