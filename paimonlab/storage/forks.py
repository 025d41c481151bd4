"""What a forked process must not share with its parent.

``os.fork``, and so ``multiprocessing`` on Linux before Python 3.14, copies a process with all
its memory but with only one of its threads. Random ids that were drawn before are the same in
all children, locks may be held by threads that are not there, open files share their offset.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count as counted
from typing import Any, Protocol
from uuid import uuid4

import pyarrow as pa

from paimonlab.errors import ForkedProcessError
from paimonlab.interrupts import whole_module

_forks = 0


def fork_count() -> int:
    """Count the forks between this process and the one that imported this module first.

    It differs between a process and all those it was forked from, not between its children.
    """
    return _forks


class Renewable(Protocol):
    """What many threads of a process share."""

    def renew(self) -> None:
        """Make it usable in a child, although a thread that is gone may have been changing it."""


_renewables: weakref.WeakSet[Renewable] = weakref.WeakSet()
_outputs: weakref.WeakSet[pa.NativeFile] = weakref.WeakSet()


def renew_in_children(shared: Renewable) -> None:
    """Let `Renewable.renew` be called first of all in a forked child."""
    _renewables.add(shared)


def kept_from_children(output: pa.NativeFile) -> pa.NativeFile:
    """Return a file that is being written, which a forked child can do nothing to.

    The child has it open at the same position; whatever it writes, even when it only drops a
    writer, is discarded.
    """
    _outputs.add(output)
    return output


def _begin_child() -> None:
    global _forks  # noqa: PLW0603 - it belongs to the process
    _forks += 1
    for shared in list(_renewables):
        shared.renew()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in list(_outputs):
        if not output.closed:
            os.dup2(nowhere, output.fileno())
    os.close(nowhere)


if hasattr(os, "register_at_fork"):  # systems without fork have none
    os.register_at_fork(after_in_child=_begin_child)


class Home:
    """The process that made something which no other process may use."""

    __slots__ = ("_forks",)

    def __init__(self) -> None:
        self._forks = _forks

    @property
    def is_here(self) -> bool:
        """Whether this is that process, not one that was forked from it."""
        return self._forks == _forks

    def check(self, what: str, instead: str) -> None:
        """Refuse what only that process may do.

        Parameters
        ----------
        what
            Belongs there, such as "a writer of db.t".
        instead
            What to do in this process.

        Raises
        ------
        ForkedProcessError
            If this is another one.
        """
        if self._forks != _forks:
            raise ForkedProcessError(what, instead)


def at_exit(action: Callable[..., object], *arguments: Any) -> None:
    """Call something when this process ends, but not when a fork of it ends."""
    home = Home()

    def act() -> None:
        if home.is_here:
            action(*arguments)

    atexit.register(act)


def delete_at_exit(folder: str) -> None:
    """Delete a folder when this process ends; a failure does not matter."""
    at_exit(whole_module("shutil").rmtree, folder, True)  # noqa: FBT003 - errors are ignored


@contextmanager
def scratch_folder(prefix: str, parent: str | None = None) -> Iterator[str]:
    """Make a temporary folder; a forked child leaves it alone.

    Parameters
    ----------
    prefix
        What its name begins with.
    parent
        Where it is made; None: where the system has such folders.
    """
    home = Home()
    folder: str = whole_module("tempfile").mkdtemp(prefix=prefix, dir=parent)
    try:
        yield folder
    finally:
        if home.is_here:
            whole_module("shutil").rmtree(folder)


class UniqueNames:
    """Names that are never given twice: a random id, a dash and a number that rises from 0.

    A forked child, a copy and one that was pickled go on under an id of their own.
    """

    __slots__ = ("_series",)

    def __init__(self) -> None:
        self._series: tuple[int, str, counted[int]] | None = None

    def next(self) -> str:
        """Return a name that was never given before. Thread-safe."""
        series = self._series
        if series is None or series[0] != _forks:
            series = self._series = (_forks, str(uuid4()), counted())
        _, identity, numbers = series
        return f"{identity}-{next(numbers)}"

    def __reduce__(self) -> tuple[type[UniqueNames], tuple[()]]:
        return UniqueNames, ()
