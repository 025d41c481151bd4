"""What a table is made of, for engines and views that plan, read and write by themselves.

Users of `Table` need nothing of it.
"""

from __future__ import annotations

from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.table import Table


def definition_of(table: Table) -> TableDefinition:
    """Return what the table is: its name, its schema and its options."""
    return table._definition  # noqa: SLF001 - this is the door


def store_of(table: Table) -> TableStore:
    """Return where the table lies, and what is remembered of it."""
    return table._store  # noqa: SLF001 - this is the door


def with_definition(table: Table, definition: TableDefinition) -> Table:
    """Return the table with another schema or other options; its store stays."""
    return Table(table.identifier, definition, store_of(table))
