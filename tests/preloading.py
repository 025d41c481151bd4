"""Modules loaded once for many processes that are forked: each would load them anew."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable


def load_what_it_takes(work: Callable[[], object]) -> None:
    """Load all modules that some work takes.

    Which they are, a process says that does the work; here it would start threads, of which
    forked processes would miss all but one.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        work()
        with os.fdopen(writing, "w") as out:
            out.write(" ".join(sys.modules))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        names = told.read().split()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the work fails by itself"
    for name in names:
        if name not in sys.modules:
            importlib.import_module(name)
