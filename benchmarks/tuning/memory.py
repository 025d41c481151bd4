"""Advices for memory: peaks of Arrow's memory in a process that does nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import paimonlab as pm
from benchmarks.tuning.pair import Measure, Pair, Workshop, apart


def batches(shop: Workshop) -> Pair:
    """Take batches of what is larger than memory: all rows at once, and one batch at a time."""
    table = shop.table("streamed")
    for part in range(4):
        table.write(shop.some_rows(part * shop.rows, shop.rows))
    name = table.name
    return Pair(
        lambda: apart(_whole, shop.folder, name),
        lambda: apart(_in_batches, shop.folder, name),
        unit="MB",
    )


def write_buffer(shop: Workshop) -> Pair:
    """Give a writer a smaller buffer: batches of 400 MB written with `write-buffer-size` of 256 MB, and of 64 MB."""

    def write(size: str) -> Measure:
        def work() -> int:
            table = shop.table(
                "buffered", keyed=True, options={"bucket": "2", "write-buffer-size": size}
            )
            return apart(_written, shop.folder, table.name, shop.rows)

        return work

    return Pair(write("256 mb"), write("64 mb"), unit="MB")


def row_groups(shop: Workshop) -> Pair:
    """Make row groups of long rows smaller: batches of 4 kB texts read with `parquet.block.size` of 64 MB, and of 8 MB."""

    def read(millions: int) -> Measure:
        name, options = f"db.long_{millions}", {"parquet.block.size": str(millions << 20)}
        shop.catalog.write_table(name, _long_texts(), options=options)
        return lambda: apart(_in_batches, shop.folder, name)

    return Pair(read(64), read(8), unit="MB")


def lookup_stores(shop: Workshop) -> Pair:
    """Bound what lookups keep on disk: room after four tables with `changelog-producer` = `lookup` were upserted, without `lookup.cache-max-disk-size`, and with 64 MB."""

    def upsert(name: str, options: dict[str, str]) -> Measure:
        stores = shop.folder / name
        catalog = pm.connect({"warehouse": str(shop.folder), "lookup.cache-folder": str(stores)})
        followed = {"bucket": "1", "changelog-producer": "lookup", **options}
        for number in range(4):
            made = shop.table(f"{name}_{number}", keyed=True, options=followed)
            table = catalog.table(made.name)
            table.write(shop.some_rows(0, shop.rows // 2))
            table.write(shop.some_rows(0, 1000))
        return lambda: sum(file.stat().st_size for file in stores.rglob("*") if file.is_file())

    bound = {"lookup.cache-max-disk-size": "64 mb"}
    return Pair(upsert("free", {}), upsert("bound", bound), unit="MB")


def _whole(folder: Path, name: str) -> int:
    found = pm.connect(folder).table(name).scan().to_arrow()
    assert found.num_rows
    return pa.default_memory_pool().max_memory()


def _in_batches(folder: Path, name: str) -> int:
    for batch in pm.connect(folder).table(name).scan().to_batches():
        assert batch.num_rows
    return pa.default_memory_pool().max_memory()


def _written(folder: Path, name: str, rows: int) -> int:
    catalog = pm.connect(folder)
    table = catalog.table(name)
    writer = table.new_writer()
    some = Workshop(catalog, folder, rows).some_rows(0, 100_000)
    for part in range(4 * rows // some.num_rows):
        numbers = pc.add(some["id"], part * some.num_rows)
        writer.write(some.set_column(0, table.arrow_schema.field("id"), numbers))
    table.commit(writer.prepare_commit(1), identifier=1)
    return pa.default_memory_pool().max_memory()


def _compacted(folder: Path, name: str) -> int:
    pm.connect(folder).table(name).compact(full=True)
    return pa.default_memory_pool().max_memory()


def _long_texts() -> pa.RecordBatchReader:
    letters = np.random.default_rng(1)

    def batch(part: int) -> pa.RecordBatch:
        texts = [letters.bytes(2000).hex() for _ in range(1000)]
        return pa.record_batch({"id": np.arange(1000 * part, 1000 * part + 1000), "text": texts})

    schema = pa.schema({"id": pa.int64(), "text": pa.string()})
    return pa.RecordBatchReader.from_batches(schema, (batch(part) for part in range(50)))


ADVICE: tuple[Callable[[Workshop], Pair], ...] = (
    batches,
    write_buffer,
    row_groups,
    lookup_stores,
)
