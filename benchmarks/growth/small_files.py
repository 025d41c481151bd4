"""The price of a small file: written and read beside plain pyarrow, and a commit of one row.

``python -m benchmarks.growth.small_files WHAT FILES`` measures one of `_WORKS`, as `rows` asks for
it; what is printed is milliseconds of processors per file.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, fastest_in_turns, in_new_process

FILE_ROWS = 100
FILES = 512
COMMITS = 100
WIDE_FILES = 16
WIDE_COLUMNS = 500
_COLUMNS = {"id": "BIGINT NOT NULL", "part": "INT NOT NULL", "v": "DOUBLE", "s": "STRING"}
_NO_COMPACTION = {"write-only": "true"}


def rows() -> Iterator[GrowthRow]:
    """Commit one row again and again; write and read files of 100 rows, one and many.

    Commits come first: for minutes after many files were deleted ext4 takes longer to make one.
    """
    for work in ("commit to an append table", "commit to a primary-key table"):
        cost = in_new_process(__name__, work, COMMITS)
        yield GrowthRow(
            work=f"durable {work}, one row",
            sizes=(f"{COMMITS} commits",),
            costs=(cost,),
            unit="CPU ms",
            goal="12 ms",
            holds=cost <= 12,
        )
    sizes = (FILES // 8, FILES)
    for work, peers in (
        ("write to an append table", ("plain write", "plain write, synced")),
        ("write to a primary-key table", ("plain write", "plain write, synced")),
        ("read of an append table", ("plain read",)),
        ("read of a primary-key table", ("plain read",)),
    ):
        works = (work, *peers)
        found = fastest_in_turns(__name__, *((what, files) for what in works for files in sizes))
        costs, *others = zip(found[::2], found[1::2], strict=True)
        yield GrowthRow(
            work=f"{work}, files of {FILE_ROWS} rows, each",
            sizes=tuple(f"{files} files" for files in sizes),
            costs=costs,
            unit="CPU ms",
            peers=dict(zip(peers, others, strict=True)),
            goal="twice plain pyarrow",
            holds=costs[-1] <= 2 * others[0][-1],
            limit="" if len(others) < 2 else "two folders, three syncs and metadata of each file",
        )
    yield row_of_wide_files()


def row_of_wide_files() -> GrowthRow:
    """Write files of many columns."""
    works = ("wide write", "plain wide write")
    cost, plain = fastest_in_turns(__name__, *((work, WIDE_FILES) for work in works))
    return GrowthRow(
        work=f"write to an append table, files of {FILE_ROWS} rows of {WIDE_COLUMNS} columns, each",
        sizes=(f"{WIDE_FILES} files",),
        costs=(cost,),
        unit="CPU ms",
        peers={"plain write": (plain,)},
        goal="twice plain pyarrow",
        holds=cost <= 2 * plain,
    )


def _rows(files: int) -> pa.Table:
    random = np.random.default_rng(1)
    count = files * FILE_ROWS
    return pa.table(
        {
            "id": np.arange(count),
            "part": (np.arange(count) % files).astype("int32"),
            "v": random.random(count),
            "s": pa.array(np.char.mod("%08d", random.integers(0, 10**8, count))),
        }
    )


def _table(folder: str, files: int, *, keyed: bool) -> Any:
    catalog = pl.connect(folder)
    catalog.create_database("db")
    if not keyed:
        return catalog.create_table("db.t", _COLUMNS, partition_keys=["part"])
    options = {"bucket": str(files), **_NO_COMPACTION}
    return catalog.create_table("db.t", _COLUMNS, primary_keys=["id"], options=options)


def _write(folder: str, files: int, *, keyed: bool) -> float:
    table, rows = _table(folder, files, keyed=keyed), _rows(files)
    table.write(_rows(1))
    start = time.process_time()
    table.write(rows)
    return 1000 * (time.process_time() - start) / files


def _wide_rows(files: int) -> pa.Table:
    random = np.random.default_rng(1)
    count = files * FILE_ROWS
    columns: dict[str, Any] = {"part": (np.arange(count) % files).astype("int32")}
    for number in range(0, WIDE_COLUMNS, 4):
        columns[f"a{number}"] = random.integers(0, 1 << 40, count)
        columns[f"d{number}"] = random.random(count)
        texts = np.char.mod("%08d", random.integers(0, 10**8, count))
        columns[f"s{number}"] = pa.array(texts)
        columns[f"t{number}"] = random.integers(0, 1 << 50, count).astype("datetime64[us]")
    return pa.table(columns)


def _wide(folder: str, files: int) -> float:
    """Write files of many columns; those before show the process what it will do."""
    rows = _wide_rows(files)
    catalog = pl.connect(folder)
    catalog.create_database("db")
    types = {"a": "BIGINT", "d": "DOUBLE", "s": "STRING", "t": "TIMESTAMP(6)", "p": "INT"}
    columns = {name: types[name[0]] for name in rows.column_names}
    table = catalog.create_table("db.t", columns, partition_keys=["part"])
    table.write(_wide_rows(1))
    start = time.process_time()
    table.write(rows)
    return 1000 * (time.process_time() - start) / files


def _plain_wide(folder: str, files: int) -> float:
    rows = _wide_rows(files)
    parts = [rows.slice(number * FILE_ROWS, FILE_ROWS) for number in range(files)]
    pq.write_table(parts[0], f"{folder}/first.parquet", compression="zstd")
    start = time.process_time()
    for number, part in enumerate(parts):
        pq.write_table(part, f"{folder}/{number}.parquet", compression="zstd")
    return 1000 * (time.process_time() - start) / files


def _read(folder: str, files: int, *, keyed: bool) -> float:
    table = _table(folder, files, keyed=keyed)
    table.write(_rows(files))
    table.scan(columns=["id"]).to_arrow()
    start = time.process_time()
    table.scan().to_arrow()
    return 1000 * (time.process_time() - start) / files


def _plain(folder: str, files: int, *, reads: bool) -> float:
    rows = _rows(files)
    paths = [f"{folder}/{number}.parquet" for number in range(files)]
    pq.write_table(rows.slice(0, FILE_ROWS), paths[0], compression="zstd")
    start = time.process_time()
    for number, path in enumerate(paths):
        pq.write_table(rows.slice(number * FILE_ROWS, FILE_ROWS), path, compression="zstd")
    if reads:
        start = time.process_time()
        for path in paths:
            pq.ParquetFile(path).read()
    return 1000 * (time.process_time() - start) / files


def _plain_durable(folder: str, files: int) -> float:
    """Write plain files into folders of their own, synced as a commit needs it."""
    rows = _rows(files)
    pq.write_table(rows.slice(0, FILE_ROWS), f"{folder}/first.parquet", compression="zstd")
    start = time.process_time()
    for number in range(files):
        bucket = Path(folder, f"part={number}", "bucket-0")
        bucket.mkdir(parents=True)
        path = bucket / "data.parquet"
        pq.write_table(rows.slice(number * FILE_ROWS, FILE_ROWS), path, compression="zstd")
        for synced in (path, bucket, bucket.parent, folder):
            descriptor = os.open(synced, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
    return 1000 * (time.process_time() - start) / files


def _commit(folder: str, commits: int, *, keyed: bool) -> float:
    catalog = pl.connect(folder)
    catalog.create_database("db")
    definition: dict[str, Any] = {}
    if keyed:
        definition = {"primary_keys": ["id"], "options": {"bucket": "1", **_NO_COMPACTION}}
    table = catalog.create_table("db.t", {"id": "BIGINT NOT NULL", "v": "STRING"}, **definition)
    costs = []
    for number in range(30 + commits):
        row = pa.table({"id": [number], "v": ["x"]})
        start = time.process_time()
        table.write(row)
        costs.append(time.process_time() - start)
    return 1000 * statistics.mean(costs[30:])


_WORKS: Mapping[str, Callable[[str, int], float]] = {
    "write to an append table": lambda folder, files: _write(folder, files, keyed=False),
    "write to a primary-key table": lambda folder, files: _write(folder, files, keyed=True),
    "read of an append table": lambda folder, files: _read(folder, files, keyed=False),
    "read of a primary-key table": lambda folder, files: _read(folder, files, keyed=True),
    "wide write": _wide,
    "plain wide write": _plain_wide,
    "plain write": lambda folder, files: _plain(folder, files, reads=False),
    "plain write, synced": _plain_durable,
    "plain read": lambda folder, files: _plain(folder, files, reads=True),
    "commit to an append table": lambda folder, commits: _commit(folder, commits, keyed=False),
    "commit to a primary-key table": lambda folder, commits: _commit(folder, commits, keyed=True),
}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as warehouse:
        print(_WORKS[sys.argv[1]](warehouse, int(sys.argv[2])))
