"""Statements of Spark whose commit has a name that was chosen before they began.

Spark hands rows from a statement to a table's `insert`, and nothing beside them. The name of the
user who commits is a local property of the thread that runs the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from paimonlab.errors import DataError
from paimonlab.spark.jvm.bridge import Bridge

_PROPERTY = "paimonlab.commit-user"
_open: dict[str, NamedWrite] = {}


@dataclass(frozen=True, slots=True)
class NamedWrite:
    """How a statement commits."""

    user: str
    check: Callable[[], None]
    """Called before the commit; what it raises keeps the statement from committing."""


@contextmanager
def writing_as(bridge: Bridge, user: str, check: Callable[[], None]) -> Iterator[None]:
    """Let the INSERT that this thread runs commit under a name."""
    context = bridge.spark.sparkContext
    _open[user] = NamedWrite(user, check)
    context.setLocalProperty(_PROPERTY, user)
    try:
        yield
    finally:
        context.setLocalProperty(_PROPERTY, None)  # type: ignore[arg-type]  # removes it
        del _open[user]


def named_write(bridge: Bridge) -> NamedWrite | None:
    """Return how the running INSERT commits, if that was chosen before.

    Raises
    ------
    DataError
        If what it is part of has been given up.
    """
    user = bridge.spark.sparkContext.getLocalProperty(_PROPERTY)
    if user is None:
        return None
    if user not in _open:
        raise DataError("the statement that this INSERT is part of has ended")
    return _open[user]
