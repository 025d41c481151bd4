"""What queries of small tables cost without Spark, and what they cost a warm session of it.

``python -m benchmarks.native_small`` asks four queries of two tables of 1,000 rows. Processor seconds: of a first
query in a new process, with all that it imports; of each later one; and of the same in a Spark session that has
answered each query before, Python and its JVM together. ``--without-spark`` leaves that out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import paimonlab as pm

QUERIES = (
    "SELECT city, count(*) AS n, sum(amount) AS s FROM {0}db.t GROUP BY city ORDER BY city",
    "SELECT t.id, u.name FROM {0}db.t t JOIN {0}db.u u ON t.city = u.city WHERE t.amount > 500 ORDER BY t.id LIMIT 20",
    "SELECT id, rank() OVER (PARTITION BY city ORDER BY amount DESC, id) AS r FROM {0}db.t QUALIFY r = 1",
    "WITH a AS (SELECT city, avg(amount) AS m FROM {0}db.t GROUP BY city) SELECT count(*) FROM {0}db.t t JOIN a ON t.city = a.city AND t.amount > a.m",
)
_FIRST = """
import sys, time
import pyarrow, duckdb
begin = time.process_time(), time.perf_counter()
import paimonlab as pm
pm.sql(sys.argv[2], catalog=pm.connect(sys.argv[1])).to_arrow()
print(time.process_time() - begin[0], time.perf_counter() - begin[1])
"""
"""What a first query takes beside the libraries that any other tool would import as well."""
REPEATS = 9


def main() -> None:
    """Build, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-spark", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        catalog = build(Path(folder))
        first = [_first(folder, QUERIES[0].format("")) for _ in range(REPEATS)]
        cpu, wall = (min(one[part] for one in first) for part in (0, 1))
        print(f"first query of a process: {1000 * cpu:.0f} CPU ms, {1000 * wall:.0f} ms")
        asked = [partial(_answered, catalog, query.format("")) for query in QUERIES]
        native = [_least(work) for work in asked]
        print(f"later ones: {_shown(native)} CPU ms")
        if not options.without_spark:
            sparks = _of_spark(folder)
            print(f"a warm Spark cell: {_shown(sparks)} CPU ms")
            ratios = [theirs / ours for ours, theirs in zip(native, sparks, strict=True)]
            print(f"Spark takes {min(ratios):.1f} to {max(ratios):.1f} times as long")


def build(folder: Path) -> pm.Catalog:
    """Make the tables."""
    catalog = pm.connect(str(folder))
    catalog.create_database("db")
    ids = list(range(1000))
    rows = {"id": ids, "city": [f"c{n % 20}" for n in ids], "amount": [n * 37 % 1000 for n in ids]}
    catalog.write_table("db.t", rows, primary_keys=["id"], options={"bucket": "1"})
    names = {"city": [f"c{n}" for n in range(20)], "name": [f"name {n}" for n in range(20)]}
    catalog.write_table("db.u", names)
    return catalog


def _answered(catalog: pm.Catalog, text: str) -> object:
    return pm.sql(text, catalog=catalog).to_arrow()


def _first(folder: str, query: str) -> tuple[float, float]:
    made = subprocess.run(
        [sys.executable, "-c", _FIRST, folder, query], capture_output=True, text=True, check=True
    )
    cpu, wall = made.stdout.split()
    return float(cpu), float(wall)


def _least(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    taken = []
    for _ in range(REPEATS):
        begin = clock()
        work()
        taken.append(clock() - begin)
    return min(taken)


def _of_spark(folder: str) -> list[float]:
    from paimonlab.spark import connect  # noqa: PLC0415 - not without Spark

    spark = connect(folder)

    jvm = _children(os.getpid())

    def clock() -> float:
        return time.process_time() + sum(map(_seconds, jvm))

    found = []
    for query in QUERIES:
        text = query.format("paimon.")
        for _ in range(REPEATS):
            spark.sql(text).toArrow()
        found.append(_least(partial(_of_session, spark, text), clock))
    spark.stop()
    return found


def _of_session(spark: Any, text: str) -> object:
    return spark.sql(text).toArrow()


def _children(pid: int) -> list[int]:
    """Return the processes that a process started, and those started by them."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [one for child in map(int, listed) for one in (child, *_children(child))]


def _seconds(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _shown(seconds: list[float]) -> str:
    millis = ", ".join(f"{1000 * one:.0f}" for one in seconds)
    return f"median {1000 * statistics.median(seconds):.0f} ({millis})"


if __name__ == "__main__":
    main()
