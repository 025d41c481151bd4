"""A process that changes rows again and again: ``changer.py WAREHOUSE FIRST_KEY TIMES``.

It adds 1 to the row of key 0, deletes a row of its own, and prints how often it succeeded.
"""

from __future__ import annotations

import sys

import pyarrow as pa

import paimonlab
from paimonlab.errors import FilesConflictError
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.table import Table


def main(warehouse: str, first_key: int, times: int) -> None:
    """Change rows; a statement that gives up is run again."""
    table = paimonlab.connect(warehouse).table("db.t")
    assert isinstance(table, Table)
    for number in range(times):
        until_done(lambda number=number: add_one(table, by_merge=number % 2 == 1))
        until_done(lambda key=first_key + number: table.delete(f"k = {key}"))
    print(times)  # noqa: T201 - the answer


def add_one(table: Table, *, by_merge: bool) -> Snapshot | None:
    """Add 1 to the row of key 0."""
    if not by_merge:
        return table.update({"n": "n + 1"}, where="k = 0")
    source = pa.table({"k": pa.array([0], pa.int32())})
    merge = table.merge(source, "t.k = s.k").when_matched_update({"n": "t.n + 1"})
    return merge.execute().snapshot


def until_done(statement: object) -> None:
    """Run a statement until others let it."""
    assert callable(statement)
    while True:
        try:
            assert statement() is not None
        except FilesConflictError:
            continue
        return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
