"""The name of a table: ``database.table$branch_b$system``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.Identifier``.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

MAIN_BRANCH = "main"
_BRANCH_PREFIX = "branch_"


class Identifier(Struct, frozen=True):
    """The parts of a table name."""

    database: str
    table: str
    branch: str | None = None
    """None is the main branch."""
    system_table: str | None = None
    """``snapshots`` of ``db.t$snapshots``."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Split ``db.t``, ``db.t$snapshots``, ``db.t$branch_b`` or ``db.t$branch_b$snapshots``.

        Raises
        ------
        ValueError
            If the text has no database or more parts than a name can have.

        Examples
        --------
        >>> Identifier.parse("db.t$branch_dev$files")
        Identifier(database='db', table='t', branch='dev', system_table='files')
        """
        if not isinstance(text, str):
            raise TypeError(f"a table is named by a text, 'database.table', not by {text!r}")
        database, dot, name = text.partition(".")
        if not dot or not database or not name:
            raise ValueError(f"{text!r} is not a table name; write it as database.table")
        table, *suffixes = name.split("$")
        branch = system_table = None
        if suffixes and suffixes[0].startswith(_BRANCH_PREFIX):
            branch = suffixes.pop(0).removeprefix(_BRANCH_PREFIX)
        if suffixes:
            system_table = suffixes.pop(0)
        if suffixes or not table or branch == "" or system_table == "":
            raise ValueError(f"{text!r} is not a table name; write it as database.table$system")
        return cls(database, table, None if branch == MAIN_BRANCH else branch, system_table)

    @property
    def full_name(self) -> str:
        """``database.table``, without branch and system table."""
        return f"{self.database}.{self.table}"

    def __str__(self) -> str:
        branch = f"${_BRANCH_PREFIX}{self.branch}" if self.branch else ""
        system = f"${self.system_table}" if self.system_table else ""
        return f"{self.full_name}{branch}{system}"
