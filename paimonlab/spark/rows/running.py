"""Running a row-level statement: executors find, write and rewrite rows, the driver commits.

A statement is made of a snapshot, which the commit names: where others changed meanwhile what it
read, it runs again from the snapshot that is there then.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import structs
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, functions

from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import FilesConflictError, PaimonError, UnsupportedError
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.read.matches import FileMatch, alive_count
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.executor_places import FILE_COLUMN, POSITION_COLUMN
from paimonlab.spark.reading.optimizing.by_bucket import is_by_bucket
from paimonlab.spark.rows.changes import LOST_NULL, TARGET_ID, Wanted, changed_rows, example_of
from paimonlab.spark.rows.column_updates import columns_work
from paimonlab.spark.rows.counts import Counts
from paimonlab.spark.rows.executor_changes import (
    RESULT_COLUMN,
    ChangeOutcome,
    ChangeTask,
    RewriteTask,
    several_source_rows,
)
from paimonlab.spark.rows.in_tasks import changed_in_tasks
from paimonlab.spark.rows.lookups import looked_up
from paimonlab.spark.rows.merge_in_tasks import merged_in_tasks
from paimonlab.spark.rows.replacing import with_new_rows
from paimonlab.spark.rows.statements import RowStatement, check_keys_stay, has_subqueries
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.spark.writing.commits import commit_scope, discard
from paimonlab.spark.writing.executor_small_rows import Task
from paimonlab.spark.writing.executor_write import WriteTask, messages_of
from paimonlab.spark.writing.stream_batches import (
    BatchCommit,
    statement_commit,
    statement_done,
)
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.spark.writing.write import DividedWrite, divided_write
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.schema.row_tracking import RowTrackingOptions, with_stored_tracking
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.changing import append, keyed
from paimonlab.table.changing.statement import Changed, Statement, run
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.after_write import compact_written
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table
from paimonlab.table.writing.mark_done import check_marks_of_writes, mark_written
from paimonlab.write.lost_changes import LostChanges
from paimonlab.write.merge_clauses import Action, allows_many_source_rows

_BUCKETS_PER_CORE = 4
"""Of more of them each is no task of its own."""
_ALL_ROWS = {"deletion-vectors.merge-on-read": "true"}
"""A statement changes rows that wait for compaction, too, or it would lose changes."""


@dataclass(slots=True)
class RunningStatement:
    """A statement on a table of ours."""

    bridge: Bridge
    table: Table
    """With the options of the session."""
    statement: RowStatement
    own_snapshots: frozenset[int] = frozenset()
    """The snapshots of the target that its source and subqueries read."""
    counts: Counts = field(default_factory=Counts)
    _messages: Sequence[CommitMessage] = ()
    _batch: BatchCommit | None = None
    """How it commits in ``foreachBatch``."""

    def check(self) -> None:
        """Check that the table can do what the statement asks for.

        Raises
        ------
        UnsupportedError
            If its merge engine, or an option, makes something else of it.
        SchemaError
            If it would give a row another key.
        """
        definition = definition_of(self.table)
        actions = {clause.rule.action for clause in self.statement.clauses}
        if self._evolves:
            if Action.DELETE in actions and not self.statement.is_everything:
                raise UnsupportedError(
                    f"deleting rows by {self.statement.text} with data-evolution.enabled = 'true'",
                    "use ALTER TABLE … DROP PARTITION, TRUNCATE TABLE or INSERT OVERWRITE",
                )
            check_keys_stay(self.bridge, self.statement, (), definition.partition_keys)
        if not definition.primary_keys:
            return
        if Action.DELETE in actions:
            keyed.check_delete(definition)
        if Action.UPDATE in actions:
            keyed.check_update(definition, ())
            check_keys_stay(
                self.bridge, self.statement, definition.primary_keys, definition.partition_keys
            )

    def run(self) -> Counts:
        """Change the rows and commit.

        Raises
        ------
        FilesConflictError, SnapshotExpiredError
            If others were faster four times.
        DataError
            If several rows of the source match one row of the target, or a value does not fit.
        """
        self.check()
        definition, store = definition_of(self.table), store_of(self.table)
        check_marks_of_writes(definition)
        self._batch = statement_commit(self.bridge, self.table, self.statement.name)
        if self._batch is not None and self._batch.earlier(self.table) is not None:
            pass  # the batch of a stream runs again, and this was done
        elif self.statement.is_everything and store.snapshots.latest() is not None:
            self.counts = Counts(deleted=self.table.scan().count())
            scope = OverwriteScope.whole_table()
            commit_scope(self.bridge, self.table, [], scope, batch=self._batch)
        else:
            statement = Statement(predicate=None)
            nothing = self._inserted_into_nothing
            snapshot = run(definition, store, statement, self._changed, nothing)
            if snapshot is not None:
                workers = SparkWorkers(self.bridge)
                compact_written(definition, store, self._messages, snapshot, workers=workers)
                mark_written(definition, store, self._messages)
        if self._batch is not None:
            statement_done(self.bridge, self.table)
        return self.counts

    def _inserted_into_nothing(self) -> Changed | None:
        """Write the rows of a table that has none; others may commit some meanwhile."""
        actions = {clause.rule.action for clause in self.statement.clauses}
        if Action.INSERT not in actions and self.statement.inserted is None:
            return None
        user = self._user
        self.counts = Counts()
        return self._to_commit(self._written(self._tasks(None, user)), user)

    def _changed(self, snapshot: Snapshot) -> Changed | None:
        if others := self.own_snapshots - {snapshot.id}:
            problem = (
                f"the statement reads the table it changes, at snapshot {min(others)}, and others "
                "have changed it since. Run the statement again."
            )
            raise FilesConflictError(self.table.name, snapshot.id, (), problem)
        user = self._user
        self.counts = Counts()
        outcomes = self._tasks(snapshot, user)
        messages = self._written(outcomes)
        is_keyed = bool(self.table.primary_keys)
        try:
            if not is_keyed:
                self._check_ids(snapshot, outcomes)
                messages = self._with_files_changed(snapshot, outcomes, messages)
        except BaseException:
            discard(self.table, messages)
            raise
        return self._to_commit(messages, user)

    def _to_commit(self, messages: Sequence[CommitMessage], user: str) -> Changed | None:
        if not messages:
            return None
        self._messages = messages
        changed = Changed(messages, are_of_rows_read=bool(self.table.primary_keys), user=user)
        if self._batch is None:
            return changed
        identifier, properties = self._batch.identifier, self._batch.properties
        return replace(changed, identifier=identifier, properties=properties)

    @property
    def _user(self) -> str:
        if self._batch is not None:
            return self._batch.user
        return new_user(definition_of(self.table).options)

    def _scan(self, snapshot: Snapshot | None) -> Scan:
        definition = definition_of(self.table)
        return Scan(
            definition=definition.with_options(_ALL_ROWS)
            if definition.primary_keys
            else definition,
            store=store_of(self.table),
            snapshot=snapshot,
            schema=definition.schema,
            columns=definition.schema.field_names,
            predicate=None,
            row_limit=None,
        )

    @property
    def _tracking(self) -> RowTrackingOptions:
        return definition_of(self.table).options.slice(RowTrackingOptions)

    @property
    def _evolves(self) -> bool:
        """Whether columns have files of their own."""
        return self._tracking.data_evolution

    @property
    def _wanted(self) -> Wanted:
        """What tasks have to know of rows that are there."""
        actions = {clause.rule.action for clause in self.statement.clauses}
        if self.table.primary_keys:
            return Wanted(by_bucket=self._stays_in_buckets, before=self._before)
        if not self._evolves:
            is_tracked = self._tracking.row_tracking and Action.UPDATE in actions
            return Wanted(places=actions != {Action.INSERT}, ids=is_tracked)
        if actions == {Action.INSERT}:
            return Wanted(own_reader=True)
        return Wanted(ids=True, own_reader=True, columns=self._updated_columns)

    @property
    def _before(self) -> tuple[str, ...]:
        """The columns whose old values say whether the table would ignore an update."""
        plan = write_plan(definition_of(self.table), store_of(self.table).layout)
        assigned = {
            name
            for clause in self.statement.clauses
            if clause.rule.action is Action.UPDATE
            for name, _ in clause.assigned
        }
        return LostChanges.of(plan).needed(assigned)

    @property
    def _stays_in_buckets(self) -> bool:
        """Whether target rows can be changed where their bucket is read, without a shuffle."""
        definition, statement = definition_of(self.table), self.statement
        cores = self.bridge.spark.sparkContext.defaultParallelism
        return (
            statement.source is None
            and statement.inserted is None
            and definition.bucket_mode is BucketMode.HASH_FIXED
            and bool(self.bridge.conf.v2BucketingEnabled())
            and cores <= definition.buckets <= _BUCKETS_PER_CORE * cores
            and not has_subqueries(self.bridge, statement)
        )

    @property
    def _updated_columns(self) -> frozenset[str]:
        names = {name for clause in self.statement.clauses for name, _ in clause.assigned}
        return frozenset(names.difference(self.table.partition_keys))

    def _tasks(self, snapshot: Snapshot | None, user: str) -> list[ChangeOutcome]:
        """Write the new rows, and learn which rows go."""
        bridge, table = self.bridge, self.table
        definition = definition_of(table)
        engine = definition.options.slice(keyed.KeyedOptions).merge_engine
        keeps_nulls = not table.primary_keys or engine != "partial-update"
        wanted, scan = self._wanted, self._scan(snapshot)
        done = changed_in_tasks(
            bridge, self.statement, table, scan, user=user, keeps_nulls=keeps_nulls
        )
        if done is not None:
            return done
        done = merged_in_tasks(bridge, self.statement, table, scan, user=user)
        if done is not None:
            return done
        divided: DataFrame
        work: Task
        found = looked_up(
            bridge, self.statement, table, scan, keeps_nulls=keeps_nulls, before=wanted.before
        )
        if found is not None and found.decided is not None:
            placed = self._rows_work(found.rows, snapshot, user, has_ids=False, are_placed=True)
            return self._outcomes(placed.rows, found.decided(self._change_task(placed.task)))
        joined = None if found is None else found.rows
        rows = changed_rows(
            bridge, self.statement, scan, wanted, keeps_nulls=keeps_nulls, found=joined
        )
        if self.statement.inserted is not None:
            rows = with_new_rows(bridge, self.statement, table, rows)
        if wanted.columns is not None:
            columns = wanted.columns
            divided, work = columns_work(bridge, rows, table, snapshot, columns, user=user)
        else:
            are_placed = found is not None or is_by_bucket(rows)
            write = self._rows_work(rows, snapshot, user, has_ids=wanted.ids, are_placed=are_placed)
            divided, work = write.rows, write.taking(self._change_task(write.task))
        try:
            return self._outcomes(divided, work)
        except PySparkException as error:
            if keeps_nulls or LOST_NULL not in str(error):
                raise
            raise UnsupportedError(
                f"{self.statement.text} to NULL with merge-engine = '{engine}'",
                f"{table.name}: a column would keep its old value",
            ) from None

    @staticmethod
    def _outcomes(divided: DataFrame, work: Task) -> list[ChangeOutcome]:
        pickled = map_in_arrow(divided, work, f"{RESULT_COLUMN} binary").collect()
        return [pickle.loads(row[RESULT_COLUMN]) for row in pickled]  # noqa: S301 - our own tasks

    def _rows_work(
        self,
        rows: DataFrame,
        snapshot: Snapshot | None,
        user: str,
        *,
        has_ids: bool,
        are_placed: bool,
    ) -> DividedWrite:
        """Return rows where they are written, and what writes them."""
        table = self.table
        if has_ids:  # updated rows keep them
            schema = with_stored_tracking(table.schema)
            table = with_definition(table, structs.replace(definition_of(table), schema=schema))
        return divided_write(
            self.bridge,
            rows,
            table,
            snapshot,
            replaces=False,
            user=user,
            are_placed=are_placed,
        )

    def _change_task(self, write: WriteTask) -> ChangeTask:
        return ChangeTask(
            write,
            is_keyed=bool(self.table.primary_keys),
            checks_keys=self._checks_sources,
            counts_keys=self.statement.source is not None and not self._checks_sources,
        )

    @property
    def _checks_sources(self) -> bool:
        statement = self.statement
        return statement.source is not None and not allows_many_source_rows(statement.rules)

    def _written(self, outcomes: Sequence[ChangeOutcome]) -> list[CommitMessage]:
        messages, error = messages_of([pickle.dumps(outcome.written) for outcome in outcomes])
        if error is not None:
            discard(self.table, messages)
            raise error
        totals = np.sum([outcome.counts for outcome in outcomes], axis=0, initial=0)
        by_kind = totals.tolist() if len(outcomes) else [0] * 4
        self.counts = Counts(
            inserted=by_kind[RowKind.INSERT],
            updated=by_kind[RowKind.UPDATE_AFTER],
            deleted=by_kind[RowKind.DELETE],
        )
        return messages

    def _with_files_changed(
        self, snapshot: Snapshot, outcomes: Sequence[ChangeOutcome], written: list[CommitMessage]
    ) -> list[CommitMessage]:
        """Let the rows go that were deleted or updated: by vector, or by rewriting files."""
        by_file = self._positions(snapshot, outcomes)
        if not by_file:
            return written
        alive_counts = {
            found.file: found.alive_count
            for outcome in outcomes
            for found in outcome.positions
            if found.alive_count is not None
        }
        definition, store = definition_of(self.table), store_of(self.table)
        change = append.AppendChange(definition, store, snapshot, None)
        again = []
        for split in change.scan.plan().splits:
            for file in split.files:
                if file.file_name not in by_file:
                    continue
                one = split.with_files(file.__eq__)
                is_done = file.file_name in alive_counts
                if is_done:
                    alive = alive_counts[file.file_name]
                else:
                    alive = alive_count(one, change.read_plan, store.file_io)
                match = FileMatch(one, by_file.pop(file.file_name), alive)
                change.take(match)
                if change.replaces_file(match) and not match.is_whole and not is_done:
                    again.append(match)
        assert not by_file, f"files {sorted(by_file)} are not in snapshot {snapshot.id}"
        messages = [*written, *self._rewritten(change, again)]
        return change.messages(messages)

    def _check_ids(self, snapshot: Snapshot, outcomes: Sequence[ChangeOutcome]) -> None:
        """Check that no row with an id was updated twice."""
        for outcome in outcomes:
            if outcome.twice is not None:
                raise self._several(snapshot, {TARGET_ID: outcome.twice[0]})

    def _positions(
        self, snapshot: Snapshot, outcomes: Sequence[ChangeOutcome]
    ) -> dict[str, DeletionVector]:
        by_file: dict[str, DeletionVector] = {}
        for found in (found for outcome in outcomes for found in outcome.positions):
            vector, name = found.vector, found.file
            if self._checks_sources and found.example is not None:
                raise self._several(snapshot, _place(name, found.example))
            before = by_file.get(name)
            by_file[name] = vector if before is None else before | vector
            if self._checks_sources and before is not None:
                common = np.intersect1d(before.positions(), vector.positions())
                if len(common):
                    raise self._several(snapshot, _place(name, int(common[0])))
        is_merge = self.statement.source is not None
        if is_merge and not self._checks_sources and not self._evolves:
            # A row that several source rows delete is one row; updated rows have places too.
            marked = sum(vector.cardinality for vector in by_file.values())
            self.counts.deleted = marked - self.counts.updated
        return by_file

    def _several(self, snapshot: Snapshot, place: Mapping[str, object]) -> PaimonError:
        scan, wanted = self._scan(snapshot), self._wanted
        example = example_of(self.bridge, self.statement, scan, wanted, place)
        return several_source_rows(self.table.name, example)

    def _rewritten(
        self,
        change: append.AppendChange,
        matches: Sequence[FileMatch],
    ) -> list[CommitMessage]:
        if not matches:
            return []
        spark = self.bridge.spark
        store = store_of(self.table)
        task = RewriteTask(
            matches,
            change.read_plan,
            write_plan(change.written_definition, store.layout),
            store.file_io,
        )
        most = 2 * spark.sparkContext.defaultParallelism
        numbers = spark.range(0, len(matches), 1, min(len(matches), most))
        pickled = numbers.select(functions.col("id")).mapInArrow(task, f"{RESULT_COLUMN} binary")
        messages, error = messages_of([row[RESULT_COLUMN] for row in pickled.collect()])
        if error is not None:
            discard(self.table, messages)
            raise error
        return messages


def _place(file: str, position: int) -> dict[str, object]:
    return {FILE_COLUMN: file, POSITION_COLUMN: position}
