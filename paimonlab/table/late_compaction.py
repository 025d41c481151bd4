"""Compaction after rows were committed: where a writer's own came too late, or it made none.

Rows that are committed stay committed, whatever becomes of their compaction: the next writer
that comes to the bucket compacts it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from paimonlab.errors import FilesConflictError, PostCommitError
from paimonlab.spec.bucket_mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.bucket_memory import of_buckets
from paimonlab.table.compacting import CompactRequest, compact_buckets
from paimonlab.table.parts import TableParts
from paimonlab.write.compactions import WriterCompactionOptions
from paimonlab.write.folders import delete_files

logger = logging.getLogger(__name__)

Committed = TypeVar("Committed", Snapshot, Snapshot | None)


def landed(
    parts: TableParts, messages: Sequence[CommitMessage], commit: Callable[[], Committed]
) -> Committed | Snapshot:
    """Commit, and compact anew if others compacted the same buckets first.

    Parameters
    ----------
    parts
        Of the table.
    messages
        What is committed; those of compactions have no new files.
    commit
        Does it.

    Returns
    -------
    Snapshot or None
        What ``commit`` returned, or the last snapshot that came of it.
    """
    try:
        return commit()
    except PostCommitError as error:
        if not isinstance(error.__cause__, FilesConflictError):
            raise
        compactions = [message for message in messages if message.compact_before]
        delete_files(compactions, parts.write_plan(), parts.file_io)
        found = compact_written(parts, compactions)
        return parts.snapshots.get(error.snapshot_id) if found is None else found


def compact_written(parts: TableParts, messages: Sequence[CommitMessage]) -> Snapshot | None:
    """Compact buckets after rows were committed to them, as their writers would have.

    Parameters
    ----------
    parts
        Of the table.
    messages
        What was committed.

    Returns
    -------
    Snapshot or None
        None if nothing was to be done, or others do it.
    """
    options = parts.options.slice(WriterCompactionOptions)
    has_buckets = parts.write_plan().bucket_mode is not BucketMode.POSTPONE_MODE
    if not messages or not parts.schema.primary_keys or options.write_only or not has_buckets:
        return None
    keys = {(message.partition, message.bucket) for message in messages}
    try:
        return compact_buckets(parts, CompactRequest(keep=of_buckets(keys))).snapshot
    except FilesConflictError as error:
        logger.warning("%s: written rows are left to be compacted later: %s", parts.name, error)
        return None
