"""Who gets the progress of a call that Spark runs in this process.

Spark passes nothing on to a procedure but its arguments. What connects the two ends is the job
group of the thread that sent the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimonlab.spark.jvm.bridge import Bridge

if TYPE_CHECKING:
    from paimonlab.progress import Progress

_GROUP = "spark.jobGroup.id"

_listeners: dict[str, Progress] = {}


@contextmanager
def listening(group: str, progress: Progress) -> Iterator[None]:
    """Report calls sent under a job group to ``progress``.

    Parameters
    ----------
    group
        Its id.
    progress
        Is called in a thread of its own; what it raises ends the call.
    """
    _listeners[group] = progress
    try:
        yield
    finally:
        del _listeners[group]


def progress_of(bridge: Bridge) -> Progress | None:
    """Return the listener of the running callback, or None."""
    group = bridge.session.sparkContext().getLocalProperty(_GROUP)
    return _listeners.get(str(group)) if group is not None else None
