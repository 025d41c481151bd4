"""The rows that a statement changes, as a DataFrame that says what becomes of each.

It has the columns of the target with their new values, `KIND_COLUMN`, and of append tables where
each target row is: `FILE_COLUMN` and `POSITION_COLUMN`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, functions

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.expressions import column_of
from paimonlab.spark.reading.frames import read_frame
from paimonlab.spark.rows.executor_changes import FILE_COLUMN, POSITION_COLUMN
from paimonlab.spark.rows.statements import RowStatement, SparkClause, as_list
from paimonlab.spark.writing.executor_write import KIND_COLUMN
from paimonlab.table.reading.scan import Scan
from paimonlab.write.merge_clauses import (
    Action,
    ClauseKind,
    needs_unmatched_source,
    needs_unmatched_target,
)

_TRUE, _FALSE = True, False
LOST_NULL = "an update to NULL of "
_CLAUSE = "__paimon_clause"
_TARGET = "__paimon_in_target"
_SOURCE = "__paimon_in_source"
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_PLANS = "org.apache.spark.sql.catalyst.plans."
_DATASET = "org.apache.spark.sql.classic.Dataset"
_SESSIONS = "org.apache.spark.sql.classic.SparkSession"


def changed_rows(
    bridge: Bridge, statement: RowStatement, scan: Scan, *, keeps_nulls: bool
) -> DataFrame:
    """Return what a statement makes of the rows of a snapshot; nothing is read yet.

    Parameters
    ----------
    bridge
        The session.
    statement
        The statement.
    scan
        The target at the snapshot.
    keeps_nulls
        Whether a null that is written replaces a value. Where it does not (partial-update), an
        update to null fails the job with `LOST_NULL` and the column in its message.
    """
    is_keyed = bool(scan.schema.primary_keys)
    target = read_as(bridge, statement.relation, scan, has_places=not is_keyed)
    rows = target if statement.source is None else _joined(bridge, statement, target)
    if statement.source is None and statement.clauses[0].condition is not None:
        rows = rows.where(column_of(bridge, statement.clauses[0].condition))
        clause = functions.lit(0)
    else:
        clause = _chosen(bridge, statement)
    chosen = rows.select("*", clause.alias(_CLAUSE)).where(functions.col(_CLAUSE).isNotNull())
    names = [field.name for field in scan.schema.fields]
    places = [] if is_keyed else [functions.col(FILE_COLUMN), functions.col(POSITION_COLUMN)]
    output = as_list(bridge, statement.relation.output())
    values = [
        _value(
            bridge,
            statement.clauses,
            number,
            column_of(bridge, attribute),
            is_keyed,
            lost="" if keeps_nulls else f"{LOST_NULL}{name!r}",
        ).alias(name)
        for number, (name, attribute) in enumerate(zip(names, output, strict=True))
    ]
    return chosen.select(*values, _kind(statement.clauses).alias(KIND_COLUMN), *places)


def read_as(bridge: Bridge, relation: Any, scan: Scan, *, has_places: bool = False) -> DataFrame:
    """Read a table; its columns are those of a relation of a statement, by their ids."""
    places = _places() if has_places else []
    plan = read_frame(bridge, scan, places)._jdf.queryExecution().analyzed()
    alias = bridge.java_class(_EXPRESSIONS + "Alias")
    read = as_list(bridge, plan.output())
    meant = as_list(bridge, relation.output())
    columns = [
        alias(one, other.name(), other.exprId(), bridge.seq([]), bridge.none(), bridge.seq([]))
        for one, other in zip(read, meant, strict=False)
    ]
    return frame_of(bridge, _project(bridge, [*columns, *read[len(meant) :]], plan))


def _places() -> list[Column]:
    name = functions.element_at(functions.split(functions.col("_metadata.file_path"), "/"), -1)
    position = functions.col("_metadata.row_index")
    return [name.alias(FILE_COLUMN), position.alias(POSITION_COLUMN)]


def _joined(bridge: Bridge, statement: RowStatement, target: DataFrame) -> DataFrame:
    rules = statement.rules
    source_too, target_too = needs_unmatched_source(rules), needs_unmatched_target(rules)
    kinds = {
        (False, False): "Inner",
        (True, False): "RightOuter",
        (False, True): "LeftOuter",
        (True, True): "FullOuter",
    }
    left = target.select("*", functions.lit(_TRUE).alias(_TARGET))
    source = frame_of(bridge, statement.source)
    right = source.select("*", functions.lit(_TRUE).alias(_SOURCE))
    join = bridge.java_class(_PLANS + "logical.Join")(
        left._jdf.queryExecution().analyzed(),
        right._jdf.queryExecution().analyzed(),
        bridge.module(_PLANS + kinds[source_too, target_too]),
        bridge.some(statement.condition),
        bridge.java_class(_PLANS + "logical.JoinHint").NONE(),
    )
    return frame_of(bridge, join)


def _chosen(bridge: Bridge, statement: RowStatement) -> Column:
    """Return the number of the clause that decides about a row; null: none does."""
    chosen: Column | None = None
    for number, clause in enumerate(statement.clauses):
        test = _about(statement, clause.rule.kind)
        if clause.condition is not None:
            condition = column_of(bridge, clause.condition)
            test = condition if test is None else test & condition
        if test is None:
            test = functions.lit(_TRUE)
        value = functions.lit(number)
        chosen = functions.when(test, value) if chosen is None else chosen.when(test, value)
    assert chosen is not None, "a statement has a clause"
    return chosen


def _about(statement: RowStatement, kind: ClauseKind) -> Column | None:
    """Tell the rows that clauses of a kind are about."""
    if statement.source is None:
        return None
    in_target = functions.col(_TARGET).isNotNull()
    in_source = functions.col(_SOURCE).isNotNull()
    if kind is ClauseKind.MATCHED:
        return in_target & in_source
    return ~in_target if kind is ClauseKind.NOT_MATCHED else ~in_source


def _value(
    bridge: Bridge,
    clauses: Sequence[SparkClause],
    number: int,
    old: Column,
    is_keyed: bool,  # noqa: FBT001
    lost: str,
) -> Column:
    """Return the new value of a column, by the clause that decides; deletes need the old row."""
    value: Column | None = None
    for position, clause in enumerate(clauses):
        if clause.rule.action is not Action.DELETE:
            new = column_of(bridge, clause.values[number])
            if lost and clause.rule.action is Action.UPDATE:
                failure = functions.raise_error(lost)
                new = functions.when(new.isNull() & old.isNotNull(), failure).otherwise(new)
        elif is_keyed:
            new = old
        else:
            continue  # the place of the row is enough
        test = functions.col(_CLAUSE) == position
        value = functions.when(test, new) if value is None else value.when(test, new)
    if value is None:
        return functions.when(functions.lit(_FALSE), old)
    return value


def _kind(clauses: Sequence[SparkClause]) -> Column:
    kinds = [int(clause.rule.action.row_kind) for clause in clauses]
    clause = functions.col(_CLAUSE)
    value = functions.lit(kinds[-1])
    for number, kind in enumerate(kinds[:-1]):
        value = functions.when(clause == number, functions.lit(kind)).otherwise(value)
    return value.cast("tinyint")


def _project(bridge: Bridge, columns: Sequence[Any], plan: Any) -> Any:
    return bridge.java_class(_PLANS + "logical.Project")(bridge.seq(columns), plan)


def frame_of(bridge: Bridge, plan: Any) -> DataFrame:
    """Make a DataFrame of a plan, in the session that is active."""
    session = bridge.java_class(_SESSIONS).active()
    return DataFrame(bridge.module(_DATASET).ofRows(session, plan), bridge.spark)
