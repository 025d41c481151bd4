"""Jobs of Spark whose rows stay in Python: which task reads what, and running them."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimonlab.spark.writing.executor_jobs import divided_by_size

if TYPE_CHECKING:
    from paimonlab.scan.split import DataSplit
    from paimonlab.spark.jvm.bridge import Bridge

TASKS_PER_CORE = 2
TASK_BYTES = 4 << 20
"""Less is no task of its own."""
_SHORT_TRACES = "SPARK_SIMPLIFIED_TRACEBACK"
_lock = threading.Lock()


def cores_of(bridge: Bridge) -> int:
    """Return how many tasks run at a time; at least one."""
    return max(bridge.spark.sparkContext.defaultParallelism, 1)


def divided_splits(units: Sequence[Sequence[DataSplit]], cores: int) -> list[bytes]:
    """Divide what is read together into tasks; returns their pickled splits."""
    sizes = [sum(split.size_bytes for split in unit) for unit in units]
    most = min(TASKS_PER_CORE * cores, 1 + sum(sizes) // TASK_BYTES)
    return [
        pickle.dumps([split for number in numbers for split in units[number]])
        for numbers in divided_by_size(sizes, most)
    ]


def run_tasks(
    bridge: Bridge, task: Callable[[Iterable[int]], Iterator[bytes]], count: int
) -> list[Any]:
    """Run so many tasks, each of which gets its number; returns what they pickled."""
    if not count:
        return []
    numbers = bridge.spark.sparkContext.parallelize(range(count), count)
    tasks = numbers.mapPartitions(task)
    with _workers_of_queries(bridge):
        tasks._jrdd  # noqa: B018 - made now, with what workers are started with
    found: Iterable[bytes] = tasks.collect()
    return [pickle.loads(outcome) for outcome in found]  # noqa: S301 - our own tasks made it


@contextmanager
def _workers_of_queries(bridge: Bridge) -> Iterator[None]:
    """Let tasks that are made meanwhile run in the Python workers that queries of Spark use.

    Workers are kept apart by their environment, and queries have one variable more. Without it a
    process of its own imports all that workers need, for a CPU second, and workers are forked anew.

    Source: apache/spark@v4.3.0 ``org.apache.spark.api.python.PythonWorkerFactory``,
    ``BasePythonRunner``.
    """
    environment = bridge.spark.sparkContext.environment
    with _lock:
        has_own = _SHORT_TRACES in environment
        if not has_own and bridge.conf.pysparkSimplifiedTraceback():
            environment[_SHORT_TRACES] = "1"
        try:
            yield
        finally:
            if not has_own:
                environment.pop(_SHORT_TRACES, None)
