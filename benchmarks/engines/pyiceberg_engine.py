"""pyiceberg: append tables, in a catalog in SQLite."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from benchmarks.engine_side import MANY_PARTITIONS, PARTITIONS, Task, main, timed


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


def partition_write(task: Task, partitions: int = PARTITIONS) -> tuple[list[float], object]:
    data = task.partitioned_rows(partitions)
    tables = [_table(task, f"t{number}", data.schema) for number in range(task.repeat)]
    for table in tables:
        with table.update_spec() as update:
            update.add_identity("p")

    def run(number: int) -> int:
        tables[number].append(data)
        return data.num_rows

    return timed(task, run)


def partition_write_many(task: Task) -> tuple[list[float], object]:
    return partition_write(task, MANY_PARTITIONS)


def append_scan(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    table = _table(task, "t", data.schema)
    table.append(data)
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


if __name__ == "__main__":
    main(
        {
            "append_write": append_write,
            "partition_write": partition_write,
            "partition_write_many": partition_write_many,
            "append_scan": append_scan,
        }
    )
