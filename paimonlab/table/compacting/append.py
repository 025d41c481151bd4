"""Compacting append tables: small files are combined, rows may be sorted.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Protocol

import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.append_packing import (
    Files,
)
from paimonlab.compact.append_rewriting import (
    AppendPlan,
    AppendTask,
    RowsOf,
    increment_of,
    rewrite_files,
)
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.compaction import delete_outputs
from paimonlab.compact.ordering.sorting import RowsInOrder
from paimonlab.compact.units import CompactIncrement
from paimonlab.datafile.index_files import IndexFileOptions
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.schema.row_tracking import (
    RowTrackingOptions,
    with_stored_tracking,
    with_tracking,
)
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.committing.rounds import until_undisturbed
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.live_buckets import buckets_of, live_buckets
from paimonlab.table.compacting.ordered_ranges import rewrite_in_ranges
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.result import BucketCompaction, CompactResult, FileTotals
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.store import TableStore
from paimonlab.table.texts import names_of_partitions
from paimonlab.table.upkeep.after_commit import committer_of

logger = logging.getLogger(__name__)


class AppendStrategy(Protocol):
    """Which files are rewritten, and in which order their rows come."""

    @property
    def rows_of(self) -> RowsOf:
        """Reads rows in the order in which they are written."""
        ...

    @property
    def threads(self) -> int:
        """How many tasks run at a time."""
        ...

    def tasks(self, bucket: BucketFiles) -> Iterator[AppendTask]:
        """Choose files of a bucket."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """Rows that were committed, whose buckets are compacted next."""

    snapshot: Snapshot
    """Of them; its user compacts."""
    buckets: frozenset[BucketKey]
    """Their files are followed from commit to commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendChoice:
    """What of an append table is rewritten: of which buckets, and by which strategy."""

    keep: Callable[[pa.Table], pa.Table]
    """Which entries are of buckets that are looked at."""
    strategy: AppendStrategy
    follows: Written | None = None
    """The rows that it comes after; None: it comes by itself."""


def compact_appends(
    definition: TableDefinition, store: TableStore, request: CompactRequest, choice: AppendChoice
) -> CompactResult:
    """Compact an append table; see `Table.compact`.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    request
        What is asked for.
    choice
        What follows from it.

    Raises
    ------
    FilesConflictError, SnapshotExpiredError
        If others changed the same files again and again.
    """
    started = time.monotonic()
    user, identifier = new_user(definition.options), BATCH_COMMIT_IDENTIFIER
    if choice.follows is not None:
        before = choice.follows.snapshot
        user, identifier = before.commit_user, before.commit_identifier

    def attempt() -> CompactResult:
        snapshot = store.snapshots.latest()
        tasks = [] if snapshot is None else _tasks(definition, store, snapshot, choice)
        if snapshot is None or not tasks or request.dry_run:
            return _result(definition, tasks, {}, None, is_dry_run=request.dry_run)
        increments = _rewritten(definition, store, snapshot, tasks, choice, request)
        messages = [_message(*of_bucket) for of_bucket in increments]
        with files_deleted_on_failure(definition, store, messages):
            landed = committer_of(definition, store).append(
                messages,
                user=user,
                identifier=identifier,
                is_new_user=True,  # of rows that it follows: what they became is known
                checked_id=snapshot.id,
            )
        after = {_place(bucket): increment.after for bucket, increment in increments}
        return _result(definition, tasks, after, landed)

    result = until_undisturbed(definition.name, attempt, what="compacting")
    if result.snapshot is not None:
        logger.info("%s in %d ms", result, 1000 * (time.monotonic() - started))
    return result


def _tasks(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot, choice: AppendChoice
) -> list[AppendTask]:
    """Choose files, those of each bucket together."""
    written = (
        with_stored_tracking(definition.schema) if _stores_ids(definition) else definition.schema
    )
    writing = replace(definition, schema=written)
    if choice.follows is None:
        buckets = live_buckets(writing, store, snapshot, choice.keep)
    else:
        entries = choice.keep(store.bucket_memory.at(snapshot, choice.follows.buckets))
        buckets = buckets_of(writing, store, snapshot, entries)
    return [task for bucket in buckets for task in choice.strategy.tasks(bucket)]


def _stores_ids(definition: TableDefinition) -> bool:
    """Whether new files have columns of row ids; with data evolution their metadata says them."""
    options = definition.options.slice(RowTrackingOptions)
    return options.row_tracking and not options.data_evolution


def _plan(definition: TableDefinition, store: TableStore, snapshot: Snapshot) -> AppendPlan:
    """Say how rows are read; rows with ids keep them: the new files have them."""
    schema = with_tracking(definition.schema) if _stores_ids(definition) else definition.schema
    return AppendPlan(
        read=read_plan(definition, store, schema, schema.field_names, None, snapshot=snapshot),
        index_files=definition.options.slice(IndexFileOptions),
    )


def _rewritten(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    tasks: Sequence[AppendTask],
    choice: AppendChoice,
    request: CompactRequest,
) -> list[tuple[BucketFiles, CompactIncrement]]:
    """Rewrite files, several tasks at a time; if anything fails nothing is left behind."""
    plan, file_io, strategy = _plan(definition, store, snapshot), store.file_io, choice.strategy
    total = sum(len(task.files) for task in tasks)
    done = 0

    def report(task: AppendTask) -> None:
        nonlocal done
        done += len(task.files)
        if request.progress is not None:
            request.progress(done, total, "files")

    def undo(task: AppendTask, files: Iterable[DataFileMeta]) -> None:
        delete_outputs(CompactIncrement(after=tuple(files)), task.bucket, file_io)

    rows_of, what = strategy.rows_of, f"compacting {definition.name}"
    if request.workers.divides and isinstance(rows_of, RowsInOrder):
        outputs = rewrite_in_ranges(
            tasks, plan, file_io, rows_of, request.workers, what=what, done=report
        )
    else:
        outputs = request.workers(
            partial(rewrite_files, plan=plan, file_io=file_io, rows_of=rows_of),
            tasks,
            what=what,
            size=lambda task: sum(file.file_size_bytes for file in task.files),
            undo=undo,
            done=report,
            threads=strategy.threads,
        )
    rewritten = list(zip(tasks, outputs, strict=True))
    finished: list[tuple[BucketFiles, CompactIncrement]] = []
    try:
        for _, task_files in groupby(rewritten, key=lambda pair: _place(pair[0].bucket)):
            of_bucket = list(task_files)
            ours = [task for task, _ in of_bucket]
            after = [file for _, files in of_bucket for file in files]
            finished.append((ours[0].bucket, increment_of(ours, after, plan, file_io)))
    except BaseException:
        for task, files in rewritten:
            undo(task, files)
        for bucket, increment in finished:
            _delete_indexes(bucket, increment, plan, store.file_io)
        raise
    return finished


def _delete_indexes(
    bucket: BucketFiles, increment: CompactIncrement, plan: AppendPlan, file_io: FileIO
) -> None:
    layout = plan.read.layout
    folder = plan.index_files.folder(layout, f"{layout.table_path}/{bucket.folder}")
    for index in increment.new_indexes:
        file_io.delete(f"{folder}/{index.file_name}")


def _message(bucket: BucketFiles, increment: CompactIncrement) -> CommitMessage:
    return CommitMessage(
        partition=bucket.partition,
        bucket=bucket.bucket,
        total_buckets=bucket.total_buckets,
        compact_before=increment.before,
        compact_after=increment.after,
        new_indexes=increment.new_indexes,
        deleted_indexes=increment.deleted_indexes,
        checked_snapshot_id=bucket.snapshot_id,
    )


def _place(bucket: BucketFiles) -> BucketKey:
    return bucket.partition, bucket.bucket


def _result(
    definition: TableDefinition,
    tasks: Sequence[AppendTask],
    after: dict[BucketKey, Files],
    snapshot: Snapshot | None,
    *,
    is_dry_run: bool = False,
) -> CompactResult:
    buckets = []
    for key, of_bucket in groupby(tasks, key=lambda task: _place(task.bucket)):
        ours = list(of_bucket)
        rows = arrow_array([key[0]], pa.large_binary())
        (text,) = names_of_partitions(rows, definition.schema)
        buckets.append(_summary(ours, text, after.get(key)))
    return CompactResult(
        table=definition.name, snapshot=snapshot, is_dry_run=is_dry_run, buckets=tuple(buckets)
    )


def _summary(tasks: Sequence[AppendTask], partition: str, after: Files | None) -> BucketCompaction:
    bucket = tasks[0].bucket
    picked = [file for task in tasks for file in task.files]
    gone = {file.file_name for file in picked}
    rest = [file for file in bucket.files if file.file_name not in gone]
    level = tasks[0].output_level
    return BucketCompaction(
        partition=partition,
        bucket=bucket.bucket,
        reason=tasks[0].reason,
        output_level=level or None,
        picked=FileTotals.of(picked),
        before=FileTotals.of(bucket.files),
        after=None if after is None else FileTotals.of([*rest, *after]),
    )
