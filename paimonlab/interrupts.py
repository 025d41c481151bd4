"""Ctrl-C: what must not be left half done is finished before it is answered.

An interrupted import leaves half-loaded modules, above all extensions, which can be loaded only
once: everything that needs them fails from then on.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType


class _Held:
    """A handler that only remembers that an interrupt came."""

    has_come = False
    is_in_place = False
    """Of the class: whether the main thread is holding interrupts back."""

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self.has_come = True


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Delay an interrupt until the block is done.

    Interrupts reach only the main thread; in other threads nothing is done.
    """
    if _Held.is_in_place or threading.get_ident() != threading.main_thread().ident:
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield  # nobody is interrupted
        return
    held = _Held()
    signal.signal(signal.SIGINT, held)
    _Held.is_in_place = True
    try:
        yield
    finally:
        _Held.is_in_place = False
        if signal.getsignal(signal.SIGINT) is held:
            signal.signal(signal.SIGINT, before)
        if held.has_come:
            signal.raise_signal(signal.SIGINT)


def whole_module(name: str) -> ModuleType:
    """Import a module, which is loaded as a whole."""
    with interrupts_held_back():
        return importlib.import_module(name)


class _WholeModules:
    """Finds the modules of a package, each of which is loaded as a whole with all it imports.

    A ``MetaPathFinder`` by what it does: to import that class takes 9 ms.
    """

    def __init__(self, package: str) -> None:
        self.prefix = f"{package}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if not fullname.startswith(self.prefix):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            # The loader of a module is its own.
            load = _whole(spec.loader.exec_module)
            spec.loader.exec_module = load  # type: ignore[method-assign, assignment]
        return spec


def _whole(load: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def load_whole(module: ModuleType) -> None:
        with interrupts_held_back():
            load(module)

    return load_whole


def import_whole_modules(package: str) -> None:
    """Let no interrupt leave a module of a package, or what it imports, half loaded."""
    if not any(isinstance(finder, _WholeModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WholeModules(package))
