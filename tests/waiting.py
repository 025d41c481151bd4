"""Waiting for what threads and processes of a test do."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE_SECONDS = 0.02


def until(is_so: Callable[[], object], seconds: float = 120) -> None:
    """Ask again and again, until it is so.

    Raises
    ------
    AssertionError
        If it was not so within ``seconds``.
    """
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"it did not come to that within {seconds} s"
        time.sleep(_PAUSE_SECONDS)
