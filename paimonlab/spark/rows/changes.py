"""The rows that a statement changes, as a DataFrame that says what becomes of each.

It has the columns of the target with their new values, `KIND_COLUMN`, and of append tables where
each target row is: `FILE_COLUMN` and `POSITION_COLUMN`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, functions

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.expressions import aliased, column_of
from paimonlab.spark.reading.executor_places import FILE_COLUMN, POSITION_COLUMN
from paimonlab.spark.reading.frames import read_frame
from paimonlab.spark.rows.joining import SOURCE_COLUMN, TARGET_COLUMN, frame_of, joined, named_as
from paimonlab.spark.rows.statements import RowStatement, SparkClause, as_list, is_padded
from paimonlab.spark.writing.executor_write import BEFORE, BUCKET_COLUMN, KIND_COLUMN
from paimonlab.spec.types.system_fields import ROW_ID, SEQUENCE_NUMBER
from paimonlab.table.reading.scan import Scan
from paimonlab.write.merge_clauses import Action, ClauseKind

_TRUE, _FALSE = True, False
_PLACES = (FILE_COLUMN, POSITION_COLUMN)
LOST_NULL = "an update to NULL of "
_CLAUSE = "__paimon_clause"
TARGET_ID = "__paimon_target_id"
"""Column of the id of a target row."""
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_PLANS = "org.apache.spark.sql.catalyst.plans."


@dataclass(frozen=True, slots=True)
class _ColumnValues:
    """The values of one column of the target."""

    old: Column
    """As it is stored."""
    new: Sequence[Column | None]
    """By clause; None: none is needed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be known of the rows that a statement changes."""

    places: bool = False
    """Where the old row is: `FILE_COLUMN` and `POSITION_COLUMN`."""
    ids: bool = False
    """The id of the old row, null for a new one, and null for the number of its commit."""
    own_reader: bool = False
    """Whether our own reader reads the target."""
    by_bucket: bool = False
    """Whether a task has all rows of a bucket, if it can have them."""
    columns: frozenset[str] | None = None
    """The columns of which updated rows need values; None: all."""
    before: tuple[str, ...] = ()
    """The columns of which old values are needed as well, under names that begin with `BEFORE`."""


def changed_rows(
    bridge: Bridge,
    statement: RowStatement,
    scan: Scan,
    wanted: Wanted,
    *,
    keeps_nulls: bool,
    found: DataFrame | None = None,
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
    wanted
        The columns beside those of the target.
    keeps_nulls
        Whether a null that is written replaces a value. Where it does not (partial-update), an
        update to null fails the job with `LOST_NULL` and the column in its message.
    found
        Source rows with their target rows, as `joined` returns them; `BUCKET_COLUMN` of them stays.
        None: both are joined.
    """
    if found is None:
        target = target_rows(bridge, statement, scan, wanted)
        rows = target if statement.source is None else joined(bridge, statement, target)
    else:
        rows = found
    if statement.source is None and statement.clauses[0].condition is not None:
        rows = rows.where(column_of(bridge, statement.clauses[0].condition))
        clause = functions.lit(0)
    else:
        clause = _chosen(bridge, statement)
    chosen = rows.select("*", clause.alias(_CLAUSE)).where(functions.col(_CLAUSE).isNotNull())
    attributes = as_list(bridge, statement.target.output())
    pads = is_padded(statement)
    columns = {
        field.name: _column_values(
            bridge, statement, number, attributes[number], scan, wanted, pads=pads
        )
        for number, field in enumerate(scan.schema.fields)
    }
    tests = [functions.col(_CLAUSE) == number for number in range(len(statement.clauses))]
    values = []
    for name, made in columns.items():
        lost = "" if keeps_nulls else f"{LOST_NULL}{name!r}"
        values.append(aliased(_value(statement.clauses, made, tests, lost=lost), name))
    values += [aliased(columns[name].old, BEFORE + name) for name in wanted.before]
    if wanted.ids:
        is_new = [clause.rule.action is Action.INSERT for clause in statement.clauses]
        inserts = [number for number, new in enumerate(is_new) if new]
        row_id = functions.col(TARGET_ID)
        if inserts:
            row_id = functions.when(~functions.col(_CLAUSE).isin(inserts), row_id)
        number = functions.lit(None).cast("bigint")
        values += [row_id.alias(ROW_ID), number.alias(SEQUENCE_NUMBER)]
    places = [functions.col(name) for name in _PLACES] if wanted.places else []
    is_placed = found is not None and BUCKET_COLUMN in rows.columns
    buckets = [functions.col(BUCKET_COLUMN)] if is_placed else []
    return chosen.select(*values, _kind(statement.clauses).alias(KIND_COLUMN), *places, *buckets)


def target_rows(bridge: Bridge, statement: RowStatement, scan: Scan, wanted: Wanted) -> DataFrame:
    """Read the target of a statement, whose expressions refer to the columns.

    Columns that Spark pads are there as they are stored, too: see `_stored`.
    """
    read = read_as(bridge, statement.relation, scan, wanted, as_stored=is_padded(statement))
    if not is_padded(statement):
        return read
    plan = read._jdf.queryExecution().analyzed()
    columns = as_list(bridge, plan.output())
    padded = as_list(bridge, statement.target.projectList())
    count = len(padded)
    stored = [_alias(bridge, one, _stored(at)) for at, one in enumerate(columns[:count])]
    return frame_of(bridge, _project(bridge, [*padded, *stored, *columns[count:]], plan))


def example_of(
    bridge: Bridge, statement: RowStatement, scan: Scan, wanted: Wanted, place: Mapping[str, object]
) -> str:
    """Return the values that a row of the target is matched by, for a message.

    Parameters
    ----------
    bridge, statement, scan, wanted
        As of `changed_rows`.
    place
        What finds the row: values of columns that are ``wanted``.
    """
    rows = target_rows(bridge, statement, scan, wanted)
    for name, value in place.items():
        rows = rows.where(functions.col(name) == functions.lit(value))
    assert statement.condition is not None, "rows of a source match rows of the target"
    mentioned = statement.condition.references()
    columns = as_list(bridge, statement.target.output())
    matching = [column for column in columns if mentioned.contains(column)] or columns
    row = rows.select(*(column_of(bridge, column) for column in matching)).first()
    assert row is not None, "a row of the snapshot is there"
    return ", ".join(f"{name} = {value!r}" for name, value in row.asDict().items())


def _stored(number: int) -> str:
    """Name a column of the target as it is stored, where Spark pads some."""
    return f"__paimon_stored_{number}"


def _alias(bridge: Bridge, column: Any, name: str) -> Any:
    expressions = bridge.module(_EXPRESSIONS + "NamedExpression")
    alias = bridge.java_class(_EXPRESSIONS + "Alias")
    none = bridge.none()
    return alias(column, name, expressions.newExprId(), bridge.seq([]), none, bridge.seq([]))


def read_as(
    bridge: Bridge,
    relation: Any,
    scan: Scan,
    wanted: Wanted | None = None,
    *,
    as_stored: bool = False,
) -> DataFrame:
    """Read a table; its columns are those of a relation of a statement, by their ids."""
    wanted = wanted or Wanted()
    meant = as_list(bridge, relation.output())
    own = len(scan.schema.fields)
    places = [str(column.name()) for column in meant[own:]]
    if wanted.ids and ROW_ID not in places:
        places.append(ROW_ID)
    frame = read_frame(
        bridge,
        scan,
        positions=wanted.places,
        places=places,
        as_stored=as_stored,
        own_reader=wanted.own_reader,
        by_bucket=wanted.by_bucket,
    )
    plan = frame._jdf.queryExecution().analyzed()
    read = as_list(bridge, plan.output())
    if wanted.places:  # they come before places
        rest = own + len(_PLACES)
        read = [*read[:own], *read[rest:], *read[own:rest]]
    columns = [named_as(bridge, one, other) for one, other in zip(read, meant, strict=False)]
    more = read[len(meant) :]
    if wanted.ids:  # under a name of its own: a source may have ids as well
        own_id = read[own + places.index(ROW_ID)]
        others = [column for column in more if not column.semanticEquals(own_id)]
        more = [*others, _alias(bridge, own_id, TARGET_ID)]
    return frame_of(bridge, _project(bridge, [*columns, *more], plan))


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
    in_target = functions.col(TARGET_COLUMN).isNotNull()
    in_source = functions.col(SOURCE_COLUMN).isNotNull()
    if kind is ClauseKind.MATCHED:
        return in_target & in_source
    return ~in_target if kind is ClauseKind.NOT_MATCHED else ~in_source


def _column_values(
    bridge: Bridge,
    statement: RowStatement,
    number: int,
    attribute: Any,
    scan: Scan,
    wanted: Wanted,
    *,
    pads: bool,
) -> _ColumnValues:
    """Return the values that the clauses give a column of the target."""
    schema = scan.schema
    name = schema.fields[number].name
    old = functions.col(_stored(number)) if pads else column_of(bridge, attribute)
    is_key = bool(schema.primary_keys) and name in (*schema.primary_keys, *schema.partition_keys)
    new: list[Column | None] = []
    for clause in statement.clauses:
        action = clause.rule.action
        if action is Action.DELETE:
            new.append(old if schema.primary_keys else None)  # else the place of the row is enough
            continue
        value = clause.values[number]
        if action is Action.UPDATE and wanted.columns is not None and name not in wanted.columns:
            new.append(None)
        # A key that is stored without blanks stays that key.
        elif action is Action.UPDATE and pads and (is_key or value.semanticEquals(attribute)):
            new.append(old)
        else:
            new.append(column_of(bridge, value))
    return _ColumnValues(old, new)


def _value(
    clauses: Sequence[SparkClause], values: _ColumnValues, tests: Sequence[Column], *, lost: str
) -> Column:
    """Return the new value of a column, by the clause that decides; deletes need the old row.

    All columns share the tests of which clause that is: to make one takes several calls.
    """
    value: Column | None = None
    for clause, new, test in zip(clauses, values.new, tests, strict=True):
        if new is None:
            continue
        if lost and clause.rule.action is Action.UPDATE:
            failure = functions.raise_error(lost)
            is_lost = new.isNull() & values.old.isNotNull()
            result = functions.when(is_lost, failure).otherwise(new)
        else:
            result = new
        value = functions.when(test, result) if value is None else value.when(test, result)
    if value is None:
        return functions.when(functions.lit(_FALSE), values.old)
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
