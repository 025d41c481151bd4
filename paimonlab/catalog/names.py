"""Names a database or a table may have in a file system."""

from __future__ import annotations

from paimonlab.errors import SchemaError
from paimonlab.spec.identifier import Identifier

DATABASE_SUFFIX = ".db"
SYSTEM_DATABASE = "sys"
_FORBIDDEN = frozenset("/\\$.\"'`<>|*?:%")


def check_name(kind: str, name: str) -> str:
    """Return a name that can be a folder and a part of an identifier.

    Raises
    ------
    SchemaError
        If it cannot. ``kind`` is only for the message.
    """
    bad = [character for character in name if character in _FORBIDDEN or ord(character) < 0x20]
    if bad or not name.strip() or name != name.strip():
        shown = f": it holds {bad[0]!r}" if bad else ""
        raise SchemaError(f"{name!r} cannot be the name of a {kind}{shown}")
    if kind == "database" and name == SYSTEM_DATABASE:
        raise SchemaError(f"the database {SYSTEM_DATABASE} belongs to the catalog")
    return name


def is_name(text: str) -> bool:
    """Say whether a table or a system table can have a name.

    Examples
    --------
    >>> is_name("db.orders$files"), is_name("parquet./data/orders.parquet")
    (True, False)
    """
    try:
        identifier = Identifier.parse(text)
        if identifier.database != SYSTEM_DATABASE:
            check_name("database", identifier.database)
        check_name("table", identifier.table)
    except (SchemaError, ValueError):
        return False
    return True


def parse(name: str) -> Identifier:
    """Parse the name of a table that is to be looked up or made.

    Raises
    ------
    SchemaError
        If the database or the table cannot have that name.
    """
    identifier = Identifier.parse(name)
    check_name("database", identifier.database)
    check_name("table", identifier.table)
    return identifier
