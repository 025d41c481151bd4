"""Modules that the first statement takes, loaded while it is typed."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_FOR_CELLS = (
    "paimonlab.notebook.running.execution",
    "paimonlab.notebook.results.result",
    "paimonlab.notebook.magics.cell_running",
    "paimonlab.formats.avro.few_records",
    "paimonlab.formats.parquet.input",
    "paimonlab.table.reading.query",
    "paimonlab.table.reading.expressions",
)
"""Of all engines: neither sqlglot nor DuckDB."""
_FOR_QUERIES = ("sqlglot.dialects.spark", "duckdb", "paimonlab.notebook.running.native_sql")
_FOR_CHANGES = ("paimonlab.sql_engine.changes",)
"""Loaded later: beside a query that comes at once they would only take its time."""
_PAUSE_SECONDS = 1.0
_POLL_SECONDS = 0.05
_PATIENCE_SECONDS = 0.3
"""How long the next module waits for a statement that runs."""
_READY_SECONDS = 0.5
"""How long connecting waits for what queries take."""
_lock = threading.Lock()
_is_forking = threading.Event()
_is_idle = threading.Event()
_is_idle.set()
_has_loaded = threading.Event()
_waiting: deque[Callable[[], None]] = deque()
_begun: set[Callable[[], None]] = set()
_thread: threading.Thread | None = None


def load_for_cells() -> None:
    """Load what SQL takes on any engine, in a thread: once in a process, and only in IPython.

    Who needs a module meanwhile waits for it as for any other import. What is not installed is
    left to the statement that needs it.
    """
    _begin(_load_for_cells)


def load_for_queries() -> None:
    """Load what SQL without Spark takes besides, in the same way, and wait for a moment.

    A connection that is there is ready then: a query that follows at once does not wait instead.
    A statement that connects by itself waits for nothing: it takes what it needs.
    """
    is_begun = _begin(_load_for_cells) and _begin(_load_for_queries)
    if is_begun and _is_idle.is_set():
        _has_loaded.wait(_READY_SECONDS)


@contextmanager
def statement_runs() -> Iterator[None]:
    """Let the thread begin no other module for a moment: the statement needs the processor."""
    _is_idle.clear()
    try:
        yield
    finally:
        _is_idle.set()


def _begin(work: Callable[[], None]) -> bool:
    """Let the thread do it when it has done what it was given before; say whether it does."""
    global _thread  # noqa: PLW0603 - of the process
    if "IPython" not in sys.modules:
        return False
    with _lock:
        if work in _begun:
            return True
        _begun.add(work)
        _waiting.append(work)
        if _thread is None:
            _thread = threading.Thread(target=_work, name="paimonlab-loading-ahead")
            _thread.start()
    return True


def _work() -> None:
    global _thread  # noqa: PLW0603 - of the process
    while True:
        with _lock:
            if not _waiting:
                _thread = None
                return
            work = _waiting.popleft()
        work()


def wait() -> None:
    """Wait until nothing is loaded any more; what is loaded later is given up."""
    thread = _thread
    if thread is not None and thread is not threading.current_thread():
        _is_forking.set()
        _is_idle.set()
        thread.join()


def _load_for_cells() -> None:
    with _without_collections():
        _imported(_FOR_CELLS)
        if "ipykernel" in sys.modules:
            # Of views, and of the first database that DuckDB opens.
            _imported(("ipywidgets",))


def _load_for_queries() -> None:
    with _without_collections():
        try:
            is_loaded = _imported(_FOR_QUERIES)
        finally:
            _has_loaded.set()
    if is_loaded and _is_quiet():
        with _without_collections():
            _imported(_FOR_CHANGES)
        importlib.import_module("duckdb").connect(":memory:").close()
        # Python looks through all objects when there are a quarter more: not in the first query.
        gc.collect()


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep Python from looking for garbage; modules leave next to none.

    It would look through the hundred thousands of objects that modules are made of again and again,
    for as long as a third of the time that they take. What was made counts as old in the end,
    and is looked through with all other old objects.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()


def _imported(names: tuple[str, ...]) -> bool:
    try:
        for name in names:
            _is_idle.wait(_PATIENCE_SECONDS)
            importlib.import_module(name)
    except ImportError:
        return False
    return True


def _is_quiet() -> bool:
    """Wait a while; tell whether the process goes on, and does not want to be forked."""
    end = time.monotonic() + _PAUSE_SECONDS
    while time.monotonic() < end:
        if _is_forking.wait(_POLL_SECONDS) or not threading.main_thread().is_alive():
            return False
    return True


# A child of fork would find the locks of modules that are being loaded, held by nobody.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait)
