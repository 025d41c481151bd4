"""What a process must not have in common with the one it was forked from.

``os.fork``, and so ``multiprocessing`` on Linux before Python 3.14, copies a process with all
its memory but with only one of its threads. Random ids that were drawn before are the same in
all children, locks may be held by threads that are not there, open files share their offset.
"""

from __future__ import annotations

import os
from itertools import count as counted
from uuid import uuid4

_forks = 0


def fork_count() -> int:
    """Count the forks between this process and the one that imported this module first.

    It differs between a process and all those it was forked from, not between its children.
    """
    return _forks


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - it belongs to the process
    _forks += 1


if hasattr(os, "register_at_fork"):  # systems without fork have none
    os.register_at_fork(after_in_child=_count_fork)


class UniqueNames:
    """Names that nobody gives twice: a random id, a dash and a number that rises from 0.

    A forked child, a copy and one that was pickled go on under an id of their own.
    """

    __slots__ = ("_series",)

    def __init__(self) -> None:
        self._series: tuple[int, str, counted[int]] | None = None

    def next(self) -> str:
        """Return a name that was never given before. Thread-safe."""
        series = self._series
        if series is None or series[0] != _forks:
            series = self._series = (_forks, str(uuid4()), counted())
        _, identity, numbers = series
        return f"{identity}-{next(numbers)}"

    def __reduce__(self) -> tuple[type[UniqueNames], tuple[()]]:
        return UniqueNames, ()
