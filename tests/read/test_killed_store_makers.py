"""Processes that make the same lookup stores at once, and are killed: no wrong row is found."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from paimonlab.read.lookup_stores.key_search import find_in
from tests.outside.processes import start
from tests.read.store_maker import FILES, KEYS, ROWS, found
from tests.repetitions import times

KILLS = times(3)


def test_stores_are_right_whoever_is_killed_while_making_them(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    folder = tmp_path / "stores"
    chance = random.Random(int(rng.integers(1 << 30)))
    for _ in range(KILLS):
        makers = [start(["-m", "tests.read.store_maker", str(folder)]) for _ in range(2)]
        for maker in makers:
            assert maker.stdout is not None
            assert maker.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.01, 0.3))
        for maker in makers:
            maker.kill()
        for maker in makers:
            _, err = maker.communicate()
            assert err == ""
        check(str(folder))


def check(folder: str) -> None:
    """Compare what is found in the stores that are left with the rows of the files."""
    for number in range(FILES):
        store = found(folder, number)
        assert store is not None
        asked = np.arange(0, (number + 2) * ROWS, 997)
        places, positions = find_in(store, pa.table([asked], schema=KEYS))
        there = (asked % (number + 1) == 0) & (asked // (number + 1) < ROWS)
        assert places.tolist() == np.flatnonzero(there).tolist()
        assert store.rows_at(positions)["v"].to_pylist() == (asked[there] + number).tolist()
