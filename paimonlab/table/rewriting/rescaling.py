"""Giving partitions another number of buckets.

Partitions are overwritten with their own rows, which nobody is told of: they are no news. Rows of
which compactions have yet to tell are compacted first.

Source: https://paimon.apache.org/docs/1.3/maintenance/rescale-bucket/ and apache/paimon@1.3.1
``org.apache.paimon.flink.action.RescaleAction``, which loses rows that are not compacted yet where
readers do not see them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.clock import now_millis
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.strategy import LevelOptions
from paimonlab.compact.unreported import tells_by_compaction, unreported_files
from paimonlab.errors import FilesConflictError, PostCommitError, SchemaError, UnsupportedError
from paimonlab.progress import Progress
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.plurals import many
from paimonlab.spec.schema.schema_changes import SetOption, apply_changes
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.committing.rounds import ROUNDS, until_undisturbed
from paimonlab.table.compacting.keyed import (
    Keep,
    compact_buckets,
    with_latest_schema,
)
from paimonlab.table.compacting.live_buckets import live_buckets
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.result import FileTotals
from paimonlab.table.compacting.verb import kept
from paimonlab.table.definition import TableDefinition
from paimonlab.table.memories.bucket_files import of_buckets
from paimonlab.table.rewriting.rescaled_rows import move_rows, rescaled_definition
from paimonlab.table.store import TableStore
from paimonlab.table.texts import names_of_partitions
from paimonlab.workers import Workers, side_by_side

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaledPartition:
    """One partition that has, or gets, another number of buckets."""

    partition: str
    """``dt=2026-01-01``; "": the table has no partitions."""
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
        before = sum((partition.before for partition in self.partitions), FileTotals(0, 0, 0))
        verb = "would move" if self.is_dry_run else "moved"
        return (
            f"{self.table}: {verb} {many(before.rows, 'row')} of "
            f"{many(len(self.partitions), 'partition')} ({before}) to "
            f"{many(self.buckets, 'bucket')} each"
        )


def rescale(
    definition: TableDefinition,
    store: TableStore,
    *,
    buckets: int,
    partitions: Sequence[Mapping[str, Any]] | None,
    where: str | None = None,
    dry_run: bool,
    progress: Progress | None,
    workers: Workers = side_by_side,
) -> Rescale:
    """Give partitions another number of buckets; see `Maintenance.rescale`."""
    if buckets < 1:
        raise ValueError(f"buckets must be at least 1, got {buckets}")
    definition = with_latest_schema(definition, store.schemas)
    _check(definition)
    work = _Work(definition, store, buckets, kept(definition, partitions, None, where), workers)
    started = time.monotonic()

    def attempt() -> Rescale:
        snapshot = store.snapshots.latest()
        misfits = work.misfits(snapshot)
        plan = Rescale(
            table=definition.name,
            buckets=buckets,
            changes_option=work.changes_option,
            partitions=tuple(_described(definition.schema, ours) for ours in misfits),
            is_dry_run=dry_run,
        )
        if dry_run:
            return plan
        if work.report(misfits):
            snapshot = store.snapshots.latest()
            misfits = work.misfits(snapshot)
            work.check_reported(misfits, snapshot)
        target = work.target()
        if not misfits or snapshot is None:
            return plan
        landed, after = move_rows(definition, store, target, snapshot, misfits, progress, workers)
        moved = tuple(
            replace(_described(definition.schema, ours), after=FileTotals.of(files))
            for ours, files in zip(misfits, after, strict=True)
        )
        return replace(plan, snapshot=landed, partitions=moved)

    result = until_undisturbed(definition.name, attempt, what="rescaling")
    if result.snapshot is not None:
        logger.info("%s in %d ms", result, 1000 * (time.monotonic() - started))
    return result


def _check(definition: TableDefinition) -> None:
    """Refuse tables whose rows have no bucket by their values alone."""
    mode = definition.bucket_mode
    if mode in (BucketMode.HASH_FIXED, BucketMode.POSTPONE_MODE):
        return
    reason = f"rows of {definition.name} are in no bucket"
    if mode is not BucketMode.BUCKET_UNAWARE:
        reason = (
            f"{definition.name} has as many buckets as an index of its keys says; "
            "'dynamic-bucket.target-row-num' steers how many, for rows that are overwritten"
        )
    raise UnsupportedError(
        f"rescaling a table with bucket = '{definition.options.get('bucket', '-1')}'", reason
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done to a table."""

    definition: TableDefinition
    store: TableStore
    """At the latest schema."""
    buckets: int
    keep: Keep
    """Which entries are of partitions that are looked at."""
    workers: Workers

    @property
    def is_postponed(self) -> bool:
        """Whether rows wait for buckets, and each partition has a number of its own."""
        return self.definition.bucket_mode is BucketMode.POSTPONE_MODE

    @property
    def changes_option(self) -> bool:
        """Whether the table has another number of buckets by its options."""
        return not self.is_postponed and self.definition.buckets != self.buckets

    @property
    def levels(self) -> LevelOptions:
        """When the table's rows are compacted."""
        return self.definition.options.slice(LevelOptions)

    @property
    def skips_level_0(self) -> bool:
        """Whether readers do not see what is not compacted yet."""
        return self.definition.options.slice(ScanOptions).skips_level_0

    def misfits(self, snapshot: Snapshot | None) -> list[list[BucketFiles]]:
        """Find the partitions that have another number of buckets, each with its buckets."""
        if snapshot is None:
            return []
        live = live_buckets(self.definition, self.store, snapshot, self.keep)
        by_partition = [list(ours) for _, ours in groupby(live, key=lambda one: one.partition)]
        return [ours for ours in by_partition if ours[0].total_buckets != self.buckets]

    def unreported(self, found: Iterable[Iterable[BucketFiles]]) -> set[BucketKey]:
        """Find the buckets with rows that compactions have yet to tell of."""
        if not self.definition.schema.primary_keys:
            return set()
        levels, skips = self.levels, self.skips_level_0
        return {
            (message.partition, message.bucket)
            for ours in found
            for message in ours
            if unreported_files(message.files, levels, skips_level_0=skips)
        }

    def report(self, found: Iterable[Iterable[BucketFiles]]) -> bool:
        """Compact what readers and followers would never learn of; False: there is nothing."""
        buckets = self.unreported(found)
        if not buckets:
            return False
        picks_leave_rows = self.levels.changelog_producer == "full-compaction" or (
            self.levels.max_picks_of_level_0 != 1
        )
        request, keep = (
            CompactRequest(full=picks_leave_rows, workers=self.workers),
            of_buckets(buckets),
        )
        try:
            compact_buckets(self.definition, self.store, request, keep)
        except PostCommitError as error:
            # Raised from here it would say that the rescale has happened.
            logger.warning("%s: compacted before the rescale: %s", self.definition.name, error)
        return True

    def check_reported(
        self, found: Iterable[Iterable[BucketFiles]], snapshot: Snapshot | None
    ) -> None:
        """Check that nobody wrote since: readers or followers would never learn of it."""
        if snapshot is not None and self.unreported(found):
            problem = "others wrote rows that have to be compacted before a rescale. Try again."
            raise FilesConflictError(self.definition.name, snapshot.id, (), problem)

    def target(self) -> TableDefinition:
        """Set the option ``bucket`` of the table, if it has another value; say how to write."""
        compacts = bool(self.definition.schema.primary_keys) and tells_by_compaction(
            self.levels, skips_level_0=self.skips_level_0
        )
        schema = self.definition.schema if self.is_postponed else self._altered()
        return rescaled_definition(self.definition, schema, self.buckets, compacts=compacts)

    def _altered(self) -> TableSchema:
        schemas, wanted = self.store.schemas, str(self.buckets)
        for _ in range(ROUNDS):
            current = schemas.latest()
            assert current is not None, "a table has a schema"
            if current.options.get("bucket") == wanted:
                return current
            if self.store.kept is not None:
                self.store.kept.set_option("bucket", wanted)
                continue
            altered = apply_changes(
                current,
                [SetOption("bucket", wanted)],
                has_snapshots=True,
                time_millis=now_millis(),
            )
            if schemas.publish(altered):
                return altered
        raise SchemaError(
            f"{self.definition.name}: other writers changed the schema each time; try again"
        )


def _described(schema: TableSchema, buckets: Sequence[BucketFiles]) -> RescaledPartition:
    partition = arrow_array([buckets[0].partition], pa.large_binary())
    (text,) = names_of_partitions(partition, schema)
    files: list[DataFileMeta] = [file for bucket in buckets for file in bucket.files]
    return RescaledPartition(
        partition=text, buckets_before=buckets[0].total_buckets, before=FileTotals.of(files)
    )
