"""A MERGE by primary key without a join: the keys of the source are looked for where they are.

Rows of the source are brought to the buckets that their keys belong to, as rows of an INSERT are.
The tasks that will write there read the keys of these buckets; so the target is neither shuffled
nor handed to Spark, and the source is read once. Spark evaluates conditions and new values.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, functions
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BooleanType, StructField, StructType

from paimonlab.spark.jvm.expressions import column_of, named_column
from paimonlab.spark.reading.frames import abilities
from paimonlab.spark.reading.relation_schema import scan_schema, undeclared
from paimonlab.spark.rows.decisions import (
    MATCHED,
    NOT_MATCHED,
    decisions,
    target_name,
    with_values,
)
from paimonlab.spark.rows.executor_lookups import Decision, LookupTask, MergeTask
from paimonlab.spark.rows.joining import (
    SOURCE_COLUMN,
    TARGET_COLUMN,
    estimated_bytes,
    frame_of,
    is_hashed,
    is_over,
    named_as,
    parts_of,
)
from paimonlab.spark.rows.statements import (
    NOT_IN_ARROW,
    RowStatement,
    as_list,
    is_padded,
    unchecked,
)
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.executor_write import BUCKET_COLUMN
from paimonlab.spark.writing.shuffle import shuffled
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.inside import definition_of
from paimonlab.write.merge_clauses import (
    Action,
    needs_unmatched_source,
    needs_unmatched_target,
)

if TYPE_CHECKING:
    from paimonlab.scan.split import DataSplit
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.spark.rows.executor_changes import ChangeTask
    from paimonlab.spec.buckets.key import BucketKey
    from paimonlab.table.reading.scan import Scan
    from paimonlab.table.table import Table

_PLANS = "org.apache.spark.sql.catalyst.plans."
_SORTED_BYTES = 128 << 20
"""A source of more bytes, as Spark estimates it, is sorted by key in each task, so that every part
of a bucket is read once."""
_TRUE = True


@dataclass(frozen=True, slots=True)
class _Match:
    """What the condition of a MERGE says."""

    keys: Mapping[str, Any]
    """By column of the primary key: an expression over the source that it equals."""
    rest: Sequence[Any]
    """The other parts of the condition."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Rows in the tasks that write them."""

    rows: DataFrame
    """As `joining.joined` returns them; if the clauses are decided, source rows."""
    decided: Callable[[ChangeTask], MergeTask] | None = None
    """Makes what looks up and writes source rows, where clauses need nothing of target rows."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Source rows where their keys belong, and how target rows are looked up."""

    placed: DataFrame
    schema: StructType
    """Of what is found."""
    task: LookupTask


def looked_up(
    bridge: Bridge,
    statement: RowStatement,
    table: Table,
    scan: Scan,
    *,
    keeps_nulls: bool,
    before: Collection[str] = (),
) -> LookedUp | None:
    """Look target rows up by their keys; None: they have to be joined.

    Parameters
    ----------
    bridge
        The session.
    statement
        A MERGE.
    table
        Its target.
    scan
        That at the snapshot.
    keeps_nulls
        As of `changes.changed_rows`: if not, old values are looked at.
    before
        Columns whose old values are looked at.
    """
    match = _match(statement, scan)
    if match is None:
        return None
    splits = scan.plan().splits
    if any(split.total_buckets != definition_of(table).buckets for split in splits):
        return None  # of partitions that have other numbers of buckets
    can_be_decided = keeps_nulls and not before and not match.rest
    decided = decisions(bridge, statement, match.keys) if can_be_decided else None
    if decided is None:
        source = _renewed(bridge, _source_rows(bridge, statement, match))
    else:
        source = with_values(bridge, statement, match.keys, decided)
    wanted = _wanted(bridge, statement, match, before, keeps_nulls=keeps_nulls)
    ship(bridge.spark.sparkContext)
    placed = shuffled(bridge, source, table, scan.snapshot, replaces=False).rows
    if estimated_bytes(source) > _SORTED_BYTES:
        keys = [functions.col(quoted(key)) for key in scan.schema.primary_keys]
        placed = placed.sortWithinPartitions(*keys)
    found = _with_target(bridge, statement, scan, placed, splits, wanted)
    if found is None:
        return None
    if decided is not None:
        clauses = [
            Decision(clause.rule.action.row_kind, named.columns)
            for clause, named in zip(statement.clauses, decided, strict=True)
        ]
        task = partial(MergeTask, found.task, clauses, MATCHED, NOT_MATCHED)
        return LookedUp(found.placed, task)
    rows = _as_joined(bridge, statement, match, found, wanted)
    return None if rows is None else LookedUp(rows)


def _match(statement: RowStatement, scan: Scan) -> _Match | None:
    """Read the condition, if it says the key of the target, and nothing stands in the way."""
    definition = scan.definition
    if (
        statement.source is None
        or scan.snapshot is None
        or not scan.is_one_snapshot
        or not definition.primary_keys
        or definition.bucket_mode is not BucketMode.HASH_FIXED
        or needs_unmatched_target(statement.rules)
        or is_padded(statement)
        or statement.target.output().size() > len(definition.schema.fields)  # places of rows
    ):
        return None
    keys: dict[str, Any] = {}
    rest = []
    for part in parts_of(statement.condition):
        found = _key_of(statement, part, scan.schema.primary_keys)
        if found is None or found[0] in keys:
            rest.append(part)
        else:
            keys[found[0]] = found[1]
    if keys.keys() != set(scan.schema.primary_keys) or not _inserts_keys(statement, scan, keys):
        return None
    return _Match(keys, rest)


def _key_of(statement: RowStatement, part: Any, keys: Sequence[str]) -> tuple[str, Any] | None:
    """Return the column of the key that a part of the condition says a value of."""
    if part.getClass().getSimpleName() not in ("EqualTo", "EqualNullSafe"):
        return None
    assert statement.source is not None, "a MERGE has a source"
    target, source = statement.target.outputSet(), statement.source.outputSet()
    sides = (part.left(), part.right())
    for key, value in (sides, sides[::-1]):
        is_column = key.getClass().getSimpleName() == "AttributeReference"
        if not is_column or not target.contains(key) or not is_over(value, source):
            continue
        if is_hashed(key, value) and str(key.name()) in keys:
            return str(key.name()), value
    return None


def _inserts_keys(statement: RowStatement, scan: Scan, keys: Mapping[str, Any]) -> bool:
    """Whether rows that are inserted have the key that was looked for."""
    numbers = {field.name: number for number, field in enumerate(scan.schema.fields)}
    return all(
        unchecked(clause.values[numbers[name]]).semanticEquals(unchecked(value))
        for clause in statement.clauses
        if clause.rule.action is Action.INSERT
        for name, value in keys.items()
    )


def _source_rows(bridge: Bridge, statement: RowStatement, match: _Match) -> DataFrame:
    """Return the keys by the names of the table, and the columns that the statement mentions."""
    assert statement.source is not None, "a MERGE has a source"
    values, source = [*match.rest, *_expressions(statement)], statement.source.output()
    columns = [
        named_column(bridge, attribute, _source_name(number))
        for number, attribute in _mentioned(bridge, as_list(bridge, source), values)
    ]
    keys = [named_column(bridge, value, name) for name, value in match.keys.items()]
    return frame_of(bridge, statement.source).select(*keys, *columns)


def _renewed(bridge: Bridge, rows: DataFrame) -> DataFrame:
    """Return the same rows of a plan with other ids, as Spark makes it for the right of a join.

    The ids of the source are given to what is found, and Spark allows them in one place of a plan.
    """
    plan = rows._jdf.queryExecution().analyzed()
    join = bridge.java_class(_PLANS + "logical.Join")(
        plan,
        plan,
        bridge.module(_PLANS + "Inner"),
        bridge.none(),
        bridge.java_class(_PLANS + "logical.JoinHint").NONE(),
    )
    return frame_of(bridge, frame_of(bridge, join)._jdf.queryExecution().analyzed().right())


def _expressions(statement: RowStatement) -> list[Any]:
    values = [value for clause in statement.clauses for value in clause.values]
    conditions = (clause.condition for clause in statement.clauses)
    return [*values, *(condition for condition in conditions if condition is not None)]


def _mentioned(
    bridge: Bridge, attributes: Sequence[Any], expressions: Sequence[Any]
) -> list[tuple[int, Any]]:
    sets = bridge.module("org.apache.spark.sql.catalyst.expressions.AttributeSet")
    references = sets.apply(bridge.seq(expressions))
    return [one for one in enumerate(attributes) if references.contains(one[1])]


def _wanted(
    bridge: Bridge,
    statement: RowStatement,
    match: _Match,
    before: Collection[str],
    *,
    keeps_nulls: bool,
) -> list[tuple[int, Any]]:
    """Return the columns of target rows that are looked at, and their positions."""
    attributes = as_list(bridge, statement.target.output())
    actions = {clause.rule.action for clause in statement.clauses}
    if Action.DELETE in actions or not keeps_nulls:
        wanted = list(enumerate(attributes))
    else:
        old = [one for one in attributes if str(one.name()) in before]
        wanted = _mentioned(bridge, attributes, [*match.rest, *_expressions(statement), *old])
    return [(number, one) for number, one in wanted if str(one.name()) not in match.keys]


def _with_target(
    bridge: Bridge,
    statement: RowStatement,
    scan: Scan,
    placed: DataFrame,
    splits: Sequence[DataSplit],
    wanted: Sequence[tuple[int, Any]],
) -> _Found | None:
    """Say how rows are looked up; None: Python and Spark cannot pass them to each other."""
    types = undeclared(scan_schema(scan.schema.fields))
    added = [StructField(target_name(number), types[number].dataType) for number, _ in wanted]
    schema = StructType([*placed.schema, *added, StructField(TARGET_COLUMN, BooleanType())])
    if any(name in schema.simpleString() for name in NOT_IN_ARROW):
        return None
    expected = to_arrow_schema(schema, timezone="UTC")
    by_bucket: defaultdict[BucketKey, list[DataSplit]] = defaultdict(list)
    for split in splits:
        by_bucket[split.partition, split.bucket].append(split)
    names = {target_name(number): str(one.name()) for number, one in wanted}
    columns = (*scan.schema.primary_keys, *names.values())
    task = LookupTask(
        {key: pickle.dumps(some) for key, some in by_bucket.items()},
        scan.narrowed(columns, None).read_plan(),
        scan.store.file_io,
        scan.definition.buckets,
        TARGET_COLUMN,
        names,
        needs_unmatched_source(statement.rules),
        expected,
        abilities(bridge, scan.schema).cuts_timestamps,
    )
    return _Found(placed, schema, task)


def _as_joined(
    bridge: Bridge,
    statement: RowStatement,
    match: _Match,
    found: _Found,
    wanted: Sequence[tuple[int, Any]],
) -> DataFrame | None:
    """Give columns the ids by which the statement knows them."""
    assert statement.source is not None, "a MERGE has a source"
    frame = map_in_arrow(found.placed, found.task, found.schema)
    plan = frame._jdf.queryExecution().analyzed()
    by_name = {str(one.name()): one for one in as_list(bridge, plan.output())}
    target = as_list(bridge, statement.target.output())
    source = as_list(bridge, statement.source.output())
    columns = [named_as(bridge, by_name[target_name(number)], one) for number, one in wanted]
    columns += [
        named_as(bridge, by_name[str(one.name())], one)
        for one in target
        if str(one.name()) in match.keys
    ]
    columns += [
        named_as(bridge, by_name[_source_name(number)], one)
        for number, one in enumerate(source)
        if _source_name(number) in by_name
    ]
    marks = [by_name[name] for name in (BUCKET_COLUMN, TARGET_COLUMN) if name in by_name]
    project = bridge.java_class(_PLANS + "logical.Project")
    rows = frame_of(bridge, project(bridge.seq([*columns, *marks]), plan))
    if not _has_ids(bridge, rows, columns):
        return None
    is_target = functions.col(TARGET_COLUMN)
    for part in match.rest:
        is_target = is_target & column_of(bridge, part)
    if match.rest:
        rows = rows.withColumn(TARGET_COLUMN, functions.when(is_target, functions.lit(_TRUE)))
        if not needs_unmatched_source(statement.rules):
            rows = rows.where(functions.col(TARGET_COLUMN).isNotNull())
    return rows.withColumn(SOURCE_COLUMN, functions.lit(_TRUE))


def _has_ids(bridge: Bridge, rows: DataFrame, columns: Sequence[Any]) -> bool:
    """Whether Spark left columns their ids, as it does where they are in one place of the plan."""
    output = as_list(bridge, rows._jdf.queryExecution().analyzed().output())
    pairs = zip(output, columns, strict=False)
    return all(one.exprId().equals(other.exprId()) for one, other in pairs)


def _source_name(number: int) -> str:
    return f"__paimon_source_{number}"
