"""Who hears of a call that Spark runs: how far it is, and what it did.

Spark passes nothing on to a procedure but its arguments, and the columns of its rows are Java
Paimon's, most often only ``true``. Progress goes by the job group of the thread that sent the
statement; what was done goes by a setting of the session, which clients of Spark Connect have too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimonlab.procedures import told
from paimonlab.spark.jvm.bridge import Bridge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimonlab.progress import Progress

TOLD_KEY = "spark.paimonlab.told"
"""Setting that is there while somebody waits for what a call did; the call sets it."""

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


@contextmanager
def hearing(session: SparkSession) -> Iterator[list[str]]:
    """Hear what calls of a session do, one after the other.

    Parameters
    ----------
    session
        Classic, or a client of a Spark Connect server. A server without our catalog says nothing.

    Yields
    ------
    list of str
        Has a line after the block, "" if no call said anything; it is empty if the block failed.
    """
    session.conf.set(TOLD_KEY, "")
    heard: list[str] = []
    try:
        yield heard
        heard.append(session.conf.get(TOLD_KEY, "") or "")
    finally:
        session.conf.unset(TOLD_KEY)


def tell(bridge: Bridge, noted: Sequence[object]) -> None:
    """Say what a call of a session did, if somebody waits for it."""
    conf = bridge.session.conf()
    if conf.contains(TOLD_KEY):
        conf.set(TOLD_KEY, told(noted))
