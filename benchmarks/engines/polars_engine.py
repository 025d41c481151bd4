"""polars on the files of tables: what reading plain files costs."""

from __future__ import annotations

import polars as pl

from benchmarks.engine_side import LIMIT, Task, main, timed


def append_scan(task: Task, table: str = "append") -> tuple[list[float], object]:
    files = task.files(table)
    return timed(task, lambda _: pl.scan_parquet(files).collect().to_arrow().num_rows, warm=1)


def java_scan(task: Task) -> tuple[list[float], object]:
    return append_scan(task, "java")


def limit(task: Task) -> tuple[list[float], object]:
    files = task.files("append")

    def run(_: int) -> int:
        return pl.scan_parquet(files).head(LIMIT).collect().to_arrow().num_rows

    return timed(task, run, warm=1)


if __name__ == "__main__":
    main({"append_scan": append_scan, "java_scan": java_scan, "limit": limit})
