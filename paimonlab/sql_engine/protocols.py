"""What translators of expressions and of queries are to their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct
from sqlglot import exp

from paimonlab.sql_engine.aggregates import Aggregate
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.scope import Relation, Scope
from paimonlab.sql_engine.value import Value


class Translated(Struct, frozen=True):
    """A query in DuckDB's SQL."""

    text: str
    columns: tuple[tuple[str, Kind], ...]
    """Names as Spark gives them, and types."""


class Queries(Protocol):
    """Translates a query within an expression."""

    def __call__(self, node: exp.Expression, scope: Scope, /) -> tuple[str, Sequence[Kind]]:
        """Return its SQL, and the types of its columns."""
        ...


class Values(Protocol):
    """Values of parameters."""

    def take(self, name: str) -> Any:
        """Return the value of ``:name``, or of the next ``?``."""
        ...


class Translating(Protocol):
    """Translates the expressions of one query."""

    scope: Scope
    members: Sequence[exp.Expression]
    windows: Mapping[str, exp.Expression]
    variables: Mapping[str, Value]
    allows: str
    has_windows: bool
    query: Queries

    def value(self, node: exp.Expression) -> Value:
        """Translate an expression."""
        ...

    def truth(self, node: exp.Expression, what: str) -> Value:
        """Translate a condition."""
        ...

    def sides(self, node: exp.Expression) -> tuple[Value, Value]:
        """Translate what is on both sides of an operator."""
        ...

    def aggregate(self, node: exp.Anonymous, *, is_window: bool = False) -> Aggregate:
        """Translate an aggregate whose rows are not chosen yet."""
        ...

    def filtered_call(self, node: exp.Filter, *, is_window: bool = False) -> Aggregate:
        """Translate an aggregate with FILTER."""
        ...

    def ordered(self, node: exp.Expression) -> tuple[str, str]:
        """Translate a term of ORDER BY."""
        ...


class Tables(Protocol):
    """Everything that a statement may read."""

    def table(
        self,
        alias: str,
        path: tuple[str, ...],
        names: tuple[str, ...],
        version: exp.Expression | None,
        given: Any,
    ) -> Relation:
        """Make a relation of a name in ``FROM``."""
        ...

    def changes(
        self,
        alias: str,
        path: tuple[str, ...],
        names: tuple[str, ...],
        options: Mapping[str, str],
    ) -> Relation:
        """Make a relation of what commits changed, as options of a read say."""
        ...

    def push(
        self, node: exp.Expression, scope: Scope, given: Any, hidden: Sequence[Relation] = ()
    ) -> None:
        """Let tables leave out rows for which a condition is not true."""
        ...


class Querying(Protocol):
    """Translates the queries of one statement."""

    given: Any

    @property
    def tables(self) -> Tables:
        """Everything that the statement may read."""
        ...

    def query(self, node: exp.Expression, outer: Scope | None = None) -> Translated:
        """Translate a query."""
        ...

    def values(self, node: exp.Values) -> Translated:
        """Translate rows that are written in the statement."""
        ...

    def named(self, name: str) -> Translated | None:
        """Return the query that ``WITH`` calls so."""
        ...

    def next_name(self) -> str:
        """Return a name for a relation."""
        ...

    def relation(self, made: Translated, names: tuple[str, ...]) -> tuple[str, Relation]:
        """Make a relation of a query."""
        ...

    def subquery(self, node: exp.Expression, scope: Scope, /) -> tuple[str, Sequence[Kind]]:
        """Translate a query within an expression."""
        ...
