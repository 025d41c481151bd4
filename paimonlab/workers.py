"""Several jobs at a time: who does them, and how rows get from those who read to those who write.

Threads of this process are the workers of every verb, unless an engine that has processes of its
own brings others.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

import pyarrow as pa
from msgspec import Struct

from paimonlab.errors import PaimonError

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Job = TypeVar("Job")
Share = TypeVar("Share")

Divided: TypeAlias = Iterator[tuple[int, pa.RecordBatch]]
"""Rows, each batch with the number of the share that it belongs to."""


class Workers(Protocol):
    """Does several jobs at a time: threads of this process, or the executors of an engine."""

    @property
    def tasks(self) -> int:
        """Into how many parts work is to be divided."""
        ...

    @property
    def divides(self) -> bool:
        """Whether `exchange` takes more than one share."""
        ...

    def at_most(self, tasks: int | None) -> Workers:
        """Return workers of which at most so many work at a time; None: as many as before."""
        ...

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
        """Do several jobs at a time; if one fails, undo the others and begin no more.

        Parameters
        ----------
        work
            Does one; when it fails it leaves nothing behind. It, jobs and results can be pickled,
            unless they are for threads.
        jobs
            What is to be done.
        what
            What the jobs are, in words: "compacting db.t".
        size
            How large a job is: the largest begin first. None: they begin in their order.
        undo
            Takes back what a job made; None: there is nothing to take back.
        done
            Is called with each job when it is done.
        threads
            How many at a time in this process; None: as many as there are processors.

        Returns
        -------
        list
            What the jobs made, in their order.

        Raises
        ------
        BaseException
            What a job, or ``done``, raised first.
        """
        ...

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
        """Read rows, and write those of each share together.

        Parameters
        ----------
        read
            Reads the rows of a job, each batch with the number of its share.
        jobs
            What is read.
        write
            Writes the rows of a share. They come in the order of the jobs, and of one job in the
            order in which it read them. When it fails it leaves nothing behind.
        shares
            What is written; more than one only where `divides`.
        what, undo, done
            As of `__call__`: what a share made is undone, and ``done`` told of jobs.

        Returns
        -------
        list
            What became of the shares, in their order; None: there may have been no rows for it.
        """
        ...


class Threads(Struct, frozen=True):
    """Workers that are threads of this process; rows are not divided among them."""

    most: int | None = None
    """How many work at a time, at most; None: as many as there are processors."""

    @property
    def tasks(self) -> int:
        """As many as there are processors, or fewer."""
        return least_of(os.cpu_count() or 1, self.most)

    @property
    def divides(self) -> bool:
        """Say that it does not: a writer has threads of its own."""
        return False

    def at_most(self, tasks: int | None) -> Threads:
        """Return fewer threads; see `Workers`."""
        return self if tasks is None else Threads(least_of(tasks, self.most))

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
        """Do several jobs at a time; see `Workers`."""
        del what
        if not jobs:
            return []
        order: Sequence[int] = range(len(jobs))
        if size is not None:
            sizes = [size(job) for job in jobs]
            order = sorted(order, key=lambda place: -sizes[place])
        futures: dict[int, Future[Result]] = {}
        begun: dict[Future[Result], Job] = {}
        count = self.tasks if threads is None else least_of(threads, self.most)
        with ThreadPoolExecutor(min(count, len(jobs))) as pool:
            try:
                for place in order:
                    futures[place] = pool.submit(work, jobs[place])
                    begun[futures[place]] = jobs[place]
                for future in as_completed(begun):
                    future.result()
                    if done is not None:
                        done(begun[future])
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                for future, job in begun.items():
                    if undo is not None and not future.cancelled() and future.exception() is None:
                        tried(partial(undo, job, future.result()))
                raise
        return [futures[place].result() for place in range(len(jobs))]

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
        """Read one job after the other and write as rows come; see `Workers`."""
        del what, undo
        (share,) = shares

        def rows() -> Generator[pa.RecordBatch]:
            for job in jobs:
                for _, batch in read(job):
                    yield batch
                if done is not None:
                    done(job)

        with closing(rows()) as batches:
            return [write(share, batches)]


side_by_side = Threads()
"""The workers of this process."""


def least_of(count: int, most: int | None) -> int:
    """Return how many of ``count`` there may be; None: all."""
    return count if most is None else min(count, most)


def tried(undo: Callable[[], object]) -> None:
    """Clean up after an error, which is what the caller is told, not that of cleaning up."""
    try:
        undo()
    except (OSError, PaimonError) as error:
        logger.warning("files are left that nothing names: %s", error)


def in_parts(values: Iterable[Job], count: int) -> list[tuple[Job, ...]]:
    """Divide values into at most ``count`` parts of about one length, in their order.

    Examples
    --------
    >>> in_parts("abcde", 2)
    [('a', 'b', 'c'), ('d', 'e')]
    """
    every = tuple(values)
    size = max(-(-len(every) // max(count, 1)), 1)
    return [every[start : start + size] for start in range(0, len(every), size)]
