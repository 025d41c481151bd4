"""Giving partitions another number of buckets.

Source: https://paimon.apache.org/docs/1.3/maintenance/rescale-bucket/ and apache/paimon@1.3.1
``org.apache.paimon.spark.procedure.RescaleProcedure``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pyarrow as pa

from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.errors import FilesConflictError, SchemaError, UnsupportedError
from paimonlab.maintenance.deletion import Progress
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.split import DataSplit
from paimonlab.spec.bucket_mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.data_file import DataFileMeta
from paimonlab.spec.schema_change import SetOption, apply_changes
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.table_schema import TableSchema
from paimonlab.table.commit_user import new_user
from paimonlab.table.compact_result import FileTotals
from paimonlab.table.compact_verb import kept
from paimonlab.table.compacting import with_latest_schema
from paimonlab.table.failed_commits import files_deleted_on_failure
from paimonlab.table.live_buckets import live_buckets
from paimonlab.table.parts import TableParts
from paimonlab.table.scan import Scan
from paimonlab.table.system.texts import partition_text
from paimonlab.table.writing import new_table_writer
from paimonlab.write.folders import delete_files

logger = logging.getLogger(__name__)

_ROUNDS = 4
"""How often rows are written anew because others changed them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaledPartition:
    """One partition that has, or gets, another number of buckets."""

    partition: str
    """``{2026-01-01}``, as in system tables; "": the table has no partitions."""
    buckets_before: int
    before: FileTotals
    """Its files."""
    after: FileTotals | None = None
    """What they became; None: nothing was done yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescale:
    """What rescaling a table did, or would do."""

    table: str
    buckets: int
    """That partitions have afterwards."""
    changes_option: bool
    """Whether the option ``bucket`` of the table had another value."""
    partitions: tuple[RescaledPartition, ...]
    snapshot: Snapshot | None = None
    """The commit; None: no rows were to be moved, or were only asked about."""
    is_dry_run: bool = False

    def __str__(self) -> str:
        """Say it in one line."""
        before = sum((one.before for one in self.partitions), FileTotals(0, 0, 0))
        verb = "would move" if self.is_dry_run else "moved"
        return (
            f"{self.table}: {verb} {before.rows:,} rows of {len(self.partitions):,} partitions "
            f"({before}) to {self.buckets:,} buckets each"
        )


def rescale(
    parts: TableParts,
    *,
    buckets: int,
    partitions: Sequence[Mapping[str, Any]] | None,
    dry_run: bool,
    progress: Progress | None,
) -> Rescale:
    """Give partitions another number of buckets; see `Maintenance.rescale`."""
    if buckets < 1:
        raise ValueError(f"buckets must be at least 1, got {buckets}")
    parts = with_latest_schema(parts)
    _check(parts)
    changes_option = parts.write_plan().buckets != buckets
    started = time.monotonic()
    for rounds in range(1, _ROUNDS + 1):
        found = _misfits(parts, buckets, partitions)
        plan = Rescale(
            table=parts.name,
            buckets=buckets,
            changes_option=changes_option,
            partitions=tuple(_described(parts, ours) for ours in found),
            is_dry_run=dry_run,
        )
        if dry_run:
            return plan
        target = _with_buckets(parts, buckets)
        snapshot = parts.snapshots.latest()
        if not found or snapshot is None:
            return plan
        try:
            landed, after = _moved(parts, target, snapshot, found, progress)
        except FilesConflictError as error:
            if rounds == _ROUNDS:
                raise
            logger.info("%s: rescaling runs again: %s", parts.name, error)
            continue
        done = replace(
            plan,
            snapshot=landed,
            partitions=tuple(
                replace(one, after=FileTotals.of(files))
                for one, files in zip(plan.partitions, after, strict=True)
            ),
        )
        logger.info("%s in %d ms", done, 1000 * (time.monotonic() - started))
        return done
    raise AssertionError("the last round returns or raises")


def _check(parts: TableParts) -> None:
    """Refuse tables whose rows have no bucket of their own, or would be out of sight."""
    mode = parts.write_plan().bucket_mode
    if mode is not BucketMode.HASH_FIXED:
        raise UnsupportedError(
            f"rescaling a table with bucket = '{parts.options.get('bucket', '-1')}'",
            f"{parts.name} has no fixed number of buckets",
        )
    if parts.schema.primary_keys and parts.options.slice(ScanOptions).skips_level_0:
        raise UnsupportedError(
            "rescaling a table whose readers see compacted rows only",
            f"{parts.name} has deletion vectors or the merge engine first-row",
        )
    producer = parts.options.get("changelog-producer", "none").lower()
    if producer in ("lookup", "full-compaction"):
        raise UnsupportedError(
            f"rescaling a table with changelog-producer = '{producer}'",
            f"the next compaction of {parts.name} would report all its rows as new",
        )


def _misfits(
    parts: TableParts, buckets: int, partitions: Sequence[Mapping[str, Any]] | None
) -> list[list[BucketFiles]]:
    """Find the partitions that have another number of buckets, each with its buckets."""
    snapshot = parts.snapshots.latest()
    if snapshot is None:
        return []
    keep = kept(parts, partitions, None, None)
    found = live_buckets(parts, snapshot, keep)
    by_partition = [list(ours) for _, ours in groupby(found, key=lambda one: one.partition)]
    return [ours for ours in by_partition if ours[0].total_buckets != buckets]


def _described(parts: TableParts, buckets: Sequence[BucketFiles]) -> RescaledPartition:
    fields = [parts.schema.field(name) for name in parts.schema.partition_keys]
    partition = pa.array([buckets[0].partition], pa.large_binary())
    text = partition_text(partition, fields)[0].as_py() if fields else ""
    files: list[DataFileMeta] = [file for one in buckets for file in one.files]
    return RescaledPartition(
        partition=text, buckets_before=buckets[0].total_buckets, before=FileTotals.of(files)
    )


def _with_buckets(parts: TableParts, buckets: int) -> TableParts:
    """Set the option ``bucket`` of the table, if it has another value."""
    change = SetOption("bucket", str(buckets))
    for _ in range(_ROUNDS):
        current = parts.schemas.latest()
        assert current is not None, "a table has a schema"
        if current.options.get("bucket") == str(buckets):
            return _opened(parts, current)
        altered = apply_changes(
            current, [change], has_snapshots=True, time_millis=time.time_ns() // 1_000_000
        )
        if parts.schemas.publish(altered):
            return _opened(parts, altered)
    raise SchemaError(f"{parts.name}: other writers changed the schema each time; try again")


def _opened(parts: TableParts, schema: TableSchema) -> TableParts:
    """Return the parts of a table that rows are written to: they are no news to anybody."""
    options = {"bucket": schema.options["bucket"], "changelog-producer": "none"}
    return replace(parts, schema=schema, options=parts.options.with_options(options))


def _moved(
    parts: TableParts,
    target: TableParts,
    snapshot: Snapshot,
    found: Sequence[Sequence[BucketFiles]],
    progress: Progress | None,
) -> tuple[Snapshot, list[list[DataFileMeta]]]:
    """Write the rows of partitions into their new buckets, and commit that."""
    scan = Scan(
        parts=parts,
        snapshot=snapshot,
        schema=target.schema,
        columns=target.schema.field_names,
        predicate=None,
        limit=None,
    )
    splits: dict[bytes, list[DataSplit]] = {}
    for split in scan.plan().splits:
        splits.setdefault(split.partition, []).append(split)
    read = scan.read_plan()
    messages: list[CommitMessage] = []
    after: list[list[DataFileMeta]] = []
    try:
        for number, buckets in enumerate(found, start=1):
            ours = _written(target, splits.get(buckets[0].partition, ()), read)
            messages += ours
            after.append(_files_of(ours))
            if progress is not None:
                progress(number, len(found), "partitions")
    except BaseException:
        delete_files(messages, target.write_plan(), parts.file_io)
        raise
    with files_deleted_on_failure(target, messages):
        landed = target.committer.overwrite(
            messages,
            scope=OverwriteScope.exactly(buckets[0].partition for buckets in found),
            user=new_user(parts),
            identifier=BATCH_COMMIT_IDENTIFIER,
            is_new_user=True,
            reads=ReadSet(snapshot_id=snapshot.id, its_partitions=True),
        )
    return landed, after


def _written(
    target: TableParts, splits: Iterable[DataSplit], read: ReadPlan
) -> list[CommitMessage]:
    """Write the rows of one partition; those of a bucket come in their order."""
    with new_table_writer(target, replaces=True) as writer:
        for split in sorted(splits, key=_oldest_first):
            for rows in read_split(split, read, target.file_io):
                writer.write(rows)
        return writer.prepare_commit()


def _oldest_first(split: DataSplit) -> tuple[int, int]:
    return split.bucket, min(file.min_sequence_number for file in split.files)


def _files_of(messages: Iterable[CommitMessage]) -> list[DataFileMeta]:
    found: list[DataFileMeta] = []
    for message in messages:
        gone = {(file.file_name, file.level) for file in message.compact_before}
        new = (*message.new_files, *message.compact_after)
        found += [file for file in new if (file.file_name, file.level) not in gone]
    return found
