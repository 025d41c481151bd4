"""Tags that commits create by themselves.

Source: apache/paimon@1.3.1 ``org.apache.paimon.tag.TagAutoCreation``, ``…TagBatchCreation``,
``…TagTimeExtractor``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from paimonlab.errors import SchemaError, SnapshotNotFoundError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.snapshot import Snapshot, Tag, watermark_of
from paimonlab.spec.tag_periods import TagPeriods, TagPoint, due_tags

_OFFSET = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")


class AutoTagOptions(OptionSlice):
    """The table options that steer tags that commits create by themselves."""

    mode: str = option_field("tag.automatic-creation", "enum", "none")
    """``tag.automatic-creation``"""
    period: str = option_field("tag.creation-period", "enum", "daily")
    """``tag.creation-period``"""
    period_millis: int | None = option_field("tag.creation-period-duration", "duration", None)
    """``tag.creation-period-duration``: used instead of the period."""
    formatter: str = option_field("tag.period-formatter", "enum", "with_dashes")
    """``tag.period-formatter``"""
    delay_millis: int = option_field("tag.creation-delay", "duration", "0 ms")
    """``tag.creation-delay``"""
    completes: bool = option_field("tag.automatic-completion", "boolean", default=False)
    """``tag.automatic-completion``"""
    retain_max: int | None = option_field("tag.num-retained-max", "int", None)
    """``tag.num-retained-max``: of the tags that commits created; of all with ``batch``."""
    batch_name: str | None = option_field("tag.batch.customized-name", "string", None)
    """``tag.batch.customized-name``"""
    expires: bool = option_field("tag.time-expire-enabled", "boolean", default=True)
    """``tag.time-expire-enabled``: whether a commit deletes tags that have lived long enough."""
    process_zone: str | None = option_field("sink.process-time-zone", "string", None)
    """``sink.process-time-zone``; None: that of the process."""
    watermark_zone: str = option_field("sink.watermark-time-zone", "string", "UTC")
    """``sink.watermark-time-zone``"""

    @property
    def periods(self) -> TagPeriods:
        """Length and names of the periods.

        Raises
        ------
        SchemaError
            If the delay is not shorter than a period.
        """
        if self.period_millis is not None:
            periods = TagPeriods.lasting(timedelta(milliseconds=self.period_millis))
        else:
            periods = TagPeriods.named(self.period, self.formatter)
        if timedelta(milliseconds=self.delay_millis) >= periods.length:
            raise SchemaError("tag.creation-delay must be shorter than a period")
        return periods

    def time_of(self, snapshot: Snapshot) -> datetime | None:
        """Return the local time that counts for a snapshot; None if it has none."""
        if self.mode != "watermark":
            return local_time(snapshot.time_millis, self.process_zone)
        watermark = watermark_of(snapshot)
        return None if watermark is None else local_time(watermark, self.watermark_zone)


def local_time(millis: int, zone: str | None) -> datetime:
    """Return the local date and time of an instant, without its zone."""
    moment = datetime.fromtimestamp(millis / 1000, UTC)
    return moment.astimezone(None if zone is None else _zone(zone)).replace(tzinfo=None)


def _zone(name: str) -> tzinfo:
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-length if offset[1] == "-" else length)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise SchemaError(f"{name!r} is not a time zone") from error


def new_tags(
    options: AutoTagOptions, snapshots: SnapshotManager, tags: Mapping[str, Tag]
) -> list[tuple[str, Snapshot]]:
    """Find the tags that are due.

    Parameters
    ----------
    options
        Mode ``process-time`` or ``watermark``.
    snapshots, tags
        The table's snapshots and tags.
    """
    periods = options.periods
    periodic = {name: tag.id for name, tag in tags.items() if periods.time(name) is not None}
    latest = max(periodic, key=lambda name: periodic[name], default=None)
    first = 0 if latest is None else periodic[latest] + 1
    snapshots_by_id = dict(_from(first, snapshots))
    due = due_tags(
        [TagPoint(snapshot.id, options.time_of(snapshot)) for snapshot in snapshots_by_id.values()],
        periods,
        last=None if latest is None else periods.time(latest),
        delay=timedelta(milliseconds=options.delay_millis),
        completes=options.completes,
    )
    return [(name, snapshots_by_id[snapshot_id]) for name, snapshot_id in due]


def batch_name(options: AutoTagOptions, snapshot: Snapshot) -> str:
    """Return the name of the tag that a batch write creates."""
    day = local_time(snapshot.time_millis, options.process_zone)
    return options.batch_name or f"batch-write-{day:%Y-%m-%d}"


def surplus(options: AutoTagOptions, tags: Mapping[str, Tag]) -> list[str]:
    """Find the oldest tags beyond the number that is retained.

    With ``batch`` all tags count, else those that commits created.
    """
    counted = dict(tags)
    if options.mode != "batch":
        periods = options.periods
        counted = {name: tag for name, tag in tags.items() if periods.time(name) is not None}
    if options.retain_max is None or len(counted) <= options.retain_max:
        return []
    oldest_first = sorted(counted, key=lambda name: (counted[name].id, name))
    return oldest_first[: len(counted) - options.retain_max]


def _from(first: int, snapshots: SnapshotManager) -> Iterator[tuple[int, Snapshot]]:
    for snapshot_id in snapshots.ids():
        if snapshot_id >= first:
            try:
                yield snapshot_id, snapshots.get(snapshot_id)
            except SnapshotNotFoundError:  # it expired meanwhile
                continue
