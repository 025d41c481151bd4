"""Running readers in threads and handing on what they produce, a bounded way ahead."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from paimonlab.spec.external_paths import scheme_of
from paimonlab.storage.forks import Home

T = TypeVar("T")

_HALF_READ = ("a scan that has begun", "scan anew here")
_WAIT_SECONDS = 0.2
"""How often a thread that waits for room looks whether anybody still wants its work."""
_MOST_WAITING_BYTES = 32 << 20
"""What items that wait to be taken may have together, unless one alone has more."""


FAR_READERS = 8
"""How many files of a store are read at once, where waiting takes longer than decoding."""


def reader_count(path: str) -> int:
    """Return how many threads read files of a table: one per CPU, more where files are far."""
    cpus = os.cpu_count() or 1
    return max(cpus, FAR_READERS) if is_far(path) else cpus


def is_far(path: str) -> bool:
    """Whether files of a table are in a store, not on a disk of this machine."""
    return scheme_of(path) not in ("", "file")


def _no_size(_item: object) -> int:
    return 0


def in_threads(
    sources: Sequence[Callable[[], Iterable[T]]],
    *,
    threads: int | None = None,
    size_of: Callable[[T], int] = _no_size,
) -> Generator[T, None, None]:
    """Yield what several sources produce, in any order, each source run by one thread.

    Parameters
    ----------
    sources
        Functions that return what is to be iterated; they run when a thread is free.
    threads
        How many run at once; None: one per CPU.
    size_of
        Bytes of an item, where items may be large.

    Notes
    -----
    At most two items a thread wait to be taken, or fewer that together have 32 MB. When the
    iterator is closed, or a source raises, the other sources stop at their next item. An error is
    raised here as it was. In a process that is forked meanwhile the iterator raises
    `ForkedProcessError`.
    """
    home = Home()
    count = min(threads or os.cpu_count() or 1, len(sources))
    if count <= 1:
        for source in sources:
            for item in source():
                yield item
                home.check(*_HALF_READ)
        return
    feed = _Feed(sources, room=2 * count, size_of=size_of)
    # Daemons: a reader that was not closed must not keep the interpreter from ending.
    workers = [
        threading.Thread(target=feed.run, name=f"paimonlab-read-{number}", daemon=True)
        for number in range(count)
    ]
    try:
        for worker in workers:
            worker.start()
        for item in feed:
            yield item
            home.check(*_HALF_READ)
    finally:
        if home.is_here:  # else neither the threads are, nor are the locks they held let go
            _end(feed, workers)


def _end(feed: _Feed[T], workers: Sequence[threading.Thread]) -> None:
    feed.stop()
    # When the interpreter ends, daemons stop for good: waiting for them would hang.
    if not sys.is_finalizing():
        for worker in workers:
            with suppress(RuntimeError):  # an interrupt came before it was started
                worker.join()


class _Feed(Generic[T]):
    """A bounded queue that several threads fill from sources and one consumer empties."""

    def __init__(
        self,
        sources: Sequence[Callable[[], Iterable[T]]],
        *,
        room: int,
        size_of: Callable[[T], int],
    ) -> None:
        self._size_of = size_of
        self._waiting_bytes = 0
        self._was_taken = threading.Condition()
        self._waiting = iter(sources)
        self._open_sources = len(sources)
        self._items: queue.Queue[T | BaseException | None] = queue.Queue(room)
        self._lock = threading.Lock()
        self._is_stopped = threading.Event()

    def run(self) -> None:
        """Put the items of each source, then None, into the queue; a thread runs this."""
        while (source := self._next_source()) is not None:
            try:
                for item in source():
                    if not (self._makes_room(self._size_of(item)) and self._put(item)):
                        return
            except BaseException as error:  # noqa: BLE001 - raised again by the consumer
                self._put(error)
                return
            self._put(None)

    def stop(self) -> None:
        """Let all threads end."""
        self._is_stopped.set()

    def _next_source(self) -> Callable[[], Iterable[T]] | None:
        with self._lock:
            return None if self._is_stopped.is_set() else next(self._waiting, None)

    def _makes_room(self, size: int) -> bool:
        """Wait until an item of so many bytes may wait too; False if it is no longer wanted."""
        with self._was_taken:
            while self._waiting_bytes and self._waiting_bytes + size > _MOST_WAITING_BYTES:
                if self._is_stopped.is_set():
                    return False
                self._was_taken.wait(_WAIT_SECONDS)
            self._waiting_bytes += size
        return True

    def _put(self, item: T | BaseException | None) -> bool:
        """Wait for room; False if the item is no longer wanted."""
        while not self._is_stopped.is_set():
            try:
                self._items.put(item, timeout=_WAIT_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def __iter__(self) -> Iterator[T]:
        while self._open_sources:
            item = self._items.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                self._open_sources -= 1
            else:
                size = self._size_of(item)
                if size:
                    with self._was_taken:
                        self._waiting_bytes -= size
                        self._was_taken.notify_all()
                yield item
