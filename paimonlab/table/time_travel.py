"""Which snapshot a read means: now, or a point in the past.

Source: https://paimon.apache.org/docs/master/spark/sql-query/ and apache/paimon@1.3.1
``org.apache.paimon.table.source.snapshot.TimeTravelUtil``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.options import Options, option_field
from paimonlab.spec.snapshot import Snapshot

_WATERMARK_PREFIX = "watermark-"
_NO_WATERMARK = -(2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class TravelOptions:
    """The table options that choose a snapshot; at most one is set."""

    snapshot: int | None = option_field("scan.snapshot-id", "long", None)
    """``scan.snapshot-id``"""
    tag: str | None = option_field("scan.tag-name", "string", None)
    """``scan.tag-name``"""
    timestamp: str | None = option_field("scan.timestamp", "string", None)
    """``scan.timestamp``: text in the process's local zone."""
    timestamp_millis: int | None = option_field("scan.timestamp-millis", "long", None)
    """``scan.timestamp-millis``"""
    watermark: int | None = option_field("scan.watermark", "long", None)
    """``scan.watermark``"""
    version: str | None = option_field("scan.version", "string", None)
    """``scan.version``: a tag, ``watermark-<millis>`` or a snapshot id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TravelPoint:
    """The point in time of a read; at most one field is set, none means now."""

    snapshot: int | None = None
    tag: str | None = None
    timestamp: datetime | int | str | None = None
    """An aware datetime, epoch milliseconds, or text in the process's local zone."""
    watermark: int | None = None
    """Epoch milliseconds."""
    version: int | str | None = None
    """What ``VERSION AS OF`` takes: a tag if there is one of that name, else
    ``watermark-<millis>``, else a snapshot id."""

    def __post_init__(self) -> None:
        given = [field.name for field in fields(self) if getattr(self, field.name) is not None]
        if len(given) > 1:
            raise ValueError(f"a read is of one point in time, not of {' and '.join(given)}")

    @classmethod
    def of_options(cls, options: Options) -> TravelPoint:
        """Read the point from ``scan.…`` options."""
        chosen = options.slice(TravelOptions)
        timestamp = chosen.timestamp if chosen.timestamp is not None else chosen.timestamp_millis
        return cls(
            snapshot=chosen.snapshot,
            tag=chosen.tag,
            timestamp=timestamp,
            watermark=chosen.watermark,
            version=chosen.version,
        )

    @property
    def is_now(self) -> bool:
        """Whether nothing is set."""
        return all(getattr(self, field.name) is None for field in fields(self))


def travel(
    point: TravelPoint, snapshots: SnapshotManager, tags: TagManager, table: str
) -> Snapshot | None:
    """Find the snapshot of a point in time.

    Parameters
    ----------
    point
        When.
    snapshots, tags
        Of the table.
    table
        Its name, for messages.

    Returns
    -------
    Snapshot or None
        None only for now, when nothing was ever committed.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot; `SnapshotExpiredError` if it is gone.
    TagNotFoundError
        If there is no such tag.
    """
    if point.snapshot is not None:
        return snapshots.get(point.snapshot)
    if point.tag is not None:
        return tags.get(point.tag)
    if point.timestamp is not None:
        return snapshots.at_or_before(to_millis(point.timestamp))
    if point.watermark is not None:
        return _at_watermark(point.watermark, snapshots, table)
    if point.version is not None:
        return _at_version(str(point.version), snapshots, tags, table)
    return snapshots.latest()


def to_millis(moment: datetime | int | str) -> int:
    """Turn a point in time into epoch milliseconds.

    Text without an offset and a naive datetime mean the process's local zone.

    Raises
    ------
    ValueError
        If the text is no date or time.
    """
    if isinstance(moment, int):
        return moment
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.strip())
        except ValueError as error:
            raise ValueError(
                f"{moment!r} is no time; write it as 2026-01-31 or 2026-01-31 12:34:56.789"
            ) from error
    aware = moment.astimezone()  # a naive one is taken as local
    whole = int(aware.replace(microsecond=0).timestamp())
    return whole * 1000 + aware.microsecond // 1000


def _at_watermark(watermark: int, snapshots: SnapshotManager, table: str) -> Snapshot:
    for snapshot in snapshots.list():
        if snapshot.watermark not in {None, _NO_WATERMARK} and snapshot.watermark >= watermark:
            return snapshot
    raise SnapshotNotFoundError(table, f"with a watermark of {watermark} or later")


def _at_version(version: str, snapshots: SnapshotManager, tags: TagManager, table: str) -> Snapshot:
    known = dict(tags.list())
    if version in known:
        return known[version]
    number = version.removeprefix(_WATERMARK_PREFIX)
    if version.startswith(_WATERMARK_PREFIX) and number.isdigit():
        return _at_watermark(int(number), snapshots, table)
    if version.isdigit():
        return snapshots.get(int(version))
    names = ", ".join(known) or "none"
    raise SnapshotNotFoundError(
        table, f"for version {version!r}", f"It is neither a snapshot id nor a tag; tags: {names}."
    )
