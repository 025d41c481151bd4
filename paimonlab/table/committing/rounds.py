"""Work on files that others may change meanwhile: it is done again, and nothing is left behind."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar

from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    FilesConflictError,
    PaimonError,
    SnapshotExpiredError,
)

logger = logging.getLogger(__name__)

ROUNDS = 4
"""How often a table is looked at anew because others changed what was found there."""

Result = TypeVar("Result")
Job = TypeVar("Job")


class Workers(Protocol):
    """Does several jobs at a time: threads of this process, or the executors of an engine."""

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
        """Do the jobs, as `side_by_side` does; work, jobs and results can be pickled."""
        ...


def until_undisturbed(table: str, attempt: Callable[[], Result], *, what: str) -> Result:
    """Look at a table, work and commit; again if others were faster.

    Parameters
    ----------
    table
        Its name, for messages.
    attempt
        Does all of it, and leaves nothing behind when it fails.
    what
        What it does, for messages: "compacting".

    Raises
    ------
    FilesConflictError, SnapshotExpiredError
        If others replaced the files, or let the snapshot expire, again and again.
    """
    for number in range(1, ROUNDS + 1):
        try:
            return attempt()
        except (FilesConflictError, SnapshotExpiredError) as error:
            if number == ROUNDS:
                raise
            logger.info("%s: %s once more: %s", table, what, error)
    raise AssertionError("the last round returns or raises")


@contextmanager
def undone_if_not_committed(undo: Callable[[], object]) -> Iterator[None]:
    """Delete what a commit would have made visible, if it definitely did not happen."""
    try:
        yield
    except CommitOutcomeUnknownError:
        raise
    except CommitError:
        _tried(undo)
        raise


def _tried(undo: Callable[[], object]) -> None:
    """Clean up after an error, which is what the caller is told, not that of cleaning up."""
    try:
        undo()
    except (OSError, PaimonError) as error:
        logger.warning("files are left that nothing names: %s", error)


def side_by_side(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    what: str = "",
    size: Callable[[Job], int] | None = None,
    undo: Callable[[Job, Result], object],
    done: Callable[[Job], object] | None = None,
    threads: int | None = None,
) -> list[Result]:
    """Do several jobs at a time in this process; if one fails, undo the others and begin no more.

    Parameters
    ----------
    work
        Does one; when it fails it leaves nothing behind.
    jobs
        What is to be done.
    what
        What the jobs are, in words; threads show it nowhere.
    size
        How large a job is: the largest begin first. None: they begin in their order.
    undo
        Takes back what a job made.
    done
        Is called with each job when it is done.
    threads
        How many at a time; None: as many as there are processors.

    Returns
    -------
    list
        What the jobs made, in their order.

    Raises
    ------
    BaseException
        What a job, or ``done``, raised first.
    """
    del what
    if not jobs:
        return []
    order: Sequence[int] = range(len(jobs))
    if size is not None:
        sizes = [size(job) for job in jobs]
        order = sorted(order, key=lambda place: -sizes[place])
    futures: dict[int, Future[Result]] = {}
    begun: dict[Future[Result], Job] = {}
    with ThreadPoolExecutor(min(threads or os.cpu_count() or 1, len(jobs))) as pool:
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
                if not future.cancelled() and future.exception() is None:
                    _tried(partial(undo, job, future.result()))
            raise
    return [futures[place].result() for place in range(len(jobs))]
