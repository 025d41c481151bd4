"""UPDATE and MERGE INTO where columns have files of their own (data evolution).

Only the columns that a statement names are written: executors gather the new values of each group
of files with the same row ids and complete it by one file; new rows are written as by INSERT.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, functions
from pyspark.sql.types import IntegerType, StructField, StructType

from paimonlab.arrow_values import arrow_array, arrow_row, null_filled, numpy_values
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.scan.split import DataSplit
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.rows.executor_changes import RESULT_SCHEMA, ChangeOutcome
from paimonlab.spark.shipping import ship
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.spark.writing.executor_write import KIND_COLUMN, TaskOutcome, WriteTask
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.system_fields import ROW_ID, SEQUENCE_NUMBER
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.table.table import Table
from paimonlab.table.writing.columns import CompletingWrite, groups_of
from paimonlab.write.columns import new_values
from paimonlab.write.folders import delete_files

_GROUP = "__paimon_group"
"""Column of the number of the group of files that a row is in; null: it is a new one."""
_KINDS = 4
_TASKS_PER_CORE = 2


def columns_work(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    snapshot: Snapshot | None,
    columns: Collection[str],
    *,
    user: str,
) -> tuple[DataFrame, ColumnsTask]:
    """Return rows where they complete others, and what does that.

    Parameters
    ----------
    bridge
        The session.
    rows
        All columns of the table, ``_ROW_ID``, null in new rows, ``_SEQUENCE_NUMBER`` and
        `KIND_COLUMN`.
    table
        Where they go to.
    snapshot
        What the ids are of.
    columns
        The columns that get new values.
    user
        Who will commit.

    Raises
    ------
    UnsupportedError
        If rows were compacted in such a way that their ids are in the file.
    """
    ship(bridge.spark.sparkContext)
    definition, store = definition_of(table), store_of(table)
    groups = sorted(groups_of(definition, store, snapshot), key=_first_row_id)
    names = tuple(name for name in definition.schema.field_names if name in columns)
    task = ColumnsTask(
        WriteTask(write_plan(definition, store.layout), store.file_io, None, user=user),
        CompletingWrite.of(definition, store, names, snapshot),
        groups,
        names,
    )
    starts = np.asarray([_first_row_id(group) for group in groups], np.int64)
    schema = StructType([*rows.schema.fields, StructField(_GROUP, IntegerType())])
    found = map_in_arrow(rows, _Groups(starts), schema)
    cores = bridge.spark.sparkContext.defaultParallelism
    tasks = max(1, min(len(groups), _TASKS_PER_CORE * cores))
    place = functions.coalesce(functions.col(_GROUP), functions.spark_partition_id())
    return found.repartitionById(tasks, place % functions.lit(tasks)), task


def _first_row_id(group: DataSplit) -> int:
    file = group.files[0]
    if file.first_row_id is None:
        raise UnsupportedError(
            f"new columns for {file.file_name}",
            "its rows have their ids in the file, which no other file can complete",
        )
    return file.first_row_id


@dataclass(frozen=True, slots=True)
class _Groups:
    """Adds the group of each row; picklable."""

    starts: npt.NDArray[np.int64]
    """The first row id of each group, ascending."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids = batch.column(ROW_ID)
            known = numpy_values(null_filled(ids, 0))
            numbers = (np.searchsorted(self.starts, known, side="right") - 1).astype(np.int32)
            is_new = numpy_values(ids.is_null(), zero_copy_only=False)
            yield batch.append_column(_GROUP, arrow_array(numbers, mask=is_new))


@dataclass(frozen=True, slots=True)
class ColumnsTask:
    """Completes groups of files and writes new rows; picklable."""

    write: WriteTask
    """Of new rows."""
    completing: CompletingWrite
    groups: Sequence[DataSplit]
    columns: tuple[str, ...]
    """The columns that get new values."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the rows of one task; yields one row with the pickled `ChangeOutcome`."""
        counts = np.zeros(_KINDS, np.int64)
        updates: dict[int, list[pa.RecordBatch]] = {}
        written = self.write.outcome(self._new_rows(batches, counts, updates))
        twice = None
        if written.error is None:
            tables = {number: pa.Table.from_batches(rows) for number, rows in updates.items()}
            twice = next(filter(None, map(_twice, tables.values())), None)
            if twice is None:
                written = self._completed(written, tables)
        outcome = ChangeOutcome(written, tuple(counts.tolist()), (), twice)
        yield arrow_row(RESULT_SCHEMA, pickle.dumps(outcome))

    def _new_rows(
        self,
        batches: Iterator[pa.RecordBatch],
        counts: npt.NDArray[np.int64],
        updates: dict[int, list[pa.RecordBatch]],
    ) -> Iterator[pa.RecordBatch]:
        """Hand on new rows; gather the new values of others by their group."""
        for batch in batches:
            counts += np.bincount(numpy_values(batch.column(KIND_COLUMN)), minlength=_KINDS)
            numbers = batch.column(_GROUP)
            groups = numpy_values(null_filled(numbers, -1))
            for group in np.unique(groups[groups >= 0]).tolist():
                ours = batch.filter(arrow_array(groups == group))
                updates.setdefault(group, []).append(ours.select([ROW_ID, *self.columns]))
            new = batch.filter(arrow_array(groups < 0))
            if new.num_rows:
                yield new.drop_columns([ROW_ID, SEQUENCE_NUMBER, KIND_COLUMN, _GROUP])

    def _completed(self, written: TaskOutcome, tables: dict[int, pa.Table]) -> TaskOutcome:
        plan, messages = self.completing.writing, list[CommitMessage]()
        schema = self.completing.reading.schema
        try:
            for number, values in tables.items():
                new = new_values(values, schema, table=plan.table_name)
                messages.append(self.completing.complete(self.groups[number], new))
        except PaimonError as error:
            mine = [CommitMessage.from_bytes(message) for message in written.messages]
            delete_files([*mine, *messages], plan, self.completing.file_io)
            return TaskOutcome(error=pickle.dumps(error))
        return TaskOutcome(
            messages=(*written.messages, *(message.to_bytes() for message in messages))
        )


def _twice(rows: pa.Table) -> tuple[int] | None:
    """Return a row id that comes several times."""
    ids, counts = np.unique(rows[ROW_ID].to_numpy(), return_counts=True)
    again = ids[counts > 1]
    return (int(again[0]),) if len(again) else None
