"""How many snapshots and changelogs a table keeps, and for how long.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.ExpireSnapshotsImpl``,
``org.apache.paimon.options.ExpireConfig``. A snapshot expires by age only once the one after
it is older than the limit, as since 2.0: the table as of that time can then still be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import OptionSlice, option_field

_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is kept."""

    retain_max: int = _MOST
    """At most this many are kept, whatever their age."""
    retain_min: int = 1
    """At least this many are kept, whatever their age; 1 or more."""
    older_than_millis: int
    """Epoch milliseconds; what is newer is kept, except beyond ``retain_max``."""
    max_deletes: int = _MOST
    """At most this many expire in one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRequest:
    """What one call asks to retain; None: as the options of the table say."""

    retain_max: int | None = None
    retain_min: int | None = None
    older_than_millis: int | None = None
    max_deletes: int | None = None

    def over(self, retention: Retention) -> Retention:
        """Let what is asked for override what the options say.

        A ``retain_max`` that is given alone lowers ``retain_min``, and the other way round.
        """
        retain_max, retain_min = self.retain_max, self.retain_min
        if retain_min is None:
            retain_min = retention.retain_min
            if retain_max is not None:
                retain_min = min(retain_min, retain_max)
        if retain_max is None:
            retain_max = retention.retain_max
            if self.retain_min is not None:
                retain_max = max(retain_max, self.retain_min)
        return replace(
            retention,
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_millis=_or(self.older_than_millis, retention.older_than_millis),
            max_deletes=_or(self.max_deletes, retention.max_deletes),
        )


class ExpireOptions(OptionSlice):
    """The table options that steer how snapshots and changelogs expire."""

    retain_max: int = option_field("snapshot.num-retained.max", "int", _MOST)
    """``snapshot.num-retained.max``"""
    retain_min: int = option_field("snapshot.num-retained.min", "int", 10)
    """``snapshot.num-retained.min``"""
    retained_millis: int = option_field("snapshot.time-retained", "duration", "1 h")
    """``snapshot.time-retained``"""
    max_deletes: int = option_field("snapshot.expire.limit", "int", 50)
    """``snapshot.expire.limit``: of snapshots, and of changelogs."""
    mode: str = option_field("snapshot.expire.execution-mode", "enum", "sync")
    """``snapshot.expire.execution-mode``: whether a commit waits for it."""
    cleans_directories: bool = option_field(
        "snapshot.clean-empty-directories", "boolean", default=False
    )
    """``snapshot.clean-empty-directories``: folders of buckets and partitions that became empty
    are deleted."""
    changelog_retain_max: int | None = option_field("changelog.num-retained.max", "int", None)
    """``changelog.num-retained.max``; None: as of snapshots."""
    changelog_retain_min: int | None = option_field("changelog.num-retained.min", "int", None)
    """``changelog.num-retained.min``; None: as of snapshots."""
    changelog_retained_millis: int | None = option_field(
        "changelog.time-retained", "duration", None
    )
    """``changelog.time-retained``; None: as of snapshots."""
    has_changelog_files: bool = option_field(
        "changelog-producer", "enum", default=False, parse=lambda value: value.lower() != "none"
    )
    """``changelog-producer``: whether commits have files of their own for what they changed."""
    threads: int | None = option_field("file-operation.thread-num", "int", None)
    """``file-operation.thread-num``: how many files are deleted at once; None: as many as there
    are processors."""

    @property
    def keeps_changelogs(self) -> bool:
        """Whether changes outlive their snapshots.

        Source: apache/paimon@1.3.1 ``org.apache.paimon.CoreOptions.changelogLifecycleDecoupled``.
        """
        return (
            _or(self.changelog_retain_max, self.retain_max) > self.retain_max
            or _or(self.changelog_retain_min, self.retain_min) > self.retain_min
            or _or(self.changelog_retained_millis, self.retained_millis) > self.retained_millis
        )

    def of_snapshots(self, now_millis: int) -> Retention:
        """Return the retention of snapshots at a given time."""
        return Retention(
            retain_max=self.retain_max,
            retain_min=self.retain_min,
            older_than_millis=now_millis - self.retained_millis,
            max_deletes=self.max_deletes,
        )

    def of_changelogs(self, now_millis: int) -> Retention:
        """Return the retention of changelogs at a given time."""
        retained = _or(self.changelog_retained_millis, self.retained_millis)
        return Retention(
            retain_max=_or(self.changelog_retain_max, self.retain_max),
            retain_min=_or(self.changelog_retain_min, self.retain_min),
            older_than_millis=now_millis - retained,
            max_deletes=self.max_deletes,
        )


@dataclass(frozen=True, slots=True)
class Bound:
    """Where expiry ends."""

    first_kept: int
    """The smallest id that is kept."""
    reason: str
    """Why it is kept."""


def snapshot_bound(
    ids: Sequence[int],
    retention: Retention,
    *,
    time_of: Callable[[int], int],
    next_read: tuple[str, int] | None = None,
) -> Bound:
    """Decide which snapshots expire: those below the bound.

    Parameters
    ----------
    ids
        Of all snapshots, ascending, at least one.
    retention
        What is kept.
    time_of
        Returns when a snapshot was committed, epoch milliseconds; called for as few as possible.
    next_read
        The consumer that is furthest behind, and the snapshot it reads next.

    Raises
    ------
    SchemaError
        If the maximum is below the minimum, or the minimum below 1.
    """
    there = set(ids)

    def is_young(snapshot_id: int) -> bool:
        # It expires once nobody can ask for the table as of a time when it was the latest.
        after = snapshot_id + 1
        return after in there and time_of(after) >= retention.older_than_millis

    return _bound(ids[0], ids[-1], retention, is_young, next_read, "the snapshot after it is young")


def changelog_bound(
    ids: Sequence[int],
    latest_snapshot: int,
    retention: Retention,
    *,
    time_of: Callable[[int], int],
    next_read: tuple[str, int] | None = None,
) -> Bound:
    """Decide which changelogs expire: those below the bound; the newest is always kept.

    Parameters
    ----------
    ids
        Of all changelogs, ascending, at least one.
    latest_snapshot
        Counts are from here.
    retention, time_of, next_read
        As in `snapshot_bound`; here a changelog's own age counts.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.table.ExpireChangelogImpl``.
    """
    there = set(ids)

    def is_young(changelog_id: int) -> bool:
        return changelog_id in there and time_of(changelog_id) >= retention.older_than_millis

    bound = _bound(ids[0], latest_snapshot, retention, is_young, next_read, "it is young")
    if bound.first_kept > ids[-1]:
        return Bound(ids[-1], "it is the newest changelog")
    return bound


def _bound(
    earliest: int,
    latest: int,
    retention: Retention,
    is_young: Callable[[int], bool],
    next_read: tuple[str, int] | None,
    young: str,
) -> Bound:
    if retention.retain_min < 1 or retention.retain_max < retention.retain_min:
        raise SchemaError(
            f"cannot keep at most {retention.retain_max} and at least {retention.retain_min}: the "
            "minimum must be 1 or more, and not above the maximum"
        )
    end = Bound(latest - retention.retain_min + 1, f"at least {retention.retain_min} are kept")
    if next_read is not None and next_read[1] < end.first_kept:
        end = Bound(next_read[1], f"consumer {next_read[0]!r} reads it next")
    if earliest + retention.max_deletes < end.first_kept:
        end = Bound(
            earliest + retention.max_deletes, f"at most {retention.max_deletes} expire at once"
        )
    for snapshot_id in range(max(latest - retention.retain_max + 1, earliest), end.first_kept):
        if is_young(snapshot_id):
            return Bound(snapshot_id, young)
    return end if end.first_kept > earliest else Bound(earliest, end.reason)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
