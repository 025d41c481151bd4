"""A resolved DELETE, UPDATE or MERGE INTO of Spark, read as values.

Expressions stay Spark's: they are resolved, and refer to columns of target and source by ids.

Source: apache/spark@v4.3.0 ``DeleteFromTable``, ``UpdateTable``, ``MergeIntoTable``,
``AssignmentUtils``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.jvm.bridge import ANALYSIS, Bridge
from paimonlab.write.merge_clauses import Action, Clause, ClauseKind

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
VERBS = {
    "DeleteFromTable": "DELETE FROM",
    "MergeIntoTable": "MERGE INTO",
    "OverwriteByExpression": "INSERT OVERWRITE",
    "OverwritePartitionsDynamic": "INSERT OVERWRITE",
    "UpdateTable": "UPDATE",
}
"""How statements begin, by their plans."""
_DATA_TYPE_UTILITIES = "org.apache.spark.sql.catalyst.types.DataTypeUtils"
_PLACE_KEY = "__metadata_col"
"""What metadata of a column have that says where rows are."""
_LENGTH_TESTS = frozenset({"charTypeWriteSideCheck", "varcharTypeWriteSideCheck"})
NOT_IN_ARROW = ("geography", "geometry", "interval", "udt", "variant", "void")
"""Words in the names of types that Python and Spark do not pass to each other as they are."""
_ACTIONS = {
    "UpdateAction": Action.UPDATE,
    "UpdateStarAction": Action.UPDATE,
    "DeleteAction": Action.DELETE,
    "InsertAction": Action.INSERT,
    "InsertStarAction": Action.INSERT,
}


@dataclass(frozen=True, slots=True)
class SparkClause:
    """One clause of a statement."""

    rule: Clause
    condition: Any | None
    """A Catalyst expression; None: always."""
    values: Sequence[Any] = ()
    """An expression for each column of the target; () for a delete."""
    assigned: Sequence[tuple[str, Any]] = ()
    """Columns that the statement names, and their expressions."""

    @property
    def expressions(self) -> list[Any]:
        """The condition, if there is one, and the values."""
        condition = [] if self.condition is None else [self.condition]
        return [*condition, *self.values]


@dataclass(frozen=True, slots=True)
class RowStatement:
    """What a statement does to which rows of the target."""

    name: str
    """``DELETE FROM``, ``UPDATE`` or ``MERGE INTO``."""
    relation: Any
    """The target: a ``DataSourceV2Relation``."""
    target: Any
    """The target as expressions know it: the relation, or a ``Project`` that pads CHAR columns."""
    clauses: tuple[SparkClause, ...]
    source: Any | None = None
    """Plan of the source of a MERGE."""
    condition: Any | None = None
    """What joins it to the target."""
    inserted: Any | None = None
    """Plan of rows that come in the place of those that are deleted, with the target's columns."""

    @property
    def is_everything(self) -> bool:
        """Whether it deletes all rows."""
        (clause, *others) = self.clauses
        literal: Any = clause.condition
        return (
            self.name == "DELETE FROM"
            and not others
            and literal.getClass().getSimpleName() == "Literal"
            and literal.value() is True
        )

    @property
    def rules(self) -> tuple[Clause, ...]:
        """The clauses without expressions."""
        return tuple(clause.rule for clause in self.clauses)

    @property
    def text(self) -> str:
        """What it does to which table."""
        target = self.relation.name()
        return f"{self.name} {target}"


def read_statement(bridge: Bridge, plan: Any) -> RowStatement:
    """Read a resolved plan of Spark.

    Parameters
    ----------
    bridge
        The session.
    plan
        ``DeleteFromTable``, ``UpdateTable`` or ``MergeIntoTable``.
    """
    kind = plan.getClass().getSimpleName()
    if kind == "MergeIntoTable":
        return _merge(bridge, plan)
    target = _bare(bridge, plan.table())
    relation = relation_of(bridge, target)
    if kind == "DeleteFromTable":
        condition = as_named(bridge, target, plan.condition())
        rule = Clause(ClauseKind.MATCHED, Action.DELETE, has_condition=True)
        return RowStatement("DELETE FROM", relation, target, (SparkClause(rule, condition),))
    given = plan.condition()
    condition = as_named(bridge, target, given.get()) if given.isDefined() else None
    rule = Clause(ClauseKind.MATCHED, Action.UPDATE, has_condition=condition is not None)
    clause = _update(bridge, target, rule, condition, plan.assignments(), is_star=False)
    return RowStatement("UPDATE", relation, target, (clause,))


def _merge(bridge: Bridge, plan: Any) -> RowStatement:
    target = _bare(bridge, plan.targetTable())
    groups = (
        (ClauseKind.MATCHED, plan.matchedActions()),
        (ClauseKind.NOT_MATCHED, plan.notMatchedActions()),
        (ClauseKind.NOT_MATCHED_BY_SOURCE, plan.notMatchedBySourceActions()),
    )
    clauses = tuple(
        _clause(bridge, target, kind, action)
        for kind, actions in groups
        for action in as_list(bridge, actions)
    )
    return RowStatement(
        "MERGE INTO",
        relation_of(bridge, target),
        target,
        clauses,
        source=plan.sourceTable(),
        condition=as_named(bridge, target, plan.mergeCondition()),
    )


def as_named(bridge: Bridge, target: Any, condition: Any) -> Any:
    """Return a condition in which columns of the target have the names of the table.

    Statements may write them in upper or lower case.
    """
    (named,) = _all_named(bridge, target, [condition])
    return named


def _all_named(bridge: Bridge, target: Any, expressions: Sequence[Any]) -> list[Any]:
    strategy = bridge.module("org.apache.spark.sql.execution.datasources.DataSourceStrategy")
    named = strategy.normalizeExprs(bridge.seq(expressions), target.output())
    return as_list(bridge, named)


def _clause(bridge: Bridge, target: Any, kind: ClauseKind, action: Any) -> SparkClause:
    name = action.getClass().getSimpleName()
    what = _ACTIONS[name]
    given = action.condition()
    condition = as_named(bridge, target, given.get()) if given.isDefined() else None
    rule = Clause(kind, what, has_condition=condition is not None)
    if what is Action.DELETE:
        return SparkClause(rule, condition)
    if what is Action.UPDATE:
        is_star = bool(action.fromStar()) if hasattr(action, "fromStar") else False
        return _update(bridge, target, rule, condition, action.assignments(), is_star=is_star)
    utilities = bridge.module(ANALYSIS + "AssignmentUtils")
    own, assigned = own_columns(bridge, target), action.assignments()
    aligned = utilities.alignInsertAssignments(own, assigned, False)  # noqa: FBT003
    return SparkClause(rule, condition, _values(bridge, aligned))


def _update(
    bridge: Bridge, target: Any, rule: Clause, condition: Any, assignments: Any, *, is_star: bool
) -> SparkClause:
    utilities = bridge.module(ANALYSIS + "AssignmentUtils")
    aligned = utilities.alignUpdateAssignments(
        own_columns(bridge, target),
        assignments,
        is_star,
        False,  # noqa: FBT003 - missing nested fields are not made up
    )
    given = as_list(bridge, assignments)
    names = _assigned_columns(bridge, target, [assignment.key() for assignment in given])
    assigned = [(name, one.value()) for name, one in zip(names, given, strict=True)]
    return SparkClause(rule, condition, _values(bridge, aligned), assigned)


def own_columns(bridge: Bridge, target: Any) -> Any:
    """Return the columns of a target without those that say where rows are, as a Scala ``Seq``."""
    are_own = [is_own for _, is_own in _named_columns(bridge, target)]
    if all(are_own):
        return target.output()
    columns = as_list(bridge, target.output())
    return bridge.seq([one for one, is_own in zip(columns, are_own, strict=True) if is_own])


def _named_columns(bridge: Bridge, target: Any) -> list[tuple[str, bool]]:
    """Return the columns of a target by name, and whether each is one of the table.

    That takes as many calls for many columns as for one.
    """
    utilities = bridge.java_class(_DATA_TYPE_UTILITIES)
    fields = json.loads(utilities.fromAttributes(target.output()).json())["fields"]
    return [(field["name"], _PLACE_KEY not in field["metadata"]) for field in fields]


def target_names(bridge: Bridge, target: Any) -> list[str]:
    """Return the names of a target's columns, of those that say where rows are as well."""
    return [name for name, _ in _named_columns(bridge, target)]


def _assigned_columns(bridge: Bridge, target: Any, keys: Sequence[Any]) -> list[str]:
    """Return the columns that assignments are to, or to a field of, as the table calls them.

    Statements may write them in upper or lower case.

    Raises
    ------
    SchemaError
        If one says where a row is.
    """
    own = {name for name, is_own in _named_columns(bridge, target) if is_own}
    tops = [_top_column(bridge, key) for key in keys]
    names = [str(top.name()) for top in tops]
    if not own.issuperset(names):
        names = [str(top.name()) for top in _all_named(bridge, target, tops)]
    for name in names:
        if name not in own:
            table = relation_of(bridge, target).name()
            raise SchemaError(f"{table}: {name!r} says where a row is and cannot be assigned to")
    return names


def _top_column(bridge: Bridge, key: Any) -> Any:
    """Return the column that an assignment is to, or to a field of."""
    while key.getClass().getSimpleName() != "AttributeReference":
        (key,) = as_list(bridge, key.children())
    return key


def _values(bridge: Bridge, assignments: Any) -> list[Any]:
    return [assignment.value() for assignment in as_list(bridge, assignments)]


def check_keys_stay(
    bridge: Bridge, statement: RowStatement, keys: Sequence[str], partitions: Sequence[str]
) -> None:
    """Check that no update moves a row of a primary-key table to another key.

    A key may be given the value that the condition of the MERGE says it has.

    Raises
    ------
    SchemaError
        Names the column.
    """
    same = _equalities(bridge, statement.condition) if statement.condition is not None else []
    for clause in statement.clauses:
        for name, value in clause.assigned:
            if name not in keys and name not in partitions:
                continue
            is_same = any(
                key == name and unchecked(value).semanticEquals(other) for key, other in same
            ) or _is_column(unchecked(value), name, statement, bridge)
            if not is_same:
                what = "the primary key" if name in keys else "the partition"
                raise SchemaError(
                    f"{statement.text}: {name!r} is a column of {what}, which cannot be updated; "
                    "delete the rows and write new ones"
                )


def _is_column(value: Any, name: str, statement: RowStatement, bridge: Bridge) -> bool:
    own = {attribute.name(): attribute for attribute in as_list(bridge, statement.target.output())}
    return bool(value.semanticEquals(own[name]))


def _equalities(bridge: Bridge, condition: Any) -> list[tuple[str, Any]]:
    """Return the columns that a condition says are equal: by name, both ways round."""
    kind = condition.getClass().getSimpleName()
    if kind == "And":
        left, right = condition.left(), condition.right()
        return _equalities(bridge, left) + _equalities(bridge, right)
    if kind not in ("EqualTo", "EqualNullSafe"):
        return []
    sides = [_unpadded(side) for side in (condition.left(), condition.right())]
    return [
        (str(one.name()), other)
        for one, other in (sides, sides[::-1])
        if one.getClass().getSimpleName() == "AttributeReference"
    ]


def _unpadded(value: Any) -> Any:
    """Return a value without the blanks that Spark adds to compare it with a longer CHAR(n)."""
    return value.str() if value.getClass().getSimpleName() == "StringRPad" else value


def check_functions(bridge: Bridge, statement: RowStatement) -> None:
    """Check that no condition or new value is of several rows.

    Raises
    ------
    UnsupportedError
        Names the clause.
    """
    windows = bridge.module(_EXPRESSIONS + "WindowExpression")
    aggregates = bridge.module(_EXPRESSIONS + "aggregate.AggregateExpression")
    for clause in statement.clauses:
        values = [value for _, value in clause.assigned]
        if clause.condition is not None and windows.hasWindowExpression(clause.condition):
            what = f"a window function in a condition of {statement.text}"
            advice = "MERGE INTO the table USING a query that has its keys and the function"
            raise UnsupportedError(what, advice)
        for value in [clause.condition, *values]:
            if value is not None and aggregates.containsAggregate(value):
                raise UnsupportedError(
                    f"the aggregate function {value.sql()} in {statement.text}",
                    "rows are changed one by one; put it into a subquery",
                )


def target_of(bridge: Bridge, plan: Any) -> Any:
    """Return the relation that a resolved statement changes: a ``DataSourceV2Relation``.

    Raises
    ------
    UnsupportedError
        If it is a view.
    """
    kind = str(plan.getClass().getSimpleName())
    bare = _bare(bridge, plan.targetTable() if kind == "MergeIntoTable" else plan.table())
    if bare.getClass().getSimpleName() == "View":
        raise UnsupportedError(
            f"{VERBS[kind]} {bare.desc().identifier().table()}",
            "it is a view, whose rows cannot be changed: change those of the table that it reads",
        )
    return relation_of(bridge, bare)


def has_subqueries(bridge: Bridge, statement: RowStatement) -> bool:
    """Whether a condition or a new value has a subquery."""
    test = bridge.java_class("org.apache.spark.sql.catalyst.expressions.SubqueryExpression")
    conditions = [clause.condition for clause in statement.clauses if clause.condition is not None]
    values = [value for clause in statement.clauses for value in clause.values]
    return any(test.hasSubquery(one) for one in (*conditions, *values))


def is_padded(statement: RowStatement) -> bool:
    """Whether Spark pads columns of CHAR(n) of the target."""
    return bool(statement.target.getClass().getSimpleName() == "Project")


def relation_of(bridge: Bridge, target: Any) -> Any:
    """Return what a target is read from; around it Spark may pad the columns of CHAR(n)."""
    (leaf,) = as_list(bridge, target.collectLeaves())
    return leaf


def unchecked(value: Any) -> Any:
    """Return a value without Spark's tests of NOT NULL and of its length for a CHAR or VARCHAR."""
    kind = value.getClass().getSimpleName()
    if kind in ("Alias", "AssertNotNull"):
        return unchecked(value.child())
    if kind == "StaticInvoke" and str(value.functionName()) in _LENGTH_TESTS:
        return unchecked(value.arguments().head())
    return value


def _bare(bridge: Bridge, plan: Any) -> Any:
    return bridge.module(ANALYSIS + "EliminateSubqueryAliases").apply(plan)


def as_list(bridge: Bridge, items: Any) -> list[Any]:
    """Return the items of a Scala ``Seq``, in one call each."""
    found = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(items)
    return [found.get(index) for index in range(found.size())]
