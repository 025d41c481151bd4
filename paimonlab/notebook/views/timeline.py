"""The newest snapshots of a table, on a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from paimonlab.spec.snapshot import Snapshot


class TimelinePoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One snapshot on a timeline."""

    id: int
    commit_kind: str
    """``APPEND``, ``COMPACT``, ``OVERWRITE`` or ``ANALYZE``."""
    commit_user: str
    time_millis: int | None
    """Commit time, milliseconds since the epoch; None when times are hidden."""
    delta_record_count: int | None
    """Rows added minus rows deleted, before merging."""
    total_record_count: int | None
    """Rows over all live data files before merging: not the rows of the table."""
    changelog_record_count: int | None
    schema_id: int
    is_new_schema: bool
    """The snapshot before it has another schema. False for the first one shown."""
    tags: tuple[str, ...]
    missing_before: int
    """How many ids right before this one have expired, among those shown."""


class Timeline(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="timeline", tag_field="kind"
):
    """The newest snapshots of a table, oldest first."""

    table: str
    points: tuple[TimelinePoint, ...]
    older_count: int
    """Snapshots that are there but not shown."""


def timeline(
    table: str, snapshots: Iterable[Snapshot], tags: Mapping[str, int], *, last: int
) -> Timeline:
    """Lay the newest snapshots of a table on a line.

    Parameters
    ----------
    table
        Name of the table, for the caption.
    snapshots
        In any order.
    tags
        Name of each tag and the id of its snapshot.
    last
        How many of the newest snapshots to show, at least 1.

    Raises
    ------
    ValueError
        If ``last`` is less than 1.
    """
    if last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.id)
    shown = ordered[-last:]
    names = _names_by_id(tags)
    pairs = zip(shown, [None, *shown], strict=False)
    points = [_point(snapshot, previous, names) for snapshot, previous in pairs]
    return Timeline(table=table, points=tuple(points), older_count=len(ordered) - len(shown))


def _names_by_id(tags: Mapping[str, int]) -> dict[int, tuple[str, ...]]:
    names: dict[int, tuple[str, ...]] = {}
    for name in sorted(tags):
        names[tags[name]] = (*names.get(tags[name], ()), name)
    return names


def _point(
    snapshot: Snapshot, previous: Snapshot | None, names: Mapping[int, tuple[str, ...]]
) -> TimelinePoint:
    return TimelinePoint(
        id=snapshot.id,
        commit_kind=snapshot.commit_kind.value,
        commit_user=snapshot.commit_user,
        time_millis=snapshot.time_millis,
        delta_record_count=snapshot.delta_record_count,
        total_record_count=snapshot.total_record_count,
        changelog_record_count=snapshot.changelog_record_count,
        schema_id=snapshot.schema_id,
        is_new_schema=previous is not None and previous.schema_id != snapshot.schema_id,
        tags=names.get(snapshot.id, ()),
        missing_before=0 if previous is None else snapshot.id - previous.id - 1,
    )


def repeatable(timeline: Timeline) -> Timeline:
    """Leave out what differs from run to run: times are hidden, users are numbered."""
    users: dict[str, str] = {}
    points = [
        msgspec.structs.replace(
            point,
            time_millis=None,
            commit_user=users.setdefault(point.commit_user, f"user#{len(users) + 1}"),
        )
        for point in timeline.points
    ]
    return msgspec.structs.replace(timeline, points=tuple(points))
