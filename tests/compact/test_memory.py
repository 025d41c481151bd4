"""Compaction and rescaling hold pieces of their files, whatever their size."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec import structs

import paimonlab as pl
from paimonlab.compact.compaction import compact, pick_unit
from paimonlab.datafile.writer import DataFileWriter
from paimonlab.read.read_plan import ReadBounds, ReadPlan
from paimonlab.table.compacting.live_buckets import live_buckets
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading import scan

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
    definition, store, snapshot = definition_of(table), store_of(table), table.snapshot
    assert snapshot is not None
    plan = compact_plan(definition, store, snapshot)
    plan = replace(
        plan, read=structs.replace(plan.read, bounds=ReadBounds(piece_bytes=PIECE_BYTES))
    )
    (bucket,) = live_buckets(definition, store, snapshot, lambda entries: entries)
    now = datetime.now(UTC)
    picked, _ = pick_unit(bucket, plan, now=now, full=True)
    assert picked is not None
    held = watched(monkeypatch)
    increment = compact(picked, bucket, plan, store.file_io, now=now)
    assert sum(file.row_count for file in increment.after) > rows
    return max(held)


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the bytes which Arrow holds whenever rows were written."""
    before, held = pa.total_allocated_bytes(), list[int]()
    write = DataFileWriter.write

    def watched(self: DataFileWriter, rows: pa.RecordBatch | pa.Table, first: int = 0) -> None:
        write(self, rows, first)
        held.append(pa.total_allocated_bytes() - before)

    monkeypatch.setattr(DataFileWriter, "write", watched)
    return held


def most_memory_of_a_rescale(path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Give a table of so many rows other buckets; return the most bytes that Arrow held."""
    catalog = pl.connect(str(path))
    catalog.create_database("db")
    options = {"bucket": "1", "target-file-size": "1 mb", "changelog-producer": "lookup"}
    options["write-buffer-size"] = "1 mb"
    table = catalog.create_table(
        "db.t", {"k": "BIGINT NOT NULL", "s": "STRING"}, primary_keys=["k"], options=options
    )
    table.write(pa.table({"k": np.arange(rows), "s": [f"{key:060d}" for key in range(rows)]}))

    def in_pieces(*given: Any, **named: Any) -> ReadPlan:
        return structs.replace(
            read_plan(*given, **named), bounds=ReadBounds(piece_bytes=PIECE_BYTES)
        )

    with monkeypatch.context() as patch:
        patch.setattr("paimonlab.table.plans.compact.read_plan", in_pieces)
        patch.setattr(scan, "read_plan", in_pieces)
        held = watched(patch)
        table.maintenance.rescale(buckets=2)
    return max(held)


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_memory_does_not_grow_with_the_bucket(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = most_memory(tmp_path / "small", 40_000, engine, monkeypatch)
    large = most_memory(tmp_path / "large", 90_000, engine, monkeypatch)

    assert large < 1.3 * small
    assert large < 20 * PIECE_BYTES  # 360,000 rows of 100 bytes are 36 of it


def test_a_rescale_holds_pieces_of_a_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = most_memory_of_a_rescale(tmp_path, 250_000, monkeypatch)

    assert most < 16 * PIECE_BYTES  # the rows are 24 of it
