"""Questions to a store that do not depend on each other are asked at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from paimonlab.storage.schemes import store_kind

Result = TypeVar("Result")
Other = TypeVar("Other")
_AT_ONCE = 16


def both(
    path: str, question: Callable[[], Result], other: Callable[[], Other]
) -> tuple[Result, Other]:
    """Ask two questions whose answers differ in kind; see `asked_together`."""
    questions: list[Callable[[], Any]] = [question, other]
    answer, of_other = asked_together(path, questions)
    return answer, of_other


def asked_together(path: str, questions: Sequence[Callable[[], Result]]) -> list[Result]:
    """Ask all of them; in a store 16 at a time, since each waits for a round trip.

    Parameters
    ----------
    path
        Of what they are about. On a local disk they are asked one after the other.
    questions
        Each is asked, whatever the others answer.

    Returns
    -------
    list
        The answers, in their order.

    Raises
    ------
    BaseException
        What the first of them raised that failed; all have ended then.
    """
    if store_kind(path) is None or len(questions) < 2:
        return [question() for question in questions]
    with ThreadPoolExecutor(min(len(questions), _AT_ONCE)) as pool:
        asked = [pool.submit(copy_context().run, question) for question in questions]
    return [one.result() for one in asked]
