"""Verbs that delete what is old: bound in `paimonlab.table.maintenance.Maintenance`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from paimonlab.errors import habits
from paimonlab.maintenance import changelog_expiry, snapshot_expiry, tag_expiry
from paimonlab.maintenance.changelog_expiry import ChangelogExpiry, ChangelogExpiryRequest
from paimonlab.maintenance.partition_expiry import PartitionExpiry, PartitionExpiryRequest
from paimonlab.maintenance.retention import RetentionRequest
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiry, SnapshotExpiryRequest
from paimonlab.maintenance.tag_expiry import TagExpiryRequest
from paimonlab.progress import Progress
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import Opened, definition_of, store_of
from paimonlab.table.reading.time_travel import epoch_millis
from paimonlab.table.upkeep import partition_expiring
from paimonlab.table.upkeep.consumers import Consumers
from paimonlab.table.upkeep.history import history_of


@habits.arguments(habits.EXPIRE)
def expire_snapshots(
    table: Opened,
    retain_max: int | None = None,
    retain_min: int | None = None,
    *,
    older_than: datetime | timedelta | int | str | None = None,
    max_deletes: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> SnapshotExpiry:
    """Let old snapshots expire, and delete the files that nothing else needs.

    Snapshots that a consumer still has to read do not expire, and files that a tag or another
    branch needs are kept. If it is unclear what is needed, since metadata cannot be read,
    nothing is deleted.

    Parameters
    ----------
    retain_max
        At most this many snapshots are kept, whatever their age; None: as the table's
        ``snapshot.num-retained.max`` says.
    retain_min
        At least this many are kept, whatever their age; None:
        ``snapshot.num-retained.min``, or ``retain_max`` if that is less.
    older_than
        Snapshots that were followed by another before this time expire: an aware datetime,
        epoch milliseconds, a text in the process's local zone, or how long ago (a timedelta,
        ``"1 d"``); None: ``snapshot.time-retained``.
    max_deletes
        At most this many snapshots expire in one call; None: ``snapshot.expire.limit``.
    dry_run
        Delete nothing, only return what would be deleted.
    progress
        Called with how many snapshots and files are deleted.

    Returns
    -------
    SnapshotExpiry
        What was, or would be, deleted.

    Raises
    ------
    CorruptMetadataError
        If it is unclear what is needed.
    SchemaError
        If ``retain_max`` is less than ``retain_min``, or ``retain_min`` less than 1.

    Notes
    -----
    With ``changelog.num-retained.min``, ``changelog.num-retained.max`` or
    ``changelog.time-retained`` above those of snapshots, their changes can still be read
    until `expire_changelogs`.
    """
    request = SnapshotExpiryRequest(
        retention=RetentionRequest(
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_millis=epoch_millis(older_than),
            max_deletes=max_deletes,
        ),
        dry_run=dry_run,
        progress=progress,
    )
    history = history_of(definition_of(table), store_of(table))
    return snapshot_expiry.expire_snapshots(history, request)


def expire_changelogs(
    table: Opened,
    retain_max: int | None = None,
    retain_min: int | None = None,
    *,
    older_than: datetime | timedelta | int | str | None = None,
    max_deletes: int | None = None,
    delete_all: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ChangelogExpiry:
    """Delete the changelogs that were kept of expired snapshots.

    Parameters
    ----------
    retain_max, retain_min, older_than, max_deletes, dry_run, progress
        As in `expire_snapshots`, with the ``changelog.…`` options; counts begin with the
        latest snapshot. The newest changelog is kept.
    delete_all
        Whether all are deleted, even the newest.

    Returns
    -------
    ChangelogExpiry
        What was, or would be, deleted.

    Raises
    ------
    CorruptMetadataError, SchemaError
        As in `expire_snapshots`.
    """
    request = ChangelogExpiryRequest(
        retention=RetentionRequest(
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_millis=epoch_millis(older_than),
            max_deletes=max_deletes,
        ),
        delete_all=delete_all,
        dry_run=dry_run,
        progress=progress,
    )
    history = history_of(definition_of(table), store_of(table))
    return changelog_expiry.expire_changelogs(history, request)


def expire_partitions(
    table: Opened,
    expiration_time: timedelta | None = None,
    *,
    expire_strategy: str | None = None,
    timestamp_pattern: str | None = None,
    timestamp_formatter: str | None = None,
    max_expires: int | None = None,
    dry_run: bool = False,
) -> PartitionExpiry:
    """Drop the partitions that are older than they may be.

    Readers no longer see their rows; files are deleted when the snapshots that have them
    expire. If the last change decides, a partition that is written to meanwhile is kept.

    Parameters
    ----------
    expiration_time
        How old they may be; None: as ``partition.expiration-time`` says.
    expire_strategy
        ``values-time``: their values say how old they are; ``update-time``: their newest file
        does. None: ``partition.expiration-strategy``.
    timestamp_pattern, timestamp_formatter
        How the values make up a time, as in ``$dt $hour:00:00``, and how that is written, in
        the letters of Java, as in ``yyyyMMdd``. None: as the options of the same names say.
    max_expires
        At most this many are dropped; None: ``partition.expiration-max-num``.
    dry_run
        Drop nothing, only return what would be dropped.

    Returns
    -------
    PartitionExpiry
        What was, or would be, dropped.

    Raises
    ------
    FilesConflictError
        If others write again and again to what is to be dropped.
    SchemaError
        If the strategy is unknown.
    UnsupportedError
        If the formatter has a letter that is not supported.
    """
    request = PartitionExpiryRequest(
        expiration_time=expiration_time,
        expire_strategy=expire_strategy,
        timestamp_pattern=timestamp_pattern,
        timestamp_formatter=timestamp_formatter,
        max_expires=max_expires,
        dry_run=dry_run,
    )
    definition = definition_of(table)
    user = new_user(definition.options)
    return partition_expiring.expire_partitions(definition, store_of(table), request, user=user)


def expire_tags(
    table: Opened, older_than: datetime | None = None, *, dry_run: bool = False
) -> Sequence[str]:
    """Delete the tags whose time has passed; see `Tags.expire`."""
    request = TagExpiryRequest(older_than=older_than, dry_run=dry_run)
    history = history_of(definition_of(table), store_of(table))
    return tag_expiry.expire_tags(history, request)


def expire_consumers(
    table: Opened, older_than: datetime | timedelta, *, dry_run: bool = False
) -> Sequence[str]:
    """Delete the consumers that have not moved for some time; see `Consumers.expire`."""
    return Consumers(store_of(table)).expire(older_than, dry_run=dry_run)
