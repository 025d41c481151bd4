"""Plain pyarrow with page checksums: what the file format alone costs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.engine_side import MANY_PARTITIONS, PARTITIONS, Task, main, timed

_LEVEL = 1


def _write(data: pa.Table, path: Path) -> int:
    pq.write_table(
        data,
        path,
        compression="zstd",
        compression_level=_LEVEL,
        write_page_checksum=True,
    )
    return data.num_rows


def append_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    return timed(task, lambda number: _write(data, task.scratch / f"{number}.parquet"))


def partition_write(task: Task, partitions: int = PARTITIONS) -> tuple[list[float], object]:
    data = task.partitioned_rows(partitions)
    options = {"compression": "zstd", "compression_level": _LEVEL, "write_page_checksum": True}

    def run(number: int) -> int:
        pq.write_to_dataset(data, task.scratch / f"t{number}", partition_cols=["p"], **options)
        return data.num_rows

    return timed(task, run)


def partition_write_many(task: Task) -> tuple[list[float], object]:
    return partition_write(task, MANY_PARTITIONS)


def append_scan(task: Task) -> tuple[list[float], object]:
    path = task.scratch / "t.parquet"
    _write(task.all_rows(), path)

    def run(_: int) -> int:
        return pq.read_table(path, page_checksum_verification=True).num_rows

    return timed(task, run, warm=1)


def java_scan(task: Task) -> tuple[list[float], object]:
    return _read(task, "java")


def key_write(task: Task) -> tuple[list[float], object]:
    return append_write(task)


def merge_scan(task: Task) -> tuple[list[float], object]:
    return _read(task, "merge")


def _read(task: Task, table: str) -> tuple[list[float], object]:
    files = task.files(table)
    names = ["k", "a", "d", "s", "t", "m"]

    def run(_: int) -> int:
        return sum(
            pq.read_table(file, columns=names, page_checksum_verification=True).num_rows
            for file in files
        )

    return timed(task, run, warm=1)


if __name__ == "__main__":
    main(
        {
            "append_write": append_write,
            "partition_write": partition_write,
            "partition_write_many": partition_write_many,
            "append_scan": append_scan,
            "java_scan": java_scan,
            "key_write": key_write,
            "merge_scan": merge_scan,
            "merge_first": merge_scan,
        }
    )
