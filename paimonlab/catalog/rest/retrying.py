"""Which requests are sent again, and when. Pure: clock and chance are given.

A request that may have had its effect is sent again only if that changes nothing. Java Paimon
repeats all requests after 429 and 503, also those that publish a snapshot
(``ExponentialHttpRequestRetryStrategy`` of 1.4.2); here only questions are, and what was certainly
not done.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

TOO_MANY = 429
UNAVAILABLE = frozenset((502, 503, 504))


class Trouble(Enum):
    """What became of a request that was not answered as wished."""

    NOT_SENT = "not sent"
    """Nobody was there to take it."""
    UNTRUSTED = "untrusted"
    """The server is not the one that its address names."""
    NO_ANSWER = "no answer"
    """It may have been done."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long."""

    attempts: int = 6
    attempts_to_connect: int = 3
    first_pause_seconds: float = 0.25
    longest_pause_seconds: float = 16.0
    deadline_seconds: float = 300.0
    """No attempt begins later than this after the first one began."""

    def attempts_after(self, outcome: int | Trouble) -> int:
        """Return how often a request is sent at most."""
        return self.attempts_to_connect if outcome is Trouble.NOT_SENT else self.attempts

    def may_begin(self, seconds: float) -> bool:
        """Whether an attempt may begin so many seconds after the first one did."""
        return seconds < self.deadline_seconds

    def pause(self, attempt: int, retry_after: float | None, chance: float) -> float:
        """Return how many seconds to wait after an attempt, counted from 1.

        Parameters
        ----------
        retry_after
            What the server asks for; None: nothing.
        chance
            From 0 up to 1, so that clients do not come back at the same time.
        """
        if retry_after is not None and retry_after > 0:
            return min(retry_after, self.longest_pause_seconds * 4) * (1 + 0.1 * chance)
        longest = min(self.first_pause_seconds * 2.0 ** (attempt - 1), self.longest_pause_seconds)
        return longest * (0.5 + chance / 2)


def may_repeat(outcome: int | Trouble, *, is_question: bool) -> bool:
    """Whether a request may be sent again without changing more than once would.

    Parameters
    ----------
    outcome
        The HTTP status, or why there is none.
    is_question
        Whether it changes nothing at the server.

    Examples
    --------
    >>> may_repeat(503, is_question=True), may_repeat(503, is_question=False)
    (True, False)
    >>> may_repeat(429, is_question=False), may_repeat(Trouble.NOT_SENT, is_question=False)
    (True, True)
    """
    if outcome in (TOO_MANY, Trouble.NOT_SENT):
        return True
    return is_question and (outcome is Trouble.NO_ANSWER or outcome in UNAVAILABLE)


def is_doubtful(outcome: int | Trouble) -> bool:
    """Whether a change may have happened nevertheless.

    Examples
    --------
    >>> is_doubtful(500), is_doubtful(503), is_doubtful(404), is_doubtful(429)
    (True, True, False, False)
    """
    if isinstance(outcome, Trouble):
        return outcome is Trouble.NO_ANSWER
    return outcome >= 500 and outcome != 501


def seconds_of(retry_after: str | None, now: datetime) -> float | None:
    """Read the header ``Retry-After``: seconds, or a date.

    Examples
    --------
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> seconds_of("7", now), seconds_of("Thu, 01 Jan 2026 00:00:09 GMT", now), seconds_of("?", now)
    (7.0, 9.0, None)
    """
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - now).total_seconds(), 0.0)
