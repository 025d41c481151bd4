"""The rules of MERGE: which clause decides about a row.

Pure functions, the same for every engine that runs a merge. A pair of a target row and a source
row that belong together is matched; a source row without a target row is not matched; a target
row without a source row is not matched by source. The first clause of that kind whose condition
is true decides; without one the row stays as it is, or is not inserted.

Source: the SQL reference of Spark 4.3, ``MERGE INTO``; apache/paimon@1.3.1
``org.apache.paimon.spark.commands.MergeIntoPaimonTable``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from paimonlab.spec.row_kind import RowKind


class ClauseKind(Enum):
    """Which rows a clause is about."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


class Action(Enum):
    """What a clause does with a row."""

    UPDATE = "UPDATE"
    DELETE = "DELETE"
    INSERT = "INSERT"

    @property
    def row_kind(self) -> RowKind:
        """The kind of the row that is written for it."""
        kinds = {
            Action.UPDATE: RowKind.UPDATE_AFTER,
            Action.DELETE: RowKind.DELETE,
            Action.INSERT: RowKind.INSERT,
        }
        return kinds[self]

    @property
    def has_values(self) -> bool:
        """Whether it gives columns values."""
        return self is not Action.DELETE


@dataclass(frozen=True, slots=True)
class Clause:
    """One WHEN."""

    kind: ClauseKind
    action: Action
    has_condition: bool = False
    """Whether it is about some of these rows only."""


def needs_unmatched_source(clauses: Sequence[Clause]) -> bool:
    """Whether source rows without a target row matter."""
    return any(clause.kind is ClauseKind.NOT_MATCHED for clause in clauses)


def needs_unmatched_target(clauses: Sequence[Clause]) -> bool:
    """Whether target rows without a source row matter."""
    return any(clause.kind is ClauseKind.NOT_MATCHED_BY_SOURCE for clause in clauses)


def allows_many_source_rows(clauses: Sequence[Clause]) -> bool:
    """Whether a target row may match several source rows: only if all of them delete it.

    Examples
    --------
    >>> delete = Clause(ClauseKind.MATCHED, Action.DELETE)
    >>> insert = Clause(ClauseKind.NOT_MATCHED, Action.INSERT)
    >>> allows_many_source_rows([delete, insert]), allows_many_source_rows([insert])
    (True, True)
    >>> allows_many_source_rows([Clause(ClauseKind.MATCHED, Action.DELETE, has_condition=True)])
    False
    >>> allows_many_source_rows([Clause(ClauseKind.MATCHED, Action.UPDATE)])
    False
    """
    matched = [clause for clause in clauses if clause.kind is ClauseKind.MATCHED]
    if not matched:
        return True
    first = matched[0]
    return first.action is Action.DELETE and not first.has_condition
