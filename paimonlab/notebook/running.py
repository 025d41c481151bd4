"""Run work on Spark so that interrupting the kernel stops it.

The work happens in a thread of its own, under a job group of its own. The calling thread only
waits: were it interrupted while it talks to the JVM, its next call would read the answer to
this one.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from py4j.protocol import Py4JError
from pyspark import InheritableThread

from paimonlab.notebook.interruptible import Cancelled
from paimonlab.notebook.progress import Progress, ProgressDisplay
from paimonlab.notebook.spark_progress import read_progress

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

T = TypeVar("T")
_POLL_SECONDS = 0.2
_CANCEL_SECONDS = 2.0
"""How long an interrupt waits for Spark to let go."""


def run_on_spark(
    spark: SparkSession, work: Callable[[], T], *, description: str, display: ProgressDisplay
) -> T:
    """Run ``work`` in a thread and return what it returns, or raise what it raises.

    Parameters
    ----------
    spark
        A classic session: jobs are cancelled by job group.
    work
        Starts all of its Spark jobs in the thread that calls it.
    description
        Shown in Spark's own interface.
    display
        Shows how far it is while it lasts.

    Raises
    ------
    Cancelled
        If a KeyboardInterrupt came; the jobs are cancelled by then, or will be as soon as
        they start.
    """
    job = _Job(spark.sparkContext, work, description)
    try:
        while not job.done.wait(_POLL_SECONDS):
            display.show(job.progress, job.elapsed_seconds, ui_url=job.ui_url)
    except KeyboardInterrupt:
        is_over = job.cancel(_CANCEL_SECONDS)
        raise Cancelled(_report(job, is_over=is_over)) from None
    finally:
        display.clear()
    return job.result()


def _report(job: _Job[T], *, is_over: bool) -> str:
    progress = f" ({job.progress})" if job.progress and job.progress.count else ""
    text = f"cancelled after {job.elapsed_seconds:.1f} s{progress}"
    return text if is_over else f"{text}; it is still stopping in the background"


class _Job(Generic[T]):
    """Work under way, in a thread that has begun."""

    def __init__(self, context: SparkContext, work: Callable[[], T], description: str) -> None:
        self.done = Event()
        self.progress: Progress | None = None
        self.ui_url: str | None = None
        self._context = context
        self._work = work
        self._description = description
        self._group = f"paimonlab-{uuid.uuid4()}"
        self._begin = time.monotonic()
        self._values: list[T] = []
        self._error: BaseException | None = None
        InheritableThread(target=self._run, daemon=True).start()
        Thread(target=self._watch, daemon=True).start()

    @property
    def elapsed_seconds(self) -> float:
        return time.monotonic() - self._begin

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._values[0]

    def cancel(self, timeout_seconds: float) -> bool:
        """Cancel the jobs, also those that start later; tell whether the work is over."""
        Thread(target=self._cancel, daemon=True).start()
        return self.done.wait(timeout_seconds)

    def _run(self) -> None:
        try:
            self._context.setJobGroup(self._group, self._description, interruptOnCancel=True)
            self._values.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        finally:
            self.done.set()

    def _watch(self) -> None:
        while not self.done.wait(_POLL_SECONDS):
            try:
                self.ui_url = self.ui_url or self._context.uiWebUrl
                self.progress = read_progress(self._context, self._group)
            except Py4JError:
                return  # the session was stopped

    def _cancel(self) -> None:
        while not self.done.is_set():
            try:
                self._context.cancelJobGroup(self._group)
            except Py4JError:
                return  # the session was stopped
            self.done.wait(_POLL_SECONDS)
