"""Work that Ctrl-C does not wait for: it goes on by itself, and the next run waits for it.

Python answers an interrupt in the main thread, between its own steps. A file that is written, a
disk that syncs or a library that asks a broker is one such step, however long it takes. So such
work is done in another thread while the main thread only waits, which an interrupt ends at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_TOLD_SECONDS = 10.0

_left: dict[str, list[threading.Thread]] = {}
"""Threads that were not waited for, by what they work on."""


class _Work:
    """A call in a thread."""

    def __init__(self, call: Callable[[], Any], name: str, *, is_daemon: bool) -> None:
        self._call = call
        self.answer: Any = None
        self.problem: BaseException | None = None
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run, name=name, daemon=is_daemon)

    def _run(self) -> None:
        try:
            self.answer = self._call()
        except BaseException as problem:  # noqa: BLE001 - who waits raises it
            self.problem = problem
        finally:
            self.done.set()

    def result(self) -> Any:
        if self.problem is not None:
            raise self.problem
        return self.answer


def apart(work: Callable[[], Result], *, of: str, name: str) -> Result:
    """Do something in another thread and wait for it, unless an interrupt comes.

    Parameters
    ----------
    work
        What is done. It must leave all in order when nobody waits for it any more.
    of
        What it works on: `wait_for_left` waits for it by that.
    name
        Of the thread.

    Raises
    ------
    KeyboardInterrupt
        If an interrupt came; the work goes on.
    BaseException
        What the work raised.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # nobody is interrupted here
    made = _Work(work, name, is_daemon=False)
    made.thread.start()
    try:
        made.done.wait()
    except KeyboardInterrupt:
        _left.setdefault(of, []).append(made.thread)
        raise
    result: Result = made.result()
    return result


def leave(work: Callable[[], object], *, of: str, name: str) -> None:
    """Let something be done in another thread that nobody waits for but who works on it next."""
    made = _Work(work, name, is_daemon=False)
    _left.setdefault(of, []).append(made.thread)
    made.thread.start()


def wait_for_left(of: str) -> None:
    """Wait for work that an interrupt left alone; the log says so while it takes long."""
    for thread in _left.get(of, ()):
        thread.join(_TOLD_SECONDS)
        while thread.is_alive():
            logger.warning("%s: waiting for what an interrupt left to do: %s", of, thread.name)
            thread.join(_TOLD_SECONDS)
    _left.pop(of, None)


def answer_of(question: Callable[[], Result], *, name: str) -> Result:
    """Ask something that changes nothing, in another thread; an interrupt does not wait for it."""
    if threading.current_thread() is not threading.main_thread():
        return question()
    made = _Work(question, name, is_daemon=True)
    made.thread.start()
    made.done.wait()
    result: Result = made.result()
    return result


def done_within(close: Callable[[], object], *, name: str, seconds: float) -> None:
    """Close something in another thread, and wait for that some time at most."""
    made = _Work(close, name, is_daemon=True)
    made.thread.start()
    if made.done.wait(seconds):
        made.result()
