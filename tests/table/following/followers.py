"""Tables to follow, and a clock that does what a test wants while a follower waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

import paimonlab as pl
from paimonlab.scan.following import Position
from paimonlab.table.following.follow import FollowRequest, follow
from paimonlab.table.following.follower import ChangeBatch, Follower
from paimonlab.table.following.waiting import Clock
from paimonlab.table.inside import definition_of, store_of

Row = tuple[Any, ...]


class FakeClock:
    """Time passes only while a follower waits; then one of the given things happens."""

    def __init__(self, *happens: Callable[[], object], now: int = 2**41) -> None:
        self.now = now
        self.waits: list[int] = []
        self._happens = list(happens)

    def now_millis(self) -> int:
        """Return the time, epoch milliseconds."""
        return self.now

    def wait(
        self, woken: threading.Event, millis: int, has_news: Callable[[], bool] | None = None
    ) -> None:
        """Let the time pass, and let something happen."""
        assert not woken.is_set()
        assert has_news is None or not has_news()
        assert self._happens, "it waits although nothing will come"
        self.waits.append(millis)
        self.now += millis
        self._happens.pop(0)()


def followed(table: pl.Table, clock: Clock | None = None, **asked: Any) -> Follower:
    """Follow a table with a clock."""
    return follow(
        definition_of(table), store_of(table), FollowRequest(**asked), clock=clock or FakeClock()
    )


def rows_of(batch: ChangeBatch) -> list[Row]:
    """Return the rows of a batch, each with its kind."""
    return [tuple(row.values()) for row in batch.data.to_pylist()]


def by_snapshot(batches: Iterable[ChangeBatch]) -> dict[int, list[Row]]:
    """Return the rows of each snapshot, sorted."""
    found: dict[int, list[Row]] = {}
    for batch in batches:
        found.setdefault(batch.snapshot_id, []).extend(rows_of(batch))
    return {snapshot_id: sorted(rows, key=repr) for snapshot_id, rows in found.items()}


def everything(table: pl.Table, start: Any = "latest-full", **asked: Any) -> dict[int, list[Row]]:
    """Return what a follower finds until nothing is left, by snapshot."""
    with table.follow(start, until="latest", **asked) as follower:
        return by_snapshot(follower)


def apply(state: dict[Any, Row], rows: Iterable[Row], keys: int = 1) -> None:
    """Apply changes to a state by key: the first columns behind the kind."""
    for kind, *values in rows:
        key = tuple(values[:keys])
        if kind in ("+I", "+U"):
            state[key] = tuple(values)
        elif state.get(key) == tuple(values) or kind == "-D":
            state.pop(key, None)


def write(table: pl.Table, *rows: tuple[str, int, str | None], **asked: Any) -> None:
    """Write rows of a table with columns ``id INT, v STRING``."""
    kinds, ids, values = zip(*rows, strict=True)
    data = pa.table(
        {"id": pa.array(ids, pa.int32()), "v": pa.array(values, pa.string()), "kind": list(kinds)}
    )
    if table.primary_keys:
        table.write(data, row_kinds="kind", **asked)
    else:
        table.write(data.drop_columns("kind"), **asked)


def restored(position: Position) -> Position:
    """Return a position as it comes back from where it was kept."""
    return Position.from_bytes(position.to_bytes())
