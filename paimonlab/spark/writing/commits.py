"""Committing what executors wrote, from the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.commit.read_set import ReadSet
from paimonlab.errors import DataError
from paimonlab.spark.reading.pinned import snapshots_read
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.committing.overwrites import to_overwrite_with
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.after_write import compact_written
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.writing.mark_done import mark_written
from paimonlab.table.writing.writers import has_same_buckets
from paimonlab.write.folders import delete_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimonlab.commit.scope import OverwriteScope
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.spark.writing.stream_batches import BatchCommit
    from paimonlab.table.table import Table


def commit_rows(
    bridge: Bridge,
    table: Table,
    messages: Sequence[CommitMessage],
    *,
    seen: Snapshot | None,
    user: str,
    batch: BatchCommit | None = None,
    round_number: int | None = None,
) -> None:
    """Add files to a table; no files make no snapshot.

    Buckets that have to be compacted then are compacted by executors, as a job after the commit.

    Parameters
    ----------
    bridge
        The session.
    table
        The table.
    messages
        Messages of all tasks.
    seen
        The latest snapshot before the first row was written; later ones are checked for
        conflicts. None if the table was empty.
    user
        Who commits.
    batch
        How the batch of a stream commits; None: the user was never used before.
    round_number
        Which batch of a stream into the table it is; None: none.
    """
    if not messages:
        return
    definition, store = definition_of(table), store_of(table)
    # Files of other numbers of buckets are found only by looking at all of them.
    is_checked = has_same_buckets(definition, store, seen, messages)
    with files_deleted_on_failure(definition, store, messages):
        written = committer_of(definition, store).append(
            messages,
            user=user,
            identifier=batch.identifier if batch else BATCH_COMMIT_IDENTIFIER,
            properties=batch.properties if batch else None,
            is_new_user=batch is None,
            checked_id=(seen.id if seen else 0) if is_checked else None,
        )
    workers = SparkWorkers(bridge)
    compact_written(
        definition, store, messages, written, workers=workers, round_number=round_number
    )
    mark_written(definition, store, messages)


def commit_scope(
    bridge: Bridge,
    table: Table,
    messages: Sequence[CommitMessage],
    scope: OverwriteScope,
    *,
    user: str | None = None,
    batch: BatchCommit | None = None,
    reads: ReadSet | None = None,
    round_number: int | None = None,
) -> None:
    """Replace the files of a scope by others, or by none.

    Buckets are compacted then as by `commit_rows`, whose parameters these are: rows of level 0 are
    not read where tables have deletion vectors, or keep the first row of a key.

    Raises
    ------
    FilesConflictError
        If the rows were made of rows of the table (``reads``), and others have changed those.
    """
    definition, store = definition_of(table), store_of(table)
    _check_scope(table, messages, scope)
    rows = to_overwrite_with(definition, store, messages)
    with files_deleted_on_failure(definition, store, rows):
        replaced = committer_of(definition, store).overwrite(
            rows,
            scope=scope,
            user=batch.user if batch else user or new_user(definition.options),
            identifier=batch.identifier if batch else BATCH_COMMIT_IDENTIFIER,
            properties=batch.properties if batch else None,
            is_new_user=batch is None,
            reads=reads,
        )
    compact_written(
        definition,
        store,
        rows,
        replaced,
        workers=SparkWorkers(bridge),
        round_number=round_number,
        reports=False,
    )
    mark_written(definition, store, messages)


def _check_scope(table: Table, messages: Sequence[CommitMessage], scope: OverwriteScope) -> None:
    schema = table.schema
    partitions = pa.array([message.partition for message in messages], pa.large_binary())
    if not scope.covers(partitions, [schema.field(key) for key in schema.partition_keys]).all():
        discard(table, messages)
        raise DataError(
            f"{table.name}: the rows to write are not all in the partitions to overwrite; "
            "filter them, or overwrite the partitions that they have (overwritePartitions, or "
            "spark.sql.sources.partitionOverwriteMode=dynamic)"
        )


def discard(table: Table, messages: Sequence[CommitMessage]) -> None:
    """Delete the files of messages that were not and will not be committed."""
    delete_files(
        messages, write_plan(definition_of(table), store_of(table).layout), store_of(table).file_io
    )


def rows_read_of(bridge: Bridge, rows: DataFrame, table: Table) -> ReadSet | None:
    """Return what rows read of the table that they go to; None: nothing."""
    plan = rows._jdf.queryExecution().analyzed()
    own = snapshots_read(bridge, plan, store_of(table).layout.branch_path)
    return ReadSet(snapshot_id=min(own), its_partitions=True) if own else None
