"""Whether a stream of Spark makes progress: a batch goes on to its next part, or a task ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark import SparkContext, SparkStageInfo, StatusTracker
from pyspark.sql.streaming.query import StreamingQuery

from paimonlab.clock import now_millis

_RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class Sign:
    """What changes while a stream makes progress."""

    what: str
    """It does, in words."""
    tasks: tuple[tuple[int, int, int], ...] = ()
    """Of each stage that runs: its number, and how many tasks ended well, and failed."""


def sign_of(query: StreamingQuery, context: SparkContext, *, driver: str | None) -> Sign | None:
    """Ask Spark what a stream does; None: it waits.

    Parameters
    ----------
    query
        The stream.
    context
        Of its session.
    driver
        What the driver does in our part of a batch; None: another part runs.
    """
    told = query.status
    message = str(told["message"])
    if not told["isTriggerActive"] and message.startswith("Waiting"):
        return None
    tracker = context.statusTracker()
    stages = list[int]()
    for number in tracker.getJobIdsForGroup(str(query.runId)):
        job = tracker.getJobInfo(number)
        if job is not None and job.status == _RUNNING:
            stages += job.stageIds
    running = _running(tracker, stages)
    if not running and driver is not None:
        # What the driver asks of workers, such as compaction, is of no group of ours.
        running = _running(tracker, tracker.getActiveStageIds())
    if not running:
        return Sign(driver or message[:1].lower() + message[1:])
    shown = ", ".join(
        f"{stage.numCompletedTasks} of {stage.numTasks} tasks of stage {stage.stageId} have ended"
        for stage in running
    )
    counts = ((one.stageId, one.numCompletedTasks, one.numFailedTasks) for one in running)
    return Sign(shown, tuple(counts))


def _running(tracker: StatusTracker, stages: Iterable[int]) -> list[SparkStageInfo]:
    """Return stages of which tasks run."""
    found = map(tracker.getStageInfo, stages)
    return [stage for stage in found if stage is not None and stage.numActiveTasks]


class Progress:
    """Since when a stream has made none."""

    def __init__(self) -> None:
        self._sign: Sign | None = None
        self._began = 0.0
        self._since_millis = 0

    def still_seconds(self, sign: Sign | None, now: float) -> float:
        """Take what Spark does now, and return for how long it has not changed.

        Parameters
        ----------
        sign
            None: there is nothing to wait for.
        now
            Seconds of any clock.
        """
        if sign is None or sign != self._sign:
            self._sign, self._began, self._since_millis = sign, now, now_millis()
        return now - self._began

    def __str__(self) -> str:
        """Say since when nothing has changed, and what should."""
        since = datetime.fromtimestamp(self._since_millis // 1000, UTC)
        what = "" if self._sign is None else self._sign.what
        return f"Spark has made no progress since {since:%Y-%m-%d %H:%M:%S} UTC: {what}"
