"""paimonlab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.engine_side import FEW_KEYS, LIMIT, MANY_PARTITIONS, PARTITIONS, Task, main, timed
from benchmarks.hashing import assign_keys, hash_int, hash_text
from benchmarks.rows import rows as random_rows
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.read.mask_cache import shared_masks

FEW_WARM = 2
"""Commits before those that are timed: the first makes lookup stores."""
OPTIONS = {"bucket": "4", "write-only": "true"}


def _table(
    folder: Path,
    name: str,
    schema: pa.Schema,
    options: Mapping[str, str],
    partition_keys: Sequence[str] = (),
) -> pl.Table:
    catalog = pl.connect(folder)
    catalog.create_database("db", exist_ok=True)
    keys = ["k"] if options else []
    return catalog.create_table(
        f"db.{name}", schema, partition_keys=partition_keys, primary_keys=keys, options=options
    )


def _open(task: Task, name: str) -> pl.Table:
    table = pl.connect(task.warehouse).table(f"db.{name}")
    assert isinstance(table, pl.Table)
    return table


def _write(table: pl.Table, data: pa.Table) -> int:
    snapshot = table.write(data)
    assert snapshot is not None
    return snapshot.delta_record_count or 0


def append_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    tables = [_table(task.scratch, f"t{n}", data.schema, {}) for n in range(task.repeat)]
    return timed(task, lambda number: _write(tables[number], data))


def commits(task: Task) -> tuple[list[float], object]:
    row = task.upserts()[0].slice(0, 1)
    tables = [_table(task.scratch, f"t{n}", row.schema, OPTIONS) for n in range(1 + task.repeat)]

    def run(number: int) -> int:
        return sum(_write(tables[number], row) for _ in range(100))

    return timed(task, run, warm=1)


def partition_write(task: Task, partitions: int = PARTITIONS) -> tuple[list[float], object]:
    data = task.partitioned_rows(partitions)
    tables = [_table(task.scratch, f"t{n}", data.schema, {}, ["p"]) for n in range(task.repeat)]
    return timed(task, lambda number: _write(tables[number], data))


def partition_write_many(task: Task) -> tuple[list[float], object]:
    return partition_write(task, MANY_PARTITIONS)


def append_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "append")
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


def java_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "java")
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


def limit(task: Task) -> tuple[list[float], object]:
    table = _open(task, "append")
    return timed(task, lambda _: table.scan(limit=LIMIT).to_arrow().num_rows, warm=1)


def key_write(task: Task) -> tuple[list[float], object]:
    data = task.all_rows()
    tables = [_table(task.scratch, f"t{n}", data.schema, OPTIONS) for n in range(task.repeat)]
    return timed(task, lambda number: _write(tables[number], data))


def upsert(task: Task) -> tuple[list[float], object]:
    batches = task.upserts()
    tables = [_table(task.scratch, f"t{n}", batches[0].schema, OPTIONS) for n in range(task.repeat)]

    def run(number: int) -> int:
        return sum(_write(tables[number], batch) for batch in batches)

    return timed(task, run)


def merge_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


def merge_first(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")

    def run(_: int) -> int:
        shared_masks.clear()
        return table.scan().to_arrow().num_rows

    return timed(task, run, warm=1)


def merge_filter(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    where = pl.col("a") > 900_000
    return timed(task, lambda _: table.scan(["k", "a"], where).to_arrow().num_rows, warm=1)


def key_range(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    where = (pl.col("k") >= 500_000) & (pl.col("k") < 501_000)
    return timed(task, lambda _: table.scan(where=where).to_arrow().num_rows, warm=1)


def sum_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "sums")
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


def partial_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "parts")
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


def vector_scan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "vectors")
    return timed(task, lambda _: table.scan().to_arrow().num_rows, warm=1)


def lookup(task: Task) -> tuple[list[float], object]:
    table = _open(task, "merge")
    keys = np.random.default_rng(1).integers(0, 1_000_000, 100).tolist()

    def run(_: int) -> int:
        return sum(table.lookup({"k": [key]}).num_rows for key in keys)

    return timed(task, run, warm=1)


def _compact(task: Task, name: str, *, warm: int = 0) -> tuple[list[float], object]:
    names = task.copies(name, warm + task.repeat)
    catalog = pl.connect(task.scratch)
    tables = [catalog.table(f"db.{name}") for name in names]

    def run(number: int) -> int:
        table = tables[number]
        assert isinstance(table, pl.Table)
        snapshot = table.compact(full=True).snapshot
        assert snapshot is not None
        return snapshot.total_record_count or 0

    return timed(task, run, warm=warm)


def compact_full(task: Task) -> tuple[list[float], object]:
    return _compact(task, "merge", warm=1)


def compact_bucket(task: Task) -> tuple[list[float], object]:
    return _compact(task, "bucket")


def lookup_changelog(task: Task) -> tuple[list[float], object]:
    batches = task.upserts()
    options = {"bucket": "4", "changelog-producer": "lookup"}
    tables = [_table(task.scratch, f"t{n}", batches[0].schema, options) for n in range(task.repeat)]

    def run(number: int) -> int:
        for batch in batches:
            _write(tables[number], batch)
        latest = tables[number].snapshot
        assert latest is not None
        return latest.id

    return timed(task, run)


def few_upserts(task: Task, name: str = "small_bucket") -> tuple[list[float], object]:
    task.copies(name, 1)
    folder = task.scratch
    table = pl.connect({"warehouse": str(folder), "lookup.cache-folder": f"{folder}/stores"}).table(
        "db.t0"
    )
    assert isinstance(table, pl.Table)
    random = np.random.default_rng(1)
    count = table.scan().count()
    batches = [
        random_rows(random.choice(count, FEW_KEYS, replace=False), random)
        for _ in range(FEW_WARM + task.repeat)
    ]
    return timed(task, lambda number: _write(table, batches[number]), warm=FEW_WARM)


def few_upserts_medium(task: Task) -> tuple[list[float], object]:
    return few_upserts(task, "medium_bucket")


def few_upserts_large(task: Task) -> tuple[list[float], object]:
    return few_upserts(task, "large_bucket")


def few_upserts_huge(task: Task) -> tuple[list[float], object]:
    return few_upserts(task, "huge_bucket")


def expire(task: Task) -> tuple[list[float], object]:
    names = task.copies("history", 1 + task.repeat)
    catalog = pl.connect(task.scratch)
    tables = [catalog.table(f"db.{name}") for name in names]

    def run(number: int) -> int:
        table = tables[number]
        assert isinstance(table, pl.Table)
        found = table.maintenance.expire_snapshots(100, 100, older_than=0, max_deletes=10**6)
        return len(found.snapshots)

    return timed(task, run, warm=1)


def plan(task: Task) -> tuple[list[float], object]:
    table = _open(task, "files")

    def run(_: int) -> int:
        shared_cache.clear()
        return sum(len(split.files) for split in table.scan().plan().splits)

    return timed(task, run, warm=1)


def plan_warm(task: Task) -> tuple[list[float], object]:
    table = _open(task, "files")
    return timed(task, lambda _: sum(len(s.files) for s in table.scan().plan().splits), warm=2)


def plan_partition(task: Task) -> tuple[list[float], object]:
    table = _open(task, "files")

    def run(_: int) -> int:
        shared_cache.clear()
        scan = table.scan(where=pl.col("p") == 77)
        return sum(len(split.files) for split in scan.plan().splits)

    return timed(task, run, warm=1)


def stream(task: Task) -> tuple[list[float], object]:
    table = _open(task, "large")
    return timed(task, lambda _: sum(batch.num_rows for batch in table.scan().to_batches()))


if __name__ == "__main__":
    main(
        {
            function.__name__: function
            for function in (
                append_write,
                commits,
                partition_write,
                partition_write_many,
                append_scan,
                java_scan,
                limit,
                key_write,
                upsert,
                merge_scan,
                merge_first,
                merge_filter,
                key_range,
                sum_scan,
                partial_scan,
                vector_scan,
                lookup,
                compact_full,
                lookup_changelog,
                few_upserts,
                few_upserts_medium,
                few_upserts_large,
                few_upserts_huge,
                compact_bucket,
                expire,
                plan,
                plan_warm,
                plan_partition,
                hash_int,
                hash_text,
                assign_keys,
                stream,
            )
        }
    )
