"""Jobs of a verb on executors: what rewrites files, and what became of each job.

An error of paimonlab is no failure of the task: it reaches the caller as itself, is not tried
again in vain, and what other jobs made is known and can be deleted.
"""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.accumulators import Accumulator, AccumulatorParam

from paimonlab.errors import PaimonError


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What became of one job."""

    number: int
    """Its place among all jobs."""
    result: bytes | None = None
    """Pickled; None: the job failed and left nothing behind."""
    error: bytes | None = None
    """A pickled `PaimonError`."""


class Outcomes(AccumulatorParam[list[JobOutcome]]):
    """Gathers outcomes in the driver as tasks end, once each, however often they are tried."""

    def zero(self, value: list[JobOutcome]) -> list[JobOutcome]:
        """Begin with none."""
        del value
        return []

    def addInPlace(self, value1: list[JobOutcome], value2: list[JobOutcome]) -> list[JobOutcome]:
        """Put the outcomes of a task after those that came before."""
        value1.extend(value2)
        return value1


@dataclass(frozen=True, slots=True)
class JobsTask:
    """Does the jobs of tasks, one after the other; picklable."""

    pickled: Sequence[bytes]
    """What each task does, as `pickled_jobs` returns it."""
    outcomes: Accumulator[list[JobOutcome]]

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the jobs of the tasks whose numbers come, until one fails; no rows come back."""
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                self._do(self.pickled[number])
            yield batch.slice(0, 0)

    def _do(self, pickled: bytes) -> None:
        work, jobs = pickle.loads(pickled)  # noqa: S301 - the driver made it
        for number, job in jobs:
            outcome = _outcome(work, number, job)
            self.outcomes.add([outcome])
            if outcome.error is not None:
                return


def _outcome(work: Callable[[object], object], number: int, job: object) -> JobOutcome:
    try:
        return JobOutcome(number, result=pickle.dumps(work(job)))
    except PaimonError as error:
        return JobOutcome(number, error=pickle.dumps(error))


def pickled_jobs(
    work: Callable[..., object], jobs: Sequence[object], numbers: Sequence[int]
) -> bytes:
    """Return what one task needs to do the jobs of these numbers."""
    return pickle.dumps((work, [(number, jobs[number]) for number in numbers]))


def divided_by_size(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Divide jobs into tasks of about one size.

    Parameters
    ----------
    sizes
        Of the jobs, in any unit.
    most
        Tasks at most, at least 1.

    Returns
    -------
    list of list of int
        Numbers of the jobs of each task; no task is empty, and the largest job of each is first.

    Examples
    --------
    >>> divided_by_size([1, 5, 2, 3], 2)
    [[1, 0], [3, 2]]
    """
    tasks: list[list[int]] = [[] for _ in range(min(most, len(sizes)))]
    smallest = [(0, number) for number in range(len(tasks))]
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        size, number = heapq.heappop(smallest)
        tasks[number].append(place)
        heapq.heappush(smallest, (size + max(sizes[place], 1), number))
    return tasks
