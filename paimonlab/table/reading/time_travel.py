"""Which snapshot a read means: now, or a point in the past.

Source: https://paimon.apache.org/docs/master/spark/sql-query/ and apache/paimon@1.3.1
``org.apache.paimon.table.source.snapshot.TimeTravelUtil``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from msgspec import Struct

from paimonlab.clock import local_now
from paimonlab.errors import SchemaError, SnapshotNotFoundError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.options.grammar import parse_duration_millis
from paimonlab.spec.options.table_options import Options, OptionSlice, fields_of, option_field
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot, watermark_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore

_WATERMARK_PREFIX = "watermark-"
_DURATION = re.compile(r"\s*\d+\s*[a-zµ]+\s*", re.IGNORECASE)


class TravelOptions(OptionSlice):
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
    mode: str = option_field("scan.mode", "enum", "default")
    """``scan.mode``: which of these options count."""
    file_creation: int | None = option_field("scan.file-creation-time-millis", "long", None)
    """``scan.file-creation-time-millis``: of the newest snapshot, only files made at or after
    this time."""
    creation: int | None = option_field("scan.creation-time-millis", "long", None)
    """``scan.creation-time-millis``: the first snapshot at or after this time; where snapshots do
    not go back that far, or forward, as ``scan.file-creation-time-millis``."""


class TravelPoint(Struct, frozen=True, kw_only=True):
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
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
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
        return all(getattr(self, name) is None for name in self.__struct_fields__)


class Start(Struct, frozen=True, kw_only=True):
    """Where a read begins."""

    snapshot: Snapshot | None
    """None: nothing was ever committed."""
    has_its_schema: bool = False
    """Whether rows have the schema of the snapshot, not the latest."""
    created_since_millis: int | None = None
    """Only files made at or after this time count, epoch milliseconds; None: all."""


MODE_POINTS = {
    "from-timestamp": ("timestamp", "timestamp_millis"),
    "from-snapshot": ("snapshot", "tag", "watermark", "version"),
    "from-snapshot-full": ("snapshot",),
    "from-file-creation-time": ("file_creation",),
    "from-creation-timestamp": ("creation",),
}
"""The options of which a mode needs just one."""
LATEST_MODES = frozenset({"latest-full", "full", "latest"})


def start_of(definition: TableDefinition, store: TableStore) -> Start:
    """Find where the ``scan.…`` options let a batch read begin.

    Raises
    ------
    SchemaError
        If options do not go together.
    SnapshotNotFoundError, TagNotFoundError
        If there is no such point in time.
    """
    chosen = definition.options.slice(TravelOptions)
    mode = checked_mode(chosen, definition.name)
    snapshots = store.snapshots
    if mode in LATEST_MODES:
        return Start(snapshot=snapshots.latest())
    if mode == "compacted-full":
        return Start(snapshot=newest_compacted(definition.options, store.snapshots))
    if mode == "from-file-creation-time":
        return Start(snapshot=snapshots.latest(), created_since_millis=chosen.file_creation)
    if mode == "from-creation-timestamp":
        assert chosen.creation is not None, "the mode was checked"
        first = snapshots.first_since(chosen.creation)
        if first is not None:
            return Start(snapshot=first)
        return Start(snapshot=snapshots.latest(), created_since_millis=chosen.creation)
    point = TravelPoint.of_options(definition.options)
    return Start(
        snapshot=travel(point, snapshots, store.tags, definition.name), has_its_schema=True
    )


def check_no_start(definition: TableDefinition) -> None:
    """Check that a read of changes does not ask for a state, too.

    Raises
    ------
    SchemaError
        If it does.
    """
    chosen = definition.options.slice(TravelOptions)
    if _given(chosen) or chosen.mode not in {"default", "incremental"}:
        keys = ", ".join(_KEYS[name] for name in sorted(_given(chosen))) or "none"
        raise SchemaError(
            f"{definition.name}: changes are read between two points, which goes with scan.mode = "
            f"'incremental' and no point in time; given are '{chosen.mode}' and {keys}"
        )


def _given(chosen: TravelOptions) -> set[str]:
    set_ = {name for name in fields_of(TravelOptions) if getattr(chosen, name) is not None}
    return set_ - {"mode"}


def checked_mode(chosen: TravelOptions, table: str) -> str:
    """Return the mode of a read whose options go together.

    Raises
    ------
    SchemaError
        If they do not.
    """
    given = _given(chosen)
    wanted = {mode for mode, names in MODE_POINTS.items() if given & {*names}}
    mode = chosen.mode
    if mode == "default":
        mode = next((candidate for candidate in MODE_POINTS if candidate in wanted), "latest-full")
    if mode == "incremental":
        raise SchemaError(
            f"{table}: scan.mode = 'incremental' needs incremental-between or "
            "incremental-between-timestamp"
        )
    needed = {*MODE_POINTS.get(mode, ())}
    if len(given) > 1 or (given and not given <= needed) or (needed and not given):
        needs = (
            " or ".join(f"'{_KEYS[name]}'" for name in MODE_POINTS.get(mode, ())) or "none of them"
        )
        has = ", ".join(f"'{_KEYS[name]}'" for name in sorted(given)) or "none"
        raise SchemaError(
            f"{table}: scan.mode = '{chosen.mode}' takes one point in time ({needs}), it has {has}"
        )
    return mode


_KEYS = {name: field.key for name, field in fields_of(TravelOptions).items()}


def newest_compacted(options: Options, snapshots: SnapshotManager) -> Snapshot | None:
    """Find the newest snapshot of a compaction, of a full one if these can be told."""
    commits = options.get("full-compaction.delta-commits")
    is_full = commits is not None or (
        options.get("changelog-producer", "").lower() == "full-compaction"
    )
    every = int(commits or 1)
    newest = None
    for snapshot_id in reversed(snapshots.ids()):
        snapshot = snapshots.get(snapshot_id)
        newest = newest or snapshot
        identifier = snapshot.commit_identifier
        counts = identifier % every == 0 or identifier == BATCH_COMMIT_IDENTIFIER
        if snapshot.commit_kind is CommitKind.COMPACT and (counts or not is_full):
            return snapshot
    return newest


def travel(
    point: TravelPoint, snapshots: SnapshotManager, tags: TagManager, table: str
) -> Snapshot | None:
    """Find the snapshot of a point in time.

    Parameters
    ----------
    point
        When.
    snapshots, tags
        The table's snapshots and tags.
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


_DAYS_AGO = {"today": 0, "yesterday": 1}


def to_millis(moment: datetime | int | str) -> int:
    """Turn a point in time into epoch milliseconds.

    Text without an offset and a naive datetime mean the process's local zone; ``today`` and
    ``yesterday`` midnight there, as the special values of Spark's literals do (Spark 4,
    ``SparkDateTimeUtils.convertSpecialTimestamp``).

    Raises
    ------
    ValueError
        If the text is no date or time.
    """
    if isinstance(moment, int):
        return moment
    if isinstance(moment, str) and (ago := _DAYS_AGO.get(moment.strip().lower())) is not None:
        moment = datetime.combine(local_now().date() - timedelta(days=ago), time())
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


def epoch_millis(older_than: datetime | timedelta | int | str | None) -> int | None:
    """Turn a time, or how long ago it was, into epoch milliseconds; None stays None.

    A text is a time, or a duration such as ``1 d``.
    """
    if older_than is None:
        return None
    if isinstance(older_than, str) and _DURATION.fullmatch(older_than):
        older_than = timedelta(milliseconds=parse_duration_millis(older_than))
    if isinstance(older_than, timedelta):
        older_than = datetime.now(UTC) - older_than
    return to_millis(older_than)


def _at_watermark(watermark: int, snapshots: SnapshotManager, table: str) -> Snapshot:
    for snapshot in snapshots.list():
        known = watermark_of(snapshot)
        if known is not None and known >= watermark:
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
        table,
        f"for version {version!r}",
        f"It is neither a snapshot id nor a tag; tags: {names}. A time is given by timestamp.",
    )
