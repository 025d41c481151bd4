"""Processes that make the same lookup stores at once, and are killed: no wrong row is found."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from paimonlab.read.lookup_stores.key_search import find_in
from paimonlab.read.lookup_stores.store_file import StoreFile
from tests.outside.processes import start
from tests.read.store_maker import FILES, KEYS, ROWS, drop, found
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


def test_a_mapped_store_outlives_that_another_process_deletes_it(tmp_path: Path) -> None:
    folder = str(tmp_path / "stores")
    held = [found(folder, number) for number in range(FILES)]
    assert found(folder, 0) is held[0], "it stays mapped"

    dropper = start(["-m", "tests.read.store_maker", folder, "--drop"])
    assert dropper.communicate() == ("", "")

    assert (dropper.returncode, len(mapped(folder))) == (0, FILES)
    assert all(" (deleted)" in line for line in mapped(folder))
    for number, store in enumerate(held):
        check_store(store, number)
    assert found(folder, 0) is not held[0]
    check(folder)
    held.clear()
    store = None
    drop(folder)
    assert mapped(folder) == []


def mapped(folder: str) -> list[str]:
    """Tell which files of a folder this process has in its memory."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return sorted({line.split(maxsplit=5)[-1] for line in maps if folder in line})


def check(folder: str) -> None:
    """Compare what is found in the stores that are left with the rows of the files."""
    for number in range(FILES):
        check_store(found(folder, number), number)


def check_store(store: StoreFile | None, number: int) -> None:
    """Compare what is found in a store with the rows of its file."""
    assert store is not None
    asked = np.arange(0, (number + 2) * ROWS, 997)
    places, positions = find_in(store, pa.table([asked], schema=KEYS))
    there = (asked % (number + 1) == 0) & (asked // (number + 1) < ROWS)
    assert places.tolist() == np.flatnonzero(there).tolist()
    assert store.rows_at(positions)["v"].to_pylist() == (asked[there] + number).tolist()
