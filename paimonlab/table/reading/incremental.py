"""Which changes a read means: between snapshots, tags or times.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.AbstractDataTableScan``,
``createIncrementalStartingScanner``, and ``IncrementalDeltaStartingScanner``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from paimonlab.errors import (
    SchemaError,
    SnapshotNotFoundError,
    TagNotFoundError,
)
from paimonlab.maintenance.auto_tags import AutoTagOptions
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.changed_files import ChangeKind
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.time_travel import to_millis
from paimonlab.table.store import TableStore

ChangeMode: TypeAlias = Literal["auto", "delta", "changelog", "diff"]
Moment: TypeAlias = int | str | datetime
"""A snapshot id, the name of a tag, a time as text, or an aware datetime."""


class IncrementalOptions(OptionSlice):
    """The table options that ask for changes instead of a state."""

    between: str | None = option_field("incremental-between", "string", None)
    """``incremental-between``: two snapshot ids or two tags with a comma between them."""
    between_timestamps: str | None = option_field("incremental-between-timestamp", "string", None)
    """``incremental-between-timestamp``: two times with a comma between them, as epoch
    milliseconds or as text in the process's local zone."""
    to_auto_tag: str | None = option_field("incremental-to-auto-tag", "string", None)
    """``incremental-to-auto-tag``: a tag that was made by itself; changes since the one before."""
    mode: str = option_field("incremental-between-scan-mode", "enum", "auto")
    """``incremental-between-scan-mode``"""
    tags_as_snapshots: bool = option_field(
        "incremental-between-tag-to-snapshot", "boolean", default=False
    )
    """``incremental-between-tag-to-snapshot``: two tags mean the commits between them, not the
    difference of the two states."""


class ChangeRange(Struct, frozen=True, kw_only=True):
    """The commits that changes are read of."""

    kind: ChangeKind
    before: Snapshot | None = None
    """Of a difference: the older state; None: before the first snapshot."""
    snapshots: tuple[Snapshot, ...] = ()
    """The commits, oldest first; of a difference the newer state alone. (): no changes."""


def range_of_options(definition: TableDefinition, store: TableStore) -> ChangeRange | None:
    """Find the range that the options of a read ask for; None: they ask for a state.

    Raises
    ------
    SchemaError
        If a value is not two points with a comma between them.
    SnapshotNotFoundError
        If a snapshot does not exist.
    """
    options = definition.options.slice(IncrementalOptions)
    if options.between is not None:
        start, end = _pair("incremental-between", options.between)
        return _between_names(start, end, options, definition, store)
    if options.between_timestamps is not None:
        start, end = _pair("incremental-between-timestamp", options.between_timestamps)
        return _between_times(_millis(start), _millis(end), options, definition, store)
    if options.to_auto_tag is not None:
        return _to_auto_tag(options.to_auto_tag, definition, store)
    return None


def range_between(
    start: Moment,
    end: Moment | None,
    mode: ChangeMode | None,
    definition: TableDefinition,
    store: TableStore,
) -> ChangeRange:
    """Find the commits after ``start`` up to ``end``, None: the latest; see `Table.changes`."""
    options = definition.options.slice(IncrementalOptions)
    if mode is not None:
        if mode not in ("auto", "delta", "changelog", "diff"):
            raise ValueError(f"mode must be auto, delta, changelog or diff, got {mode!r}")
        options = Options({**definition.options, "incremental-between-scan-mode": mode}).slice(
            IncrementalOptions
        )
    tags = dict(store.tags.list())
    if start in tags and end in tags and mode is None and not options.tags_as_snapshots:
        return _difference(tags[str(start)], tags[str(end)])
    low = _snapshot_id(start, tags, store.snapshots)
    latest = store.snapshots.latest_id() if end is None else None
    high = latest if end is None else _snapshot_id(end, tags, store.snapshots)
    if low is None or high is None:
        return ChangeRange(kind=_kind(options, definition))
    if high < low:
        until = f"snapshot {high}, the latest," if end is None else end
        raise ValueError(f"changes go forward in time, from {start} to {until} they do not")
    if high > (store.snapshots.latest_id() or 0):
        store.snapshots.get(high)  # says that it is not there, and which are
    return _between_ids(low, high, options, definition, store)


def _between_names(
    start: str,
    end: str,
    options: IncrementalOptions,
    definition: TableDefinition,
    store: TableStore,
) -> ChangeRange:
    tags = dict(store.tags.list())
    if start in tags and end in tags:
        if not options.tags_as_snapshots:
            return _difference(tags[start], tags[end])
        return _between_ids(tags[start].id, tags[end].id, options, definition, store)
    if not start.isdecimal() or not end.isdecimal():
        missing = next(name for name in (start, end) if name not in tags)
        raise TagNotFoundError(definition.name, missing, list(tags))
    if int(end) < int(start):
        raise ValueError(f"incremental-between goes forward, from {start} to {end} it does not")
    return _between_ids(int(start), int(end), options, definition, store)


def _between_times(
    start: int,
    end: int,
    options: IncrementalOptions,
    definition: TableDefinition,
    store: TableStore,
) -> ChangeRange:
    if end < start:
        raise ValueError(f"changes go forward in time, from {start} to {end} they do not")
    ids = store.snapshots.ids()
    kind = _kind(options, definition)
    if not ids or start == end:
        return ChangeRange(kind=kind)
    earliest, latest = store.snapshots.get(ids[0]), store.snapshots.get(ids[-1])
    if start > latest.time_millis or end < earliest.time_millis:
        return ChangeRange(kind=kind)
    newer = store.snapshots.at_or_before(end)
    if kind is ChangeKind.DIFF:
        older = earliest if start < earliest.time_millis else store.snapshots.at_or_before(start)
        return _difference(older, newer)
    # Before the first snapshot there was nothing, so that all it has is a change.
    is_before = start < earliest.time_millis
    low = earliest.id - 1 if is_before else store.snapshots.at_or_before(start).id
    return _commits(low, newer.id, kind, store)


def _to_auto_tag(name: str, definition: TableDefinition, store: TableStore) -> ChangeRange:
    """Find the changes from the tag of an earlier period; none if one of the two is missing."""
    periods = definition.options.slice(AutoTagOptions).periods
    end = periods.time(name)
    if end is None:
        raise SchemaError(f"{definition.name}: {name!r} cannot be a tag that was made by itself")
    tags = dict(store.tags.list())
    times = {tag: time for tag in tags if (time := periods.time(tag)) is not None and time < end}
    if name not in tags or not times:
        return ChangeRange(kind=ChangeKind.DIFF)
    earlier = max(times, key=lambda tag: times[tag])
    return _difference(tags[earlier], tags[name])


def _between_ids(
    start: int,
    end: int,
    options: IncrementalOptions,
    definition: TableDefinition,
    store: TableStore,
) -> ChangeRange:
    kind = _kind(options, definition)
    if start == end or store.snapshots.latest_id() is None:
        return ChangeRange(kind=kind)
    if kind is ChangeKind.DIFF:
        after = store.snapshots.get(end)
        if start == 0 and store.snapshots.ids()[0] == 1:  # it has not expired
            return ChangeRange(kind=kind, snapshots=(after,))
        return _difference(store.snapshots.get(start), after)
    return _commits(start, end, kind, store)


def _commits(start: int, end: int, kind: ChangeKind, store: TableStore) -> ChangeRange:
    latest = store.snapshots.latest_id()
    if latest is None or end > latest:
        store.snapshots.get(end)  # says that it is not there, and which are
    snapshots = tuple(store.snapshot_or_changelog(id) for id in range(start + 1, end + 1))
    return ChangeRange(kind=kind, snapshots=snapshots)


def _difference(before: Snapshot, after: Snapshot) -> ChangeRange:
    if after.id < before.id:
        raise ValueError(
            f"changes go forward, but snapshot {after.id} comes before snapshot {before.id}"
        )
    if after.id == before.id:
        return ChangeRange(kind=ChangeKind.DIFF)
    return ChangeRange(kind=ChangeKind.DIFF, before=before, snapshots=(after,))


def _kind(options: IncrementalOptions, definition: TableDefinition) -> ChangeKind:
    if options.mode != "auto":
        return ChangeKind(options.mode)
    has_changelog = definition.options.get("changelog-producer", "none").lower() != "none"
    return ChangeKind.CHANGELOG if has_changelog else ChangeKind.DELTA


def _snapshot_id(
    moment: Moment, tags: Mapping[str, Snapshot], snapshots: SnapshotManager
) -> int | None:
    """Return the id of the last snapshot at a moment; None: there is no snapshot at all."""
    if isinstance(moment, int):
        return moment
    if isinstance(moment, str):
        if moment in tags:
            return tags[moment].id
        if moment.isdecimal():
            return int(moment)
    ids = snapshots.ids()
    if not ids:
        return None
    try:
        return snapshots.at_or_before(to_millis(moment)).id
    except SnapshotNotFoundError:
        return ids[0] - 1


def _pair(key: str, text: str) -> tuple[str, str]:
    start, comma, end = text.partition(",")
    if not comma or "," in end:
        raise SchemaError(f"option {key!r} = {text!r}: not two points with a comma between them")
    return start, end


def _millis(text: str) -> int:
    return int(text) if text.lstrip("-").isdecimal() else to_millis(text)
