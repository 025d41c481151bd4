"""Following a table in batches whose ends are known before their rows are read.

An engine asks how far the next batch goes, writes that down, and asks for the files of the batch;
after a crash it asks for the files between the same two positions again, and gets the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from paimonlab.clock import now_millis
from paimonlab.errors import SnapshotReplacedError
from paimonlab.read.pieces import fingerprint
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.scan.following import Act, Position, Seen, next_act
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.following.admission import BatchLimits, Load
from paimonlab.table.following.follower import fail
from paimonlab.table.following.progress import ConsumerProgress
from paimonlab.table.following.source import ChangeSource
from paimonlab.table.following.start import first_state

_READS = frozenset({Act.STATE, Act.CHANGES, Act.OVERWRITE})
_NO_LIMITS = BatchLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    """The rows between two positions."""

    start: Position
    end: Position
    splits: tuple[ChangeSplit, ...]
    plan: ReadPlan
    """How all splits are read."""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Walk:
    """What lies between two positions."""

    end: Position
    load: Load
    newest: Snapshot | None = None
    """The last snapshot with splits."""


@dataclass(kw_only=True)
class MicroBatches:
    """Answers how far a batch goes, and what is in it."""

    source: ChangeSource
    first: Callable[[], Position]
    """Finds where following starts; asked only if nothing is known of an earlier run."""
    progress: ConsumerProgress | None = None
    clock: Callable[[], int] = now_millis
    """Epoch milliseconds."""
    _idle: tuple[Position, Position] | None = None
    """A position, and how far on there was nothing to read."""
    _last: MicroBatch | None = None
    _known: tuple[tuple[Act, str], list[ChangeSplit], str] | None = None
    """The splits of one snapshot, of which a batch may have a part only, and their fingerprint."""
    _batch_millis: int = field(default=0)
    """When the last batch that is not empty was found."""

    def end_here(self) -> None:
        """Let later snapshots than the newest one there is now not count."""
        latest = self.source.store.snapshots.latest_id() or 0
        self.source.rules = replace(self.source.rules, until_id=latest)

    def end_of_next(
        self, start: Position, limits: BatchLimits, *, max_delay_millis: int = 0
    ) -> Position:
        """Return where the next batch ends; ``start`` if there is none yet.

        Parameters
        ----------
        start
            Where it starts.
        limits
            What it may have.
        max_delay_millis
            How long after the last batch one with fewer than ``limits.min_rows`` comes.

        Raises
        ------
        SnapshotExpiredError
            If changes expired before they were read.
        SnapshotReplacedError
            If the table was rolled back to before what was read, or created anew.
        ValueError
            If ``start`` is inside of a snapshot and belongs to other options.
        """
        begin = self._idle[1] if self._idle is not None and self._idle[0] == start else start
        walk = self._walk(begin, limits)
        if start.snapshot_id == 0 and walk.end != start:
            return walk.end
        now = self.clock()
        is_small = limits.min_rows is not None and walk.load.rows < limits.min_rows
        is_last = self.source.rules.until_id is not None
        if is_small and not is_last and now - self._batch_millis <= max_delay_millis:
            return start
        if not walk.load.splits:
            self._idle = (start, walk.end)
            return start
        self._batch_millis = now
        self._last = self._batch(start, walk)
        return walk.end

    def batch(self, start: Position, end: Position) -> MicroBatch:
        """Return what is between two positions, of which `end_of_next` told the second.

        Raises
        ------
        SnapshotExpiredError, SnapshotReplacedError, ValueError
            As in `end_of_next`.
        """
        last = self._last
        if last is not None and (last.start, last.end) == (start, end):
            return last
        return self._batch(start, self._walk(start, _NO_LIMITS, end=end))

    def commit(self, end: Position) -> None:
        """Write the progress of the consumer: all rows before a position were dealt with."""
        if self.progress is not None:
            self.progress.record(end, self.clock())

    def _batch(self, start: Position, walk: _Walk) -> MicroBatch:
        return MicroBatch(
            start=start,
            end=walk.end,
            splits=tuple(walk.load.splits),
            plan=self.source.read_plan(walk.newest),
            size_bytes=walk.load.size_bytes,
        )

    def _walk(self, start: Position, limits: BatchLimits, *, end: Position | None = None) -> _Walk:
        """Go on until there is no more, a limit is reached, or ``end`` is."""
        source, position, load = self.source, start, Load()
        newest: Snapshot | None = None
        while position != end and load.has_room(limits):
            self._check_before(position, end)
            seen = source.look(position, self.clock())
            act = next_act(position, seen, source.rules)
            if act is Act.START:
                assert seen.latest_id is not None, "there is a snapshot"
                # Which snapshot it is has to be written down before it is read.
                position = end or first_state(position, seen.latest_id, source.rules)
                break
            if act is Act.SKIP:
                position = position.after(_manifest_list(seen))
            elif act in _READS:
                assert seen.snapshot is not None, "there is something to read"
                newest = seen.snapshot
                position = self._fill(load, limits, act, seen.snapshot, position, end)
            elif act in (Act.WAIT, Act.END) and end is None:
                break
            else:
                fail(Act.REPLACED if act in (Act.WAIT, Act.END) else act, source, position)
        return _Walk(position, load, newest)

    def _fill(
        self,
        load: Load,
        limits: BatchLimits,
        act: Act,
        snapshot: Snapshot,
        position: Position,
        end: Position | None,
    ) -> Position:
        splits, told = self._splits(act, snapshot, position)
        if position.is_inside and position.plan != told:
            raise ValueError(
                f"the position is inside of snapshot {snapshot.id} of "
                f"{self.source.definition.name}, read with other options; go on with the same ones"
            )
        stop = len(splits)
        if end is not None and end.is_inside and end.snapshot_id == position.snapshot_id:
            stop = end.split
        done = position.split + load.fill(splits[position.split : stop], limits)
        if done == len(splits):
            return position.after(snapshot.delta_manifest_list)
        return position.within(snapshot.delta_manifest_list, told, done, 0)

    def _splits(
        self, act: Act, snapshot: Snapshot, position: Position
    ) -> tuple[list[ChangeSplit], str]:
        key = (act, snapshot.delta_manifest_list)
        if self._known is None or self._known[0] != key:
            splits = self.source.splits(act, snapshot, position)
            told = fingerprint(splits, self.source.read_plan(snapshot))
            self._known = (key, splits, told)
        return self._known[1], self._known[2]

    def _check_before(self, position: Position, end: Position | None) -> None:
        if end is None or _order(position) < _order(end):
            return
        raise SnapshotReplacedError(
            self.source.definition.name,
            str(end.snapshot_id),
            "What was read was to end inside or after it, but the table was rolled back, or "
            "created anew. Start the stream again with another checkpoint.",
        )


def _order(position: Position) -> tuple[int, int]:
    return (position.snapshot_id, position.split)


def _manifest_list(seen: Seen) -> str:
    assert seen.snapshot is not None, "it is skipped"
    return seen.snapshot.delta_manifest_list
