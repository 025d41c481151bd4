"""What names mean in a query: relations, their columns, and those of the queries around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError, QualifierNotFoundError
from paimonlab.sql_engine.value import Value

_PLACES = frozenset(
    {
        *("__paimon_file_path", "__paimon_row_index", "__paimon_bucket", "__paimon_partition"),
        *("_row_id", "_sequence_number"),
    }
)
"""Columns that tables have in Spark besides their own, in small letters."""


class Reading(Protocol):
    """What is read of a table, as the query finds it out."""

    conditions: list[Any]

    @property
    def placeholder(self) -> str:
        """What stands for the table until the statement is planned."""
        ...

    def use(self, name: str) -> None:
        """Remember that a column is read."""
        ...


class SqlColumn(Struct, frozen=True):
    """A column of a relation."""

    name: str
    kind: Kind | None
    """None: of a type that is not computed with."""
    text: str
    """How DuckDB gets at it: ``r1.c3``."""
    type_text: str = ""
    """The type, for messages about those that have no kind."""


class Relation(Struct):
    """What ``FROM`` has: a table, a query."""

    names: tuple[str, ...]
    """Under which its columns can be asked for: the alias, or the parts of its name."""
    columns: tuple[SqlColumn, ...]
    reading: Reading | None = None
    """Of a table: which columns and rows are read of it."""
    hidden: frozenset[int] = frozenset()
    """Columns that ``*`` leaves out: they are in another relation by ``USING``."""
    is_reachable: bool = True
    """Whether columns can be named: not those of the right side of a semi join."""
    time_window: str = ""
    """The call, if its only column is what ``window(time, '5 minutes')`` gives."""

    def is_called(self, path: Sequence[str]) -> bool:
        """Tell whether a qualifier means this relation."""
        mine = [name.lower() for name in self.names]
        return bool(path) and mine[-len(path) :] == [part.lower() for part in path]


class Scope(Struct):
    """The relations of one query."""

    relations: list[Relation] = field(default_factory=list)
    outer: Scope | None = None
    merged: dict[str, Value] = field(default_factory=dict)
    """Columns of ``USING``, by name in small letters."""
    asked_within: list[str] = field(default_factory=list)
    """Columns that queries within expressions asked for."""

    def find(self, path: Sequence[str], name: str) -> Value:
        """Find a column.

        Raises
        ------
        ColumnNotFoundError, SchemaError, NotTranslatedError
            If there is none, or more than one, or it has a type that is not computed with.
        """
        scope: Scope | None = self
        while scope is not None:
            found = scope.found(path, name)
            if found is not None:
                if scope is not self and found.name not in scope.asked_within:
                    scope.asked_within.append(found.name)
                return found
            scope = scope.outer
        relations = list(self._all())
        known = list(dict.fromkeys(column.name for one in relations for column in one.columns))
        if path and not any(one.is_called(path) for one in relations):
            called = {".".join(one.names): one for one in relations if one.names}
            owners = [
                label
                for label, one in called.items()
                if any(column.name.lower() == name.lower() for column in one.columns)
            ]
            raise QualifierNotFoundError(name, ".".join(path), list(called), owners)
        if path:
            relations = [one for one in relations if one.is_called(path)]
            known = [column.name for one in relations for column in one.columns]
        if name.lower() in _PLACES:
            raise NotTranslatedError(f"the column {name}", name)
        named = ".".join(relations[0].names) if len(relations) == 1 else ""
        raise ColumnNotFoundError(name, named or ".".join(path) or "the query", known)

    def found(self, path: Sequence[str], name: str) -> Value | None:
        """Find a column of the query itself; None if it has none."""
        if not path and name.lower() in self.merged:
            merged = self.merged[name.lower()]
            return Value(merged.text, merged.kind, name, column=merged.column)
        found = [
            (relation, column)
            for relation in self.relations
            if relation.is_reachable and (not path or relation.is_called(path))
            for column in relation.columns
            if column.name.lower() == name.lower()
        ]
        if len(found) > 1:
            raise SchemaError(f"the column {name} is ambiguous: it is in more than one table")
        return None if not found else used(*found[0], name=name)

    def _all(self) -> Iterator[Relation]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.relations
            scope = scope.outer


def used(relation: Relation, column: SqlColumn, *, name: str = "") -> Value:
    """Return a column as a value, and remember that it is read."""
    if column.kind is None:
        raise NotTranslatedError(f"a column of {column.type_text}", column.name)
    if relation.reading is not None:
        relation.reading.use(column.name)
    return Value(column.text, column.kind, name or column.name, column=(relation, column))
