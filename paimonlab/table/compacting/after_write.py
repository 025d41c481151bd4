"""Compaction after rows were committed: where a writer's own came too late, or it made none.

Rows that are committed stay committed, whatever becomes of their compaction: the next writer
that comes to the bucket compacts it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar

from paimonlab.compact.append_packing import AppendPackingOptions
from paimonlab.errors import (
    CommitError,
    FilesConflictError,
    PostCommitError,
    SnapshotExpiredError,
)
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.compacting.append import AppendChoice, Written, compact_appends
from paimonlab.table.compacting.append_strategies import Packing
from paimonlab.table.compacting.due import compacts_appended
from paimonlab.table.compacting.keyed import compact_buckets, with_latest_schema
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.definition import TableDefinition
from paimonlab.table.memories.bucket_files import of_buckets
from paimonlab.table.store import TableStore
from paimonlab.workers import Workers, side_by_side
from paimonlab.write.write_plan import WriterCompactionOptions

logger = logging.getLogger(__name__)

Committed = TypeVar("Committed", Snapshot, Snapshot | None)


def compact_written(
    definition: TableDefinition,
    store: TableStore,
    messages: Sequence[CommitMessage],
    written: Snapshot | None = None,
    *,
    workers: Workers = side_by_side,
    round_number: int | None = None,
    reports: bool = True,
) -> Snapshot | None:
    """Compact buckets after rows were committed to them, as their writers would have.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    messages
        What was committed.
    written
        What it became: buckets of append tables are compacted in its name.
    workers
        What compacts.
    round_number
        Which batch of a stream it was, counted from 0; None: a write that stands alone. With
        ``full-compaction.delta-commits`` = n each of these, and every n-th batch, is compacted in
        full, as by Java's connector for Spark.
    reports
        Whether the compaction may have a changelog; that of an overwrite has none.

    Returns
    -------
    Snapshot or None
        None if nothing was to be done, or others do it.

    Raises
    ------
    PostCommitError
        If files could not be read or written.
    """
    options = definition.options.slice(WriterCompactionOptions)
    has_buckets = definition.bucket_mode is not BucketMode.POSTPONE_MODE
    if not definition.schema.primary_keys:
        compacted = compact_appended(definition, store, messages, written, workers=workers)
        return None if compacted == written else compacted
    if not messages or options.write_only or not has_buckets:
        return None
    keys = {(message.partition, message.bucket) for message in messages}
    try:
        is_full = _is_full(options, round_number)
        request = CompactRequest(full=is_full, workers=workers, reports=reports)
        return compact_buckets(definition, store, request, of_buckets(keys)).snapshot
    except (FilesConflictError, SnapshotExpiredError) as error:
        logger.warning(
            "%s: written rows are left to be compacted later: %s", definition.name, error
        )
        return None
    except PostCommitError:
        raise
    except Exception as error:
        if written is None:
            raise
        raise PostCommitError(definition.name, written.id, repr(error)) from error


def _is_full(options: WriterCompactionOptions, round_number: int | None) -> bool:
    every = options.full_every
    if every is None or every < 1:
        return False
    return round_number is None or (round_number + 1) % every == 0


def compact_appended(
    definition: TableDefinition,
    store: TableStore,
    messages: Sequence[CommitMessage],
    written: Committed,
    *,
    workers: Workers = side_by_side,
) -> Committed | Snapshot:
    """Put files of buckets together after rows were appended to them.

    At most once a bucket, files that follow one another, `compaction.min.file-num` or more: what
    Java's writer does before it commits, so that the same snapshots come of it.

    Parameters
    ----------
    definition, store
        Of the table. One with a primary key, without buckets or with ``write-only`` is left alone.
    messages
        What was committed.
    written
        What it became; None: no snapshot.
    workers
        What compacts.

    Returns
    -------
    Snapshot or None
        The last snapshot that came of it.

    Raises
    ------
    PostCommitError
        If files could not be read or written.

    Notes
    -----
    Source: apache/paimon@1.3.1 ``org.apache.paimon.append.AppendOnlyWriter``, ``prepareCommit``;
    ``…BucketedAppendCompactManager``.
    """
    buckets = frozenset(
        (message.partition, message.bucket) for message in messages if message.new_files
    )
    if not buckets or not compacts_appended(definition):
        return written
    if written is None:
        return written
    definition = with_latest_schema(definition, store.schemas)
    choice = AppendChoice(
        keep=of_buckets(buckets),
        strategy=Packing(
            definition.options.slice(AppendPackingOptions),
            definition.options.slice(ScanOptions).has_deletion_vectors,
            full=False,
            once=True,
        ),
        follows=Written(written, buckets),
    )
    try:
        request = CompactRequest(workers=workers)
        compacted = compact_appends(definition, store, request, choice).snapshot
    except (CommitError, SnapshotExpiredError) as error:
        logger.warning(
            "%s: written rows are left to be compacted later: %s", definition.name, error
        )
        return written
    except PostCommitError:
        raise
    except Exception as error:
        raise PostCommitError(definition.name, written.id, repr(error)) from error
    return written if compacted is None else compacted
