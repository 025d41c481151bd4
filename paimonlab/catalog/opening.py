"""Tables and system tables by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from paimonlab.errors import PaimonError, SchemaError, without_database
from paimonlab.spec.identifier import Identifier
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.table.system import SystemTable


_MOST_LOOKED_AT = 1000
"""Tables that are looked at for the one that a name without a database may mean."""
_MOST_NAMED = 5


class _Catalog(Protocol):
    def databases(self) -> Sequence[str]: ...

    def tables(self, database: str) -> Sequence[str]: ...

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
    if parsed(catalog, name).system_table is None:
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


def parsed(catalog: _Catalog, name: str) -> Identifier:
    """Parse the name of a table; of a name without a database say which tables it may mean.

    Raises
    ------
    ValueError
        If the name has no database or more parts than a name can have.
    """
    try:
        return Identifier.parse(name)
    except ValueError as error:
        if "." in name:
            raise
        meant = _meant(catalog, name.partition("$")[0])
        raise ValueError(f"{error}.{meant}" if meant else str(error)) from None


def _meant(catalog: _Catalog, name: str) -> str:
    known: list[str] = []
    # What cannot be listed is only not offered: the name is wrong all the same.
    with suppress(PaimonError, OSError):
        known.extend(islice(_names(catalog), _MOST_LOOKED_AT))
    meant = without_database(name, known)
    if meant or not known:
        return meant
    more = len(known) - _MOST_NAMED
    tail = f" and {more:,} more" if more > 0 else ""
    verb = "is" if len(known) == 1 else "are"
    return f" There {verb} {', '.join(known[:_MOST_NAMED])}{tail}."


def _names(catalog: _Catalog) -> Iterator[str]:
    for database in catalog.databases():
        for table in catalog.tables(database):
            yield f"{database}.{table}"
