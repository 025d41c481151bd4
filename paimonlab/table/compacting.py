"""Compacting buckets of a table and committing what came out.

Every bucket is compacted by itself, several at a time. What came out becomes one snapshot of
kind COMPACT. If others replaced files of a bucket meanwhile, what was made of it is deleted and
the bucket looked at anew.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``,
``org.apache.paimon.flink.action.CompactAction``.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import pyarrow as pa

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.compaction import CompactPlan, Picked, compact, delete_outputs, pick_unit
from paimonlab.compact.units import CompactIncrement
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    FilesConflictError,
    SnapshotExpiredError,
)
from paimonlab.maintenance.fsck.check import Progress
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.bucket_memory import BucketKey, of_buckets
from paimonlab.table.commit_user import new_user
from paimonlab.table.compact_result import BucketCompaction, CompactResult, FileTotals
from paimonlab.table.live_buckets import live_buckets
from paimonlab.table.parts import TableParts
from paimonlab.table.system.texts import partition_text

logger = logging.getLogger(__name__)

Keep = Callable[[pa.Table], pa.Table]

_ROUNDS = 4
"""How often buckets are looked at anew because others changed them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactRequest:
    """What is to be compacted, and how."""

    full: bool = False
    """Whether everything goes to the highest level; else what the table's options ask for."""
    keep: Keep
    """Which entries are of buckets that are looked at."""
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class _Done:
    """A bucket and what became of it."""

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


def with_latest_schema(parts: TableParts) -> TableParts:
    """Return the parts at the latest schema: under an older one newer columns would be lost."""
    latest = parts.schemas.latest()
    if latest is None or latest.id == parts.schema.id:
        return parts
    return replace(parts, schema=latest)


def planned(parts: TableParts, request: CompactRequest) -> CompactResult:
    """Tell what would be compacted."""
    snapshot = parts.snapshots.latest()
    picked = [] if snapshot is None else _picked(parts, snapshot, request, request.keep)
    return _result(parts, picked, None, is_dry_run=True)


def compact_buckets(parts: TableParts, request: CompactRequest) -> CompactResult:
    """Compact buckets until nobody is in the way.

    Raises
    ------
    FilesConflictError, SnapshotExpiredError
        If others replaced the files of the same buckets again and again.
    """
    started = time.monotonic()
    keep, done = request.keep, list[_Done]()
    for rounds in range(1, _ROUNDS + 1):
        all_done = _with_more(parts, request, keep, done, is_last=rounds == _ROUNDS)
        if all_done is None:
            continue
        done = all_done
        if not done:
            return _result(parts, [], None)
        try:
            landed = _commit(parts, done)
        except FilesConflictError as error:
            if rounds == _ROUNDS:
                _delete(parts, done)
                raise
            done, lost = _still_valid(parts, done)
            logger.info("%s: %s; %d buckets are compacted anew", parts.name, error, len(lost))
            _delete(parts, lost)
            keep = _both(request.keep, {_key(one.bucket) for one in lost})
            continue
        except CommitOutcomeUnknownError:
            raise
        except CommitError:
            _delete(parts, done)
            raise
        result = _result(parts, done, landed)
        logger.info("%s in %d ms", result, 1000 * (time.monotonic() - started))
        return result
    raise AssertionError("the last round returns or raises")


def _with_more(
    parts: TableParts, request: CompactRequest, keep: Keep, done: list[_Done], *, is_last: bool
) -> list[_Done] | None:
    """Compact what is there, besides what is done; None: it expired meanwhile."""
    try:
        snapshot = parts.snapshots.latest()
        found = [] if snapshot is None else _picked(parts, snapshot, request, keep)
        return done + _compacted(parts, found, request)
    except BaseException as error:
        if isinstance(error, SnapshotExpiredError) and not is_last:
            logger.info("%s: %s; it is compacted anew", parts.name, error)
            return None
        _delete(parts, done)
        raise


def _both(keep: Keep, keys: Collection[BucketKey]) -> Keep:
    return lambda entries: of_buckets(keys)(keep(entries))


def _key(bucket: BucketFiles) -> BucketKey:
    return bucket.partition, bucket.bucket


def _picked(
    parts: TableParts, snapshot: Snapshot, request: CompactRequest, keep: Keep
) -> list[_Done]:
    plan, now = parts.compact_plan(snapshot), datetime.now().astimezone()
    found = []
    for bucket in live_buckets(parts, snapshot, keep):
        picked, _ = pick_unit(bucket, plan, now=now, full=request.full)
        if picked is not None:
            found.append(_Done(bucket, picked, None))
    return found


def _compacted(parts: TableParts, found: Sequence[_Done], request: CompactRequest) -> list[_Done]:
    """Compact several buckets at a time, the largest first."""
    if not found:
        return []
    now = datetime.now().astimezone()
    plan = parts.compact_plan(parts.snapshots.latest())
    work = partial(_compact_one, parts=parts, plan=plan, now=now)
    ordered = sorted(found, key=lambda one: -_bytes(one.picked.unit.files))
    done: list[_Done] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(work, one) for one in ordered]
        try:
            for number, future in enumerate(waiting, start=1):
                done.append(future.result())
                if request.progress is not None:
                    request.progress(number, len(ordered), "buckets")
        except BaseException:
            for future in waiting:
                future.cancel()
            pool.shutdown(wait=True)
            ended = [future for future in waiting if future.done() and not future.cancelled()]
            _delete(parts, [one.result() for one in ended if one.exception() is None])
            raise
    return done


def _compact_one(one: _Done, *, parts: TableParts, plan: CompactPlan, now: datetime) -> _Done:
    increment = compact(one.picked, one.bucket, plan, parts.file_io, now=now)
    return _Done(one.bucket, one.picked, increment)


def _commit(parts: TableParts, done: Sequence[_Done]) -> Snapshot | None:
    return parts.committer.append(
        [one.message for one in done],
        user=new_user(parts),
        identifier=BATCH_COMMIT_IDENTIFIER,
        is_new_user=True,
        checked_id=min(one.bucket.snapshot_id for one in done),
    )


def _still_valid(parts: TableParts, done: Sequence[_Done]) -> tuple[list[_Done], list[_Done]]:
    """Tell buckets that nobody else compacted from those that somebody did."""
    snapshot = parts.snapshots.latest()
    keys = {_key(one.bucket) for one in done}
    now = live_buckets(parts, snapshot, of_buckets(keys)) if snapshot else []
    files = {_key(bucket): _upper(bucket) for bucket in now}
    alive = {_key(bucket): {*_places(bucket.files)} for bucket in now}
    indexes = {_key(bucket): bucket.indexes for bucket in now}
    valid: list[_Done] = []
    lost: list[_Done] = []
    for one in done:
        key = _key(one.bucket)
        is_there = _places(one.picked.unit.files) <= alive.get(key, set())
        is_same = files.get(key) == _upper(one.bucket)
        has_same_vectors = indexes.get(key, ()) == one.bucket.indexes
        (valid if is_there and is_same and has_same_vectors else lost).append(one)
    return valid, lost


def _places(files: Iterable[DataFileMeta]) -> set[tuple[str, int]]:
    return {(file.file_name, file.level) for file in files}


def _upper(bucket: BucketFiles) -> set[tuple[str, int]]:
    """Files above level 0: writers add no others."""
    return _places(file for file in bucket.files if file.level > 0)


def _delete(parts: TableParts, done: Iterable[_Done]) -> None:
    for one in done:
        if one.increment is not None:
            delete_outputs(one.increment, one.bucket, parts.file_io)


def _bytes(files: Iterable[DataFileMeta]) -> int:
    return sum(file.file_size_bytes for file in files)


def _result(
    parts: TableParts,
    done: Sequence[_Done],
    snapshot: Snapshot | None,
    *,
    is_dry_run: bool = False,
) -> CompactResult:
    fields = [parts.schema.field(name) for name in parts.schema.partition_keys]
    rows = pa.array([one.bucket.partition for one in done], pa.large_binary())
    texts = partition_text(rows, fields).to_pylist() if fields else [""] * len(done)
    return CompactResult(
        table=parts.name,
        snapshot=snapshot,
        is_dry_run=is_dry_run,
        buckets=tuple(_summary(one, text) for one, text in zip(done, texts, strict=True)),
    )


def _summary(one: _Done, partition: str) -> BucketCompaction:
    unit, increment = one.picked.unit, one.increment
    after = None
    if increment is not None:
        gone = {file.file_name for file in increment.before}
        rest = [file for file in one.bucket.files if file.file_name not in gone]
        after = FileTotals.of([*rest, *increment.after])
    return BucketCompaction(
        partition=partition,
        bucket=one.bucket.bucket,
        reason=unit.reason.value,
        output_level=unit.output_level,
        picked=FileTotals.of(unit.files),
        before=FileTotals.of(one.bucket.files),
        after=after,
    )
