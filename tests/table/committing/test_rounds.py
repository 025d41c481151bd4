"""Each way in which work on files that others change may end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    FilesConflictError,
    PostCommitError,
    SnapshotExpiredError,
)
from paimonlab.table.committing.rounds import (
    ROUNDS,
    undone_if_not_committed,
    until_undisturbed,
)

CONFLICT = FilesConflictError("db.t", 3, (), "others were faster.")
EXPIRED = SnapshotExpiredError("db.t", "3", "It has expired.")
UNKNOWN = CommitOutcomeUnknownError("db.t", "me", 1, 3, "no answer")
LATE = PostCommitError("db.t", 3, "the disk is full")


def raising(*errors: BaseException) -> Callable[[], int]:
    """Return what raises these, one after the other, and then returns how often it was called."""
    left, calls = list(errors), [0]

    def attempt() -> int:
        calls[0] += 1
        if left:
            raise left.pop(0)
        return calls[0]

    return attempt


@pytest.mark.parametrize("error", [CONFLICT, EXPIRED], ids=["conflict", "expired"])
def test_who_was_disturbed_tries_again_and_gives_up_in_the_end(error: Exception) -> None:
    for times in range(ROUNDS):
        assert until_undisturbed("db.t", raising(*[error] * times), what="it") == times + 1
    with pytest.raises(type(error)):
        until_undisturbed("db.t", raising(*[error] * ROUNDS), what="it")


@pytest.mark.parametrize(
    "error", [UNKNOWN, LATE, CommitError("no"), OSError("no"), KeyboardInterrupt()], ids=repr
)
def test_nothing_else_is_tried_again(error: BaseException) -> None:
    attempt = raising(error)

    with pytest.raises(type(error)):
        until_undisturbed("db.t", attempt, what="it")

    assert attempt() == 2


@pytest.mark.parametrize(
    ("error", "is_undone"),
    [
        (CONFLICT, True),
        (CommitError("no"), True),
        (UNKNOWN, False),
        (LATE, False),
        (OSError("no"), False),
        (KeyboardInterrupt(), False),
    ],
    ids=repr,
)
def test_only_what_was_not_committed_is_undone(error: BaseException, is_undone: bool) -> None:
    undone: list[int] = []

    with pytest.raises(type(error)), undone_if_not_committed(lambda: undone.append(1)):
        raise error

    assert bool(undone) == is_undone


def test_an_error_of_cleaning_up_does_not_take_the_place_of_the_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with (
        pytest.raises(FilesConflictError),
        undone_if_not_committed(raising(OSError("the disk is away"))),
    ):
        raise CONFLICT

    assert "the disk is away" in caplog.text
