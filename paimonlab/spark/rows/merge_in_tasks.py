"""MERGE of a small source into a table without keys: the tasks that read its files do all of it.

Spark evaluates the source; its rows pass through the driver to all tasks, as where Spark broadcasts
one side of a join. So the target is neither handed to Spark nor shuffled, and a file is read, and
written again, once. Sources that turn out to be larger are joined, and so is the target where Spark
has to evaluate something over both sides, or several source rows have one key.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError, PaimonError
from paimonlab.spark.rows.executor_changes import RESULT_COLUMN, ChangeOutcome
from paimonlab.spark.rows.executor_merges import (
    FileMergeTask,
    GatherTask,
    InsertTask,
    MergeOutcome,
    as_declared,
)
from paimonlab.spark.rows.in_tasks import is_simple
from paimonlab.spark.rows.joining import estimated_bytes, frame_of
from paimonlab.spark.rows.key_numbers import NumberedKeys, whole_keys
from paimonlab.spark.rows.merge_reading import OURS, MergeReading, read_merge
from paimonlab.spark.rows.python_jobs import (
    TASK_BYTES,
    TASKS_PER_CORE,
    cores_of,
    divided_splits,
    run_tasks,
)
from paimonlab.spark.rows.statements import NOT_IN_ARROW, RowStatement, has_subqueries, is_padded
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.spark.writing.commits import discard
from paimonlab.spark.writing.executor_write import WriteTask, messages_of
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import Predicate, all_of, bind
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.table.changing import append
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.write.merge_clauses import needs_unmatched_source, needs_unmatched_target

if TYPE_CHECKING:
    from paimonlab.scan.split import DataSplit
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.reading.scan import Scan
    from paimonlab.table.table import Table

_MOST_ESTIMATED_BYTES = 128 << 20
"""A source of more bytes, as Spark estimates it, is not tried."""
_MOST_SOURCE_BYTES = 32 << 20
"""Of the rows of a source in Arrow."""


def merged_in_tasks(
    bridge: Bridge, statement: RowStatement, table: Table, scan: Scan, *, user: str
) -> list[ChangeOutcome] | None:
    """Merge into the rows of a snapshot; None: nothing was done, both sides have to be joined.

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

    Raises
    ------
    PaimonError
        The first error of a task, unless it is of values; the files of all tasks are deleted.
    """
    if not _may_be_done(bridge, statement, scan):
        return None
    reading = read_merge(bridge, statement, scan)
    if reading is None:
        return None
    check_supported(scan.definition.options, scan.schema, "read")
    ship(bridge.spark.sparkContext)
    rows = _gathered(reading.source)
    if rows is None:
        return None
    keys = _keys(rows, reading)
    numbered = NumberedKeys(keys) if keys.num_rows else None
    if numbered is not None and numbered.count < keys.num_rows:
        return None  # several source rows may match one target row
    work = _Work.of(bridge, table, scan, reading, rows, numbered, user=user)
    return work.run(inserts=needs_unmatched_source(statement.rules))


def _may_be_done(bridge: Bridge, statement: RowStatement, scan: Scan) -> bool:
    definition = scan.definition
    return (
        statement.source is not None
        and scan.snapshot is not None
        and scan.is_one_snapshot
        and not is_padded(statement)
        and not definition.primary_keys
        and is_simple(scan)
        and not definition.options.slice(RowTrackingOptions).row_tracking
        and not needs_unmatched_target(statement.rules)
        and statement.target.output().size() == len(scan.schema.fields)  # no places of rows
        and not any(name.startswith(OURS) for name in scan.schema.field_names)
        and int(bridge.conf.autoBroadcastJoinThreshold()) >= 0  # else nothing shall be broadcast
        and not has_subqueries(bridge, statement)
        and estimated_bytes(frame_of(bridge, statement.source)) <= _MOST_ESTIMATED_BYTES
    )


def _gathered(source: DataFrame) -> pa.RecordBatch | None:
    """Bring the rows of a source here; None: they are too many, or something is wrong."""
    if any(name in source.schema.simpleString() for name in NOT_IN_ARROW):
        return None
    schema = to_arrow_schema(source.schema, timezone="UTC")
    plan = source._jdf.queryExecution().optimizedPlan()
    try:
        if plan.getClass().getSimpleName() == "LocalRelation":
            found = [as_declared(batch, schema) for batch in source.toArrow().to_batches()]
            return pa.concat_batches(found) if found else _empty(schema)
        task = GatherTask(schema, _MOST_SOURCE_BYTES)
        pickled = map_in_arrow(source, task, f"{RESULT_COLUMN} binary").collect()
    except PySparkException:
        return None
    streams = [row[RESULT_COLUMN] for row in pickled]
    if not all(streams) or sum(map(len, streams)) > _MOST_SOURCE_BYTES:
        return None
    found = [batch for one in streams for batch in pa.ipc.open_stream(bytes(one))]
    return pa.concat_batches(found) if found else _empty(schema)


def _keys(rows: pa.RecordBatch, reading: MergeReading) -> pa.Table:
    """Return the keys of source rows that have no null, by the columns of the target they equal."""
    keys = pa.Table.from_batches([rows.select(list(reading.merge.keys))])
    keys = keys.rename_columns([reading.names.get(name, name) for name in reading.merge.keys])
    return keys.filter(arrow_array(whole_keys(keys)))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema)


@dataclass(frozen=True, slots=True)
class _Work:
    """What tasks do, and with what."""

    bridge: Bridge
    table: Table
    task: FileMergeTask

    @classmethod
    def of(
        cls,
        bridge: Bridge,
        table: Table,
        scan: Scan,
        reading: MergeReading,
        rows: pa.RecordBatch,
        keys: NumberedKeys | None,
        *,
        user: str,
    ) -> _Work:
        """Choose the files that may have rows of some keys, and divide them into tasks."""
        definition, store = definition_of(table), store_of(table)
        assert scan.snapshot is not None, "a snapshot is read"
        predicate = _predicate(scan, reading, keys)
        changing = append.AppendChange(definition, store, scan.snapshot, predicate)
        files: list[list[DataSplit]] = []
        if keys is not None:
            splits = scan.narrowed(scan.schema.field_names, predicate).plan().splits
            files = [[split.with_files(file.__eq__)] for split in splits for file in split.files]
        write = WriteTask(
            write_plan(changing.written_definition, store.layout), store.file_io, None, user=user
        )
        return cls(
            bridge,
            table,
            FileMergeTask(
                divided_splits(files, cores_of(bridge)),
                changing.read_plan,
                reading.merge,
                rows,
                write,
                marks_rows=changing.options.by_vector,
                inserts=False,
            ),
        )

    def run(self, *, inserts: bool) -> list[ChangeOutcome] | None:
        """Run the tasks, then those that insert rows; None: values are for Spark to look at."""
        outcomes: list[MergeOutcome] = []
        try:
            outcomes += self._changed(inserts=inserts)
            if inserts and not any(one.inserts or one.change.written.error for one in outcomes):
                outcomes += self._inserted(outcomes)
        except BaseException:
            messages, _ = _messages(outcomes)
            discard(self.table, messages)
            raise
        messages, error = _messages(outcomes)
        if error is None:
            return [one.change for one in outcomes]
        discard(self.table, messages)
        if not isinstance(error, DataError):
            raise error
        return None

    def _changed(self, *, inserts: bool) -> list[MergeOutcome]:
        count = len(self.task.splits)
        return run_tasks(self.bridge, replace(self.task, inserts=inserts and count == 1), count)

    def _inserted(self, outcomes: Sequence[MergeOutcome]) -> list[MergeOutcome]:
        task, size = self.task, self.task.source.num_rows
        is_matched = np.zeros(size, np.bool_)
        for one in outcomes:
            bits = np.frombuffer(one.is_matched, np.uint8)
            is_matched |= np.unpackbits(bits, count=size).astype(np.bool_)
        places = np.flatnonzero(~is_matched)
        if not len(places):
            return []
        size_bytes = task.source.nbytes * len(places) // size
        most = min(TASKS_PER_CORE * cores_of(self.bridge), 1 + size_bytes // TASK_BYTES)
        parts = np.array_split(places, most)
        insert = InsertTask(parts, task.merge, task.source, task.write)
        return run_tasks(self.bridge, insert, len(parts))


def _messages(
    outcomes: Sequence[MergeOutcome],
) -> tuple[list[CommitMessage], PaimonError | None]:
    return messages_of([pickle.dumps(one.change.written) for one in outcomes])


def _predicate(scan: Scan, reading: MergeReading, keys: NumberedKeys | None) -> Predicate | None:
    """Return what all target rows satisfy that belong to a row of the source."""
    parts = list(reading.known)
    if keys is not None:
        own = reading.names.values()
        parts += [condition for name, condition in keys.conditions() if name in own]
    return bind(all_of(*parts), scan.schema.fields, scan.definition.name) if parts else None
