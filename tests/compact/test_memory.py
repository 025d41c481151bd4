"""Compaction holds pieces of its files, whatever their size."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.compact.compaction import compact, pick_unit
from paimonlab.datafile.writer import DataFileWriter
from paimonlab.read.read_plan import ReadBounds
from paimonlab.table.live_buckets import live_buckets

RUNS = 4
PIECE_BYTES = 1 << 20


def most_memory(path: Path, rows: int, engine: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compact runs of so many rows each; return the most bytes that Arrow held meanwhile."""
    catalog = pl.connect(str(path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"k": "BIGINT NOT NULL", "s": "STRING"},
        primary_keys=["k"],
        options={
            "bucket": "1",
            "write-only": "true",
            "target-file-size": "1 mb",
            "merge-engine": engine,
        },
    )
    for run in range(RUNS):
        keys = np.arange(run, 2 * rows + run, 2)
        table.write(pa.table({"k": keys, "s": pa.array([f"{key:060d}" for key in keys])}))
    parts, snapshot = table.parts, table.snapshot
    assert snapshot is not None
    plan = parts.compact_plan(snapshot)
    plan = replace(plan, read=replace(plan.read, bounds=ReadBounds(piece_bytes=PIECE_BYTES)))
    (bucket,) = live_buckets(parts, snapshot, lambda entries: entries)
    now = datetime.now(UTC)
    picked, _ = pick_unit(bucket, plan, now=now, full=True)
    assert picked is not None
    before, most = pa.total_allocated_bytes(), 0
    write = DataFileWriter.write

    def watched(self: DataFileWriter, rows: pa.RecordBatch | pa.Table, first: int = 0) -> None:
        nonlocal most
        write(self, rows, first)
        most = max(most, pa.total_allocated_bytes() - before)

    monkeypatch.setattr(DataFileWriter, "write", watched)
    increment = compact(picked, bucket, plan, parts.file_io, now=now)
    assert sum(file.row_count for file in increment.after) > rows
    return most


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_memory_does_not_grow_with_the_bucket(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = most_memory(tmp_path / "small", 40_000, engine, monkeypatch)
    large = most_memory(tmp_path / "large", 160_000, engine, monkeypatch)

    assert large < 1.3 * small
    assert large < 20 * PIECE_BYTES  # 640,000 rows of 100 bytes are 64 of it
