"""Advices for writes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

import paimonlab as pm
from benchmarks.tuning.pair import TURNS, Measure, Pair, Workshop


def one_commit(shop: Workshop) -> Pair:
    """Commit less often: 100 writes of 1,000 rows, and one writer that takes 100 batches."""
    batches = [shop.some_rows(1000 * number, 1000) for number in range(100)]

    def many() -> None:
        table = shop.table("commits", keyed=True, options={"bucket": "1"})
        for batch in batches:
            table.write(batch)

    def one() -> None:
        table = shop.table("commit", keyed=True, options={"bucket": "1"})
        writer = table.new_writer()
        for batch in batches:
            writer.write(batch)
        table.commit(writer.prepare_commit(1), identifier=1)

    return Pair(many, one)


def write_only(shop: Workshop) -> Pair:
    """Let one job compact: 40 small upserts into a large table, each compacting, and one compaction after them."""

    def write(name: str, *, later: bool) -> Measure:
        tables = _large(shop, name, later=later)

        def work() -> None:
            table = tables.pop()
            _upsert(table, shop, 0, 40)
            if later:
                _compact(shop.catalog, table)

        return work

    return Pair(write("each", later=False), write("later", later=True))


def two_writers(shop: Workshop) -> Pair:
    """Let one job compact: two processes that upsert 20 times each, both compacting, and one compaction after them."""

    def write(name: str, *, later: bool) -> Measure:
        tables = _large(shop, name, later=later)

        def work() -> None:
            table = tables.pop()
            list(
                pool.map(
                    _upsert_apart,
                    *zip(
                        *[(shop.folder, table.name, shop.rows, first) for first in (0, 20)],
                        strict=True,
                    ),
                )
            )
            if later:
                _compact(shop.catalog, table)

        return work

    pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    # The processes start in the turn that is not counted.
    return Pair(write("both", later=False), write("neither", later=True), warm_up=1)


def _large(shop: Workshop, name: str, *, later: bool) -> list[pm.Table]:
    options = {"bucket": "1", "write-only": "true" if later else "false"}
    tables = [
        shop.table(f"{name}_{turn}", keyed=True, options=options) for turn in range(TURNS + 1)
    ]
    for table in tables:
        table.write(shop.some_rows(0, shop.rows))
    return tables


def _upsert(table: pm.Table, shop: Workshop, first: int, count: int) -> None:
    for commit in range(first, first + count):
        table.write(shop.some_rows(commit, 2000, step=shop.rows // 2000))


def _upsert_apart(folder: Path, name: str, rows: int, first: int) -> None:
    catalog = pm.connect(folder)
    _upsert(catalog.table(name), Workshop(catalog, folder, rows), first, 20)


def _compact(catalog: pm.Catalog, table: pm.Table) -> None:
    catalog.alter_table(table.name, pm.SetOption("write-only", "false")).compact()


def buckets(shop: Workshop) -> Pair:
    """Have a bucket for each core, and few more: 8 runs compacted in one bucket, and in two."""

    def compact(number: int) -> Measure:
        tables = [
            shop.in_runs(f"in_{number}_{turn}", 8, {"bucket": str(number)}) for turn in range(TURNS)
        ]
        return lambda: tables.pop().compact(full=True)

    return Pair(compact(1), compact(2))


def many_buckets(shop: Workshop) -> Pair:
    """Have a bucket for each core, and few more: 20 upserts of 10,000 rows into 64 buckets, and into two."""

    def write(number: int) -> Measure:
        def work() -> None:
            table = shop.table(f"of_{number}", keyed=True, options={"bucket": str(number)})
            for commit in range(20):
                table.write(shop.some_rows(commit, 10_000, step=2))

        return work

    return Pair(write(64), write(2))


def partitions(shop: Workshop) -> Pair:
    """Choose few partitions: the same rows written into 1,000, and into 10."""
    rows = shop.some_rows(0, shop.rows)

    def write(name: str, days: int) -> Measure:
        day = pa.array(np.arange(len(rows), dtype=np.int32) % days)
        split = rows.append_column("day", day)
        return lambda: shop.table(name, partition="day").write(split)

    return Pair(write("narrow", 1000), write("wide", 10))


def changelog(shop: Workshop) -> Pair:
    """Make a changelog only where somebody follows the table: 20 upserts with `lookup`, and with none."""
    return Pair(_followed(shop, "lookup"), _followed(shop, "none"))


def later_changelog(shop: Workshop) -> Pair:
    """Let a changelog wait where followers can: the same upserts with `lookup`, and with `full-compaction` after each tenth commit."""
    often = {"full-compaction.delta-commits": "10"}
    return Pair(_followed(shop, "lookup"), _followed(shop, "full-compaction", often))


def input_changelog(shop: Workshop) -> Pair:
    """Keep a changelog that comes as one: the same upserts with `lookup`, and with `input`."""
    return Pair(_followed(shop, "lookup"), _followed(shop, "input"))


def _followed(shop: Workshop, producer: str, options: Mapping[str, str] | None = None) -> Measure:
    def work() -> None:
        table = shop.table(
            "log",
            keyed=True,
            options={"bucket": "1", "changelog-producer": producer, **(options or {})},
        )
        for commit in range(20):
            table.write(shop.some_rows(commit, shop.rows // 20, step=2))

    return work


def expiry(shop: Workshop) -> Pair:
    """Do not keep what nobody reads: room of a table after 300 upserts of 1,000 rows, all snapshots kept, and 20."""

    def room(name: str, options: Mapping[str, str]) -> Measure:
        table = shop.table(name, keyed=True, options={"bucket": "1", **options})
        for _commit in range(300):
            table.write(shop.some_rows(0, 1000))
        return lambda: sum(file.stat().st_size for file in Path(table.path).rglob("*.*"))

    few = {"snapshot.num-retained.max": "20"}
    return Pair(room("all_kept", {}), room("few_kept", few), unit="MB")


ADVICE: tuple[Callable[[Workshop], Pair], ...] = (
    one_commit,
    write_only,
    two_writers,
    buckets,
    many_buckets,
    partitions,
    changelog,
    later_changelog,
    input_changelog,
    expiry,
)
