"""Giving the data files of a table the indexes that its options ask for.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.procedure.RewriteFileIndexProcedure``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby
from typing import Any, TypeAlias

from msgspec.structs import replace

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
from paimonlab.storage import FileIO
from paimonlab.table.committing.rounds import (
    undone_if_not_committed,
    until_undisturbed,
)
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.keyed import with_latest_schema
from paimonlab.table.compacting.live_buckets import live_buckets
from paimonlab.table.compacting.verb import kept
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.workers import Workers, side_by_side

logger = logging.getLogger(__name__)

_File: TypeAlias = tuple[BucketFiles, DataFileMeta]
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
    partitions: int
    """In which they are."""
    snapshot: Snapshot | None
    """The commit, of kind COMPACT; None: all files have their indexes already."""

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.table}: {self.written:,} of {self.files:,} files got other indexes"


def rewrite_file_index(
    definition: TableDefinition,
    store: TableStore,
    *,
    partitions: Sequence[Mapping[str, Any]] | None,
    where: str | None = None,
    progress: Progress | None,
    workers: Workers = side_by_side,
) -> RewrittenIndexes:
    """Make indexes anew; see `Maintenance.rewrite_file_index`."""
    definition = with_latest_schema(definition, store.schemas)
    definition = replace(
        definition, options=Options({**definition.options, **definition.schema.options})
    )
    if definition.options.slice(RowTrackingOptions).data_evolution:
        raise UnsupportedError(
            "data-evolution.enabled = 'true'", f"indexing files of {definition.name}"
        )
    options = FileIndexOptions.of(definition.schema.fields, definition.options)
    keep = kept(definition, partitions, None, where)

    def attempt() -> RewrittenIndexes:
        snapshot = store.snapshots.latest()
        buckets = [] if snapshot is None else live_buckets(definition, store, snapshot, keep)
        files = [(bucket, file) for bucket in buckets for file in bucket.files]
        read = read_plan(definition, store, definition.schema, (), None, snapshot=snapshot)
        indexed = _indexed(files, options, read, store.file_io, progress, workers)
        landed = None
        if snapshot is not None and indexed:
            with undone_if_not_committed(lambda: _delete(indexed, read, store.file_io)):
                landed = committer_of(definition, store).append(
                    _messages(indexed),
                    user=new_user(definition.options),
                    identifier=BATCH_COMMIT_IDENTIFIER,
                    is_new_user=True,
                    checked_id=snapshot.id,
                )
        return RewrittenIndexes(
            table=definition.name,
            files=len(files),
            written=len(indexed),
            partitions=len({bucket.partition for bucket, _, _ in indexed}),
            snapshot=landed,
        )

    result = until_undisturbed(definition.name, attempt, what="indexing files")
    if result.snapshot is not None:
        logger.info("%s", result)
    return result


def _indexed(
    files: Sequence[_File],
    options: FileIndexOptions,
    read: ReadPlan,
    file_io: FileIO,
    progress: Progress | None,
    workers: Workers,
) -> list[_Indexed]:
    """Index several files at a time; returns those that changed."""
    number = count(1)

    def undo(_: object, made: _Indexed | None) -> None:
        if made is not None:
            _delete([made], read, file_io)

    def report(_: object) -> None:
        if progress is not None:
            progress(next(number), len(files), "files")

    made = workers(
        partial(_index, options=options, read=read, file_io=file_io),
        files,
        what=f"indexing files of {read.table_name}",
        size=lambda one: one[1].file_size_bytes,
        undo=undo,
        done=report,
    )
    return [one for one in made if one is not None]


def _index(
    one: _File, *, options: FileIndexOptions, read: ReadPlan, file_io: FileIO
) -> _Indexed | None:
    bucket, file = one
    after = index_anew(file, bucket, options, read, file_io)
    return None if after is None else (bucket, file, after)


def _delete(indexed: Sequence[_Indexed], read: ReadPlan, file_io: FileIO) -> None:
    """Delete index files that no commit names."""
    for bucket, before, after in indexed:
        for name in after.extra_files:
            if name not in before.extra_files:
                file_io.delete(index_path(after, name, bucket, read))


def _messages(indexed: Sequence[_Indexed]) -> list[CommitMessage]:
    messages = []
    for _, by_bucket in groupby(indexed, key=lambda one: (one[0].partition, one[0].bucket)):
        ours = list(by_bucket)
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
