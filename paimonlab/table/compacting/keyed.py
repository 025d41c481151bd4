"""Compacting buckets of a table and committing what came out.

Every bucket is compacted by itself, several at a time. What came out becomes one snapshot of
kind COMPACT. If others replaced files of a bucket meanwhile, the new files are deleted and
the bucket is compacted again.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``,
``org.apache.paimon.flink.action.CompactAction``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import count

import pyarrow as pa
from msgspec import structs

from paimonlab import clock
from paimonlab.arrow_values import arrow_array
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.compaction import CompactPlan, Picked, compact, delete_outputs, pick_unit
from paimonlab.compact.units import CompactIncrement
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    FilesConflictError,
    SnapshotExpiredError,
)
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.committing.rounds import until_undisturbed
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.live_buckets import live_buckets
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.result import BucketCompaction, CompactResult, FileTotals
from paimonlab.table.definition import TableDefinition
from paimonlab.table.memories.bucket_files import of_buckets
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.store import TableStore
from paimonlab.table.texts import names_of_partitions
from paimonlab.table.upkeep.after_commit import committer_of

logger = logging.getLogger(__name__)

Keep = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True, slots=True)
class _Done:
    """A bucket and its compaction."""

    bucket: BucketFiles
    picked: Picked
    increment: CompactIncrement | None
    """None: nothing yet."""

    @property
    def message(self) -> CommitMessage:
        """What a commit has to know."""
        increment = self.increment
        assert increment is not None, "only what was compacted is committed"
        return CommitMessage(
            partition=self.bucket.partition,
            bucket=self.bucket.bucket,
            total_buckets=self.bucket.total_buckets,
            compact_before=increment.before,
            compact_after=increment.after,
            compact_changelog=increment.changelog,
            new_indexes=increment.new_indexes,
            deleted_indexes=increment.deleted_indexes,
            checked_snapshot_id=self.bucket.snapshot_id,
        )


def with_latest_schema(definition: TableDefinition, schemas: SchemaManager) -> TableDefinition:
    """Return a table at its latest schema: under an older one newer columns would be lost."""
    latest = schemas.latest()
    if latest is None or latest.id == definition.schema.id:
        return definition
    return structs.replace(definition, schema=latest)


def compact_buckets(
    definition: TableDefinition, store: TableStore, request: CompactRequest, keep: Keep
) -> CompactResult:
    """Compact buckets, or only say what would be compacted; again while others interfere.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    request
        How they are compacted.
    keep
        Which entries are of buckets that are looked at.

    Raises
    ------
    FilesConflictError, SnapshotExpiredError
        If others replaced the files of the same buckets again and again.
    """
    if request.dry_run:
        return _planned(definition, store, request, keep)
    started = time.monotonic()
    work = _Work(definition, store, request, keep)
    try:
        result = until_undisturbed(definition.name, work.attempt, what="compacting")
    except (FilesConflictError, SnapshotExpiredError):
        work.undo()
        raise
    if result.snapshot is not None:
        logger.info("%s in %d ms", result, 1000 * (time.monotonic() - started))
    return result


def _planned(
    definition: TableDefinition, store: TableStore, request: CompactRequest, keep: Keep
) -> CompactResult:
    snapshot = store.snapshots.latest()
    picked = [] if snapshot is None else _picked(definition, store, snapshot, request, keep)
    return _result(definition, picked, None, is_dry_run=True)


@dataclass(slots=True)
class _Work:
    """Compacting buckets: what nobody else touched is kept from one attempt to the next."""

    definition: TableDefinition
    store: TableStore
    request: CompactRequest
    wanted: Keep
    """Which entries are of buckets that are looked at."""
    keep: Keep = field(init=False)
    """Which of them are of buckets that are still to be compacted."""
    done: list[_Done] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keep = self.wanted

    def attempt(self) -> CompactResult:
        """Compact what is there, besides what is done, and commit."""
        definition, store = self.definition, self.store
        try:
            snapshot = store.snapshots.latest()
            picked = (
                []
                if snapshot is None
                else _picked(definition, store, snapshot, self.request, self.keep)
            )
            self.done += _compacted(definition, store, picked, self.request)
        except SnapshotExpiredError:
            raise
        except BaseException:
            self.undo()
            raise
        if not self.done:
            return _result(definition, [], None)
        try:
            landed = _commit(definition, store, self.done)
        except FilesConflictError:
            self._undo_lost()
            raise
        except CommitOutcomeUnknownError:
            raise
        except CommitError:
            self.undo()
            raise
        return _result(definition, self.done, landed)

    def _undo_lost(self) -> None:
        """Delete the new files of buckets that others changed: they are compacted again."""
        try:
            valid, lost = _still_valid(self.definition, self.store, self.done)
        except SnapshotExpiredError:
            valid, lost = [], self.done
        _delete(self.store.file_io, lost)
        self.done = valid
        self.keep = _both(self.wanted, {_key(compaction.bucket) for compaction in lost})

    def undo(self) -> None:
        """Delete the new files."""
        _delete(self.store.file_io, self.done)
        self.done = []


def _both(keep: Keep, keys: Collection[BucketKey]) -> Keep:
    return lambda entries: of_buckets(keys)(keep(entries))


def _key(bucket: BucketFiles) -> BucketKey:
    return bucket.partition, bucket.bucket


def _picked(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    request: CompactRequest,
    keep: Keep,
) -> list[_Done]:
    plan, now = compact_plan(definition, store, snapshot), clock.now()
    chosen = []
    for bucket in live_buckets(definition, store, snapshot, keep):
        picked, _ = pick_unit(bucket, plan, now=now, full=request.full)
        if picked is not None:
            chosen.append(_Done(bucket, picked, None))
    return chosen


def _compacted(
    definition: TableDefinition, store: TableStore, picked: Sequence[_Done], request: CompactRequest
) -> list[_Done]:
    """Compact several buckets at a time."""
    now = clock.now()
    plan = compact_plan(definition, store, store.snapshots.latest())
    number = count(1)

    def report(_one: _Done) -> None:
        if request.progress is not None:
            request.progress(next(number), len(picked), "buckets")

    return request.workers(
        partial(_compact_one, file_io=store.file_io, plan=plan, now=now, reports=request.reports),
        picked,
        what=f"compacting {definition.name}",
        size=lambda compaction: _bytes(compaction.picked.unit.files),
        undo=lambda _, compaction: _delete(store.file_io, [compaction]),
        done=report,
    )


def _compact_one(
    compaction: _Done, *, file_io: FileIO, plan: CompactPlan, now: datetime, reports: bool
) -> _Done:
    increment = compact(compaction.picked, compaction.bucket, plan, file_io, now=now)
    if increment.changelog and not reports:
        unread = CompactIncrement(before=(), after=(), changelog=increment.changelog)
        delete_outputs(unread, compaction.bucket, file_io)
        increment = replace(increment, changelog=())
    return _Done(compaction.bucket, compaction.picked, increment)


def _commit(
    definition: TableDefinition, store: TableStore, done: Sequence[_Done]
) -> Snapshot | None:
    return committer_of(definition, store).append(
        [compaction.message for compaction in done],
        user=new_user(definition.options),
        identifier=BATCH_COMMIT_IDENTIFIER,
        is_new_user=True,
        checked_id=min(compaction.bucket.snapshot_id for compaction in done),
    )


def _still_valid(
    definition: TableDefinition, store: TableStore, done: Sequence[_Done]
) -> tuple[list[_Done], list[_Done]]:
    """Separate buckets that nobody else compacted from those that others did."""
    snapshot = store.snapshots.latest()
    keys = {_key(compaction.bucket) for compaction in done}
    now = live_buckets(definition, store, snapshot, of_buckets(keys)) if snapshot else []
    files = {_key(bucket): _upper(bucket) for bucket in now}
    alive = {_key(bucket): {*_places(bucket.files)} for bucket in now}
    indexes = {_key(bucket): bucket.indexes for bucket in now}
    valid: list[_Done] = []
    lost: list[_Done] = []
    for compaction in done:
        key = _key(compaction.bucket)
        is_there = _places(compaction.picked.unit.files) <= alive.get(key, set())
        is_same = files.get(key) == _upper(compaction.bucket)
        has_same_vectors = indexes.get(key, ()) == compaction.bucket.indexes
        (valid if is_there and is_same and has_same_vectors else lost).append(compaction)
    return valid, lost


def _places(files: Iterable[DataFileMeta]) -> set[tuple[str, int]]:
    return {(file.file_name, file.level) for file in files}


def _upper(bucket: BucketFiles) -> set[tuple[str, int]]:
    """Files above level 0: writers add no others."""
    return _places(file for file in bucket.files if file.level > 0)


def _delete(file_io: FileIO, done: Iterable[_Done]) -> None:
    for compaction in done:
        if compaction.increment is not None:
            delete_outputs(compaction.increment, compaction.bucket, file_io)


def _bytes(files: Iterable[DataFileMeta]) -> int:
    return sum(file.file_size_bytes for file in files)


def _result(
    definition: TableDefinition,
    done: Sequence[_Done],
    snapshot: Snapshot | None,
    *,
    is_dry_run: bool = False,
) -> CompactResult:
    rows = arrow_array([compaction.bucket.partition for compaction in done], pa.large_binary())
    texts = names_of_partitions(rows, definition.schema)
    return CompactResult(
        table=definition.name,
        snapshot=snapshot,
        is_dry_run=is_dry_run,
        buckets=tuple(
            _summary(compaction, text) for compaction, text in zip(done, texts, strict=True)
        ),
    )


def _summary(compaction: _Done, partition: str) -> BucketCompaction:
    unit, increment = compaction.picked.unit, compaction.increment
    after = None
    if increment is not None:
        gone = {file.file_name for file in increment.before}
        rest = [file for file in compaction.bucket.files if file.file_name not in gone]
        after = FileTotals.of([*rest, *increment.after])
    return BucketCompaction(
        partition=partition,
        bucket=compaction.bucket.bucket,
        reason=unit.reason.value,
        output_level=unit.output_level,
        picked=FileTotals.of(unit.files),
        before=FileTotals.of(compaction.bucket.files),
        after=after,
    )
