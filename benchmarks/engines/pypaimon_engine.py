"""pypaimon; with ``native`` as the last argument, its native backend (pypaimon-rust)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pypaimon import CatalogFactory, Schema

from benchmarks.engine_side import LIMIT, MANY_PARTITIONS, PARTITIONS, Task, main, timed

IS_NATIVE = sys.argv[-1] == "native"
NATIVE = {
    "scan.native-plan.enabled": "true",
    "read.native.enabled": "true",
    "commit.native.enabled": "true",
    "write.native.enabled": "true",
}
OPTIONS = {"bucket": "4", "write-only": "true"}


def _create(
    folder: Path,
    name: str,
    schema: pa.Schema,
    options: dict[str, str],
    partition_keys: list[str] | None = None,
) -> Any:
    catalog = CatalogFactory.create({"warehouse": str(folder)})
    catalog.create_database("db", True)
    keys = ["k"] if options else None
    definition = Schema.from_pyarrow_schema(
        schema, partition_keys=partition_keys, primary_keys=keys, options=options
    )
    catalog.create_table(f"db.{name}", definition, False)
    return _tuned(catalog.get_table(f"db.{name}"))


def _open(task: Task, name: str) -> Any:
    catalog = CatalogFactory.create({"warehouse": str(task.warehouse)})
    return _tuned(catalog.get_table(f"db.{name}"))


def _tuned(table: Any) -> Any:
    return table.copy(NATIVE) if IS_NATIVE else table


def _write(table: Any, data: pa.Table) -> int:
    builder = table.new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(data)
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()
    return data.num_rows


def _read(table: Any, columns: list[str] | None = None, predicate: Any = None) -> int:
    builder = table.new_read_builder()
    if columns:
        builder = builder.with_projection(columns)
    if predicate is not None:
        builder = builder.with_filter(predicate)
    splits = builder.new_scan().plan().splits()
    return builder.new_read().to_arrow(splits).num_rows


def append_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    tables = [_create(task.scratch, f"t{n}", data.schema, {}) for n in range(task.repeat)]
    return timed(task, lambda number: _write(tables[number], data))


def partition_write(task: Task, partitions: int = PARTITIONS) -> tuple[list[float], object]:
    data = task.partitioned_rows(partitions)
    tables = [_create(task.scratch, f"t{n}", data.schema, {}, ["p"]) for n in range(task.repeat)]
    return timed(task, lambda number: _write(tables[number], data))


def partition_write_many(task: Task) -> tuple[list[float], object]:
    return partition_write(task, MANY_PARTITIONS)


def append_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "append")
    return timed(task, lambda _: _read(table), warm=1)


def java_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "java")
    return timed(task, lambda _: _read(table), warm=1)


def limit(task: Task) -> tuple[list[float], object]:
    builder = _open(task, "append").new_read_builder().with_limit(LIMIT)

    def run(_: int) -> int:
        splits = builder.new_scan().plan().splits()
        return builder.new_read().to_arrow(splits).num_rows

    return timed(task, run, warm=1)


def key_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    tables = [_create(task.scratch, f"t{n}", data.schema, OPTIONS) for n in range(task.repeat)]
    return timed(task, lambda number: _write(tables[number], data))


def upsert(task: Task) -> tuple[list[float], object]:
    batches = task.upserts()
    schema = batches[0].schema
    tables = [_create(task.scratch, f"t{n}", schema, OPTIONS) for n in range(task.repeat)]
    return timed(task, lambda number: sum(_write(tables[number], batch) for batch in batches))


def merge_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    return timed(task, lambda _: _read(table), warm=1)


def merge_filter(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    predicate = table.new_read_builder().new_predicate_builder().greater_than("a", 900_000)
    return timed(task, lambda _: _read(table, ["k", "a"], predicate), warm=1)


def key_range(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    builder = table.new_read_builder().new_predicate_builder()
    predicate = builder.between("k", 500_000, 500_999)
    return timed(task, lambda _: _read(table, None, predicate), warm=1)


def sum_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "sums")
    return timed(task, lambda _: _read(table), warm=1)


def partial_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "parts")
    return timed(task, lambda _: _read(table), warm=1)


def vector_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "vectors")
    return timed(task, lambda _: _read(table), warm=1)


def lookup(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    keys = np.random.default_rng(1).integers(0, 1_000_000, 100).tolist()
    builder = table.new_read_builder().new_predicate_builder()

    def run(_: int) -> int:
        return sum(_read(table, None, builder.equal("k", key)) for key in keys)

    return timed(task, run, warm=1)


def _plan(table: Any, partition: int | None = None) -> int:
    builder = table.new_read_builder()
    if partition is not None:
        builder = builder.with_filter(builder.new_predicate_builder().equal("p", partition))
    return sum(len(split.files) for split in builder.new_scan().plan().splits())


def plan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "files")
    return timed(task, lambda _: _plan(table), warm=1)


def plan_partition(task: Task) -> tuple[list[float], object]:
    table = _open(task, "files")
    return timed(task, lambda _: _plan(table, 77), warm=1)


def stream(task: Task) -> tuple[list[float], object]:
    builder = _open(task, "large").new_read_builder()

    def run(_: int) -> int:
        splits = builder.new_scan().plan().splits()
        reader = builder.new_read().to_arrow_batch_reader(splits)
        return sum(batch.num_rows for batch in reader)

    return timed(task, run)


if __name__ == "__main__":
    main(
        {
            function.__name__: function
            for function in (
                append_write,
                partition_write,
                partition_write_many,
                append_scan,
                java_scan,
                limit,
                key_write,
                upsert,
                merge_scan,
                merge_filter,
                key_range,
                sum_scan,
                *((partial_scan,) if IS_NATIVE else ()),  # pypaimon refuses sequence groups
                vector_scan,
                lookup,
                plan,
                plan_partition,
                stream,
            )
        }
    )
