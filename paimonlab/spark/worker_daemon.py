"""The process that Spark forks Python workers from: it has imported what our tasks need.

A worker that is forked from Spark's own daemon imports paimonlab, pyarrow and numpy for 0.65 CPU
seconds (of a core of 2024), and Spark ends workers that had nothing to do for a minute. Spark's
daemon imports nothing, so that it has no threads when it forks: numpy's OpenBLAS ends its threads
before a fork, and jemalloc in pyarrow takes its locks then; both start anew in the child.

Spark starts it with ``python -m`` (``spark.python.daemon.module``) and the module of the workers;
nothing may be written to standard output before Spark's daemon does.

Source: apache/spark@v4.2.0 and v4.3.0 ``pyspark/daemon.py``, ``PythonWorkerFactory``.
"""

from __future__ import annotations

import gc
import importlib
import sys
import warnings
from pathlib import Path

from pyspark.daemon import manager

MODULE = __name__ if __name__ != "__main__" else "paimonlab.spark.worker_daemon"
_WORKER = "pyspark.worker"
PRELOADED = (
    "paimonlab.read.merging",
    "paimonlab.read.splits",
    "paimonlab.spark.reading.executor_read",
    "paimonlab.spark.rows.executor_changes",
    "paimonlab.spark.rows.executor_merges",
    "paimonlab.spark.writing.executor_packets",
    "paimonlab.spark.writing.executor_write",
)


def fits(interpreter: str | None) -> bool:
    """Return whether workers run this interpreter, which can import this module.

    Parameters
    ----------
    interpreter
        What the environment says that workers run; None: nothing, then they run this one.

    Examples
    --------
    >>> fits(None), fits(sys.executable), fits("/usr/bin/python3.9")
    (True, True, False)
    """
    return interpreter is None or Path(interpreter).absolute() == Path(sys.executable).absolute()


def preload() -> None:
    """Import what tasks of reads and statements need, and leave it out of collections of garbage.

    A worker collects garbage after each task. To look at all that modules consist of would take
    0.05 CPU seconds each time, and a copy of the memory that workers share.
    """
    for name in (_WORKER, *PRELOADED):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    if sys.argv[1:2] == [_WORKER]:
        preload()
        # Python 3.12 warns of forks beside the threads that the text above speaks of.
        warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)
    manager()
