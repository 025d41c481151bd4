"""Which partitions have expired.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.PartitionExpire``,
``org.apache.paimon.partition.PartitionValuesTimeExpireStrategy``,
``…PartitionUpdateTimeExpireStrategy``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from paimonlab.spec.options.table_options import option_field
from paimonlab.spec.partitions.times import parse_time, timestamp_text


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionExpireOptions:
    """The table options that steer how partitions expire."""

    expiration_millis: int | None = option_field("partition.expiration-time", "duration", None)
    """``partition.expiration-time``; None: for ever."""
    check_interval_millis: int = option_field(
        "partition.expiration-check-interval", "duration", "1 h"
    )
    """``partition.expiration-check-interval``: a committer does not look more often."""
    expire_strategy: str = option_field("partition.expiration-strategy", "enum", "values-time")
    """``partition.expiration-strategy``: what the age of a partition is."""
    timestamp_pattern: str | None = option_field("partition.timestamp-pattern", "string", None)
    """``partition.timestamp-pattern``: how columns make a time; None: the first one is it."""
    timestamp_formatter: str | None = option_field("partition.timestamp-formatter", "string", None)
    """``partition.timestamp-formatter``: how the time is written."""
    max_expires: int = option_field("partition.expiration-max-num", "int", 100)
    """``partition.expiration-max-num``: at most so many expire at once."""
    batch_size: int | None = option_field("partition.expiration-batch-size", "int", None)
    """``partition.expiration-batch-size``: so many go with a commit; None: all."""
    at_end_of_input: bool = option_field(
        "end-input.check-partition-expire", "boolean", default=False
    )
    """``end-input.check-partition-expire``: whether every commit of a batch looks."""


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
    """When its newest file was made: local, without a zone; None: no file says."""


@dataclass(frozen=True, slots=True)
class ExpiringPartition:
    """A partition that goes."""

    partition: LivePartition
    time: datetime
    """Its time, local, without a zone."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionExpiry:
    """What expires with partitions: their rows. Files go with their snapshots."""

    table: str
    older_than: datetime | None = None
    """Local, without a zone; None: no partition expires."""
    partitions: tuple[ExpiringPartition, ...] = ()
    undated: tuple[LivePartition, ...] = ()
    """Those that stay because they have no time."""
    snapshot_id: int = 0
    """What was looked at."""

    @property
    def values(self) -> tuple[Mapping[str, str | None], ...]:
        """The values of the partitions that go."""
        return tuple(one.partition.values for one in self.partitions)

    def __str__(self) -> str:
        """Tell it to a person."""
        lines = [f"{self.table}: {len(self.partitions)} partitions older than {self.older_than}"]
        for one in self.partitions:
            partition = one.partition
            lines.append(
                f"  {partition.values}: {one.reason}; {partition.file_count} files, "
                f"{partition.size_bytes:,} bytes"
            )
        if self.undated:
            lines.append(f"  {len(self.undated)} partitions have no time and stay")
        return "\n".join(lines)


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
        time, told = _time_of(partition, options)
        if time is None:
            undated.append(partition)
        elif time < older_than:
            expired.append(ExpiringPartition(partition, time, f"{told} {time}"))

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
