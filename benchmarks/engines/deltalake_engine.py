"""deltalake (delta-rs): append tables."""

from __future__ import annotations

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from benchmarks.engine_side import Task, main, timed


def append_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()

    def run(number: int) -> int:
        write_deltalake(str(task.scratch / f"t{number}"), data)
        return data.num_rows

    return timed(task, run)


def append_scan(task: Task) -> tuple[list[float], object]:
    path = str(task.scratch / "t")
    write_deltalake(path, task.all_rows())

    def run(_: int) -> int:
        return pa.table(DeltaTable(path).to_pyarrow_table()).num_rows

    return timed(task, run, warm=1)


if __name__ == "__main__":
    main({"append_write": append_write, "append_scan": append_scan})
