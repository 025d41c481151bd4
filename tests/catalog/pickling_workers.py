"""Workers that are given, and give back, no more than can be sent: as those of an engine."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class PicklingWorkers:
    """Do one job after the other, each as if it were in a process of its own."""

    tasks: int = 3
    divides: bool = True

    def at_most(self, tasks: int | None) -> PicklingWorkers:
        return self if tasks is None else PicklingWorkers(min(tasks, self.tasks))

    def __call__(
        self,
        work: Callable[[Any], Any],
        jobs: Sequence[Any],
        *,
        done: Callable[[Any], object] | None = None,
        **_: Any,
    ) -> list[Any]:
        results = []
        for job in jobs:
            results.append(_sent(_sent(work)(_sent(job))))
            if done is not None:
                done(job)
        return results

    def exchange(
        self,
        read: Callable[[Any], Any],
        jobs: Sequence[Any],
        write: Callable[[Any, Iterator[pa.RecordBatch]], Any],
        shares: Sequence[Any],
        *,
        done: Callable[[Any], object] | None = None,
        **_: Any,
    ) -> list[Any]:
        held = defaultdict[int, list[pa.RecordBatch]](list)
        for job in jobs:
            for share, rows in _sent(read)(_sent(job)):
                held[share].append(_sent(rows))
            if done is not None:
                done(job)
        assert set(held) <= set(range(len(shares)))
        return [
            _sent(_sent(write)(_sent(share), iter(held[number]))) if number in held else None
            for number, share in enumerate(shares)
        ]


def _sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
