"""Dropping the partitions that have expired, by a commit.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.PartitionExpire``,
``org.apache.paimon.partition.PartitionValuesTimeExpireStrategy``,
``…PartitionUpdateTimeExpireStrategy``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from paimonlab.commit.committer import Committer
from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.scan.file_totals import totals
from paimonlab.scan.live_files import live_entries
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.partitions.times import parse_time, timestamp_text
from paimonlab.spec.plurals import many
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.value_text import internal_texts

logger = logging.getLogger(__name__)


class PartitionExpireOptions(OptionSlice):
    """The table options that steer how partitions expire."""

    expiration_millis: int | None = option_field("partition.expiration-time", "duration", None)
    """``partition.expiration-time``; None: for ever."""
    check_interval_millis: int = option_field(
        "partition.expiration-check-interval", "duration", "1 h"
    )
    """``partition.expiration-check-interval``: a committer does not check more often."""
    expire_strategy: str = option_field("partition.expiration-strategy", "enum", "values-time")
    """``partition.expiration-strategy``: what the age of a partition is."""
    timestamp_pattern: str | None = option_field("partition.timestamp-pattern", "string", None)
    """``partition.timestamp-pattern``: how columns make up a time; None: the first is the time."""
    timestamp_formatter: str | None = option_field("partition.timestamp-formatter", "string", None)
    """``partition.timestamp-formatter``: how the time is written."""
    max_expires: int = option_field("partition.expiration-max-num", "int", 100)
    """``partition.expiration-max-num``: at most so many expire at once."""
    batch_size: int | None = option_field("partition.expiration-batch-size", "int", None)
    """``partition.expiration-batch-size``: this many are dropped per commit; None: all."""
    at_end_of_input: bool = option_field(
        "end-input.check-partition-expire", "boolean", default=False
    )
    """``end-input.check-partition-expire``: whether every commit of a batch checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionExpiryRequest:
    """Which partitions are to expire; None: as the options of the table say."""

    expiration_time: timedelta | str | None = None
    """How old partitions may become; a text is as in the option."""
    expire_strategy: str | None = None
    timestamp_pattern: str | None = None
    timestamp_formatter: str | None = None
    max_expires: int | None = None
    dry_run: bool = False

    @property
    def options(self) -> dict[str, str]:
        """The options of the table that are asked for, by key."""
        age = self.expiration_time
        if isinstance(age, timedelta):
            age = f"{age // timedelta(milliseconds=1)} ms"
        asked = {
            "partition.expiration-strategy": self.expire_strategy,
            "partition.timestamp-pattern": self.timestamp_pattern,
            "partition.timestamp-formatter": self.timestamp_formatter,
            "partition.expiration-max-num": None
            if self.max_expires is None
            else str(self.max_expires),
            "partition.expiration-time": age,
        }
        return {key: value for key, value in asked.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePartition:
    """A partition that has files."""

    values: Mapping[str, str | None]
    """Texts by column as Java prints its own values: dates as days since 1970."""
    row: bytes
    """Serialised BinaryRow."""
    file_count: int
    size_bytes: int
    record_count: int
    """Before merging."""
    updated: datetime | None
    """When its newest file was created: local, without a zone; None if unknown."""


@dataclass(frozen=True, slots=True)
class ExpiringPartition:
    """A partition that is dropped."""

    partition: LivePartition
    time: datetime
    """Its time, local, without a zone."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartitionExpiry:
    """What expires with partitions: their rows. Files are deleted with their snapshots."""

    table: str
    older_than: datetime | None = None
    """Local, without a zone; None: no partition expires."""
    partitions: tuple[ExpiringPartition, ...] = ()
    undated: tuple[LivePartition, ...] = ()
    """Those that are kept because their values are not a time."""
    snapshot_id: int = 0
    """The snapshot that was read."""

    @property
    def values(self) -> tuple[Mapping[str, str | None], ...]:
        """The values of the partitions that are dropped."""
        return tuple(expiring.partition.values for expiring in self.partitions)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Describe it in words."""
        expired = many(len(self.partitions), "partition")
        lines = [f"{self.table}: {expired} older than {self.older_than}"]
        for expiring in self.partitions:
            partition = expiring.partition
            lines.append(
                f"  {partition.values}: {expiring.reason}; {many(partition.file_count, 'file')}, "
                f"{many(partition.size_bytes, 'byte')}"
            )
        if self.undated:
            lines.append(f"  {len(self.undated)} partitions have no time and stay")
        return "\n".join(lines)


def expire_partitions(
    history: TableHistory,
    request: PartitionExpiryRequest,
    committer: Committer,
    new_user: Callable[[], str],
    *,
    now: datetime,
) -> PartitionExpiry:
    """Drop the partitions that are too old, or only find them; see `Maintenance.expire_partitions`.

    Parameters
    ----------
    history
        Of the table, with the options of the request.
    request
        What is too old.
    committer
        Drops them.
    new_user
        Makes a user for each commit.
    now
        Local, without a zone.

    Raises
    ------
    FilesConflictError, SnapshotExpiredError
        If others write to what is to be dropped.
    """
    options = history.options.slice(PartitionExpireOptions)
    if options.expiration_millis is None or not history.reader.partition_fields:
        return PartitionExpiry(table=history.name)
    snapshot = history.snapshots.latest()
    plan = plan_partition_expiry(
        [] if snapshot is None else _live_partitions(history, snapshot),
        options,
        table=history.name,
        older_than=_before(now, options.expiration_millis),
        default_name=history.options.slice(ScanOptions).default_name,
        snapshot_id=0 if snapshot is None else snapshot.id,
    )
    for partition in plan.undated:
        logger.warning(
            "%s: partition %s never expires, no time can be made of its values; set "
            "'partition.timestamp-pattern' and 'partition.timestamp-formatter', or "
            "'partition.expiration-strategy' = 'update-time', or drop it yourself",
            history.name,
            dict(partition.values),
        )
    if plan.partitions and not request.dry_run:
        _drop(plan, options, committer, new_user)
        logger.info("%s: partitions expired: %s", history.name, list(plan.values))
    return plan


def _before(now: datetime, millis: int) -> datetime:
    """Return an earlier time; if the calendar does not reach back so far, its first."""
    try:
        return now - timedelta(milliseconds=millis)
    except OverflowError:
        return datetime.min  # noqa: DTZ901 - as older_than, without a zone


def plan_partition_expiry(
    partitions: Sequence[LivePartition],
    options: PartitionExpireOptions,
    *,
    table: str,
    older_than: datetime,
    default_name: str,
    snapshot_id: int = 0,
) -> PartitionExpiry:
    """Decide which partitions expire; if there are too many, those with the smallest values.

    Parameters
    ----------
    partitions
        All partitions with files.
    options
        The table's options.
    table
        Its name, for messages.
    older_than
        Local, without a zone.
    default_name
        Stands for null.
    snapshot_id
        The snapshot that they are from.

    Raises
    ------
    UnsupportedError
        If the formatter has a letter that is not supported.
    """
    expired, undated = [], []
    for partition in partitions:
        time, basis = _time_of(partition, options)
        if time is None:
            undated.append(partition)
        elif time < older_than:
            expired.append(ExpiringPartition(partition, time, f"{basis} {time}"))

    def text(partition: ExpiringPartition) -> str:
        values = partition.partition.values.values()
        return ",".join(default_name if value is None else value for value in values)

    return PartitionExpiry(
        table=table,
        older_than=older_than,
        partitions=tuple(sorted(expired, key=text)[: options.max_expires]),
        undated=tuple(undated),
        snapshot_id=snapshot_id,
    )


def _time_of(
    partition: LivePartition, options: PartitionExpireOptions
) -> tuple[datetime | None, str]:
    if options.expire_strategy.lower() == "update-time":
        return partition.updated, "last written at"
    text = timestamp_text(partition.values, options.timestamp_pattern)
    return (None if text is None else parse_time(text, options.timestamp_formatter)), "of"


def _live_partitions(history: TableHistory, snapshot: Snapshot) -> list[LivePartition]:
    entries = live_entries(snapshot, history.reader.manifests)
    sums = totals(entries, ["partition"])
    fields = history.reader.partition_fields
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
                    "row_count",
                    "file_size_bytes",
                    "file_count",
                    "creation_time_millis",
                )
            ),
            strict=True,
        )
    ]


def _wall_clock(millis: int) -> datetime:
    """Return when a file was created: metadata has local time, encoded as if it were UTC."""
    return datetime.fromtimestamp(millis / 1000, UTC).replace(tzinfo=None)


def _drop(
    plan: PartitionExpiry,
    options: PartitionExpireOptions,
    committer: Committer,
    new_user: Callable[[], str],
) -> None:
    rows = [expiring.partition.row for expiring in plan.partitions]
    size = options.batch_size or len(rows)
    for start in range(0, len(rows), size):
        # What was written since is new by its time of writing, though not by its values.
        is_by_update = options.expire_strategy.lower() == "update-time"
        committer.overwrite(
            [],
            scope=OverwriteScope.exactly(rows[start : start + size]),
            user=new_user(),
            identifier=BATCH_COMMIT_IDENTIFIER,
            reads=ReadSet(snapshot_id=plan.snapshot_id, its_partitions=True)
            if is_by_update
            else None,
        )


def is_check_due(
    options: PartitionExpireOptions, snapshot: Snapshot, *, last: datetime, now: datetime
) -> bool:
    """Whether a committer that checked at ``last`` checks after a commit.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.PartitionExpire.expire``.
    """
    is_batch = snapshot.commit_identifier == BATCH_COMMIT_IDENTIFIER
    if options.check_interval_millis == 0 or (options.at_end_of_input and is_batch):
        return True
    return now > last + timedelta(milliseconds=options.check_interval_millis)
