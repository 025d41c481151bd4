"""Expiry of partitions: what is too old is dropped by a commit."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.maintenance.partition_expiry import (
    LivePartition,
    PartitionExpireOptions,
    PartitionExpiry,
    plan_partition_expiry,
)
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.scan.live_files import live_entries
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.value_text import internal_texts
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.committing.rounds import until_undisturbed
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore

logger = logging.getLogger(__name__)


def expire_partitions(
    definition: TableDefinition,
    store: TableStore,
    options: PartitionExpireOptions,
    *,
    user: str,
    now: datetime | None = None,
    dry_run: bool = False,
) -> PartitionExpiry:
    """Drop the partitions that are too old; see `Maintenance.expire_partitions`.

    Parameters
    ----------
    definition, store
        Of the table.
    options
        What is too old.
    user
        Who commits; nobody did before.
    now
        Local, without a zone; None: the clock's.
    dry_run
        Drop nothing.
    """
    if options.expiration_millis is None or not definition.schema.partition_keys:
        return PartitionExpiry(table=definition.name)
    now = now or datetime.now()  # noqa: DTZ005 - partitions have no zone
    older_than = _before(now, options.expiration_millis)
    # Each commit has a user of its own, also after a conflict: what one did is not done again.
    users = (f"{user}-{number}" if number else user for number in count())

    def attempt() -> PartitionExpiry:
        plan = _plan(definition, store, options, older_than)
        if plan.partitions and not dry_run:
            _drop(definition, store, plan, options, users)
            logger.info("%s: partitions expired: %s", definition.name, list(plan.values))
        return plan

    return until_undisturbed(definition.name, attempt, what="expiring partitions")


def _before(now: datetime, millis: int) -> datetime:
    """Return a time before; one that no calendar has is as good as the first."""
    try:
        return now - timedelta(milliseconds=millis)
    except OverflowError:
        return datetime.min  # noqa: DTZ901 - as older_than, without a zone


def _plan(
    definition: TableDefinition,
    store: TableStore,
    options: PartitionExpireOptions,
    older_than: datetime,
) -> PartitionExpiry:
    snapshot = store.snapshots.latest()
    plan = plan_partition_expiry(
        [] if snapshot is None else _partitions(definition.schema, store.manifests, snapshot),
        options,
        table=definition.name,
        older_than=older_than,
        default_name=definition.options.slice(ScanOptions).default_name,
        snapshot_id=0 if snapshot is None else snapshot.id,
    )
    for partition in plan.undated:
        logger.warning(
            "%s: partition %s never expires, no time can be made of its values; set "
            "'partition.timestamp-pattern' and 'partition.timestamp-formatter', or "
            "'partition.expiration-strategy' = 'update-time', or drop it yourself",
            definition.name,
            dict(partition.values),
        )
    return plan


def _partitions(
    schema: TableSchema, manifests: ManifestStore, snapshot: Snapshot
) -> list[LivePartition]:
    files = live_entries(snapshot, manifests)
    sums = files.group_by("partition", use_threads=False).aggregate(
        [
            ("row_count", "sum"),
            ("file_size_bytes", "sum"),
            ("file_name", "count"),
            ("creation_time_millis", "max"),
        ]
    )
    fields = [schema.field(name) for name in schema.partition_keys]
    rows = sums["partition"].combine_chunks()
    columns = partition_columns(rows, fields).columns
    texts = [
        internal_texts(column, field.type) for column, field in zip(columns, fields, strict=True)
    ]
    names = [field.name for field in fields]
    return [
        LivePartition(
            values=dict(zip(names, values, strict=True)),
            row=row,
            record_count=records,
            size_bytes=size,
            file_count=count,
            updated=None if millis is None else _wall_clock(millis),
        )
        for *values, row, records, size, count, millis in zip(
            *texts,
            rows.to_pylist(),
            *(
                sums[name].to_pylist()
                for name in (
                    "row_count_sum",
                    "file_size_bytes_sum",
                    "file_name_count",
                    "creation_time_millis_max",
                )
            ),
            strict=True,
        )
    ]


def _wall_clock(millis: int) -> datetime:
    """Return when a file was made: metadata has the local time, encoded as if it were UTC."""
    return datetime.fromtimestamp(millis / 1000, UTC).replace(tzinfo=None)


def _drop(
    definition: TableDefinition,
    store: TableStore,
    plan: PartitionExpiry,
    options: PartitionExpireOptions,
    users: Iterator[str],
) -> None:
    rows = [one.partition.row for one in plan.partitions]
    size = options.batch_size or len(rows)
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        # What was written since is young: by its own time, not by that in its values.
        is_by_update = options.expire_strategy.lower() == "update-time"
        plain_committer_of(definition.options, store).overwrite(
            [],
            scope=OverwriteScope.exactly(batch),
            user=next(users),
            identifier=BATCH_COMMIT_IDENTIFIER,
            reads=ReadSet(snapshot_id=plan.snapshot_id, its_partitions=True)
            if is_by_update
            else None,
        )


def is_check_due(
    options: PartitionExpireOptions, snapshot: Snapshot, *, last: datetime, now: datetime
) -> bool:
    """Whether a committer that looked at ``last`` looks after a commit.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.PartitionExpire.expire``.
    """
    is_batch = snapshot.commit_identifier == BATCH_COMMIT_IDENTIFIER
    if options.check_interval_millis == 0 or (options.at_end_of_input and is_batch):
        return True
    return now > last + timedelta(milliseconds=options.check_interval_millis)
