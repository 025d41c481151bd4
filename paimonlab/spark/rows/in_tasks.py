"""DELETE and UPDATE where tasks evaluate the condition themselves: one job, one read, no shuffle.

What a statement says has to be known here (`expression_trees`); else Spark evaluates it, and rows
pass between Python and Spark. So they do where a value is impossible: Spark looks at rows one by
one, and may never look at that value, or says what is wrong in its own words.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spark.rows.catalyst_trees import trees_of
from paimonlab.spark.rows.executor_changes import ChangeOutcome
from paimonlab.spark.rows.executor_conditions import FileChangeTask, KeyedChangeTask, RowChange
from paimonlab.spark.rows.expression_trees import Columns, bare
from paimonlab.spark.rows.python_jobs import cores_of, divided_splits, run_tasks
from paimonlab.spark.rows.statements import RowStatement, as_list, is_padded
from paimonlab.spark.rows.tree_pruning import pruning
from paimonlab.spark.shipping import ship
from paimonlab.spark.writing.commits import discard
from paimonlab.spark.writing.executor_write import WriteTask, messages_of
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import bind
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.table.changing import append
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.write.merge_clauses import Action

if TYPE_CHECKING:
    from paimonlab.scan.split import DataSplit
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.spec.buckets.key import BucketKey
    from paimonlab.table.reading.scan import Scan
    from paimonlab.table.table import Table

_MOST_ALONE_BYTES = 256 << 20
"""Of files that one task changes where others have nothing to do."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What tasks do."""

    task: KeyedChangeTask | FileChangeTask
    count: int
    """Of tasks."""


def changed_in_tasks(
    bridge: Bridge,
    statement: RowStatement,
    table: Table,
    scan: Scan,
    *,
    user: str,
    keeps_nulls: bool,
) -> list[ChangeOutcome] | None:
    """Change the rows of a snapshot; None: nothing was done, Spark has to evaluate the statement.

    Parameters
    ----------
    bridge
        The session.
    statement
        The statement.
    table
        Its target.
    scan
        That at the snapshot.
    user
        Who will commit.
    keeps_nulls
        As of `changes.changed_rows`: if not, old values have to be looked at.

    Raises
    ------
    PaimonError
        The first error of a task, unless it is of values; the files of all tasks are deleted.
    """
    if not keeps_nulls and statement.clauses[0].rule.action is not Action.DELETE:
        return None
    change = _change(bridge, statement, scan)
    if change is None:
        return None
    check_supported(scan.definition.options, scan.schema, "read")
    work = _work(bridge, table, scan, change, user=user)
    if work is None:
        return None
    outcomes: list[ChangeOutcome] = run_tasks(bridge, work.task, work.count)
    messages, error = messages_of([pickle.dumps(outcome.written) for outcome in outcomes])
    if error is None:
        return outcomes
    discard(table, messages)
    if not isinstance(error, DataError):
        raise error
    return None


def _change(bridge: Bridge, statement: RowStatement, scan: Scan) -> RowChange | None:
    """Read a statement; None: something of it is Spark's to evaluate."""
    if (
        statement.source is not None
        or statement.inserted is not None
        or scan.snapshot is None
        or not scan.is_one_snapshot
        or is_padded(statement)
        or not is_simple(scan)
    ):
        return None
    (clause,) = statement.clauses
    is_update = clause.rule.action is Action.UPDATE
    if clause.condition is None or (is_update and _is_tracked(scan)):
        return None
    fields = scan.schema.fields
    attributes = as_list(bridge, statement.target.output())[: len(fields)]
    given = clause.values if is_update else ()
    trees = trees_of(bridge, [clause.condition, *attributes, *given])
    condition, ids, values = trees[0], trees[1 : 1 + len(fields)], trees[1 + len(fields) :]
    names = {str(one.detail): field.name for one, field in zip(ids, fields, strict=True)}
    columns = Columns(names, scan.schema.arrow_schema, scan.definition.name)
    assigned = {
        field.name: value
        for field, value, own in zip(fields, map(bare, values), ids, strict=False)
        if value != own
    }
    change = RowChange(condition, assigned if is_update else None, columns)
    return change if _can_be_done(change) else None


def is_simple(scan: Scan) -> bool:
    """Whether rows are changed where they are, by whoever reads their bucket or file."""
    definition = scan.definition
    if definition.options.slice(RowTrackingOptions).data_evolution:
        return False
    mode = BucketMode.HASH_FIXED if definition.primary_keys else BucketMode.BUCKET_UNAWARE
    return definition.bucket_mode is mode


def _is_tracked(scan: Scan) -> bool:
    return scan.definition.options.slice(RowTrackingOptions).row_tracking


def _can_be_done(change: RowChange) -> bool:
    columns = change.columns
    try:
        made = change.bound()
    except UnsupportedError:
        return False
    has_types = all(
        value.type == columns.schema.field(name).type for name, value in made.values.items()
    )
    return bool(made.condition.columns) and has_types


def _work(
    bridge: Bridge, table: Table, scan: Scan, change: RowChange, *, user: str
) -> _Work | None:
    known = pruning(change.condition, change.columns)
    fields, name = scan.schema.fields, scan.definition.name
    predicate = None if known is None else bind(known, fields, name)
    read = scan.narrowed(scan.schema.field_names, predicate)
    splits = read.plan().splits
    cores = cores_of(bridge)
    definition, store = definition_of(table), store_of(table)
    ship(bridge.spark.sparkContext)
    if not definition.primary_keys:
        assert scan.snapshot is not None, "a snapshot is read"
        changing = append.AppendChange(definition, store, scan.snapshot, predicate)
        plan = write_plan(changing.written_definition, store.layout)
        files = [split.with_files(file.__eq__) for split in splits for file in split.files]
        pickled = divided_splits([[file] for file in files], cores)
        write = WriteTask(plan, store.file_io, None, user=user)
        marks = changing.options.by_vector
        task = FileChangeTask(pickled, changing.read_plan, change, write, marks)
        return _Work(task, len(pickled))
    if any(split.total_buckets != definition.buckets for split in splits):
        return None  # of partitions that have other numbers of buckets
    by_bucket: defaultdict[BucketKey, list[DataSplit]] = defaultdict(list)
    for split in splits:
        by_bucket[split.partition, split.bucket].append(split)
    size = sum(split.size_bytes for split in splits)
    if len(by_bucket) < cores and size > _MOST_ALONE_BYTES:
        return None
    pickled = divided_splits([*by_bucket.values()], cores)
    plan = write_plan(definition, store.layout)
    write = WriteTask(plan, store.file_io, table.sequence_numbers(), user=user)
    return _Work(KeyedChangeTask(pickled, read.read_plan(), change, write), len(pickled))
