"""Executors as the workers of verbs that rewrite files: only metadata reaches the driver."""

from __future__ import annotations

import logging
import pickle
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from paimonlab.errors import PaimonError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.shipping import ship
from paimonlab.spark.writing.executor_jobs import (
    JobOutcome,
    JobsTask,
    Outcomes,
    divided_by_size,
    pickled_jobs,
)

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Job = TypeVar("Job")

_TASKS_PER_CORE = 2
_POLL_SECONDS = 0.1
_DESCRIPTION = "spark.job.description"


@dataclass(frozen=True, slots=True)
class SparkWorkers:
    """Does jobs as one job of Spark; see `paimonlab.table.committing.rounds.Workers`.

    A task does several, so that there are at most two tasks for each core. When a job fails the
    tasks that run go on to their end, so that all they made is known and undone. An interrupt
    ends them at once: files that they were writing are orphans then.
    """

    bridge: Bridge

    def __call__(
        self,
        work: Callable[[Job], Result],
        jobs: Sequence[Job],
        *,
        what: str,
        size: Callable[[Job], int],
        undo: Callable[[Job, Result], object],
        done: Callable[[Job], object] | None = None,
        threads: int | None = None,
    ) -> list[Result]:
        """Do the jobs; if one fails, or ``done`` raises, undo those that are done."""
        del threads  # Spark says how many tasks run at a time
        if not jobs:
            return []
        context = self.bridge.spark.sparkContext
        ship(context)
        most = _TASKS_PER_CORE * max(context.defaultParallelism, 1)
        tasks = divided_by_size([size(job) for job in jobs], most)
        outcomes = context.accumulator([], Outcomes())
        tag = f"paimonlab-{uuid.uuid4()}"
        watch = _Watch(
            outcomes,
            lambda number: None if done is None else done(jobs[number]),
            cancel=lambda: context.cancelJobsWithTag(tag),
        )
        pickled = [pickled_jobs(work, jobs, numbers) for numbers in tasks]
        try:
            with _described(self.bridge, f"{what}: {len(jobs):,} units", tag), watch.running():
                numbers = self.bridge.spark.range(0, len(pickled), 1, len(pickled))
                numbers.mapInArrow(JobsTask(pickled, outcomes), "id bigint").collect()
            results = watch.results()
            assert results.keys() == set(range(len(jobs))), "Spark says that all tasks are done"
        except BaseException:
            for number, result in watch.results().items():
                _tried(undo, jobs[number], result)
            raise
        return [results[number] for number in range(len(jobs))]


@dataclass(slots=True)
class _Watch:
    """Looks at what tasks hand back while the job runs; ends it if ``done`` raises."""

    outcomes: Any
    """The accumulator."""
    done: Callable[[int], object]
    cancel: Callable[[], object]
    error: BaseException | None = None
    _is_interrupted: bool = False
    _seen: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look now and then; raise what a job, or ``done``, raised, in the place of what Spark did.

        Raises
        ------
        PaimonError
            Of the first job that failed.
        """
        thread = threading.Thread(target=self._look_on, daemon=True)
        thread.start()
        try:
            yield
        except Exception:
            self._end(thread)
            if self.error is not None:
                raise self.error from None
            raise
        except BaseException:
            self._end(thread)
            raise
        self._end(thread)
        self._look()
        if self.error is not None:
            raise self.error

    def results(self) -> dict[int, Any]:
        """Return what jobs made, by number."""
        return {
            outcome.number: pickle.loads(outcome.result)  # noqa: S301 - our own tasks made it
            for outcome in self.outcomes.value
            if outcome.result is not None
        }

    def _end(self, thread: threading.Thread) -> None:
        self._ended.set()
        thread.join()

    def _look_on(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            self._look()
            if self._is_interrupted:
                self.cancel()
                return

    def _look(self) -> None:
        found: list[JobOutcome] = self.outcomes.value
        for outcome in found[self._seen :]:
            self._seen += 1
            if self.error is not None:
                return
            if outcome.error is not None:
                self.error = pickle.loads(outcome.error)  # noqa: S301 - as above
                return
            try:
                self.done(outcome.number)
            except BaseException as error:  # noqa: BLE001 - it ends the job, and is raised then
                self.error, self._is_interrupted = error, True


@contextmanager
def _described(bridge: Bridge, text: str, tag: str) -> Iterator[None]:
    """Let jobs of this thread have a text in Spark's UI, and a tag."""
    context = bridge.session.sparkContext()
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, text)
    context.addJobTag(tag)
    try:
        yield
    finally:
        context.removeJobTag(tag)
        context.setLocalProperty(_DESCRIPTION, before)


def _tried(undo: Callable[[Job, Result], object], job: Job, result: Result) -> None:
    """Clean up after an error, which is what the caller learns."""
    try:
        undo(job, result)
    except (OSError, PaimonError) as error:
        logger.warning("files are left that nothing names: %s", error)
