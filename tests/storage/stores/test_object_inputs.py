"""Objects that are read at random, against their bytes."""

from __future__ import annotations

import os
import random

import obstore
import pytest
from obstore.store import MemoryStore

from paimonlab.storage.file_io import Buffer
from paimonlab.storage.random_input import RandomFile
from paimonlab.storage.stores import object_inputs
from paimonlab.storage.stores.object_inputs import ObjectInput


def test_what_is_fetched_ahead_is_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces, gaps and limits are small here, so that reads begin and end anywhere in them."""
    seed = int(os.environ.get("PAIMONLAB_SEED") or random.randrange(10**6))
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    chance = random.Random(seed)
    for name, size in (("GAP", 40), ("RANGE", 700), ("AHEAD", 4_000), ("LEAST", 90), ("TAIL", 64)):
        monkeypatch.setattr(object_inputs, f"_{name}_BYTES", size)
    data = chance.randbytes(10_000)
    store = MemoryStore()
    obstore.put(store, "a", data)

    opened = RandomFile(ObjectInput(store, "a", "memory://a", ()), "r")  # type: ignore[arg-type]
    for _ in range(300):
        starts = [chance.randrange(len(data)) for _ in range(chance.randrange(4))]
        opened.will_read([(start, start + chance.randrange(1_500)) for start in starts])
        for _ in range(3):
            start = chance.choice([*starts, chance.randrange(len(data))])
            size = chance.randrange(2_000)
            opened.seek(start)
            assert opened.read(size) == data[start : start + size]


def test_columns_are_fetched_by_few_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    obstore.put(store, "a", bytes(30 << 20))
    opened = ObjectInput(store, "a", "memory://a", ())  # type: ignore[arg-type]
    asked: list[tuple[int, int]] = []
    fetch = ObjectInput._fetched_all

    def noted(self: ObjectInput, ranges: list[tuple[int, int]]) -> list[Buffer]:
        asked.extend(ranges)
        return fetch(self, ranges)

    monkeypatch.setattr(ObjectInput, "_fetched_all", noted)
    opened.will_read([(1 << 20, 2 << 20), (4, 1 << 20), (20 << 20, 30 << 20)])
    for start in (4, 1 << 20, 20 << 20, 25 << 20):
        opened.seek(start)
        assert opened.read(1 << 20) == bytes(1 << 20)

    tail = (30 << 20) - object_inputs._TAIL_BYTES
    assert asked == [(4, 2 << 20), (20 << 20, 28 << 20), (28 << 20, tail)]
