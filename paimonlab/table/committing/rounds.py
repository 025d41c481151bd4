"""Work on files that others may change meanwhile: it is done again, and nothing is left behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    FilesConflictError,
    SnapshotExpiredError,
    TableNotFoundError,
)
from paimonlab.workers import tried

logger = logging.getLogger(__name__)

ROUNDS = 4
"""How often a table is looked at anew because others changed what was found there."""

Result = TypeVar("Result")


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
    except (CommitError, TableNotFoundError):
        tried(undo)
        raise
