"""Run long work of our own so that interrupting the kernel stops it between files.

The work happens in a thread of its own; the calling thread only waits and shows how far it is.
An interrupt would otherwise stop the work wherever it happens to be; so the work ends where it
next reports its progress.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Generic, TypeVar

from paimonlab.notebook.kernel.progress import ProgressDisplay, StatementProgress
from paimonlab.progress import Progress as Told
from paimonlab.spec.visible_text import visible

T = TypeVar("T")
_POLL_SECONDS = 0.1


class Cancelled(KeyboardInterrupt):
    """The user interrupted a statement, and what it had begun was stopped."""

    def _render_traceback_(self) -> list[str]:
        """Tell IPython what to show instead of a traceback."""
        return [f"{type(self).__name__}: {visible(str(self))}"]


def run_interruptibly(
    work: Callable[[Told], T], *, display: ProgressDisplay, patience_seconds: float = math.inf
) -> T:
    """Run ``work`` in a thread and return what it returns, or raise what it raises.

    Parameters
    ----------
    work
        Gets a function to report its progress, which raises KeyboardInterrupt after an interrupt.
    display
        Shows how far it is while it lasts.
    patience_seconds
        How long an interrupt waits for the work to end.

    Raises
    ------
    Cancelled
        If there was a KeyboardInterrupt; the work is over by then, unless that took too long or
        there was a second one.
    """
    job = _Job(work)
    try:
        job.start()
        while not job.done.wait(_POLL_SECONDS):
            display.show(job.progress, job.elapsed_seconds)
    except KeyboardInterrupt:
        is_over = job.stop(patience_seconds)
        raise Cancelled(_report(job, is_over=is_over)) from None
    finally:
        display.clear()
    return job.result()


def _report(job: _Job[T], *, is_over: bool) -> str:
    progress = f" ({job.progress})" if job.progress else ""
    text = f"cancelled after {job.elapsed_seconds:.1f} s{progress}"
    if not is_over:
        return f"{text}; it is still stopping in the background"
    return f"{text}; it was done by then" if job.is_complete else text


class _Job(Generic[T]):
    """Work under way."""

    def __init__(self, work: Callable[[Told], T]) -> None:
        self.done = Event()
        self.progress: StatementProgress | None = None
        self._work = work
        self._is_stopping = False
        self._begin = time.monotonic()
        self._values: list[T] = []
        self._error: BaseException | None = None

    def start(self) -> None:
        """Begin, in a thread."""
        Thread(target=self._run, daemon=True).start()

    @property
    def elapsed_seconds(self) -> float:
        return time.monotonic() - self._begin

    @property
    def is_complete(self) -> bool:
        return bool(self._values)

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._values[0]

    def stop(self, patience_seconds: float) -> bool:
        """Ask the work to end and wait; False if patience ends, or a second interrupt comes."""
        self._is_stopping = True
        deadline = time.monotonic() + patience_seconds
        try:
            while not self.done.wait(_POLL_SECONDS):
                if time.monotonic() > deadline:
                    return False
        except KeyboardInterrupt:
            return False
        return True

    def _run(self) -> None:
        try:
            self._values.append(self._work(self._hear))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            # What was stopped is over for all: its frames would keep readers, and their threads.
            self._error = None if self._is_stopping else error
        finally:
            self.done.set()

    def _hear(self, done: int, total: int, unit: str) -> None:
        self.progress = StatementProgress(done, total, unit)
        if self._is_stopping:
            raise KeyboardInterrupt
