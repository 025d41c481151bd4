"""The plan of one partition of a table of many files.

The manifests are real, the data files are only named. ``python -m benchmarks.growth.planning
plan WAREHOUSE`` plans a table that is there, ``… files WAREHOUSE`` reads its system table, as `rows`
asks for it.
"""

from __future__ import annotations

import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.row import GrowthRow, in_new_process
from paimonlab.spec.binary_row.rows import encode_one
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta, SimpleStats

FILES = (10_000, 100_000)
PARTITIONS = 100
_TIMES = 3
"""Each work is done in so many processes, and the least counts."""


def rows() -> Iterator[GrowthRow]:
    """Plan one of `PARTITIONS` partitions, nothing cached."""
    with tempfile.TemporaryDirectory() as folder:
        costs, costs_of_system_table = list[float](), list[float]()
        for files in FILES:
            catalog = pl.connect(str(Path(folder) / str(files)))
            catalog.create_database("db")
            name_files(catalog, "db.files", files)
            for work, of_work in (("plan", costs), ("files", costs_of_system_table)):
                of_work.append(
                    min(
                        in_new_process(__name__, work, Path(folder) / str(files))
                        for _ in range(_TIMES)
                    )
                )
        yield GrowthRow(
            work=f"plan of one partition of {PARTITIONS}, nothing cached",
            sizes=tuple(f"{files:,} files" for files in FILES),
            costs=tuple(costs),
            goal="at most 3 times",
            holds=costs[-1] <= 3 * costs[0],
        )
        yield GrowthRow(
            work=f"10 rows of $files, and one partition of {PARTITIONS}, manifests known",
            sizes=tuple(f"{files:,} files" for files in FILES),
            costs=tuple(costs_of_system_table),
            goal="at most 0.1 s",
            holds=costs_of_system_table[-1] <= 0.1,
            limit="which entries are of the partition is found among all",
        )


def _system_table(warehouse: str) -> float:
    table = pl.connect(warehouse).system_table("db.files$files")
    table.scan(["level"]).to_arrow()  # reads all manifests
    table.scan(where="partition = ''")  # reading SQL loads a parser, whatever the table is
    start = time.process_time()
    table.scan(limit=10).to_arrow()
    table.scan(["file_path"], "partition = '{d050}'").to_arrow()
    return time.process_time() - start


def name_files(catalog: pl.Catalog, name: str, count: int) -> None:
    """Make a table of so many files in `PARTITIONS` partitions; only their folders exist."""
    columns = {"dt": "STRING", "id": "BIGINT", "v": "STRING"}
    table = catalog.create_table(name, columns, partition_keys=["dt"])
    types = [field.type for field in table.schema.fields]
    for day in range(PARTITIONS):
        Path(table.path, f"dt=d{day:03}", "bucket-0").mkdir(parents=True)
    for _ in range(10):
        messages = []
        for day in range(PARTITIONS):
            day_text = f"d{day:03}"
            low, high = (
                encode_one([pa.scalar(day_text), pa.scalar(number), pa.scalar(text)], types)
                for number, text in ((1, "a" * 16), (9, "z" * 16))
            )
            files = [
                _file(SimpleStats(low, high, (0, 0, 0))) for _ in range(count // PARTITIONS // 10)
            ]
            partition = encode_one([pa.scalar(day_text)], types[:1])
            messages.append(
                CommitMessage(
                    partition=partition, bucket=0, total_buckets=-1, new_files=tuple(files)
                )
            )
        table.commit(messages)


def _file(stats: SimpleStats) -> DataFileMeta:
    return DataFileMeta(
        file_name=f"data-{uuid.uuid4()}-0.parquet",
        file_size_bytes=1000,
        row_count=10,
        value_stats=stats,
        min_sequence_number=0,
        max_sequence_number=9,
        schema_id=0,
        file_source=0,
    )


def _plan(warehouse: str) -> float:
    table = pl.connect(warehouse).table("db.files")
    assert isinstance(table, pl.Table)
    start = time.process_time()
    table.scan(where="dt = 'd050'").plan()
    return time.process_time() - start


if __name__ == "__main__":
    print((_plan if sys.argv[1] == "plan" else _system_table)(sys.argv[2]))
