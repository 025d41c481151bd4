"""Run work on Spark so that interrupting the kernel stops it.

The work happens in a thread of its own, under a job group of its own, or on a Spark Connect
server under a tag of its own. The calling thread only waits: were it interrupted while it talks
to the JVM, its next call would read the answer to this one.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, get_ident
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.errors import PySparkException

from paimonlab.notebook.kernel.interruptible import Cancelled
from paimonlab.notebook.kernel.progress import ProgressDisplay, StatementProgress, of_stages
from paimonlab.notebook.kernel.spark_progress import read_progress
from paimonlab.spark.listening import listening
from paimonlab.spark.sessions.remote import is_remote

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
        A classic session, or a client of a Spark Connect server.
    work
        Starts all of its Spark jobs in the thread that calls it.
    description
        Shown in the interface of a classic session.
    display
        Shows how far it is while it lasts.

    Raises
    ------
    Cancelled
        If there was a KeyboardInterrupt; the jobs are cancelled by then, or will be as soon as
        they start.
    """
    handle: _Handle = (
        _Tag(spark) if is_remote(spark) else _JobGroup(spark.sparkContext, description)
    )
    job = _Job(handle, work)
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


class _Handle(Protocol):
    """What Spark knows the work by."""

    def thread(self, target: Callable[[], None]) -> Thread:
        """Make a thread that knows the session."""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Mark whatever the calling thread starts."""

    def ui_url(self) -> str | None:
        """Return where Spark shows what it does; None if that is unknown here."""

    def progress(self) -> StatementProgress | None:
        """Ask how far it is; None if that is unknown."""

    def cancel(self) -> None:
        """Stop what is marked and runs now."""


class _JobGroup:
    """Jobs of a classic session."""

    def __init__(self, context: SparkContext, description: str) -> None:
        self._context = context
        self._description = description
        self._group = _unique_name()
        self._reported: StatementProgress | None = None
        self._is_cancelled = False

    def thread(self, target: Callable[[], None]) -> Thread:
        return InheritableThread(target=target, daemon=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        self._context.setJobGroup(self._group, self._description, interruptOnCancel=True)
        with listening(self._group, self._hear):
            yield

    def ui_url(self) -> str | None:
        return self._context.uiWebUrl

    def progress(self) -> StatementProgress | None:
        return self._reported or read_progress(self._context, self._group)

    def cancel(self) -> None:
        self._is_cancelled = True
        self._context.cancelJobGroup(self._group)

    def _hear(self, done: int, total: int, unit: str) -> None:
        """Note how far a procedure is, which runs in this process; end it after an interrupt."""
        self._reported = StatementProgress(done, total, unit)
        if self._is_cancelled:
            raise KeyboardInterrupt


class _Tag:
    """Operations on a Spark Connect server."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._tag = _unique_name()
        self._progress: StatementProgress | None = None
        self._thread_id = 0

    def thread(self, target: Callable[[], None]) -> Thread:
        return Thread(target=target, daemon=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        self._thread_id = get_ident()
        self._session.addTag(self._tag)
        note: Any = self._note
        self._session.registerProgressHandler(note)
        try:
            yield
        finally:
            self._session.removeProgressHandler(note)
            self._session.removeTag(self._tag)

    def ui_url(self) -> str | None:
        return None

    def progress(self) -> StatementProgress | None:
        return self._progress

    def cancel(self) -> None:
        self._session.interruptTag(self._tag)

    def _note(self, stages: Iterable[Any] | None, *_: Any, **_others: Any) -> None:
        # A handler is called for everything the client runs; each thread counts its own.
        if stages is not None and get_ident() == self._thread_id:
            self._progress = of_stages(stages)


def _unique_name() -> str:
    return f"paimonlab-{uuid.uuid4()}"


_IS_GONE = (Py4JError, PySparkException)
"""What is raised if a session that was stopped is used."""


class _Job(Generic[T]):
    """Work under way, in a thread that has begun."""

    def __init__(self, handle: _Handle, work: Callable[[], T]) -> None:
        self.done = Event()
        self.progress: StatementProgress | None = None
        self.ui_url: str | None = None
        self._handle = handle
        self._work = work
        self._begin = time.monotonic()
        self._values: list[T] = []
        self._error: BaseException | None = None
        handle.thread(self._run).start()
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
            with self._handle.held():
                self._values.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        finally:
            self.done.set()

    def _watch(self) -> None:
        while not self.done.wait(_POLL_SECONDS):
            try:
                self.ui_url = self.ui_url or self._handle.ui_url()
                self.progress = self._handle.progress()
            except _IS_GONE:
                return

    def _cancel(self) -> None:
        while not self.done.is_set():
            try:
                self._handle.cancel()
            except _IS_GONE:
                return
            self.done.wait(_POLL_SECONDS)
