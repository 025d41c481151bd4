"""Tables and system tables by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paimonlab.errors import SchemaError
from paimonlab.spec.identifier import Identifier
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.table.system import SystemTable


class _Catalog(Protocol):
    def relation(self, name: str) -> Table | SystemTable: ...


def table(catalog: _Catalog, name: str) -> Table:
    """Open a table; ``db.t$branch_x`` is its branch x.

    Raises
    ------
    TableNotFoundError
        If it does not exist.
    BranchNotFoundError
        If the table exists and the branch does not.
    SchemaError
        If it is the name of a system table, which `system_table` opens.
    """
    if Identifier.parse(name).system_table is None:
        found = catalog.relation(name)
        if isinstance(found, Table):
            return found
    raise SchemaError(f"{name} is a system table; catalog.system_table({name!r}) opens it")


def system_table(catalog: _Catalog, name: str) -> SystemTable:
    """Open a system table: ``db.t$snapshots``, ``db.t$branch_x$files``, ``sys.tables``.

    Raises
    ------
    TableNotFoundError
        If it does not exist.
    BranchNotFoundError
        If the table exists and the branch does not.
    SchemaError
        If it is the name of a table, which `table` opens.
    """
    found = catalog.relation(name)
    if isinstance(found, Table):
        raise SchemaError(f"{name} is a table; catalog.table({name!r}) opens it")
    return found
