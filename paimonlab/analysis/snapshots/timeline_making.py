"""The snapshots of a table, put on a line."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal

import msgspec

from paimonlab.analysis.row_words import BEFORE_MERGING
from paimonlab.analysis.snapshots.file_totals import FileTotals, changed_rows_of
from paimonlab.analysis.snapshots.timeline import (
    Timeline,
    TimelineBranch,
    TimelineGroup,
    TimelinePoint,
)
from paimonlab.spec.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    FIRST_SNAPSHOT_ID,
    CommitKind,
    Snapshot,
    watermark_of,
)

ONE_BY_ONE = 500
"""The newest snapshots that are shown one by one."""
MOST_GROUPS = 200
MOST_BRANCHES = 10
BRANCH_POINTS = 40
"""The newest snapshots of another branch that are shown."""


def timeline(
    table: str,
    snapshots: Iterable[Snapshot],
    tags: Mapping[str, int],
    *,
    consumers: Mapping[str, int] | None = None,
    branch: str | None = None,
    branches: Mapping[str, Sequence[Snapshot]] | None = None,
    one_by_one: int = ONE_BY_ONE,
    has_days: bool = True,
    rows_are: str = BEFORE_MERGING,
) -> Timeline:
    """Lay the snapshots of a table on a line.

    Parameters
    ----------
    table
        Name of the table, for the caption.
    snapshots
        In any order.
    tags
        Name of each tag and the id of its snapshot.
    consumers
        Name of each consumer and the id of the snapshot that it reads next.
    branch
        That of ``snapshots``; None: the main one.
    branches
        The snapshots of each other branch, oldest first.
    one_by_one
        How many of the newest are shown one by one, at least 1; older ones are in groups.
    has_days
        Whether groups may be days; otherwise they have equal sizes.
    rows_are
        What the rows of files are: `paimonlab.analysis.row_words.rows_are`.
    """
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.id)
    ids = {snapshot.id for snapshot in ordered}
    older, newest = ordered[:-one_by_one], ordered[-one_by_one:]
    grouped_by, parts = _split(older, has_days=has_days)
    befores = [None, *(part[-1] for part in parts)]
    others = branches or {}
    readers_next = consumers or {}
    seen_tags, seen_readers = (
        {name: id for name, id in sorted(named.items()) if id in ids}
        for named in (tags, readers_next)
    )
    return Timeline(
        table=table,
        points=tuple(
            _points(newest, befores[-1], _names_by_id(seen_tags), _names_by_id(seen_readers))
        ),
        groups=tuple(
            _group(part, before, seen_tags, seen_readers)
            for part, before in zip(parts, befores, strict=False)
        ),
        grouped_by=grouped_by if older else None,
        expired_count=_expired(ordered) if branch is None else 0,
        branches=tuple(
            _branch(name, others[name], ordered) for name in sorted(others)[:MOST_BRANCHES]
        ),
        branch_count=len(others),
        other_tags=_without(tags, ids),
        other_consumers=_without(readers_next, ids),
        rows_are=rows_are,
    )


def with_files(timeline: Timeline, totals: Mapping[int, FileTotals]) -> Timeline:
    """Add which files each snapshot that is shown has, and the last one of each group.

    Parameters
    ----------
    timeline
        Without them.
    totals
        By snapshot id; what is missing is unknown.
    """
    replace = msgspec.structs.replace
    points = [
        replace(
            point,
            **_rows(point, files),
            manifest_count=files.manifest_count,
            file_count=files.file_count,
            file_bytes=files.file_bytes,
            added_file_count=files.added_file_count,
            deleted_file_count=files.deleted_file_count,
        )
        if (files := totals.get(point.id))
        else point
        for point in timeline.points
    ]
    groups = [
        replace(group, file_count=files.file_count, file_bytes=files.file_bytes)
        if (files := totals.get(group.last_id))
        else group
        for group in timeline.groups
    ]
    return replace(timeline, points=tuple(points), groups=tuple(groups))


def _rows(point: TimelinePoint, files: FileTotals) -> dict[str, int]:
    kind = CommitKind(point.commit_kind)
    rows = None if kind is CommitKind.COMPACT else changed_rows_of(kind, files)
    return {} if rows is None else {"written_rows": rows.written, "deleted_rows": rows.deleted}


def _names_by_id(named: Mapping[str, int]) -> dict[int, tuple[str, ...]]:
    names: dict[int, tuple[str, ...]] = {}
    for name in sorted(named):
        names[named[name]] = (*names.get(named[name], ()), name)
    return names


def _without(named: Mapping[str, int], ids: Container[int]) -> dict[str, int]:
    return {name: id for name, id in sorted(named.items()) if id not in ids}


def _expired(ordered: Sequence[Snapshot]) -> int:
    return ordered[0].id - FIRST_SNAPSHOT_ID if ordered else 0


def _points(
    snapshots: Sequence[Snapshot],
    before: Snapshot | None,
    tags: Mapping[int, tuple[str, ...]],
    consumers: Mapping[int, tuple[str, ...]],
) -> Iterator[TimelinePoint]:
    for snapshot in snapshots:
        identifier = snapshot.commit_identifier
        yield TimelinePoint(
            id=snapshot.id,
            commit_kind=snapshot.commit_kind.value,
            commit_user=snapshot.commit_user,
            commit_identifier=None if identifier == BATCH_COMMIT_IDENTIFIER else identifier,
            time_millis=snapshot.time_millis,
            delta_record_count=snapshot.delta_record_count,
            total_record_count=snapshot.total_record_count,
            changelog_record_count=snapshot.changelog_record_count,
            watermark_millis=watermark_of(snapshot),
            schema_id=snapshot.schema_id,
            is_new_schema=before is not None and before.schema_id != snapshot.schema_id,
            tags=tags.get(snapshot.id, ()),
            consumers=consumers.get(snapshot.id, ()),
            missing_before=0 if before is None else snapshot.id - before.id - 1,
        )
        before = snapshot


def _split(
    older: Sequence[Snapshot], *, has_days: bool
) -> tuple[Literal["day", "number"], list[Sequence[Snapshot]]]:
    """Divide into days, or into equal parts if there are too many days or too few."""
    size = -(-len(older) // MOST_GROUPS) or 1
    equal = [older[start : start + size] for start in range(0, len(older), size)]
    if has_days:
        days = [list(part) for _, part in groupby(older, _day)]
        if len(older) / ONE_BY_ONE <= len(days) <= MOST_GROUPS:
            return "day", [*days]
    return "number", equal


def _day(snapshot: Snapshot) -> int:
    return snapshot.time_millis // (24 * 60 * 60 * 1000)


def _group(
    part: Sequence[Snapshot],
    before: Snapshot | None,
    tags: Mapping[str, int],
    consumers: Mapping[str, int],
) -> TimelineGroup:
    first, last = part[0], part[-1]
    deltas = [snapshot.delta_record_count for snapshot in part]
    known_deltas = [delta for delta in deltas if delta is not None]
    line = part if before is None else [before, *part]
    kinds: dict[str, int] = {}
    for snapshot in part:
        kind = snapshot.commit_kind.value
        kinds[kind] = kinds.get(kind, 0) + 1
    return TimelineGroup(
        first_id=first.id,
        last_id=last.id,
        snapshot_count=len(part),
        missing_count=last.id - line[0].id + 1 - len(line),
        begin_millis=first.time_millis,
        end_millis=last.time_millis,
        kinds=kinds,
        delta_record_count=sum(known_deltas) if len(known_deltas) == len(deltas) else None,
        total_record_count=last.total_record_count,
        changelog_record_count=sum(snapshot.changelog_record_count or 0 for snapshot in part),
        watermark_millis=watermark_of(last),
        schema_id=last.schema_id,
        new_schemas=tuple(
            after.schema_id
            for before, after in pairwise(line)
            if before.schema_id != after.schema_id
        ),
        tags=_between(tags, first.id, last.id),
        consumers=_between(consumers, first.id, last.id),
    )


def _between(named: Mapping[str, int], first: int, last: int) -> dict[str, int]:
    return {name: id for name, id in named.items() if first <= id <= last}


def _branch(name: str, theirs: Sequence[Snapshot], ours: Sequence[Snapshot]) -> TimelineBranch:
    known = {_identity(snapshot) for snapshot in ours}
    shared = [snapshot.id for snapshot in theirs if _identity(snapshot) in known]
    shown = theirs[-BRANCH_POINTS:]
    before = theirs[-BRANCH_POINTS - 1] if len(theirs) > BRANCH_POINTS else None
    return TimelineBranch(
        name=name,
        points=tuple(_points(shown, before, {}, {})),
        older_count=len(theirs) - len(shown),
        forked_at=max(shared, default=None),
    )


def _identity(snapshot: Snapshot) -> tuple[object, ...]:
    """Distinguish snapshots to which branches gave the same id."""
    return snapshot.id, snapshot.commit_user, snapshot.commit_identifier, snapshot.time_millis
