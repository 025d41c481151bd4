"""How a follower waits: it looks often where that costs little, and soon after there was something.

A look is whether the next snapshot is there: on a local disk some microseconds. So nothing has to
tell a follower of a commit, which no store does for commits from other machines.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from paimonlab.clock import now_millis

SHORTEST_SECONDS = 0.05
"""Time between two looks, at least."""
_FRESH_SECONDS = 2.5
"""As long as the last news are no older, the next may come soon: nothing is saved."""
_IDLE_SHARE = 0.002
"""Share of a core that waiting and looking may take."""
_LONGEST_LOCAL_SECONDS = 0.16
"""Time between two looks at this machine, at most."""
_LOCAL_SECONDS = 0.002
"""A look that takes longer goes to another machine, which may want money for it."""
_LOOKS = 3
"""The least that so many looks took counts: others may have been interrupted."""
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
        self._walls = deque[float](maxlen=_LOOKS)
        self._cpus = deque[float](maxlen=_LOOKS)

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
        cpu = time.thread_time()
        while (left := end - time.monotonic()) > 0:
            if woken.wait(min(pause, left)):
                return
            begun = time.monotonic()
            if has_news():
                self._idle_since = time.monotonic()
                return
            looked, cpu_before, cpu = time.monotonic(), cpu, time.thread_time()
            self._walls.append(looked - begun)
            self._cpus.append(cpu - cpu_before)
            needed = pause_seconds(
                wall_seconds=min(self._walls),
                cpu_seconds=min(self._cpus),
                idle_seconds=looked - self._idle_since,
            )
            pause = max(self._shortest_seconds, needed)


def pause_seconds(*, wall_seconds: float, cpu_seconds: float, idle_seconds: float) -> float:
    """Choose how long to wait before the next look.

    Parameters
    ----------
    wall_seconds
        What a look takes.
    cpu_seconds
        What waiting for it and the look take of a processor.
    idle_seconds
        How long there has been nothing.

    Examples
    --------
    >>> pause_seconds(wall_seconds=3e-5, cpu_seconds=5e-5, idle_seconds=3600)
    0.05
    >>> pause_seconds(wall_seconds=6e-5, cpu_seconds=2e-4, idle_seconds=3600)
    0.1
    >>> pause_seconds(wall_seconds=0.02, cpu_seconds=0.001, idle_seconds=2)
    0.5
    >>> pause_seconds(wall_seconds=0.02, cpu_seconds=0.001, idle_seconds=30)
    3.0
    """
    pause = max(SHORTEST_SECONDS, cpu_seconds / _IDLE_SHARE)
    if wall_seconds >= _LOCAL_SECONDS:
        return max(pause, _IDLE_FRACTION * idle_seconds)
    return SHORTEST_SECONDS if idle_seconds < _FRESH_SECONDS else min(pause, _LONGEST_LOCAL_SECONDS)
