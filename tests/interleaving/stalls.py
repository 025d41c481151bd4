"""Processes that stand still before a call of the store, while others do things."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.maintenance.retention import Retention
from paimonlab.maintenance.snapshot_expiry import ChangelogKeeping, expire, plan_expiry
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of
from tests.interleaving.memory_store import MemoryStore
from tests.small_tables import SmallTable

ROOT = Path("/t")


def new_table(**options: str) -> MemoryStore:
    """Make a table, and return the store that it is in."""
    store = MemoryStore()
    definition = Schema({"id": "BIGINT", "v": "STRING"}, options=options)
    layout = SmallTable(ROOT, file_io=store).layout
    store.publish(layout.schema(0), new_table_schema(definition, time_millis=0).to_json())
    return store


def process(store: MemoryStore) -> SmallTable:
    """Open the table as a process of its own does: nothing is remembered."""
    return SmallTable(ROOT, file_io=store)


def history(store: MemoryStore) -> TableHistory:
    """Open the table for upkeep, as a process of its own."""
    table = process(store)
    schema: TableSchema = table.schema
    publisher = RenamelessPublisher(store, table.layout)
    return history_of(
        TableDefinition.of_schema("db.t", schema),
        TableStore(name="db.t", file_io=store, layout=table.layout, publisher=publisher),
    )


def expire_but(store: MemoryStore, kept: int) -> None:
    """Let all snapshots expire but the newest ones."""
    found = history(store)
    retention = Retention(retain_max=kept, retain_min=kept, older_than_millis=2**62)
    expire(plan_expiry(found, retention, ChangelogKeeping()), found)


def stalled_at(
    store: MemoryStore, method: str, name: str, others: Callable[[MemoryStore], object]
) -> MemoryStore:
    """Return the store as a process sees it that stands still once, before a call.

    Parameters
    ----------
    store
        That all processes have.
    method, name
        The call: what it is, and the end of the path.
    others
        What happens meanwhile.
    """
    is_due = True

    def before(called: str, path: str) -> None:
        nonlocal is_due
        if is_due and called == method and path.endswith(name):
            is_due = False
            others(store)

    return MemoryStore(store.files, before)
