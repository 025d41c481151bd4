"""Modules that the first statement takes, loaded while it is typed."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import time

_FOR_QUERIES = (
    "sqlglot.dialects.spark",
    "duckdb",
    "paimonlab.notebook.running.execution",
    "paimonlab.notebook.running.native_sql",
    "paimonlab.notebook.results.result",
    "paimonlab.notebook.magics.cell_running",
    "paimonlab.formats.avro.few_records",
    "paimonlab.formats.parquet.input",
    "paimonlab.table.reading.query",
    "paimonlab.table.reading.expressions",
)
_FOR_CHANGES = ("paimonlab.sql_engine.changes",)
"""Loaded later: beside a query that comes at once they would only take its time."""
_PAUSE_SECONDS = 1.0
_POLL_SECONDS = 0.05
_lock = threading.Lock()
_is_forking = threading.Event()
_thread: threading.Thread | None = None


def load_ahead() -> None:
    """Load what SQL without Spark takes, in a thread: once in a process, and only in IPython.

    Who needs a module meanwhile waits for it as for any other import. What is not installed is
    left to the statement that needs it.
    """
    global _thread  # noqa: PLW0603 - of the process
    if "IPython" not in sys.modules:
        return
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_load, name="paimonlab-loading-ahead")
            _thread.start()


def wait() -> None:
    """Wait until nothing is loaded any more; what waits for its turn is given up."""
    thread = _thread
    if thread is not None and thread is not threading.current_thread():
        _is_forking.set()
        thread.join()


def _load() -> None:
    if not _imported(_FOR_QUERIES):
        return
    # The first database that a kernel opens imports ipywidgets.
    importlib.import_module("duckdb").connect(":memory:").close()
    # Python looks through all objects when there are a quarter more: not within the first query.
    gc.collect()
    if _is_quiet():
        _imported(_FOR_CHANGES)
        gc.collect()


def _imported(names: tuple[str, ...]) -> bool:
    try:
        for name in names:
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
