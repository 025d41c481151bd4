"""List the tables of the connected catalog."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.tables.drawing import draw_tables
from paimonlab.table.table import Table


def tables(database: str | None = None) -> views.View:
    """List the tables of the connected catalog, or of one of its databases.

    Raises
    ------
    DatabaseNotFoundError
        If there is no such database.
    """
    catalog = connections.current().catalog
    databases = catalog.databases() if database is None else [database]
    entries = [
        _entry(opened(f"{name}.{table}"), name, table)
        for name in databases
        for table in catalog.tables(name)
    ]
    return draw_tables(views.TableList(databases=tuple(databases), tables=tuple(entries)))


def _entry(table: Table, database: str, name: str) -> views.TableEntry:
    snapshot = table.snapshot
    return views.TableEntry(
        database=database,
        table=name,
        primary_keys=tuple(table.primary_keys),
        partition_keys=tuple(table.partition_keys),
        column_count=len(table.arrow_schema),
        snapshot_id=None if snapshot is None else snapshot.id,
    )
