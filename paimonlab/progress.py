"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with what is done, the total, and the unit: ``progress(3, 20, "files")``."""


def counting(progress: Progress | None, total: int, unit: str) -> Callable[[int], None]:
    """Return what is called with how much more is done, and tells how much is in all.

    Examples
    --------
    >>> more = counting(print, 3, "files")
    >>> more(1), more(2)
    1 3 files
    3 3 files
    (None, None)
    """
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total, unit)

    return more
