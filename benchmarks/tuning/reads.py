"""Advices for reads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import paimonlab as pm
from benchmarks.tuning.pair import SCHEMA, Pair, Workshop


def compacted(shop: Workshop) -> Pair:
    """Compact what is read often: a scan of 16 overlapping runs, and of the same rows compacted."""
    many = shop.in_runs("many", 16, {})
    one = shop.in_runs("one", 16, {})
    one.compact(full=True)
    return Pair(lambda: many.scan().to_arrow(), lambda: one.scan().to_arrow())


def columns(shop: Workshop) -> Pair:
    """Name the columns that are needed: all four, and one of them."""
    table = shop.table("columns")
    table.write(shop.some_rows(0, shop.rows))
    return Pair(lambda: table.scan().to_arrow(), lambda: table.scan(["amount"]).to_arrow())


def condition(shop: Workshop) -> Pair:
    """Give the scan the condition: rows filtered afterwards, and `where=`."""
    table = shop.table("condition")
    table.write(shop.some_rows(0, shop.rows))
    return Pair(
        lambda: table.scan().to_arrow().filter(pc.field("id") < 1000),
        lambda: table.scan(where="id < 1000").to_arrow(),
    )


def lookups(shop: Workshop) -> Pair:
    """Ask for rows by key with `lookup`: 100 keys, all rows filtered, and looked up."""
    table = shop.in_runs("lookups", 4, {})
    keys = pa.table({"id": np.arange(0, shop.rows // 4, shop.rows // 400)[:100]})
    table.lookup(keys)
    wanted = pa.array(keys["id"])
    return Pair(
        lambda: table.scan().to_arrow().filter(pc.field("id").isin(wanted)),
        lambda: table.lookup(keys),
    )


def sorted_rows(shop: Workshop) -> Pair:
    """Sort an append table by what it is filtered by: one customer's rows, of 8 writes, and sorted."""
    loose = shop.table("loose")
    tidy = shop.table("tidy")
    for table in (loose, tidy):
        for part in range(8):
            table.write(shop.some_rows(part * shop.rows // 8, shop.rows // 8))
    tidy.compact(order_by=["customer"], strategy="order")
    where = "customer = 77"
    return Pair(
        lambda: loose.scan(where=where).to_arrow(), lambda: tidy.scan(where=where).to_arrow()
    )


def bloom(shop: Workshop) -> Pair:
    """Index texts and ids that are asked for one by one: 16 files, a bloom filter of the text."""
    options = {"file-index.bloom-filter.columns": "note"}
    plain, indexed = shop.table("plain"), shop.table("indexed", options=options)
    for table in (plain, indexed):
        for part in range(16):
            table.write(shop.some_rows(part, shop.rows // 16, step=16))
    where = "note = 'note 77'"
    return Pair(
        lambda: plain.scan(where=where).to_arrow(), lambda: indexed.scan(where=where).to_arrow()
    )


def small_files(shop: Workshop) -> Pair:
    """Put small files together: a scan of 200 files of 1,000 rows, and of one."""
    many, few = (shop.table(name, options={"write-only": "true"}) for name in ("many", "few"))
    for table in (many, few):
        for part in range(200):
            table.write(shop.some_rows(1000 * part, 1000))
    few.compact(full=True)
    return Pair(lambda: many.scan().to_arrow(), lambda: few.scan().to_arrow())


def deletion_vectors(shop: Workshop) -> Pair:
    """Mark replaced rows when they are written: a filtered scan after 8 upserts, with and without."""
    plain = shop.in_runs("merged", 8, {})
    marked = shop.table(
        "marked", keyed=True, options={"bucket": "2", "deletion-vectors.enabled": "true"}
    )
    for run in range(8):
        marked.write(shop.some_rows(run, shop.rows // 8, step=2))
    where = "amount < 0.001"
    return Pair(
        lambda: plain.scan(["amount"], where).to_arrow(),
        lambda: marked.scan(["amount"], where).to_arrow(),
    )


def statistics(shop: Workshop) -> Pair:
    """Count with `count()`: rows counted after a scan, and from metadata."""
    table = shop.table("counted")
    table.write(shop.some_rows(0, shop.rows))
    return Pair(lambda: table.scan().to_arrow().num_rows, lambda: table.scan().count())


def curves(shop: Workshop) -> Pair:
    """Sort by several columns along a curve: a question about the second column, sorted with `order`, and with `zorder`."""
    tables = {}
    for strategy in ("order", "zorder"):
        tables[strategy] = shop.table(strategy)
        tables[strategy].write(shop.some_rows(0, shop.rows))
        tables[strategy].compact(order_by=["customer", "amount"], strategy=strategy)
    return _asked(tables["order"], tables["zorder"], "amount < 0.001")


def clustered(shop: Workshop) -> Pair:
    """Sort an append table by what it is filtered by: one customer's rows of 8 writes, without and with `clustering.columns`."""
    loose = shop.table("loose")
    tidy = shop.table("tidy", options={"clustering.columns": "customer"})
    for table in (loose, tidy):
        for part in range(8):
            table.write(shop.some_rows(part * shop.rows // 8, shop.rows // 8))
    return _asked(loose, tidy, "customer = 77")


def bitmap(shop: Workshop) -> Pair:
    """Index texts and ids that are asked for one by one: 16 files, a state that rows of one have, a bitmap of the states."""
    plain, indexed = (
        shop.catalog.create_table(
            f"db.{name}",
            SCHEMA.append(pa.field("state", pa.string())),
            options={"write-only": "true", **options},
        )
        for name, options in (
            ("plain", {}),
            ("indexed", {"file-index.bitmap.columns": "state"}),
        )
    )
    for part in range(16):
        rows = shop.some_rows(part, shop.rows // 16, step=16)
        states = np.where(rows["id"].to_numpy() % 3, "paid", "due")
        if part == 7:
            states[::1000] = "lost"
        for table in (plain, indexed):
            table.write(rows.append_column("state", pa.array(states)))
    return _asked(plain, indexed, "state = 'lost'")


def _asked(before: pm.Table, after: pm.Table, where: str) -> Pair:
    return Pair(
        lambda: before.scan(where=where).to_arrow(), lambda: after.scan(where=where).to_arrow()
    )


ADVICE: tuple[Callable[[Workshop], Pair], ...] = (
    columns,
    condition,
    lookups,
    statistics,
    compacted,
    deletion_vectors,
    small_files,
    sorted_rows,
    clustered,
    curves,
    bloom,
    bitmap,
)
