"""Automatic tags, one per period: their names and when they are due.

Times are local dates and times without a zone, as the names of tags have them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.tag.TagPeriodHandler``, ``…TagAutoCreation``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - local times have no zone
_DAILY = {"with_dashes": "%Y-%m-%d", "without_dashes": "%Y%m%d"}
_HOURLY = {
    "with_dashes": "%Y-%m-%d %H",
    "without_dashes": "%Y%m%d %H",
    "without_dashes_and_spaces": "%Y%m%d%H",
}


class TagPeriods(Struct, frozen=True):
    """How long a period is, and how the tag of one is called.

    Examples
    --------
    >>> daily = TagPeriods.named("daily", "with_dashes")
    >>> daily.name(datetime(2026, 1, 31)), daily.time("2026-01-31"), daily.time("v1")
    ('2026-01-31', datetime.datetime(2026, 1, 31, 0, 0), None)
    """

    length: timedelta
    pattern: str

    @classmethod
    def named(cls, period: str, formatter: str) -> TagPeriods:
        """Make the periods ``daily``, ``hourly`` or ``two-hours``.

        Parameters
        ----------
        period
            ``tag.creation-period``
        formatter
            ``tag.period-formatter``; ``two-hours`` has only one.
        """
        if period == "daily":
            return cls(timedelta(days=1), _DAILY.get(formatter, _DAILY["without_dashes"]))
        if period == "hourly":
            return cls(timedelta(hours=1), _HOURLY[formatter])
        return cls(timedelta(hours=2), _HOURLY["with_dashes"])

    @classmethod
    def lasting(cls, length: timedelta) -> TagPeriods:
        """Make periods of any length (``tag.creation-period-duration``)."""
        return cls(length, "%Y%m%d%H%M")

    def name(self, time: datetime) -> str:
        """Return the name of the tag of the period that begins at a time."""
        return time.strftime(self.pattern)

    def time(self, name: str) -> datetime | None:
        """Return when the period of a tag begins; None for other tags."""
        if self.length == timedelta(days=1):
            name = name.split(" ", maxsplit=1)[0]
        try:
            time = datetime.strptime(name, self.pattern)  # noqa: DTZ007 - tags have no zone
        except ValueError:
            return None
        return time if self.name(time) == name else None

    def before(self, time: datetime) -> datetime:
        """Return when the last period began that has ended by a time."""
        return _EPOCH + (time - _EPOCH) // self.length * self.length - self.length


class TagPoint(Struct, frozen=True):
    """A snapshot that may be tagged."""

    snapshot_id: int
    time: datetime | None
    """None: it has no watermark."""


def due_tags(
    points: Iterable[TagPoint],
    periods: TagPeriods,
    *,
    last: datetime | None,
    delay: timedelta = timedelta(0),
    completes: bool = False,
) -> list[tuple[str, int]]:
    """Decide which snapshots get a tag.

    Parameters
    ----------
    points
        Snapshots after the last one that has such a tag, oldest first.
    periods
        Length and names.
    last
        When the period of the last tag began; None if there is no such tag.
    delay
        How long after the end of a period its tag is made (``tag.creation-delay``).
    completes
        Whether no period is left out (``tag.automatic-completion``).

    Returns
    -------
    list of (str, int)
        Names of tags and ids of their snapshots.

    Examples
    --------
    >>> points = [TagPoint(7, datetime(2026, 1, 2, 5)), TagPoint(8, datetime(2026, 1, 3, 1))]
    >>> due_tags(points, TagPeriods.named("daily", "with_dashes"), last=None)
    [('2026-01-01', 7), ('2026-01-02', 8)]
    """
    coming = None if last is None else last + periods.length
    due = []
    for point in points:
        if point.time is None:
            continue
        if coming is not None and point.time - delay < coming + periods.length:
            continue
        begins = coming if completes and coming is not None else periods.before(point.time)
        due.append((periods.name(begins), point.snapshot_id))
        coming = begins + periods.length
    return due
