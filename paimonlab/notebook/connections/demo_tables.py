"""Small tables that show everything a table can have, made without Spark.

The rows are the same in every warehouse; commit times and file names differ.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.spec.schema.schema_changes import AddColumn, RenameColumn
from paimonlab.table.table import Table

DATABASE = "demo"
ORDERS = f"{DATABASE}.orders"
EVENTS = f"{DATABASE}.events"

_SEED = 20260101
_FIRST_DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_CUSTOMERS = ("ada", "bela", "chen", "dora", "emil", "fatou", "goran", "hana")
_KINDS = ("view", "click", "cart", "pay")


def make_tables(catalog: Catalog) -> None:
    """Make ``demo.orders`` and ``demo.events``, with all their history.

    ``demo.orders`` has a primary key, partitions, buckets, updates, deletes, compactions, a
    changelog, tags, a branch, a consumer, a renamed column and files that wait for the next
    compaction; ``demo.events`` is an append table whose deletes are deletion vectors.

    Raises
    ------
    AlreadyExistsError
        If one of the tables already exists.
    """
    catalog.create_database(DATABASE, exist_ok=True)
    rng = np.random.default_rng(_SEED)
    _make_orders(catalog, rng)
    _make_events(catalog, rng)


def _make_orders(catalog: Catalog, rng: np.random.Generator) -> None:
    table = catalog.create_table(
        ORDERS,
        {
            "dt": "STRING NOT NULL",
            "order_id": "BIGINT NOT NULL",
            "customer": "STRING",
            "amount": "DECIMAL(10, 2)",
            "status": "STRING",
        },
        partition_keys=["dt"],
        primary_keys=["dt", "order_id"],
        options={
            "bucket": "2",
            "changelog-producer": "full-compaction",
            "write-only": "true",
            "num-sorted-run.compaction-trigger": "4",
        },
        comment="Orders of a small shop",
    )
    _commit(table, _orders(rng, range(1, 61), "new"), hours=24)
    _commit(table, _orders(rng, range(10, 31), "paid"), hours=30)
    table.tags.create("first-day")
    _commit(table, _orders(rng, range(40, 91), "new"), hours=48)
    table.compact(full=True)
    table.consumers.reset("dashboard", 4)
    _commit(table, _orders(rng, range(60, 101), "shipped"), hours=60)
    table.delete("status = 'new' AND amount < 40")
    table.compact(full=True)
    table.tags.create("second-day")
    table.branches.create("what_if", tag="first-day")
    _commit(table.on_branch("what_if"), _orders(rng, range(1, 9), "cancelled"), hours=31)
    table = catalog.alter_table(
        ORDERS, RenameColumn("customer", "buyer"), AddColumn("channel", "STRING")
    )
    _commit(table, _renamed(_orders(rng, range(80, 121), "new"), rng), hours=72)
    table.overwrite(
        _renamed(_orders(rng, range(3, 60, 3), "archived"), rng), partition={"dt": "2026-01-01"}
    )
    table.maintenance.analyze()
    _commit(table, _renamed(_orders(rng, range(61, 71), "paid"), rng), hours=80)
    _commit(table, _renamed(_orders(rng, range(85, 101), "paid"), rng), hours=90)
    _commit(table, _renamed(_orders(rng, range(64, 80), "shipped"), rng), hours=96)


def _orders(rng: np.random.Generator, ids: range, status: str) -> pa.Table:
    """Make one row for each id; an order is always of the same day."""
    days = [(_FIRST_DAY + dt.timedelta(days=number % 3)).date().isoformat() for number in ids]
    cents = rng.integers(500, 25_000, len(ids))
    return pa.table(
        {
            "dt": days,
            "order_id": pa.array(ids, pa.int64()),
            "customer": [_CUSTOMERS[number % len(_CUSTOMERS)] for number in ids],
            "amount": pa.array([f"{value / 100:.2f}" for value in cents]).cast(
                pa.decimal128(10, 2)
            ),
            "status": [status] * len(ids),
        }
    )


def _renamed(orders: pa.Table, rng: np.random.Generator) -> pa.Table:
    """Give orders the columns that they have since the schema was changed."""
    channels = pa.array(rng.choice(["shop", "web", "phone"], orders.num_rows))
    names = ["buyer" if name == "customer" else name for name in orders.column_names]
    return orders.rename_columns(names).append_column("channel", channels)


def _make_events(catalog: Catalog, rng: np.random.Generator) -> None:
    table = catalog.create_table(
        EVENTS,
        {"event_id": "BIGINT", "kind": "STRING", "happened_at": "TIMESTAMP(3)"},
        options={"bucket": "-1", "deletion-vectors.enabled": "true"},
        comment="What visitors of a small shop did",
    )
    for begin in range(0, 400, 100):
        _commit(table, _events(rng, range(begin, begin + 100)), hours=24 + begin / 100)
    table.delete("kind = 'view' AND event_id < 150")
    table.tags.create("cleaned")
    table.delete("event_id IN (7, 42, 300, 301)")


def _events(rng: np.random.Generator, ids: range) -> pa.Table:
    times = [_FIRST_DAY.replace(tzinfo=None) + dt.timedelta(minutes=7 * number) for number in ids]
    return pa.table(
        {
            "event_id": pa.array(ids, pa.int64()),
            "kind": pa.array(rng.choice(_KINDS, len(ids))),
            "happened_at": pa.array(times, pa.timestamp("ms")),
        }
    )


def _commit(table: Table, rows: pa.Table, *, hours: float) -> None:
    """Write rows in one commit; its watermark is ``hours`` after the first day began."""
    writer = table.new_writer()
    writer.write(rows)
    watermark = int((_FIRST_DAY + dt.timedelta(hours=hours)).timestamp() * 1000)
    table.commit(writer.prepare_commit(), watermark=watermark)
