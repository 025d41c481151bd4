"""A table at points of its past, for display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from paimonlab.spec.snapshot import Snapshot

MOST_STOPS = 500
MOST_COLUMNS = 30
"""Of a table with more, the primary key and the first others are shown."""


class TravelStop(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A point that can be shown."""

    snapshot_id: int
    commit_kind: str
    time_millis: int | None
    """Commit time, milliseconds since the epoch; None when times are hidden."""
    tags: tuple[str, ...]


class TravelStep(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The table at a point."""

    snapshot_id: int
    row_count: int
    """Rows that a query sees."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    """Some rows of the table, or of the aggregate, as text; None is NULL."""
    floats: tuple[int, ...] = ()
    """Which of the columns are FLOAT or DOUBLE."""
    hidden_columns: int = 0
    """Columns of the table that are not among them."""


class Travel(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="travel", tag_field="kind"
):
    """A table through time: all points, and its rows at some of them."""

    table: str
    sql: str
    """The aggregate; empty if rows are shown."""
    stops: tuple[TravelStop, ...]
    """Oldest first."""
    older_count: int
    """Existing points that are not shown."""
    steps: tuple[TravelStep, ...]
    """Of some of the stops, oldest first; the kernel has the others."""


def stops(
    snapshots: Sequence[Snapshot], tags: Mapping[str, Snapshot], *, with_times: bool
) -> list[TravelStop]:
    """List points of a table, oldest first: the snapshots, and those that only tags keep.

    Parameters
    ----------
    snapshots
        The newest ones; of more than `MOST_STOPS` the older ones need a tag.
    tags
        The snapshot of each tag.
    with_times
        Whether commit times are shown.
    """
    names: dict[int, list[str]] = {}
    for name in sorted(tags):
        names.setdefault(tags[name].id, []).append(name)
    by_id = {snapshot.id: snapshot for snapshot in (*tags.values(), *snapshots)}
    ordered = [by_id[number] for number in sorted(by_id)]
    listed = [
        snapshot
        for number, snapshot in enumerate(ordered)
        if snapshot.id in names or len(ordered) - number <= MOST_STOPS
    ]
    return [
        TravelStop(
            snapshot_id=snapshot.id,
            commit_kind=snapshot.commit_kind.value,
            time_millis=snapshot.time_millis if with_times else None,
            tags=tuple(names.get(snapshot.id, ())),
        )
        for snapshot in listed
    ]


def spread(stops: Sequence[TravelStop], count: int) -> list[TravelStop]:
    """Choose stops evenly, the first and the last among them, those with tags before others.

    Raises
    ------
    ValueError
        If ``count`` is less than 2.
    """
    if count < 2:
        raise ValueError(f"steps must be at least 2, got {count}")
    if len(stops) <= count:
        return list(stops)
    last = len(stops) - 1
    chosen = {0, last}
    tagged = [number for number, stop in enumerate(stops) if stop.tags]
    chosen |= set(tagged[-(count - 2) :] if count > 2 else [])
    for number in range(1, count):
        if len(chosen) >= count:
            break
        chosen.add(round(number * last / (count - 1)))
    return [stops[number] for number in sorted(chosen)]
