"""Changes of many rows while they are read: what a server does, and how its rows are compared.

``PAIMONLAB_INGEST_ROWS=1000000`` reads as many, of four tables, and changes a fifth of that number
meanwhile: 60 % are updated, 20 % inserted, 20 % deleted, and keys change. Usually they are few.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import paimonlab as pm
from paimonlab.ingest.job import Job
from tests.waiting import until

ROWS = int(os.environ.get("PAIMONLAB_INGEST_ROWS", "4000"))
TABLES = ("t0", "t1", "t2", "t3")
SECONDS = 120 + ROWS / 2_000
"""For the whole to happen, on a machine that does other things."""
_STEPS = 10
"""Parts in which each table changes."""


def creating(numbers: Callable[[int], str]) -> Iterator[str]:
    """Yield what makes the tables.

    Parameters
    ----------
    numbers
        A query of the server that gives the numbers from 1 to another in ``n``.
    """
    for name in TABLES:
        yield f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT, v VARCHAR(40))"
        yield (
            f"INSERT INTO {name} SELECT n, 0, CONCAT('row ', n * 7919 % 99991) "
            f"FROM ({numbers(ROWS // len(TABLES))}) AS numbers"
        )


def changing(numbers: Callable[[int], str]) -> Iterator[str]:
    """Yield what changes a fifth of the rows, each statement a transaction."""
    each = ROWS // len(TABLES)
    part = each // _STEPS
    most = each // 25
    for step in range(_STEPS):
        low, high = step * part + 1, (step + 1) * part
        for name in TABLES:
            within = f"id BETWEEN {low} AND {high}"
            yield f"UPDATE {name} SET n = n + {step + 1}, v = 'new' WHERE {within} AND id % 9 = 0"
            yield f"DELETE FROM {name} WHERE {within} AND id % 25 = 1"
            yield (
                f"INSERT INTO {name} SELECT {2 * each + step * most} + n, {step}, 'added' "
                f"FROM ({numbers(most // _STEPS)}) AS numbers"
            )
            # Another key, for one row in a hundred.
            yield f"UPDATE {name} SET id = -id WHERE {within} AND id % 100 = 3"


def read_meanwhile(job: Job, change: Callable[[], object]) -> None:
    """Let changes happen once rows are read, then read all there is."""
    job.start()
    try:
        until(lambda: job.status.rows or job.status.snapshot_rows, SECONDS)
        change()
        until(lambda: job.status.phase == "caught up", SECONDS)
    finally:
        job.stop(SECONDS)
    job.run()
    assert not {"failed", "stalled"} & {event.kind for event in job.events}


def check(catalog: pm.Catalog, rows_of: Callable[[str], Sequence[tuple[Any, ...]]]) -> None:
    """Compare the tables with those of the server, row by row."""
    for name in TABLES:
        found = catalog.table(f"ods.{name}").scan().to_arrow()
        rows = sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))
        wanted = sorted(map(tuple, rows_of(name)))
        assert len(rows) == len(wanted), name
        assert rows == wanted, name
        assert {row[2] for row in rows} >= {"new", "added"}
        assert any(row[0] < 0 for row in rows)
