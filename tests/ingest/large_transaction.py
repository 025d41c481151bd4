"""A transaction over many rows and tables, parts of which are rolled back.

``PAIMONLAB_INGEST_TRANSACTION_ROWS=1000000`` makes it so large, over more than 300 tables; usually
it is small.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import paimonlab as pm

ROWS = int(os.environ.get("PAIMONLAB_INGEST_TRANSACTION_ROWS", "2000"))
IS_LONG = ROWS > 100_000
TABLES = 301 if IS_LONG else 5
MAX_BYTES = "32 MB" if IS_LONG else 20_000
"""Less than the transaction takes in memory."""


def tables() -> Iterator[str]:
    """Yield what creates the tables, with a row that is updated."""
    yield "CREATE TABLE big (id INT PRIMARY KEY, v VARCHAR(20))"
    yield "INSERT INTO big VALUES (0, 'before')"
    for number in range(TABLES):
        yield f"CREATE TABLE t{number} (id INT PRIMARY KEY)"


def statements(numbers: str) -> Iterator[str]:
    """Yield what one transaction does.

    Parameters
    ----------
    numbers
        A query of the server that gives the numbers from 1 to `ROWS` in ``n``.
    """
    yield f"INSERT INTO big SELECT n, CONCAT('v', n) FROM ({numbers}) AS numbers"
    yield "SAVEPOINT a"
    yield f"INSERT INTO big SELECT -n, 'gone' FROM ({numbers}) AS numbers WHERE n % 3 = 0"
    yield "ROLLBACK TO SAVEPOINT a"
    for number in range(TABLES):
        yield f"INSERT INTO t{number} VALUES ({number})"
    yield "SAVEPOINT b"
    yield "UPDATE big SET v = 'gone' WHERE id % 2 = 0"
    yield "DELETE FROM t1"
    yield "ROLLBACK TO SAVEPOINT b"
    yield "UPDATE big SET v = 'new' WHERE id % 100 = 0"
    yield "DELETE FROM big WHERE id % 100 = 1"


def check(catalog: pm.Catalog, said: dict[str, list[tuple[Any, ...]]]) -> None:
    """Make sure that tables have what the server says, all of it by one epoch."""
    identifiers = set()
    for name, rows in said.items():
        table = catalog.table(f"ods.{name}")
        found = table.scan().to_arrow()
        values = (column.to_pylist() for column in found.columns)
        assert sorted(zip(*values, strict=True)) == sorted(rows), name
        snapshots = [one for one in table.snapshots.list() if one.commit_kind.name == "APPEND"]
        identifiers.add(snapshots[-1].commit_identifier)
        assert len(snapshots) == (2 if name == "big" else 1), name
    assert len(said) == TABLES + 1
    assert len(identifiers) == 1
