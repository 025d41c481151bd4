"""pyiceberg: append tables, in a catalog in SQLite."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from benchmarks.engine_side import Task, main, timed


def _table(task: Task, name: str, schema: pa.Schema) -> Any:
    folder = task.scratch
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    catalog.create_namespace_if_not_exists("db")
    return catalog.create_table(f"db.{name}", schema)


def append_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    tables = [_table(task, f"t{number}", data.schema) for number in range(task.repeat)]

    def run(number: int) -> int:
        tables[number].append(data)
        return data.num_rows

    return timed(task, run)


def append_scan(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    table = _table(task, "t", data.schema)
    table.append(data)
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


if __name__ == "__main__":
    main({"append_write": append_write, "append_scan": append_scan})
