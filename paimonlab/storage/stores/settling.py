"""Creating an object if it is absent, or replacing a version, whatever becomes of the answer.

A pure loop: requests, clock and chance are given. Sources: reliability rules of this project
(``docs/reliability.md``); what AWS answers to conditional writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from paimonlab.storage.stores.answers import Answer

PATIENCE_SECONDS = 30.0
"""How long the same bytes are put again under the same key while nothing is known."""
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 3.0


class Found(Enum):
    """What is under a key."""

    NOTHING = "no object"
    OURS = "the object of this call"
    OTHERS = "an object of another writer"
    UNCHANGED = "the version that was to be replaced"


@dataclass(frozen=True, slots=True)
class Put:
    """The answer to one request."""

    answer: Answer
    error: Exception | None = None


class UnsettledError(Exception):
    """The outcome could not be found out in time; never leaves `storage`."""

    def __init__(self, attempts: int, *, is_in_doubt: bool) -> None:
        super().__init__(attempts, is_in_doubt)
        self.attempts = attempts
        self.is_in_doubt = is_in_doubt
        """Whether the object may be there, or come to be there."""


def create(
    put: Callable[[], Put],
    look: Callable[[], Found],
    *,
    now: Callable[[], float],
    pause: Callable[[float], None],
    chance: Callable[[], float],
) -> bool:
    """Create an object unless there is one.

    Parameters
    ----------
    put
        Sends the request, always the same.
    look
        Reads what is there; raises what requests raise. A version that was to be replaced and still
        is there is no answer: of writers that replace it at once Ceph refuses all.
    now
        A clock, in seconds.
    pause
        Waits so many seconds.
    chance
        Numbers from 0 up to 1, so that writers do not come back at the same time.

    Returns
    -------
    bool
        Whether the object is ours. True as well if only a lost answer told so.

    Raises
    ------
    UnsettledError
        If it is refused or unknown; its cause is the last error.
    """
    end = now() + PATIENCE_SECONDS
    attempts, is_in_doubt = 0, False
    while True:
        attempts += 1
        done = put()
        problem = done.error
        if done.answer is Answer.DONE:
            return True
        if done.answer is Answer.REFUSED and not is_in_doubt:
            raise UnsettledError(attempts, is_in_doubt=False) from problem
        is_in_doubt |= done.answer is Answer.UNKNOWN
        try:
            found = look()
        except Exception as error:  # noqa: BLE001 - looked at again, and told at the end
            problem = error
            # That it is taken is known, by whom is not.
            is_in_doubt = True
        else:
            if found in (Found.OURS, Found.OTHERS):
                return found is Found.OURS
            is_nothing = found is Found.NOTHING
            if is_nothing and done.answer is Answer.TAKEN and not is_in_doubt:
                return False  # others created and deleted it meanwhile
            if is_nothing and done.answer is Answer.FULL and not is_in_doubt:
                raise UnsettledError(attempts, is_in_doubt=False) from problem
        if now() >= end:
            raise UnsettledError(attempts, is_in_doubt=is_in_doubt) from problem
        longest = min(_FIRST_PAUSE_SECONDS * 2.0**attempts, _LONGEST_PAUSE_SECONDS)
        pause(longest * (0.5 + chance() / 2))
