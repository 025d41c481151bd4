"""Where a follower starts.

Unlike Java, which goes on with the oldest snapshot there is, a start that has expired is an error:
changes in between would be lost without a word.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.AbstractDataTableScan``,
``createStartingScanner``, and the starting scanners in ``…source.snapshot``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from msgspec import structs

from paimonlab.errors import (
    ConsumerNotFoundError,
    SchemaError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
)
from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.following import FollowRules, Position
from paimonlab.spec.options.table_options import fields_of
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.incremental import IncrementalOptions
from paimonlab.table.reading.time_travel import (
    LATEST_MODES,
    MODE_POINTS,
    TravelOptions,
    checked_mode,
    newest_compacted,
    to_millis,
)
from paimonlab.table.store import TableStore

_AS_OPTIONS_SAY = "latest-full"
_MODES = frozenset({*LATEST_MODES, *MODE_POINTS, "compacted-full", "default", "incremental"})


def starting_position(
    definition: TableDefinition,
    store: TableStore,
    start: Position | int | str | datetime,
    given: Mapping[str, str],
    *,
    consumer: str | None = None,
) -> Position:
    """Find where a follower starts.

    Parameters
    ----------
    definition, store
        Of the table, with the options of the follower.
    start
        As in `Table.follow`.
    given
        The options of the follower alone.
    consumer
        Whose progress goes before ``start``, unless that is a position; None: nobody's.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot; `SnapshotExpiredError` if it is gone.
    SchemaError
        If options do not go together, or make no sense for a follower.
    ValueError
        If ``start`` makes no sense.
    """
    _refuse_ranges(definition)
    if isinstance(start, Position):
        return start
    progress = None if consumer is None else _progress(store.consumers, consumer)
    if consumer is not None and progress is not None:
        return _of_consumer(store, consumer, progress)
    if isinstance(start, str) and start in _MODES:
        return _of_mode(definition, store, start)
    _refuse_points(given)
    if isinstance(start, int):
        return _from_snapshot(store, start)
    try:
        return _from_time(store, to_millis(start))
    except ValueError:
        raise ValueError(
            f"start = {start!r} is neither a time nor one of {', '.join(sorted(_MODES))}"
        ) from None


def first_state(position: Position, latest_id: int, rules: FollowRules) -> Position:
    """Return where to go on once a table that had no snapshot has some."""
    return Position(
        snapshot_id=min(latest_id, rules.until_id or latest_id),
        is_full=True,
        created_since_millis=position.created_since_millis,
    )


def _of_mode(definition: TableDefinition, store: TableStore, start: str) -> Position:
    chosen = definition.options.slice(TravelOptions)
    if start != _AS_OPTIONS_SAY:
        chosen = structs.replace(chosen, mode=start)
    if chosen.mode == "incremental":
        raise SchemaError(
            f"{definition.name}: scan.mode = 'incremental' has two ends; read it with table.changes"
        )
    starts: dict[str, Callable[[TableDefinition, TableStore, TravelOptions], Position]] = {
        "latest": lambda _, store, __: _behind_latest(store.snapshots),
        "compacted-full": _of_compaction,
        "from-timestamp": _of_timestamp,
        "from-snapshot": _of_snapshot,
        "from-snapshot-full": _of_snapshot_full,
        "from-file-creation-time": _of_file_creation,
        "from-creation-timestamp": _of_creation,
    }
    mode = checked_mode(chosen, definition.name)
    if mode not in starts:
        return _state(store.snapshots.latest())
    return starts[mode](definition, store, chosen)


def _state(snapshot: Snapshot | None, created_since_millis: int | None = None) -> Position:
    return Position(
        snapshot_id=0 if snapshot is None else snapshot.id,
        is_full=True,
        created_since_millis=created_since_millis,
    )


def _of_compaction(definition: TableDefinition, store: TableStore, _: TravelOptions) -> Position:
    return _state(newest_compacted(definition.options, store.snapshots))


def _behind_latest(snapshots: SnapshotManager) -> Position:
    latest = snapshots.latest()
    if latest is None:
        return Position(snapshot_id=FIRST_SNAPSHOT_ID)
    return Position(snapshot_id=latest.id + 1, last=latest.delta_manifest_list)


def _of_timestamp(_: TableDefinition, store: TableStore, chosen: TravelOptions) -> Position:
    moment = chosen.timestamp if chosen.timestamp is not None else chosen.timestamp_millis
    assert moment is not None, "the mode was checked"
    return _from_time(store, to_millis(moment))


def _of_snapshot(definition: TableDefinition, store: TableStore, chosen: TravelOptions) -> Position:
    snapshot_id = chosen.snapshot
    version = chosen.version
    if version is not None and version.isdecimal() and version not in dict(store.tags.list()):
        snapshot_id = int(version)
    if snapshot_id is None:
        raise SchemaError(
            f"{definition.name}: a follower starts at a snapshot id or a time, not at a tag or a "
            "watermark; to begin with the rows of a tag give its snapshot's id, and "
            "start='from-snapshot-full'"
        )
    return _from_snapshot(store, snapshot_id)


def _of_snapshot_full(_: TableDefinition, store: TableStore, chosen: TravelOptions) -> Position:
    assert chosen.snapshot is not None, "the mode was checked"
    return _state(store.snapshots.get(chosen.snapshot))


def _of_file_creation(_: TableDefinition, store: TableStore, chosen: TravelOptions) -> Position:
    return _state(store.snapshots.latest(), chosen.file_creation)


def _of_creation(_: TableDefinition, store: TableStore, chosen: TravelOptions) -> Position:
    assert chosen.creation is not None, "the mode was checked"
    first = store.snapshots.first_since(chosen.creation)
    if first is not None:
        return _from_snapshot(store, first.id)
    return _state(store.snapshots.latest(), chosen.creation)


def _from_snapshot(store: TableStore, snapshot_id: int) -> Position:
    """Start with the changes of a snapshot: one that is there, or the next to be."""
    if snapshot_id < FIRST_SNAPSHOT_ID:
        raise ValueError(f"snapshots are numbered from 1, got {snapshot_id}")
    next_id = (store.snapshots.latest_id() or 0) + 1
    if snapshot_id != next_id:
        store.snapshot_or_changelog(snapshot_id)
    return Position(snapshot_id=snapshot_id, last=_manifest_list(store, snapshot_id - 1))


def _from_time(store: TableStore, millis: int) -> Position:
    """Start with the changes of the first snapshot at or after a time."""
    ids = sorted({*store.changelogs.ids(), *store.snapshots.ids()})
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if store.snapshot_or_changelog(ids[middle]).time_millis < millis:
            low = middle + 1
        else:
            high = middle
    if low == len(ids):
        return _behind_latest(store.snapshots)
    first = ids[low]
    if low == 0 and first > FIRST_SNAPSHOT_ID:
        raise SnapshotExpiredError(
            store.name,
            "before that time",
            f"Snapshots below {first} have expired, which may have been committed since; "
            f"start={first} reads what there is.",
        )
    return Position(snapshot_id=first, last=_manifest_list(store, first - 1))


def _progress(consumers: ConsumerManager, consumer: str) -> int | None:
    try:
        return consumers.get(consumer)
    except ConsumerNotFoundError:
        return None


def _of_consumer(store: TableStore, consumer: str, next_snapshot: int) -> Position:
    try:
        return _from_snapshot(store, next_snapshot)
    except SnapshotNotFoundError as error:
        hint = (
            f"Consumer {consumer!r} reads it next. {error.hint} Move it with "
            f"table.consumers.reset, or start anew with 'consumer.ignore-progress' = 'true'."
        )
        raise type(error)(store.name, error.asked, hint) from error


def _manifest_list(store: TableStore, snapshot_id: int) -> str | None:
    if snapshot_id < FIRST_SNAPSHOT_ID:
        return None
    try:
        return store.snapshot_or_changelog(snapshot_id).delta_manifest_list
    except SnapshotNotFoundError:
        return None


def _refuse_ranges(definition: TableDefinition) -> None:
    options = definition.options.slice(IncrementalOptions)
    if options.between or options.between_timestamps or options.to_auto_tag:
        raise SchemaError(
            f"{definition.name}: the options incremental-between… have two ends; read changes "
            "between them with table.changes"
        )


def _refuse_points(given: Mapping[str, str]) -> None:
    keys = sorted({*given} & {field.key for field in fields_of(TravelOptions).values()})
    if keys:
        raise ValueError(f"where to start is said twice: by start and by {', '.join(keys)}")
