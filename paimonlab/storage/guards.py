"""What keeps two writers from one name on a store that does not keep conditions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum

_held: ContextVar[bool] = ContextVar("paimonlab_catalog_lock", default=False)


class Guard(Enum):
    """What is relied on."""

    CONDITIONS = "the store"
    """Without them nothing is written."""
    LOCK = "a lock of the catalog"
    """Names that others may take are written only while it is held."""
    SINGLE_WRITER = "the user, who says that no other process writes"


@contextmanager
def lock_held() -> Iterator[None]:
    """Say that the catalog's lock of the table is held, in this thread, until the end."""
    token = _held.set(True)
    try:
        yield
    finally:
        _held.reset(token)


def is_lock_held() -> bool:
    """Whether this thread is within `lock_held`."""
    return _held.get()
