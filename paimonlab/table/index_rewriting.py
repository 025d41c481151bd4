"""Giving the data files of a table the indexes that its options ask for.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.procedure.RewriteFileIndexProcedure``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, groupby
from typing import Any, TypeAlias

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.index_rewriting import index_anew, index_path
from paimonlab.errors import (
    UnsupportedError,
)
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.progress import Progress
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.commit_user import new_user
from paimonlab.table.compact_verb import kept
from paimonlab.table.compacting import with_latest_schema
from paimonlab.table.live_buckets import live_buckets
from paimonlab.table.parts import TableParts
from paimonlab.table.rounds import side_by_side, undone_if_not_committed, until_undisturbed

logger = logging.getLogger(__name__)

_Indexed: TypeAlias = tuple[BucketFiles, DataFileMeta, DataFileMeta]
"""A file before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrittenIndexes:
    """What making the indexes of files anew did."""

    table: str
    files: int
    """Files that were looked at."""
    written: int
    """Files that have other indexes now."""
    snapshot: Snapshot | None
    """The commit, of kind COMPACT; None: all files have their indexes already."""

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.table}: {self.written:,} of {self.files:,} files got other indexes"


def rewrite_file_index(
    parts: TableParts,
    *,
    partitions: Sequence[Mapping[str, Any]] | None,
    progress: Progress | None,
) -> RewrittenIndexes:
    """Make indexes anew; see `Maintenance.rewrite_file_index`."""
    parts = with_latest_schema(parts)
    parts = replace(parts, options=Options({**parts.options, **parts.schema.options}))
    if parts.options.slice(RowTrackingOptions).data_evolution:
        raise UnsupportedError("data-evolution.enabled = 'true'", f"indexing files of {parts.name}")
    options = FileIndexOptions.of(parts.schema.fields, parts.options)
    keep = kept(parts, partitions, None, None)

    def attempt() -> RewrittenIndexes:
        snapshot = parts.snapshots.latest()
        buckets = [] if snapshot is None else live_buckets(parts, snapshot, keep)
        files = [(bucket, file) for bucket in buckets for file in bucket.files]
        read = parts.read_plan(parts.schema, (), None, snapshot=snapshot)
        indexed = _indexed(files, options, read, parts, progress)
        landed = None
        if snapshot is not None and indexed:
            with undone_if_not_committed(lambda: _delete(indexed, read, parts)):
                landed = parts.committer.append(
                    _messages(indexed),
                    user=new_user(parts),
                    identifier=BATCH_COMMIT_IDENTIFIER,
                    is_new_user=True,
                    checked_id=snapshot.id,
                )
        return RewrittenIndexes(
            table=parts.name, files=len(files), written=len(indexed), snapshot=landed
        )

    result = until_undisturbed(parts.name, attempt, what="indexing files")
    if result.snapshot is not None:
        logger.info("%s", result)
    return result


def _indexed(
    files: Sequence[tuple[BucketFiles, DataFileMeta]],
    options: FileIndexOptions,
    read: ReadPlan,
    parts: TableParts,
    progress: Progress | None,
) -> list[_Indexed]:
    """Index several files at a time; returns those that changed."""
    number = count(1)

    def work(one: tuple[BucketFiles, DataFileMeta]) -> _Indexed | None:
        bucket, file = one
        after = index_anew(file, bucket, options, read, parts.file_io)
        return None if after is None else (bucket, file, after)

    def undo(_: object, made: _Indexed | None) -> None:
        if made is not None:
            _delete([made], read, parts)

    def report(_: object) -> None:
        if progress is not None:
            progress(next(number), len(files), "files")

    made = side_by_side(work, files, undo=undo, done=report)
    return [one for one in made if one is not None]


def _delete(indexed: Sequence[_Indexed], read: ReadPlan, parts: TableParts) -> None:
    """Delete index files that no commit names."""
    for bucket, before, after in indexed:
        for name in after.extra_files:
            if name not in before.extra_files:
                parts.file_io.delete(index_path(after, name, bucket, read))


def _messages(indexed: Sequence[_Indexed]) -> list[CommitMessage]:
    messages = []
    for _, found in groupby(indexed, key=lambda one: (one[0].partition, one[0].bucket)):
        ours = list(found)
        bucket = ours[0][0]
        messages.append(
            CommitMessage(
                partition=bucket.partition,
                bucket=bucket.bucket,
                total_buckets=bucket.total_buckets,
                compact_before=tuple(before for _, before, _ in ours),
                compact_after=tuple(after for _, _, after in ours),
                checked_snapshot_id=bucket.snapshot_id,
            )
        )
    return messages
