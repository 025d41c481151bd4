"""What a table is made of, for engines and views that plan, read and write by themselves.

Users of `Table` need nothing of it.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from paimonlab.table.definition import TableDefinition
from paimonlab.table.opened import OpenedTable
from paimonlab.table.store import TableStore

AnyTable = TypeVar("AnyTable", bound=OpenedTable)


class Opened(Protocol):
    """What has a definition and a store: a table, or the maintenance of one."""

    _definition: TableDefinition
    _store: TableStore


def definition_of(table: Opened) -> TableDefinition:
    """Return what the table is: its name, its schema and its options."""
    return table._definition  # noqa: SLF001 - this is the door


def store_of(table: Opened) -> TableStore:
    """Return where the table lies, and what is remembered of it."""
    return table._store  # noqa: SLF001 - this is the door


def writable(table: Opened) -> tuple[TableDefinition, TableStore]:
    """Return both, of a table that may be written to.

    Raises
    ------
    UnsupportedError
        If one of its options would change what is written and is not implemented.
    """
    definition = definition_of(table)
    _ = definition.may_be_written
    return definition, store_of(table)


def with_definition(table: AnyTable, definition: TableDefinition) -> AnyTable:
    """Return the table with another schema or other options; its store stays."""
    return type(table)(table.identifier, definition, store_of(table))
