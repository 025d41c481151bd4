"""The most memory of a process that writes, reads or compacts wide rows.

Rows of 500 numbers, and rows with a text of 100 kB. ``python -m benchmarks.growth.memory WAREHOUSE
SHAPE BYTES WORK`` does one work on the tables of a warehouse, as `rows` asks for it.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process, peak_resident

SIZES = (1 << 30, 4 << 30)
"""Bytes of the rows in Arrow."""
LIMIT_MB = 700
BATCH_BYTES = 8 << 20
COMMITS = 4
_NUMBERS = 499
_TEXT_BYTES = 100_000
_SHAPES: Mapping[str, dict[str, str]] = {
    "500 columns": {"id": "BIGINT NOT NULL", **{f"c{n}": "DOUBLE" for n in range(_NUMBERS)}},
    "texts of 100 kB": {"id": "BIGINT NOT NULL", "s": "STRING"},
}
_KEYED = {"bucket": "1", "write-only": "true"}
_TABLES: Mapping[str, dict[str, Any]] = {
    "append": {},
    "keyed": {"primary_keys": ["id"], "options": _KEYED},
    "full": {
        "primary_keys": ["id"],
        "options": {**_KEYED, "changelog-producer": "full-compaction"},
    },
    "lookup": {"primary_keys": ["id"], "options": {**_KEYED, "changelog-producer": "lookup"}},
}


def rows() -> Iterator[GrowthRow]:
    """Do each work on tables of each size and shape."""
    for shape in _SHAPES:
        found: dict[str, list[float]] = {work: [] for work in _WORKS}
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                for work in _WORKS:
                    peak = in_new_process(__name__, folder, shape, size, work)
                    found[work].append(peak)
        for work, peaks in found.items():
            yield GrowthRow(
                work=f"{work}, {shape}",
                sizes=tuple(f"{size >> 30} GB" for size in SIZES),
                costs=tuple(peaks),
                unit="MB at most",
                goal=f"below {LIMIT_MB} MB",
                holds=max(peaks) < LIMIT_MB,
                limit=_LIMITS.get((work, shape), ""),
            )


def _given(shape: str, size: int, *, keys: int = 1) -> pa.RecordBatchReader:
    """Make rows batch by batch; the ids are each ``keys``-th number, in no order."""
    fields = [("id", pa.int64())]
    if shape == "500 columns":
        fields += [(f"c{n}", pa.float64()) for n in range(_NUMBERS)]
        row_bytes = 8 * len(fields)
    else:
        fields += [("s", pa.string())]
        row_bytes = _TEXT_BYTES
    schema = pa.schema(fields)
    count, batch = size // row_bytes, BATCH_BYTES // row_bytes
    generator = np.random.default_rng(keys)
    ids = keys * generator.permutation(count)

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, count, batch):
            part = ids[start : start + batch]
            # All of it is memory of Arrow's, so that what is measured is what paimonlab holds.
            if shape == "500 columns":
                values = [pc.random(len(part), initializer=start + n) for n in range(_NUMBERS)]
            else:
                letters = random.Random(start)
                length = _TEXT_BYTES * len(part)
                ends = pa.array(np.arange(0, length + 1, _TEXT_BYTES, dtype=np.int32))
                text = pa.allocate_buffer(length)
                random_bytes = letters.randbytes(length // 2).hex().encode()
                np.frombuffer(text, np.uint8)[:] = np.frombuffer(random_bytes, np.uint8)
                values = [pa.StringArray.from_buffers(len(part), ends.buffers()[1], text)]
            yield pa.record_batch([pa.array(part), *values], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _table(warehouse: str, name: str, shape: str) -> pl.Table:
    catalog = pl.connect(warehouse)
    if not (Path(warehouse) / "db.db").exists():
        catalog.create_database("db")
    if not (Path(warehouse) / "db.db" / name).exists():
        catalog.create_table(f"db.{name}", _SHAPES[shape], **_TABLES[name])
    table = catalog.table(f"db.{name}")
    assert isinstance(table, pl.Table)
    return table


def _write(name: str, commits: int) -> Callable[[str, str, int], None]:
    def work(warehouse: str, shape: str, size: int) -> None:
        table = _table(warehouse, name, shape)
        for number in range(commits):
            table.write(_given(shape, size // commits, keys=number + 1))

    return work


def _scan(name: str) -> Callable[[str, str, int], None]:
    def work(warehouse: str, shape: str, size: int) -> None:
        seen = 0
        for batch in _table(warehouse, name, shape).scan().to_batches():
            seen += batch.nbytes
        assert seen > size // 2, f"{seen} bytes were read"

    return work


def _compact(name: str) -> Callable[[str, str, int], None]:
    def work(warehouse: str, shape: str, size: int) -> None:
        table = _table(warehouse, name, shape)
        if table.snapshot is None:
            # Rows that wait for the compaction; another process wrote them.
            in_new_process("benchmarks.growth.memory", warehouse, shape, size, f"write of {name}")
            table = _table(warehouse, name, shape)
        table.compact(full=True)

    return work


_WORKS: Mapping[str, Callable[[str, str, int], None]] = {
    "append write of a reader": _write("append", 1),
    "append scan, batch by batch": _scan("append"),
    "primary-key write of a reader": _write("keyed", COMMITS),
    "merge-on-read scan, batch by batch": _scan("keyed"),
    "full compaction": _compact("keyed"),
    "full compaction, changelog by full compaction": _compact("full"),
    "full compaction, changelog by lookup": _compact("lookup"),
}
_LIMITS: Mapping[tuple[str, str], str] = {
    (work, "500 columns"): f"{groups} of 64 MB, and of each run a page of each column"
    for work, groups in (
        ("full compaction", "a row group"),
        ("full compaction, changelog by full compaction", "two row groups"),
        ("full compaction, changelog by lookup", "two row groups"),
    )
}
"""What keeps works from less, by work and shape: found by sampling what Arrow holds."""
_PARTS: Mapping[str, Callable[[str, str, int], None]] = {
    "write of full": _write("full", COMMITS),
    "write of lookup": _write("lookup", COMMITS),
}


if __name__ == "__main__":
    _warehouse, _shape, _size, _work = sys.argv[1:]
    {**_WORKS, **_PARTS}[_work](_warehouse, _shape, int(_size))
    print(peak_resident() >> 20)
