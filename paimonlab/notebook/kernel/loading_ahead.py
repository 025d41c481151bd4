"""Modules that the first statement takes, loaded while it is typed."""

from __future__ import annotations

import importlib
import os
import sys
import threading

_MODULES = (
    "sqlglot.dialects.spark",
    "duckdb",
    "paimonlab.notebook.running.execution",
    "paimonlab.notebook.running.native_sql",
    "paimonlab.sql_engine.changes",
    "paimonlab.notebook.results.result",
)
_lock = threading.Lock()
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
    """Wait until nothing is loaded any more."""
    thread = _thread
    if thread is not None and thread is not threading.current_thread():
        thread.join()


def _load() -> None:
    for module in _MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            return


# A child of fork would find the locks of modules that are being loaded, held by nobody.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=wait)
