"""A write of many groups: as one batch and as many, into one group and into thousands.

``python -m benchmarks.growth.many_groups TABLE GROUPS BATCHES`` makes one write, as `rows` asks
for it. Plain files are as many as the table gets, of the same rows and synced as a commit is.

Tables are in memory where the system has a folder there. ext4 takes up to eight times as long for a
new folder while it still has inodes that were freed, which each run leaves to the next; what files
cost on a disk is measured by `small_files` and by the works beside deltalake.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, fastest_in_turns, in_new_process

ROWS = 2_000_000
BATCHES = 16
PARTITIONS = 512
MOST_PARTITIONS = 5000
BUCKETS = 1024
_TURNS = 5
"""Which pages the machine hands out first decides about a tenth of such a write."""
_IN_MEMORY = Path("/dev/shm")
_COLUMNS = {"id": "BIGINT NOT NULL", "part": "INT NOT NULL", "v": "DOUBLE", "s": "STRING"}
_APPEND, _KEYED, _PLAIN = "partitions", "buckets", "plain files"


def rows() -> Iterator[GrowthRow]:
    """Write the same rows as one batch and as many, into one bucket and many, into partitions."""
    for table, groups in ((_APPEND, PARTITIONS), (_KEYED, BUCKETS)):
        one, many = fastest_in_turns(
            __name__, *((table, groups, number) for number in (1, BATCHES)), turns=_TURNS
        )
        yield GrowthRow(
            work=f"write of {ROWS:,} rows, {groups:,} {table}",
            sizes=("1 batch", f"{BATCHES} batches"),
            costs=(one, many),
            goal="at most 1.1 times",
            holds=many <= 1.1 * one,
            limit="numbers are picked of batches where they lie, texts of several lengths are joined before"
            if table == _APPEND
            else "batches are joined, column by column, in memory that is new to the process",
        )
    costs = fastest_in_turns(__name__, *((_KEYED, buckets, 1) for buckets in (1, BUCKETS)))
    plain = fastest_in_turns(__name__, *((_PLAIN, files, 1) for files in (1, BUCKETS)))
    yield GrowthRow(
        work=f"write of {ROWS:,} rows to a primary-key table",
        sizes=("1 bucket", f"{BUCKETS:,} buckets"),
        costs=tuple(costs),
        peers={"plain files": tuple(plain)},
        goal="at most 4 times",
        holds=costs[1] <= 4 * costs[0],
        limit="plain files cost four times as much, too",
    )
    cost = in_new_process(__name__, _APPEND, MOST_PARTITIONS, 1)
    yield GrowthRow(
        work=f"write of {ROWS:,} rows in one commit",
        sizes=(f"{MOST_PARTITIONS:,} partitions",),
        costs=(cost,),
        goal="30 s",
        holds=cost <= 30,
    )


def _rows(partitions: int) -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table(
        {
            "id": np.arange(ROWS),
            "part": random.integers(0, partitions, ROWS).astype("int32"),
            "v": random.random(ROWS),
            "s": pa.array(np.char.mod("%08d", random.integers(0, 10**8, ROWS))),
        }
    )


def _on_its_own(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Copy a batch: batches of a stream or of files do not lie side by side as cuts of one table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def _seconds(folder: str, name: str, groups: int, batches: int) -> float:
    rows = _rows(groups if name == _APPEND else PARTITIONS)
    given = pa.Table.from_batches(
        _on_its_own(rows.slice(number * ROWS // batches, ROWS // batches).to_batches()[0])
        for number in range(batches)
    )
    del rows
    catalog = pl.connect(folder)
    catalog.create_database("db")
    definition: dict[str, Any] = {"partition_keys": ["part"]}
    if name == _KEYED:
        options = {"bucket": str(groups), "write-only": "true"}
        definition = {"primary_keys": ["id"], "options": options}
    table = catalog.create_table("db.t", _COLUMNS, **definition)
    start = time.process_time()
    table.write(given)
    return time.process_time() - start


def _plain_seconds(folder: str, files: int) -> float:
    rows = _rows(PARTITIONS)
    keys = {"_KEY_id": rows["id"], "_SEQUENCE_NUMBER": rows["id"]}
    rows = pa.table({**keys, "_VALUE_KIND": np.zeros(ROWS, np.int8)} | dict(_columns_of(rows)))
    start = time.process_time()
    for number in range(files):
        bucket = Path(folder, f"bucket-{number}")
        bucket.mkdir()
        piece = rows.slice(number * ROWS // files, ROWS // files)
        pq.write_table(piece, bucket / "data.parquet", compression="zstd", use_dictionary=False)
        for synced in (bucket / "data.parquet", bucket):
            descriptor = os.open(synced, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
    return time.process_time() - start


def _columns_of(rows: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    return zip(rows.column_names, rows.columns, strict=True)


if __name__ == "__main__":
    place = _IN_MEMORY if _IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as warehouse:
        name, groups = sys.argv[1], int(sys.argv[2])
        if name == _PLAIN:
            print(_plain_seconds(warehouse, groups))
        else:
            print(_seconds(warehouse, name, groups, int(sys.argv[3])))
