"""Descriptors kept open so that files can be deleted when no more can be opened.

Writing a file takes one descriptor, deleting it without following links takes two: a process
at its limit could write what it cannot delete again.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator


class SpareDescriptors:
    """Keeps some descriptors of the process open, to be closed when they are needed."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: list[int] = []
        self._lock = threading.Lock()

    def keep(self) -> None:
        """Open those that are missing, as far as the limit of the process lets us."""
        if len(self._held) >= self._count:
            return
        with self._lock, contextlib.suppress(OSError):
            while len(self._held) < self._count:
                self._held.append(os.open(os.devnull, os.O_RDONLY))

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Close them for as long as others are opened instead."""
        with self._lock:
            while self._held:
                os.close(self._held.pop())
        try:
            yield
        finally:
            self.keep()


SPARE = SpareDescriptors(2)
"""A folder is opened below another one that is open."""
