"""What a table ought to hold: rows in a dict, remembered for every snapshot, tag and branch.

It knows nothing of files, levels or bytes. Rows are dicts by a column's number, so that a column
that is renamed keeps its values and one that is dropped and added again does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Row: TypeAlias = dict[int, Any]
"""Values as Java prints them, by the number of the column; a missing one is null."""
Key: TypeAlias = str

ADDS = ("+I", "+U")


@dataclass(frozen=True)
class Column:
    """A column, by a number that stays."""

    number: int
    name: str
    type: str


@dataclass(frozen=True)
class Shape:
    """What of a table never changes."""

    key: tuple[int, ...]
    """Numbers of the primary key; () for an append table."""
    partition: tuple[int, ...]
    sequence: int | None = None
    engine: str = "deduplicate"


@dataclass
class Content:
    """The rows at one time."""

    live: dict[Key, Row] = field(default_factory=dict)
    gone: dict[Key, Row] = field(default_factory=dict)
    """Deletes, which rows with older sequences do not come back from."""

    def copy(self) -> Content:
        """Return a copy that later changes do not reach."""
        return Content(
            {key: dict(row) for key, row in self.live.items()},
            {key: dict(row) for key, row in self.gone.items()},
        )


@dataclass(frozen=True)
class Moment:
    """What a snapshot holds, and under which columns."""

    columns: tuple[Column, ...]
    content: Content
    before: Moment | None = field(default=None, compare=False, repr=False)
    """What its commit was made on."""


@dataclass
class Branch:
    """One line of history."""

    columns: list[Column]
    content: Content = field(default_factory=Content)
    snapshots: dict[int, Moment] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    expired: dict[int, Moment] = field(default_factory=dict)
    """Snapshots that only tags may have."""

    @property
    def latest(self) -> int | None:
        """The id of the newest snapshot."""
        return max(self.snapshots, default=None)

    def committed(self, snapshot_id: int) -> None:
        """Remember what a new snapshot holds."""
        assert snapshot_id == (self.latest or 0) + 1
        before = self.snapshots.get(snapshot_id - 1)
        self.snapshots[snapshot_id] = Moment(tuple(self.columns), self.content.copy(), before)

    def at(self, snapshot_id: int) -> list[list[Any]]:
        """Return the rows of a snapshot, under its columns."""
        moment = self._moment(snapshot_id)
        return rows_of(moment.content, moment.columns)

    def _moment(self, snapshot_id: int) -> Moment:
        found = self.snapshots.get(snapshot_id)
        return self.expired[snapshot_id] if found is None else found

    def expire(self, first_kept: int) -> None:
        """Forget the snapshots before one, but for their tags."""
        gone = {i: moment for i, moment in self.snapshots.items() if i < first_kept}
        self.expired |= gone
        self.snapshots = {i: m for i, m in self.snapshots.items() if i not in gone}

    def now(self) -> list[list[Any]]:
        """Return the rows, under the columns of now."""
        return rows_of(self.content, self.columns)

    def roll_back(self, snapshot_id: int) -> None:
        """Forget what came after a snapshot; columns stay as they are."""
        self.content = self.snapshots[snapshot_id].content.copy()
        self.snapshots = {i: m for i, m in self.snapshots.items() if i <= snapshot_id}
        self.tags = {name: i for name, i in self.tags.items() if i <= snapshot_id}

    def branched(self, tag: str) -> Branch:
        """Return a branch that begins with a tag."""
        snapshot_id = self.tags[tag]
        moment = self._moment(snapshot_id)
        return Branch(
            list(moment.columns),
            moment.content.copy(),
            {snapshot_id: moment},
            {tag: snapshot_id},
        )

    def fast_forwarded(self, other: Branch, oldest: int) -> None:
        """Go on with what another branch has; ``oldest`` is the first snapshot that is there now.

        Older ones stay that the other goes on from, and those that are like these.
        """
        first = min(other.snapshots)
        ours, theirs = self.snapshots.get(first - 1), other.snapshots[first].before
        if ours is not None and ours is theirs:
            assert oldest == min(self.snapshots)
        elif oldest < first:
            assert ours is not None
            assert theirs is None or ours.content == theirs.content
        self.columns = list(other.columns)
        self.content = other.content.copy()
        kept = {i: moment for i, moment in self.snapshots.items() if i < first}
        if oldest == first:
            self.expired |= kept
            kept = {}
        self.snapshots = {**kept, **other.snapshots}
        tags = {name: i for name, i in self.tags.items() if i < first}
        self.tags = {**tags, **other.tags}
        self.expired = {**self.expired, **other.expired}


def rows_of(content: Content, columns: Sequence[Column]) -> list[list[Any]]:
    """Return rows under columns."""
    return [[row.get(column.number) for column in columns] for row in content.live.values()]


class TableModel:
    """The table: its branches and what never changes."""

    def __init__(self, shape: Shape, columns: Sequence[Column]) -> None:
        self.shape = shape
        self.branches = {"main": Branch(list(columns))}
        self._rows_written = 0
        self._columns_made = len(columns)

    def new_column(self, name: str, type_: str) -> Column:
        """Make a column that never was."""
        self._columns_made += 1
        return Column(self._columns_made, name, type_)

    def write(self, branch: Branch, kind: str, row: Row) -> None:
        """Apply one row as it was written."""
        self._rows_written += 1
        content = branch.content
        if not self.shape.key:
            content.live[f"row {self._rows_written}"] = row
            return
        key = self._text(row, self.shape.key)
        older = content.live.get(key) or content.gone.get(key)
        if older is not None and self._order(older) > self._order(row):
            return
        if self.shape.engine == "first-row":
            content.live.setdefault(key, row)
            return
        content.live.pop(key, None)
        content.gone.pop(key, None)
        (content.live if kind in ADDS else content.gone)[key] = row

    def remove(self, branch: Branch, is_hit: Callable[[Row], bool]) -> int:
        """Delete rows and remember that they were; return how many."""
        hit = [key for key, row in branch.content.live.items() if is_hit(row)]
        for key in hit:
            row = branch.content.live.pop(key)
            if self.shape.key:
                branch.content.gone[key] = row
        return len(hit)

    def forget(self, branch: Branch, is_hit: Callable[[Row], bool]) -> None:
        """Take rows, and deletes, away as if they had never been."""
        for rows in (branch.content.live, branch.content.gone):
            for key in [key for key, row in rows.items() if is_hit(row)]:
                del rows[key]

    def partition(self, row: Row) -> Key:
        """Return the partition of a row."""
        return self._text(row, self.shape.partition)

    def _order(self, row: Row) -> tuple[bool, int]:
        value = None if self.shape.sequence is None else row.get(self.shape.sequence)
        return (value is not None, value or 0)

    @staticmethod
    def _text(row: Row, numbers: Sequence[int]) -> Key:
        return json.dumps([row.get(number) for number in numbers], ensure_ascii=False)
