"""Who is told how far a call is that Spark runs in this process.

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
    """Let ``progress`` hear of calls that are sent under a job group.

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
    """Return who listens to the running callback; None: nobody."""
    group = bridge.session.sparkContext().getLocalProperty(_GROUP)
    return _listeners.get(str(group)) if group is not None else None
