"""Errors about named things that are missing."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import habits
from paimonlab.errors.base import PaimonError, close_matches

_SHOWN = 20
"""Names of a table that a message has at most."""


class NotFoundError(PaimonError, LookupError):
    """There is nothing with the name that was asked for."""


class DatabaseNotFoundError(NotFoundError):
    """The catalog has no such database.

    Parameters
    ----------
    database, known
        The name, and those that there are.
    hint
        Where the catalog has no database at all: which warehouse may be meant; else what to do.
    """

    def __init__(self, database: str, known: Sequence[str] = (), hint: str = "") -> None:
        self.database = database
        self.known = tuple(known)
        self.hint = hint
        super().__init__(database, self.known, hint)

    def __str__(self) -> str:
        there = ", ".join(self.known[:10]) + (", …" if len(self.known) > 10 else "")
        none = " There is none; create_database makes one." + (f" {self.hint}" * bool(self.hint))
        some = f" There are: {there}." + (f" {self.hint}" * bool(self.hint))
        return f"database {self.database} not found." + (
            close_matches(self.database, self.known) or (some if there else none)
        )


class TableNotFoundError(NotFoundError):
    """The catalog has no such table.

    Parameters
    ----------
    table, known
        The name, and those that there are.
    hint
        What became of a table that was opened, and what to do; a sentence.
    """

    def __init__(self, table: str, known: Sequence[str] = (), hint: str = "") -> None:
        self.table = table
        self.known = tuple(known)
        self.hint = hint
        super().__init__(table, self.known, hint)

    def __str__(self) -> str:
        return f"table {self.table} not found.{self.near}{self.hint and ' '}{self.hint}"

    @property
    def near(self) -> str:
        """Which tables are probably meant, as a sentence with a blank before it; or nothing."""
        database, dot, table = self.table.partition(".")
        within = f"{database}{dot}"
        if not all(name.startswith(within) for name in self.known):
            return close_matches(self.table, self.known)
        return close_matches(table, [name[len(within) :] for name in self.known], within)


class ViewNotFoundError(NotFoundError):
    """The catalog has no such view."""

    def __init__(self, view: str, known: Sequence[str] = ()) -> None:
        self.view = view
        self.known = tuple(known)
        super().__init__(view, self.known)

    def __str__(self) -> str:
        return f"view {self.view} not found.{close_matches(self.view, self.known)}"


class FunctionNotFoundError(NotFoundError):
    """The catalog has no such function."""

    def __init__(self, function: str, known: Sequence[str] = ()) -> None:
        self.function = function
        self.known = tuple(known)
        super().__init__(function, self.known)

    def __str__(self) -> str:
        return f"function {self.function} not found.{close_matches(self.function, self.known)}"


class ColumnNotFoundError(NotFoundError):
    """The table has no such column."""

    def __init__(self, column: str, table: str, known: Sequence[str] = (), hint: str = "") -> None:
        self.column = column
        self.table = table
        self.known = tuple(known)
        self.hint = hint
        super().__init__(column, table, self.known, hint)

    def __str__(self) -> str:
        shown = ", ".join(self.known[:20]) + (", …" if len(self.known) > 20 else "")
        hint = f" {self.hint}." if self.hint else ""
        return (
            f"{self.table} has no column {self.column!r}; it has {shown}."
            f"{close_matches(self.column, self.known)}{hint}"
        )


class SchemaNotFoundError(NotFoundError):
    """The table has no schema of that id."""

    def __init__(self, table: str, schema_id: int) -> None:
        self.table = table
        self.schema_id = schema_id
        super().__init__(table, schema_id)

    def __str__(self) -> str:
        return f"{self.table}: schema {self.schema_id} not found"


class SnapshotNotFoundError(NotFoundError):
    """The table has no snapshot that answers the question."""

    def __init__(self, table: str, asked: str, hint: str = "") -> None:
        self.table = table
        self.asked = asked
        self.hint = hint
        super().__init__(table, asked, hint)

    def __str__(self) -> str:
        return f"{self.table}: no snapshot {self.asked}." + (f" {self.hint}" if self.hint else "")


class SnapshotExpiredError(SnapshotNotFoundError):
    """The snapshot was there once; expiry has removed it or its files."""


class SnapshotReplacedError(SnapshotNotFoundError):
    """The snapshot was read, and is no longer part of the table's history."""


class TagNotFoundError(NotFoundError):
    """The table has no such tag."""

    def __init__(self, table: str, tag: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.tag = tag
        self.known = tuple(known)
        super().__init__(table, tag, self.known)

    def __str__(self) -> str:
        others = _others(self.tag, self.known, "Its tags are", "It has none.")
        return f"{self.table}: no tag {self.tag!r}. {others}"


class BranchNotFoundError(NotFoundError):
    """The table has no such branch."""

    def __init__(self, table: str, branch: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.branch = branch
        self.known = tuple(known)
        super().__init__(table, branch, self.known)

    def __str__(self) -> str:
        others = _others(
            self.branch, self.known, "Its branches besides main are", "It has none but main."
        )
        return f"{self.table}: no branch {self.branch!r}. {others}"


class ConsumerNotFoundError(NotFoundError):
    """The table has no such consumer."""

    def __init__(self, table: str, consumer: str, known: Sequence[str] = ()) -> None:
        self.table = table
        self.consumer = consumer
        self.known = tuple(known)
        super().__init__(table, consumer, self.known)

    def __str__(self) -> str:
        others = _others(self.consumer, self.known, "Its consumers are", "It has none.")
        return f"{self.table}: no consumer {self.consumer!r}. {others}"


class ProcedureNotFoundError(NotFoundError):
    """There is no such procedure."""

    def __init__(self, procedure: str, known: Sequence[str] = ()) -> None:
        self.procedure = procedure
        self.known = tuple(known)
        super().__init__(procedure, self.known)

    def __str__(self) -> str:
        said = f"there is no procedure sys.{self.procedure}"
        meant = habits.PROCEDURES.get(self.procedure.lower())
        if meant in self.known:
            return f"{said}; it is sys.{meant}"
        if self.procedure.lower() in habits.STATEMENTS:
            return f"{said}; write {habits.STATEMENTS[self.procedure.lower()]}"
        return f"{said}.{close_matches(self.procedure, self.known)}"


def _others(name: str, known: Sequence[str], there: str, none: str) -> str:
    """Say which names of a table are there: those that look like one, else all."""
    if close := close_matches(name, known):
        return close.lstrip()
    if not known:
        return none
    return f"{there} {', '.join(known[:_SHOWN])}{', …' if len(known) > _SHOWN else ''}."
