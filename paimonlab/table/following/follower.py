"""The reader that follows a table: ``table.follow(…)``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import NoReturn, Self

import pyarrow as pa

from paimonlab.errors import SnapshotNotFoundError, SnapshotReplacedError
from paimonlab.scan.following import Act, Position, Seen, next_act, ripe_at
from paimonlab.spec.snapshot import watermark_of
from paimonlab.storage.forks import Home
from paimonlab.table.following.progress import ConsumerProgress
from paimonlab.table.following.source import ChangeSource
from paimonlab.table.following.start import first_state
from paimonlab.table.following.waiting import Clock, SystemClock


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBatch:
    """Some rows of one snapshot: all there are, or what it changed."""

    snapshot_id: int
    """Where the rows come from."""
    data: pa.Table = field(repr=False)
    """The first column is ``rowkind``: ``+I``, ``-U``, ``+U`` or ``-D``; never empty."""
    watermark: int | None
    """Event time of the snapshot, epoch milliseconds; None: it has none."""
    is_full: bool
    """Whether these are rows of the snapshot's state, all ``+I``, not its changes."""
    is_last: bool
    """Whether the snapshot has no more rows."""
    position: Position
    """Behind these rows."""


class Follower(Iterator[ChangeBatch]):
    """Hands out the rows of a table, then what each commit changes, and waits for more.

    Batches are bounded: a large snapshot comes in several. Asking for a batch says that the one
    before was dealt with; so does `commit`, and leaving a ``with`` block without an error.

    Examples
    --------
    ::

        with table.follow(until="latest") as follower:
            for batch in follower:
                apply(batch.data)
        saved = follower.position.to_bytes()
    """

    def __init__(
        self,
        source: ChangeSource,
        position: Position,
        *,
        poll_millis: int,
        progress: ConsumerProgress | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._source = source
        self._position = position
        self._poll_millis = poll_millis
        self._progress = progress
        self._clock = clock or SystemClock()
        self._batches: Iterator[ChangeBatch] = iter(())
        self._wait_millis = poll_millis
        self._has_news: Callable[[], bool] | None = None
        self._woken = threading.Event()
        self._is_closed = False
        self._is_ended = False
        self._reading = threading.Lock()
        self._home = Home()

    def __repr__(self) -> str:
        return f"<paimonlab.Follower of {self._source.definition.name} at {self._position}>"

    @property
    def position(self) -> Position:
        """The position after the rows that were handed out last; `Table.follow` continues there."""
        return self._position

    @property
    def arrow_schema(self) -> pa.Schema:
        """``rowkind``, then the columns that are followed."""
        return self._source.arrow_schema

    @property
    def is_ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._is_ended or self._is_closed

    def __next__(self) -> ChangeBatch:
        """Return the next rows; wait for them if there are none.

        Raises
        ------
        StopIteration
            If nothing will come any more, or the follower was closed.
        SnapshotExpiredError
            If changes expired before they were read.
        SnapshotReplacedError
            If the table was rolled back to before what was read, or created anew.
        ForkedProcessError
            If this process was forked from the one that made the follower.
        """
        while (batch := self.poll()) is None:
            if self.is_ended:
                raise StopIteration
            self._clock.wait(self._woken, self._wait_millis, self._has_news)
            self._woken.clear()
        return batch

    def poll(self) -> ChangeBatch | None:
        """Return the next rows; None if there are none now. Errors are those of iterating.

        A consumer's progress is what `position` was before the call, also when snapshots without
        rows come after it: who keeps `position` after each call can always go on from there.
        """
        self._check_process()
        with self._reading:
            if not self.is_ended:
                self._record()
            while not self.is_ended:
                batch = next(self._batches, None)
                if batch is not None:
                    self._position = batch.position
                    return batch
                if not self._advance():
                    break
            return None

    def commit(self) -> None:
        """Say that all rows handed out were dealt with: a consumer's progress is written now."""
        self._check_process()
        self._record()

    def wake(self) -> None:
        """Let a follower that waits look for a snapshot now; any thread may call it."""
        self._check_process()
        self._woken.set()

    def close(self) -> None:
        """Stop; a thread that waits for rows gets none. The last batch does not count as done."""
        self._is_closed = True
        if not self._home.is_here:
            return  # a thread that is not there may hold what is locked
        self._woken.set()
        if self._reading.acquire(blocking=False):
            try:
                self._batches = iter(())
            finally:
                self._reading.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.commit()
        self.close()

    def _check_process(self) -> None:
        name = self._source.definition.name
        self._home.check(f"a follower of {name}", "follow anew from its position here")

    def _record(self) -> None:
        if self._progress is not None:
            self._progress.record(self._position, self._clock.now_millis())

    def _advance(self) -> bool:
        """Do the next thing that is not handing out rows; False if there is nothing to do."""
        source, position = self._source, self._position
        seen = source.look(position, self._clock.now_millis())
        act = next_act(position, seen, source.rules)
        if act in (Act.STATE, Act.CHANGES, Act.OVERWRITE):
            self._batches = _batches(source, act, seen, position)
            first = next(self._batches, None)
            if first is None:
                self._position = _behind(position, seen)
            else:
                self._batches = _again(first, self._batches)
            return True
        if act is Act.SKIP:
            self._position = _behind(position, seen)
            return True
        if act is Act.START:
            assert seen.latest_id is not None, "there is a snapshot"
            self._position = first_state(position, seen.latest_id, source.rules)
            return True
        if act is Act.END:
            self._is_ended = True
        elif act is Act.WAIT:
            self._wait_millis = self._poll_millis
            self._has_news = None
            if seen.snapshot is None:
                self._has_news = partial(source.has_news, position)
            else:
                ripe = ripe_at(seen.snapshot, source.rules) - seen.now_millis
                self._wait_millis = max(1, min(self._poll_millis, ripe))
        else:
            fail(act, source, position)
        return False


def _batches(
    source: ChangeSource, act: Act, seen: Seen, position: Position
) -> Iterator[ChangeBatch]:
    """Read a snapshot one piece ahead, so that the last one is known."""
    snapshot = seen.snapshot
    assert snapshot is not None, "there is something to read"
    pieces = source.pieces(act, seen, position)
    present = next(pieces, None)
    while present is not None:
        piece, behind = present
        present = next(pieces, None)
        yield ChangeBatch(
            snapshot_id=snapshot.id,
            data=piece.rows,
            watermark=watermark_of(snapshot),
            is_full=position.is_full,
            is_last=present is None,
            position=_behind(position, seen) if present is None else behind,
        )


def _again(first: ChangeBatch, others: Iterator[ChangeBatch]) -> Iterator[ChangeBatch]:
    yield first
    yield from others


def _behind(position: Position, seen: Seen) -> Position:
    assert seen.snapshot is not None, "it was read"
    return position.after(seen.snapshot.delta_manifest_list)


def fail(act: Act, source: ChangeSource, position: Position) -> NoReturn:
    """Say why a follower cannot go on."""
    table, snapshot_id = source.definition.name, position.snapshot_id
    if act is Act.EXPIRED:
        # Says what is there instead.
        if position.is_full:
            source.store.snapshots.get(snapshot_id)
        else:
            source.store.snapshot_or_changelog(snapshot_id)
        raise SnapshotNotFoundError(table, str(snapshot_id), "It came late; go on.")
    latest = source.store.snapshots.latest_id() or 0
    last_read = snapshot_id if position.is_inside else snapshot_id - 1
    raise SnapshotReplacedError(
        table,
        str(last_read),
        f"It was read, but the table was rolled back to before it, or created anew: now its latest "
        f"snapshot is {latest}. What was read since the rollback point is no longer true; start "
        "again with start='latest-full'.",
    )
