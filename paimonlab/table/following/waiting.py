"""How a follower waits: it looks often where that costs little, and soon after there was something.

A look is whether the next snapshot is there: on a local disk some microseconds. So nothing has to
tell a follower of a commit, which no store does for commits from other machines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from paimonlab.clock import now_millis

SHORTEST_SECONDS = 0.05
"""Time between two looks, at least."""
_IDLE_SHARE = 0.0025
"""Share of a core that looking may take."""
_LOCAL_SECONDS = 0.002
"""A look that takes longer goes to another machine, which may want money for it."""
_IDLE_FRACTION = 0.1
"""Between looks at another machine passes this part of the time in which there was nothing."""


class Clock(Protocol):
    """What a follower knows of time."""

    def now_millis(self) -> int:
        """Return the time, epoch milliseconds."""

    def wait(
        self, woken: threading.Event, millis: int, has_news: Callable[[], bool] | None = None
    ) -> None:
        """Return when an event is set, when there are news, or after some time."""


class SystemClock:
    """The time of this machine, for one follower.

    Parameters
    ----------
    shortest_seconds
        Time between two looks, at least.
    """

    def __init__(self, shortest_seconds: float = SHORTEST_SECONDS) -> None:
        self._shortest_seconds = shortest_seconds
        self._idle_since = time.monotonic()

    def now_millis(self) -> int:
        """Return the time, epoch milliseconds."""
        return now_millis()

    def wait(
        self, woken: threading.Event, millis: int, has_news: Callable[[], bool] | None = None
    ) -> None:
        """Return when an event is set, when there are news, or after some time.

        Parameters
        ----------
        woken
            Any thread may set it.
        millis
            The longest time.
        has_news
            Asked from time to time; None: there is nothing to ask for.
        """
        if has_news is None:
            woken.wait(millis / 1000)
            return
        end = time.monotonic() + millis / 1000
        pause = self._shortest_seconds
        while (left := end - time.monotonic()) > 0:
            if woken.wait(min(pause, left)):
                return
            wall, cpu = time.perf_counter(), time.thread_time()
            if has_news():
                self._idle_since = time.monotonic()
                return
            needed = pause_seconds(
                wall_seconds=time.perf_counter() - wall,
                cpu_seconds=time.thread_time() - cpu,
                idle_seconds=time.monotonic() - self._idle_since,
            )
            pause = max(self._shortest_seconds, needed)


def pause_seconds(*, wall_seconds: float, cpu_seconds: float, idle_seconds: float) -> float:
    """Choose how long to wait before the next look.

    Parameters
    ----------
    wall_seconds, cpu_seconds
        What the last look took, of time and of this processor.
    idle_seconds
        How long there has been nothing.

    Examples
    --------
    >>> pause_seconds(wall_seconds=3e-5, cpu_seconds=3e-5, idle_seconds=3600)
    0.05
    >>> pause_seconds(wall_seconds=0.02, cpu_seconds=0.001, idle_seconds=2)
    0.4
    >>> pause_seconds(wall_seconds=0.02, cpu_seconds=0.001, idle_seconds=30)
    3.0
    """
    pause = max(SHORTEST_SECONDS, cpu_seconds / _IDLE_SHARE)
    return pause if wall_seconds < _LOCAL_SECONDS else max(pause, _IDLE_FRACTION * idle_seconds)
