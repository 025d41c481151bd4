"""What comes next for a reader that follows a table: a pure state machine.

It is told where the reader stands and what it sees of the table, and says what to do. Finding
snapshots, reading rows and waiting are done elsewhere.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.DataTableStreamScan``,
``…source.snapshot.DeltaFollowUpScanner``, ``…ChangelogFollowUpScanner``, ``…BoundedChecker`` and
``org.apache.paimon.utils.NextSnapshotFetcher``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self

import msgspec

from paimonlab.spec.decoding import ready
from paimonlab.spec.snapshot import CommitKind, Snapshot, watermark_of


class Position(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Position of a reader: what comes next, and how much of that was already returned.

    Examples
    --------
    >>> position = Position(snapshot_id=4, split=1, rows=100, plan="9c", last="manifest-list-a")
    >>> Position.from_bytes(position.to_bytes()) == position
    True
    >>> position.after("manifest-list-a")
    Position(snapshot_id=5, is_full=False, split=0, rows=0, plan=None, last='manifest-list-a', \
created_since_millis=None)
    """

    snapshot_id: int
    """The snapshot of which rows come next; 0: whichever is found first, all its rows."""
    is_full: bool = False
    """Whether all rows of the snapshot come, not only what it changed."""
    split: int = 0
    """Splits of the snapshot that were handed out wholly."""
    rows: int = 0
    """Rows of the next split that were handed out."""
    plan: str | None = None
    """Tells which splits these are; None at the start of a snapshot."""
    last: str | None = None
    """The delta manifest list of the snapshot that rows, or none of its rows, were handed out of
    last. Its name is used once, so that a snapshot which took the place of another is noticed.
    None: not known."""
    created_since_millis: int | None = None
    """Only files made at or after this time count, epoch milliseconds; None: all."""

    @property
    def is_inside(self) -> bool:
        """Whether some rows of the snapshot were returned, but not all."""
        return self.plan is not None

    def after(self, manifest_list: str) -> Position:
        """Return the position after this snapshot, given its delta manifest list."""
        return Position(
            snapshot_id=self.snapshot_id + 1,
            last=manifest_list,
            created_since_millis=self.created_since_millis,
        )

    def within(self, manifest_list: str, plan: str, split: int, rows: int) -> Position:
        """Return a position inside of this snapshot."""
        return msgspec.structs.replace(self, last=manifest_list, plan=plan, split=split, rows=rows)

    def to_bytes(self) -> bytes:
        """Encode as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_bytes(cls, data: bytes | str) -> Self:
        """Decode what `to_bytes` made.

        Raises
        ------
        ValueError
            If the bytes are not a position.
        """
        try:
            return msgspec.json.decode(data, type=ready(cls))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"not a position of a follower: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowRules:
    """Which snapshots count, and where following ends."""

    reads_changelog: bool = False
    """Whether changes are in changelog files; else they are in the files that appends added."""
    reads_overwrites: bool = False
    """Whether the changes of overwrites count."""
    delay_millis: int = 0
    """How old a snapshot must be before its changes are read."""
    bounded_watermark: int | None = None
    """The first snapshot with a larger watermark ends it; epoch milliseconds. None: none does."""
    until_id: int | None = None
    """The last snapshot to read; None: go on for ever."""
    until_millis: int | None = None
    """Snapshots committed after this time do not count, epoch milliseconds; None: all do."""
    ends_at_latest: bool = False
    """Whether it ends where it would have to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a reader sees of the table."""

    now_millis: int
    """The time, epoch milliseconds."""
    snapshot: Snapshot | None = None
    """The one at the position; None: it is not there."""
    previous: Snapshot | None = None
    """The one before; None: it is not there."""
    latest_id: int | None = None
    """The newest snapshot; need only be known if ``snapshot`` is not there."""


class Act(Enum):
    """What to do next."""

    START = "start"
    """The first snapshot came: read all its rows."""
    STATE = "state"
    """Read all rows of the snapshot."""
    CHANGES = "changes"
    """Read what the snapshot changed."""
    OVERWRITE = "overwrite"
    """Read which rows the snapshot replaced by which."""
    SKIP = "skip"
    """Go on after the snapshot: it changed nothing that counts."""
    WAIT = "wait"
    """There is nothing yet."""
    END = "end"
    """There will be nothing any more."""
    EXPIRED = "expired"
    """The snapshot is gone: changes would be lost."""
    REPLACED = "replaced"
    """Snapshots that were read are no longer part of the table's history."""


def next_act(position: Position, seen: Seen, rules: FollowRules) -> Act:
    """Decide what to do next.

    Parameters
    ----------
    position
        Where the reader stands.
    seen
        What it sees of the table.
    rules
        Which snapshots count.
    """
    if position.snapshot_id == 0:
        return Act.START if seen.latest_id is not None else _at_the_end(rules)
    if rules.until_id is not None and position.snapshot_id > rules.until_id:
        return Act.END
    if _is_replaced(position, seen):
        return Act.REPLACED
    if seen.snapshot is None:
        return _without_snapshot(position, seen, rules)
    if rules.until_millis is not None and seen.snapshot.time_millis > rules.until_millis:
        return Act.END
    return Act.STATE if position.is_full else _with_snapshot(seen.snapshot, position, seen, rules)


def _with_snapshot(snapshot: Snapshot, position: Position, seen: Seen, rules: FollowRules) -> Act:
    if _is_bounded(seen.previous, rules) or _is_bounded(snapshot, rules):
        return Act.END
    if not position.is_inside and ripe_at(snapshot, rules) > seen.now_millis:
        return _at_the_end(rules)
    if snapshot.commit_kind is CommitKind.OVERWRITE and rules.reads_overwrites:
        return Act.OVERWRITE
    if rules.reads_changelog:
        return Act.SKIP if snapshot.changelog_manifest_list is None else Act.CHANGES
    return Act.CHANGES if snapshot.commit_kind is CommitKind.APPEND else Act.SKIP


def _at_the_end(rules: FollowRules) -> Act:
    return Act.END if rules.ends_at_latest else Act.WAIT


def ripe_at(snapshot: Snapshot, rules: FollowRules) -> int:
    """Return when a snapshot may be read, epoch milliseconds."""
    return snapshot.time_millis + rules.delay_millis if rules.delay_millis else 0


def _without_snapshot(position: Position, seen: Seen, rules: FollowRules) -> Act:
    latest = seen.latest_id or 0
    if position.snapshot_id > latest + 1:
        return Act.REPLACED  # it was one more than there were: ids only fall by a rollback
    if position.snapshot_id <= latest:
        return Act.EXPIRED
    if position.is_full or position.is_inside:
        return Act.REPLACED
    is_late = rules.until_millis is not None and seen.now_millis > rules.until_millis
    if is_late or _is_bounded(seen.previous, rules):
        return Act.END
    return _at_the_end(rules)


def _is_replaced(position: Position, seen: Seen) -> bool:
    known = seen.snapshot if position.is_inside else seen.previous
    if position.last is None or known is None:
        return False
    return known.delta_manifest_list != position.last


def _is_bounded(snapshot: Snapshot | None, rules: FollowRules) -> bool:
    if snapshot is None or rules.bounded_watermark is None:
        return False
    watermark = watermark_of(snapshot)
    return watermark is not None and watermark > rules.bounded_watermark
