"""Executors as the workers of verbs: only metadata reaches the driver."""

from __future__ import annotations

import pickle
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, functions

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.shipping import ship
from paimonlab.spark.writing.executor_exchange import (
    JOB,
    PLACE,
    SHARE,
    SHUFFLED,
    ReadTask,
    ShareTask,
)
from paimonlab.spark.writing.executor_jobs import (
    JobOutcome,
    JobsTask,
    Outcomes,
    divided_by_size,
    pickled_jobs,
)
from paimonlab.workers import Divided, least_of, tried

Result = TypeVar("Result")
Job = TypeVar("Job")
Share = TypeVar("Share")

_TASKS_PER_CORE = 2
_POLL_SECONDS = 0.1
_DESCRIPTION = "spark.job.description"


@dataclass(frozen=True, slots=True)
class SparkWorkers:
    """Does jobs as one job of Spark; see `paimonlab.workers.Workers`.

    A task does several, so that there are at most two tasks for each core. When a job fails the
    tasks that run go on to their end, so that all they made is known and undone. An interrupt
    ends them at once: files that they were writing are orphans then.
    """

    bridge: Bridge
    most: int | None = None
    """How many tasks a job has, at most; None: two for each core."""

    @property
    def tasks(self) -> int:
        """Two for each core, or fewer."""
        cores = max(self.bridge.spark.sparkContext.defaultParallelism, 1)
        return least_of(_TASKS_PER_CORE * cores, self.most)

    @property
    def divides(self) -> bool:
        """Say that rows can pass from task to task."""
        return True

    def at_most(self, tasks: int | None) -> SparkWorkers:
        """Return workers whose jobs have fewer tasks; see `Workers`."""
        return self if tasks is None else SparkWorkers(self.bridge, least_of(tasks, self.most))

    def __call__(
        self,
        work: Callable[[Job], Result],
        jobs: Sequence[Job],
        *,
        what: str = "",
        size: Callable[[Job], int] | None = None,
        undo: Callable[[Job, Result], object] | None = None,
        done: Callable[[Job], object] | None = None,
        threads: int | None = None,
    ) -> list[Result]:
        """Do the jobs; if one fails, or ``done`` raises, undo those that are done."""
        del threads  # Spark says how many tasks run at a time
        if not jobs:
            return []

        def begin(outcomes: Any) -> None:
            pickled = self._tasks(work, jobs, size)
            self._numbers(pickled).mapInArrow(JobsTask(pickled, outcomes), "id bigint").collect()

        run = _Run(self.bridge, f"{what}: {len(jobs):,} units", jobs, done)
        with run.undone(lambda number, made: undo and undo(jobs[number], made)):
            results = run.results(begin)
            assert results.keys() == set(range(len(jobs))), "Spark says that all tasks are done"
        return [results[number] for number in range(len(jobs))]

    def exchange(
        self,
        read: Callable[[Job], Divided],
        jobs: Sequence[Job],
        write: Callable[[Share, Iterator[pa.RecordBatch]], Result],
        shares: Sequence[Share],
        *,
        what: str,
        undo: Callable[[Share, Result], object],
        done: Callable[[Job], object] | None = None,
    ) -> list[Result | None]:
        """Let tasks read, shuffle the rows, and let a task write each share."""
        if not jobs:
            return [None] * len(shares)

        def begin(outcomes: Any) -> None:
            pickled = self._tasks(read, jobs, None)
            reading = ReadTask(pickled, len(shares), outcomes)
            writing = ShareTask(write, [pickle.dumps(one) for one in shares], len(jobs), outcomes)  # type: ignore[arg-type]
            packets = self._numbers(pickled).mapInArrow(reading, SHUFFLED)
            divided = packets.repartitionById(len(shares), functions.col(SHARE))
            ordered = divided.sortWithinPartitions(JOB, PLACE)
            ordered.mapInArrow(writing, "id bigint").collect()

        run = _Run(self.bridge, f"{what}: {len(jobs):,} units", jobs, done)
        first = len(jobs)
        with run.undone(lambda number, made: number < first or undo(shares[number - first], made)):
            results = run.results(begin)
        return [results.get(first + number) for number in range(len(shares))]

    def _tasks(
        self,
        work: Callable[[Job], object],
        jobs: Sequence[Job],
        size: Callable[[Job], int] | None,
    ) -> list[bytes]:
        sizes = [1 if size is None else size(job) for job in jobs]
        return [pickled_jobs(work, jobs, numbers) for numbers in divided_by_size(sizes, self.tasks)]

    def _numbers(self, pickled: Sequence[bytes]) -> DataFrame:
        """Return the numbers of tasks, each in a task of its own."""
        return self.bridge.spark.range(0, len(pickled), 1, len(pickled))


@dataclass(slots=True)
class _Run:
    """One job of Spark: how it is called, what it has done, and what it leaves if it fails."""

    bridge: Bridge
    text: str
    jobs: Sequence[Any]
    done: Callable[[Any], object] | None
    watch: _Watch | None = None

    def results(self, begin: Callable[[Any], None]) -> dict[int, Any]:
        """Run the job that ``begin`` starts; return what it made, by number."""
        context = self.bridge.spark.sparkContext
        ship(context)
        outcomes = context.accumulator([], Outcomes())
        tag = f"paimonlab-{uuid.uuid4()}"
        self.watch = _Watch(outcomes, self._tell, cancel=lambda: context.cancelJobsWithTag(tag))
        with _described(self.bridge, self.text, tag), self.watch.running():
            begin(outcomes)
        return self.watch.results()

    def _tell(self, number: int) -> None:
        if self.done is not None and number < len(self.jobs):
            self.done(self.jobs[number])

    @contextmanager
    def undone(self, undo: Callable[[int, Any], object]) -> Iterator[None]:
        """Undo what was made, if anything fails."""
        try:
            yield
        except BaseException:
            made = {} if self.watch is None else self.watch.results()
            for number, result in made.items():
                tried(partial(undo, number, result))
            raise


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
    _told: set[int] = field(default_factory=set)
    """Jobs that are done: Spark does one again if what it shuffled is lost."""
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
            if outcome.number in self._told:
                continue
            self._told.add(outcome.number)
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
