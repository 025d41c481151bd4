"""Giving the data files of a table the indexes that its options ask for.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.procedure.RewriteFileIndexProcedure``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeAlias

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.index_rewriting import index_anew, index_path
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    FilesConflictError,
    UnsupportedError,
)
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.maintenance.deletion import Progress
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

logger = logging.getLogger(__name__)

_ROUNDS = 4
"""How often files are indexed anew because others changed them."""
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
    for rounds in range(1, _ROUNDS + 1):
        snapshot = parts.snapshots.latest()
        buckets = [] if snapshot is None else live_buckets(parts, snapshot, keep)
        files = [(bucket, file) for bucket in buckets for file in bucket.files]
        read = parts.read_plan(parts.schema, (), None, snapshot=snapshot)
        indexed = _indexed(files, options, read, parts, progress)
        if snapshot is None or not indexed:
            return RewrittenIndexes(table=parts.name, files=len(files), written=0, snapshot=None)
        try:
            landed = parts.committer.append(
                _messages(indexed),
                user=new_user(parts),
                identifier=BATCH_COMMIT_IDENTIFIER,
                is_new_user=True,
                checked_id=snapshot.id,
            )
        except CommitOutcomeUnknownError:
            raise
        except CommitError as error:
            _delete(indexed, read, parts)
            if not isinstance(error, FilesConflictError) or rounds == _ROUNDS:
                raise
            logger.info("%s: files are indexed again: %s", parts.name, error)
            continue
        done = RewrittenIndexes(
            table=parts.name, files=len(files), written=len(indexed), snapshot=landed
        )
        logger.info("%s", done)
        return done
    raise AssertionError("the last round returns or raises")


def _indexed(
    files: Sequence[tuple[BucketFiles, DataFileMeta]],
    options: FileIndexOptions,
    read: ReadPlan,
    parts: TableParts,
    progress: Progress | None,
) -> list[_Indexed]:
    """Index several files at a time; returns those that changed."""
    found: list[_Indexed] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(index_anew, file, bucket, options, read, parts.file_io)
            for bucket, file in files
        ]
        try:
            for number, (job, (bucket, file)) in enumerate(zip(jobs, files, strict=True), start=1):
                after = job.result()
                if after is not None:
                    found.append((bucket, file, after))
                if progress is not None:
                    progress(number, len(files), "files")
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            done = [
                (bucket, file, job.result())
                for job, (bucket, file) in zip(jobs, files, strict=True)
                if not job.cancelled() and job.exception() is None
            ]
            changed = [(bucket, file, after) for bucket, file, after in done if after is not None]
            _delete(changed, read, parts)
            raise
    return found


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
