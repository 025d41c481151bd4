"""What the clauses of a MERGE make of rows, as far as that is known without the target's values.

Where all new values are columns of the source, constants or what the target row has, the tasks that
find target rows write new ones as well: rows pass between Spark and Python once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, functions

from paimonlab.spark.jvm.expressions import column_of, named_column
from paimonlab.spark.rows.catalyst_trees import trees_of
from paimonlab.spark.rows.expression_trees import COLUMN, LITERAL, Tree, bare
from paimonlab.spark.rows.joining import frame_of
from paimonlab.spark.rows.statements import RowStatement, as_list, target_names
from paimonlab.write.merge_clauses import ClauseKind

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge

MATCHED, NOT_MATCHED = "__paimon_matched", "__paimon_not_matched"
_LEAVES = frozenset({COLUMN, LITERAL})
_SAFE = _LEAVES | {
    "And",
    "EqualNullSafe",
    "EqualTo",
    "GreaterThan",
    "GreaterThanOrEqual",
    "In",
    "IsNotNull",
    "IsNull",
    "LessThan",
    "LessThanOrEqual",
    "Not",
    "Or",
}
"""Expressions that never fail."""


@dataclass(frozen=True, slots=True)
class Values:
    """Where the new values of a clause are found."""

    columns: dict[str, str]
    """By column of the table."""
    made: dict[str, Any]
    """Expressions over the source, by the columns they become."""


def decisions(
    bridge: Bridge, statement: RowStatement, keys: Collection[str]
) -> list[Values] | None:
    """Return what clauses make of rows, if they look at columns of the source and constants alone.

    These are evaluated before it is known which rows have a target row, so none of them may fail.
    """
    assert statement.source is not None, "a MERGE has a source"
    attributes = as_list(bridge, statement.target.output())
    source = as_list(bridge, statement.source.output())
    said = [one for clause in statement.clauses for one in clause.expressions]
    trees = iter(trees_of(bridge, [*attributes, *source, *said]))
    own = list(islice(trees, len(attributes)))
    ids = frozenset(tree.detail for tree in islice(trees, len(source)))
    names = target_names(bridge, statement.target)
    made, decided = _Made(), []
    for clause in statement.clauses:
        if clause.condition is not None and not _is_safe(next(trees), ids):
            return None
        values = list(islice(trees, len(clause.values))) or own  # a delete has the old ones
        columns = {}
        for number, (name, tree, value) in enumerate(zip(names, own, values, strict=True)):
            if name in keys:
                columns[name] = name
            elif bare(value) == tree:
                columns[name] = target_name(number)
            elif bare(value).kind in _LEAVES and _is_safe(bare(value), ids):
                columns[name] = made.column(clause.values[number], value)
            else:
                return None
        decided.append(Values(columns, made.expressions))
    return decided


@dataclass(slots=True)
class _Made:
    """The expressions over the source that become columns; equal ones become one."""

    expressions: dict[str, Any] = field(default_factory=dict)
    _names: dict[Tree, list[str]] = field(default_factory=dict)

    def column(self, expression: Any, tree: Tree) -> str:
        """Return the name of the column that the value in an expression becomes."""
        while tree is not bare(tree):
            expression, tree = expression.child(), tree.children[0]
        alike = self._names.setdefault(tree, [])
        for name in alike:
            # Constants may look alike as text that are not.
            if tree.kind == COLUMN or expression.semanticEquals(self.expressions[name]):
                return name
        name = f"__paimon_value_{len(self.expressions)}"
        self.expressions[name] = expression
        alike.append(name)
        return name


def _is_safe(tree: Tree, source: Collection[str | None]) -> bool:
    """Whether an expression over the source, whose ids are given, is evaluated for any row."""
    if tree.kind == COLUMN:
        return tree.detail in source
    return tree.kind in _SAFE and all(_is_safe(child, source) for child in tree.children)


def with_values(
    bridge: Bridge, statement: RowStatement, keys: Mapping[str, Any], decided: Sequence[Values]
) -> DataFrame:
    """Return keys, new values and the numbers of clauses for rows with and without a target row."""
    values = [named_column(bridge, value, name) for name, value in keys.items()]
    made = decided[0].made if decided else {}
    values += [named_column(bridge, value, name) for name, value in made.items()]
    numbers = [
        _clause_number(bridge, statement, kind).alias(name)
        for kind, name in (
            (ClauseKind.MATCHED, MATCHED),
            (ClauseKind.NOT_MATCHED, NOT_MATCHED),
        )
    ]
    return frame_of(bridge, statement.source).select(*values, *numbers)


def _clause_number(bridge: Bridge, statement: RowStatement, kind: ClauseKind) -> Column:
    """Return the first clause of a kind whose condition is true; null: none."""
    chosen = functions.lit(None).cast("int")
    for number, clause in reversed(list(enumerate(statement.clauses))):
        if clause.rule.kind is not kind:
            continue
        value = functions.lit(number)
        if clause.condition is None:
            chosen = value
        else:
            test = column_of(bridge, clause.condition)
            chosen = functions.when(test, value).otherwise(chosen)
    return chosen


def target_name(number: int) -> str:
    """Name a column of target rows beside those of source rows."""
    return f"__paimon_target_{number}"
