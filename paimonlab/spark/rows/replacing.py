"""``INSERT INTO t REPLACE WHERE condition query``: new rows in the place of others, in one commit.

So does ``df.writeTo(t).overwrite(condition)``. Conditions that say values of partition columns
alone replace whole partitions, which needs no look at rows; here are all others. Rows of which the
condition is true are deleted as by DELETE, and the new rows are written by the same job. That new
rows satisfy the condition is not asked for.

Source: apache/spark@v4.2.0 and v4.3.0 ``OverwriteByExpression``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, Window, functions

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.predicates import condition_text
from paimonlab.spark.reading.executor_places import FILE_COLUMN, POSITION_COLUMN
from paimonlab.spark.rows.joining import frame_of
from paimonlab.spark.rows.statements import RowStatement, SparkClause, as_list, as_named
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.executor_write import KIND_COLUMN
from paimonlab.spec.merge_engine import MergeOptions
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from paimonlab.table.changing.keyed import check_delete
from paimonlab.table.inside import definition_of
from paimonlab.write.merge_clauses import Action, Clause, ClauseKind

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table

_IS_NEW = "__paimon_is_new"


def chooses_partitions(bridge: Bridge, condition: Any, table: Table) -> bool:
    """Return whether a condition is nothing but values of partition columns."""
    kind = str(condition.getClass().getSimpleName())
    if kind == "And":
        sides = (condition.left(), condition.right())
        return all(chooses_partitions(bridge, side, table) for side in sides)
    if kind == "IsNull":
        return _is_partition_column(condition.child(), table)
    if kind not in ("EqualTo", "EqualNullSafe"):
        return False
    sides = (condition.left(), condition.right())
    return any(
        _is_partition_column(one, table) and bool(other.foldable())
        for one, other in (sides, sides[::-1])
    )


def _is_partition_column(expression: Any, table: Table) -> bool:
    return (
        str(expression.getClass().getSimpleName()) == "AttributeReference"
        and str(expression.name()) in table.partition_keys
    )


def replacing_statement(bridge: Bridge, plan: Any, table: Table) -> RowStatement:
    """Read a resolved ``OverwriteByExpression``: what it deletes, and the rows that come instead.

    Raises
    ------
    UnsupportedError
        If rows of the table are not deleted one by one, or another row of a key would count; if
        the condition is about a column of type CHAR.
    """
    relation = plan.table()
    condition = as_named(bridge, relation, plan.deleteExpr())
    rule = Clause(ClauseKind.MATCHED, Action.DELETE, has_condition=True)
    statement = RowStatement(
        "INSERT OVERWRITE",
        relation,
        relation,
        (SparkClause(rule, condition),),
        inserted=plan.query(),
    )
    _check(bridge, condition, table)
    return statement


def _check(bridge: Bridge, condition: Any, table: Table) -> None:
    what = f"overwriting rows of {table.name} where {condition_text(bridge, condition)}"
    mentioned = as_list(bridge, condition.references().toSeq())
    for name in (str(column.name()) for column in mentioned):
        fields = [field for field in table.schema.fields if field.name == name]
        if not fields:
            raise UnsupportedError(what, f"{name} says where a row is; DELETE and INSERT")
        (field,) = fields
        if isinstance(field.type, AtomicType) and field.type.root is TypeRoot.CHAR:
            raise UnsupportedError(
                what, f"Spark does not pad the CHAR column {name} here; DELETE and INSERT"
            )
    if not table.primary_keys:
        return
    definition = definition_of(table)
    check_delete(definition)
    options = definition.options.slice(MergeOptions)
    if options.engine != "deduplicate" or options.sequence_fields:
        raise UnsupportedError(
            what,
            "new rows would be merged with those they replace, by merge-engine = "
            f"'{options.engine}' and 'sequence.field'; DELETE and INSERT",
        )


def with_new_rows(
    bridge: Bridge, statement: RowStatement, table: Table, changed: DataFrame
) -> DataFrame:
    """Add the new rows of a statement to those it deletes, of whose keys there are none then.

    Parameters
    ----------
    bridge, statement
        The session, and a statement that has `RowStatement.inserted`.
    table
        Its target.
    changed
        The deleted rows, as `changed_rows` returns them.
    """
    columns = [field.name for field in table.schema.fields]
    rows = frame_of(bridge, statement.inserted).toDF(*columns)
    kind = functions.lit(int(RowKind.INSERT)).cast("tinyint").alias(KIND_COLUMN)
    places = [
        functions.lit(None).cast(type_).alias(name)
        for name, type_ in ((FILE_COLUMN, "string"), (POSITION_COLUMN, "bigint"))
        if name in changed.columns
    ]
    every = changed.unionByName(rows.select("*", kind, *places))
    if not table.primary_keys:
        return every
    # A delete and an insert of one key come in no order: the insert alone does what both would.
    of_key = Window.partitionBy(*map(quoted, table.primary_keys))
    is_new = functions.col(KIND_COLUMN) == int(RowKind.INSERT)
    marked = every.withColumn(_IS_NEW, functions.max(is_new).over(of_key))
    return marked.where(is_new | ~functions.col(_IS_NEW)).drop(_IS_NEW)
