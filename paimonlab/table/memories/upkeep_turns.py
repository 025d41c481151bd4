"""When upkeep runs after commits: at once, or in a thread for one commit at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from paimonlab import clock
from paimonlab.storage.forks import Home


class UpkeepTurns:
    """What upkeep after one commit leaves to that after the next."""

    def __init__(self) -> None:
        self.partitions_checked = clock.local_now()
        """When partitions were last looked at, local without a zone."""
        self.oldest: tuple[int, int] | None = None
        """The oldest snapshot that was found, and when the one after it was committed, epoch
        milliseconds. It only gets younger: as long as the two are to be kept, nothing expires."""
        self.tags_due_millis = 0
        """When tags are looked at again, epoch milliseconds: where none was to expire, others may
        have created one since, which may stay a little longer."""
        self._home = Home()
        self._pool: ThreadPoolExecutor | None = None
        self._pending: Future[None] | None = None

    def begin(self, work: Callable[[], None]) -> None:
        """Let a thread do it; if it is still at work for another commit, do nothing.

        Raises
        ------
        Exception
            What went wrong the last time.
        """
        if not self._home.is_here:  # the thread is in another process
            self._home, self._pool, self._pending = Home(), None, None
        if self._pending is not None:
            if not self._pending.done():
                return
            last, self._pending = self._pending, None
            last.result()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="paimonlab-upkeep")
        self._pending = self._pool.submit(work)
