"""How long a commit goes on against other writers.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.RetryWaiter`` for the growing pauses.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from paimonlab.errors import SnapshotConflictError

LOSSES_PER_RETRY = 16
"""A lost race means that another commit succeeded: the table moves on, nobody is stuck. So it
takes this many of them to use up one of ``commit.max-retries``."""


@dataclass(frozen=True, slots=True)
class RetryOptions:
    """The table options that say how long to go on."""

    max_retries: int = 10
    """``commit.max-retries``: pauses of growing length; each stands for
    `LOSSES_PER_RETRY` lost races. 0: give up at the first lost race."""
    timeout_millis: int | None = None
    """``commit.timeout``: give up after this time; None: never because of time."""
    min_wait_millis: int = 10
    """``commit.min-retry-wait``: the first pause."""
    max_wait_millis: int = 10_000
    """``commit.max-retry-wait``: no pause is longer."""


@dataclass(slots=True)
class Race:
    """Counts the races one commit has lost, and pauses after each."""

    table: str
    options: RetryOptions
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random
    losses: int = 0
    started: float = field(init=False)
    attempt_started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.attempt_started = self.clock()

    def lost(self, snapshot_id: int) -> None:
        """Pause before the next attempt.

        Raises
        ------
        SnapshotConflictError
            If the retries or the time are used up.
        """
        self.losses += 1
        now = self.clock()
        limit = self.options.timeout_millis
        is_late = limit is not None and (now - self.started) * 1000 >= limit
        if is_late or self.losses > self.options.max_retries * LOSSES_PER_RETRY:
            raise SnapshotConflictError(self.table, snapshot_id, self.losses)
        longest_millis = self._longest_pause_millis((now - self.attempt_started) * 1000)
        self.sleep(self.draw() * longest_millis / 1000)  # writers get out of step
        self.attempt_started = self.clock()

    def _longest_pause_millis(self, attempt_millis: float) -> float:
        """Return the bound of the next pause, of which a part is drawn.

        Pauses are as long as attempts. Within a retry they become shorter: a commit that has lost
        often goes before a new one.
        """
        retries, chases = divmod(self.losses, LOSSES_PER_RETRY)
        if chases:
            return max(self.options.min_wait_millis, attempt_millis) / chases
        return min(self.options.max_wait_millis, self.options.min_wait_millis * 2.0**retries)
