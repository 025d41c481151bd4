"""Two shards of one table, of which one gets a column many rows before the other.

``PAIMONLAB_INGEST_SHARD_ROWS=1000`` lets it have as many rows before, in each way of following
columns; usually they are few, in one way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import paimonlab as pm
from paimonlab.ingest.job import Job
from tests.ingest.altered_tables import Mode
from tests.waiting import until

ROWS = int(os.environ.get("PAIMONLAB_INGEST_SHARD_ROWS", "40"))
MODES: tuple[Mode, ...] = ("lenient", "exact", "strict") if ROWS >= 1000 else ("exact",)
_STEP = 20
SECONDS = 30 + ROWS / 20
"""For the whole to happen, on a machine that does other things."""
TABLES = (
    "CREATE TABLE t1 (id INT PRIMARY KEY, v VARCHAR(20))",
    "CREATE TABLE t2 (id INT PRIMARY KEY, v VARCHAR(20))",
    "INSERT INTO t1 VALUES (0, 'begin')",
    "INSERT INTO t2 VALUES (-1, 'begin')",
)


def statements() -> Iterator[str]:
    """Yield what happens to both, each statement a transaction."""
    yield "ALTER TABLE t1 ADD n INT"
    for first in range(1, ROWS + 1, _STEP):
        numbers = range(first, first + _STEP)
        yield "INSERT INTO t1 VALUES " + ", ".join(f"({i}, 'one', {i})" for i in numbers)
        yield "INSERT INTO t2 VALUES " + ", ".join(f"({-i - 1}, 'two')" for i in numbers)
    yield "ALTER TABLE t2 ADD n INT"
    yield "INSERT INTO t2 VALUES (-1000000, 'late', 7)"
    yield "INSERT INTO t1 VALUES (1000000, 'late', 8)"
    yield "UPDATE t2 SET n = 9 WHERE id = -1"


def check(
    job: Job,
    catalog: pm.Catalog,
    run: Callable[[str], object],
    rows_of: Callable[[str], Sequence[tuple[Any, ...]]],
) -> None:
    """Let it happen while a job runs; compare what the table has with both of the server."""
    job.start()
    try:
        until(lambda: job.status.phase == "caught up")
        for statement in statements():
            run(statement)
        wanted = [row for name in ("t1", "t2") for row in rows_of(name)]
        until(lambda: job.status.rows >= len(wanted), SECONDS)
        assert [one.stopped for one in job.status.tables] == [None]
    finally:
        job.stop(60)
    job.run()
    assert not {"failed", "stalled", "stopped"} & {event.kind for event in job.events}
    found = catalog.table(f"{job.name}.whole").scan(columns=["id", "v", "n"]).to_arrow()
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    assert sorted(rows, key=lambda row: row[0]) == sorted(wanted, key=lambda row: row[0])
    assert found["n"].null_count == found.num_rows - 3 - found["v"].to_pylist().count("one")
