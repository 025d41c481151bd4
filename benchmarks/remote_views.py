"""Each view of a table in a store behind a link of 30 ms, and of the same table on a disk.

``python -m benchmarks.remote_views [latency in ms]`` prints milliseconds on the clock, medians of
five. The table was just opened, its manifests are known; the server, a process of its own, shares
the machine. Round trips that are made (without those of rows) and budgeted (with them) are those of
``tests/storage/stores/test_view_requests.py``.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time

import paimonlab as pm
from benchmarks.remote import serving
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.storage.stores.object_inputs import recent_tails
from tests.storage.stores.test_view_requests import BUDGETS, VIEWS, write_table

TURNS = 5


def main(latency: str = "30") -> None:
    """Draw each view of both tables in turns."""
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        write_table(pm.connect(folder))
        with serving(folder, latency, "125") as url:
            options = {"s3.endpoint": url, "s3.access-key": "a", "s3.secret-key": "b"}
            places = (
                {"warehouse": folder},
                {"warehouse": "s3://b/", "read-only": "true", **options},
            )
            for name in VIEWS:
                local, remote = (
                    statistics.median(times) for times in zip(*turns(name, places), strict=True)
                )
                made, budget = VIEWS[name][3], BUDGETS[name]
                aim = 2 * local + int(latency) * budget
                print(f"| {name} | {local:.0f} | {remote:.0f} | {made} | {budget} | {aim:.0f} |")


def turns(name: str, places: tuple[dict[str, str], ...]) -> list[tuple[float, ...]]:
    """Time a view at each place, once before it counts."""
    return [tuple(timed(name, place) for place in places) for _ in range(TURNS + 1)][1:]


def timed(name: str, place: dict[str, str]) -> float:
    """Return the milliseconds that a view of the table takes, which was just opened."""
    shared_footers.clear()
    recent_tails.clear()
    table = pm.connect(place).table("db.t")
    start = time.perf_counter()
    VIEWS[name][0](table)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main(*sys.argv[1:])
