"""deltalake (delta-rs): append tables; with ``zstd`` as the last argument, as Paimon compresses.

Its own default is snappy, which takes less time and more room.
"""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, WriterProperties, write_deltalake

from benchmarks.engine_side import MANY_PARTITIONS, PARTITIONS, Task, main, timed

OPTIONS: dict[str, Any] = {}
if sys.argv[-1] == "zstd":
    OPTIONS["writer_properties"] = WriterProperties(compression="ZSTD", compression_level=1)


def append_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()

    def run(number: int) -> int:
        write_deltalake(str(task.scratch / f"t{number}"), data, **OPTIONS)
        return data.num_rows

    return timed(task, run)


def partition_write(task: Task, partitions: int = PARTITIONS) -> tuple[list[float], object]:
    data = task.partitioned_rows(partitions)

    def run(number: int) -> int:
        write_deltalake(str(task.scratch / f"t{number}"), data, partition_by=["p"], **OPTIONS)
        return data.num_rows

    return timed(task, run)


def partition_write_many(task: Task) -> tuple[list[float], object]:
    return partition_write(task, MANY_PARTITIONS)


def append_scan(task: Task) -> tuple[list[float], object]:
    path = str(task.scratch / "t")
    write_deltalake(path, task.all_rows(), **OPTIONS)

    def run(_: int) -> int:
        return pa.table(DeltaTable(path).to_pyarrow_table()).num_rows

    return timed(task, run, warm=1)


if __name__ == "__main__":
    main(
        {
            "append_write": append_write,
            "partition_write": partition_write,
            "partition_write_many": partition_write_many,
            "append_scan": append_scan,
        }
    )
