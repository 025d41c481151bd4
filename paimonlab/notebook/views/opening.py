"""The table of a view, opened if it is given by name."""

from __future__ import annotations

from paimonlab.errors import NotFoundError, UnsupportedError, without_database
from paimonlab.notebook.connections import connection as connections
from paimonlab.table.table import Table


def opened(table: str | Table) -> Table:
    """Return a table, opened in the connected catalog if it is a name.

    Raises
    ------
    NotFoundError
        If the name has no database; says which tables it may mean.
    UnsupportedError
        If it is the name of a system table.
    """
    if isinstance(table, Table):
        return table
    connection = connections.current()
    if "." not in table:
        meant = without_database(table, connection.known_tables())
        raise NotFoundError(f"{table!r} is not a table name; write it as database.table.{meant}")
    opened_table = connection.catalog.relation(table)
    if not isinstance(opened_table, Table):
        raise UnsupportedError(f"a view of the system table {table}", "ask for the table itself")
    return opened_table
