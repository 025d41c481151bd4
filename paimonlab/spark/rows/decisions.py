"""What the clauses of a MERGE make of rows, as far as that is known without the target's values.

Where all new values are columns of the source, constants or what the target row has, the tasks that
find target rows write new ones as well: rows pass between Spark and Python once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, functions

from paimonlab.spark.jvm.expressions import column_of
from paimonlab.spark.rows.joining import frame_of
from paimonlab.spark.rows.statements import RowStatement, as_list
from paimonlab.write.merge_clauses import ClauseKind

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge

MATCHED, NOT_MATCHED = "__paimon_matched", "__paimon_not_matched"
_LEAVES = frozenset({"AttributeReference", "Literal"})
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
    source = statement.source.outputSet()
    attributes = as_list(bridge, statement.target.output())
    made: dict[str, Any] = {}
    decided = []
    for clause in statement.clauses:
        if clause.condition is not None and not _is_safe(bridge, clause.condition, source):
            return None
        columns = {}
        values = clause.values or attributes  # a delete has the old ones
        for number, (attribute, given) in enumerate(zip(attributes, values, strict=True)):
            name, value = str(attribute.name()), _bare(given)
            if name in keys:
                columns[name] = name
            elif value.semanticEquals(attribute):
                columns[name] = target_name(number)
            elif value.getClass().getSimpleName() in _LEAVES and _is_safe(bridge, value, source):
                columns[name] = _made_of(value, made)
            else:
                return None
        decided.append(Values(columns, made))
    return decided


def _made_of(value: Any, made: dict[str, Any]) -> str:
    """Return the column that a value becomes; equal ones become one."""
    for name, other in made.items():
        if value.semanticEquals(other):
            return name
    name = f"__paimon_value_{len(made)}"
    made[name] = value
    return name


def _bare(value: Any) -> Any:
    """Return a value without its name, and without the test of NOT NULL, which writers do, too."""
    if value.getClass().getSimpleName() in ("Alias", "AssertNotNull"):
        return _bare(value.child())
    return value


def _is_safe(bridge: Bridge, expression: Any, source: Any) -> bool:
    """Whether an expression over the source can be evaluated for any row."""
    kind = expression.getClass().getSimpleName()
    if kind == "AttributeReference":
        return bool(source.contains(expression))
    children = as_list(bridge, expression.children())
    return kind in _SAFE and all(_is_safe(bridge, child, source) for child in children)


def with_values(
    bridge: Bridge, statement: RowStatement, keys: Mapping[str, Any], decided: Sequence[Values]
) -> DataFrame:
    """Return keys, new values and the numbers of clauses for rows with and without a target row."""
    values = [column_of(bridge, value).alias(name) for name, value in keys.items()]
    made = decided[0].made if decided else {}
    values += [column_of(bridge, value).alias(name) for name, value in made.items()]
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
