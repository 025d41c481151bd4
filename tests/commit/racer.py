"""One of several processes that write to one table. Arguments: warehouse, its number, commits.

Waits until the file ``go`` is in the warehouse, so that all start together.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa

import paimonlab


def main(warehouse: Path, number: int, commits: int) -> None:
    """Write a row in each commit and print the snapshot id of each that was acknowledged."""
    table = paimonlab.connect(str(warehouse)).table("db.t")
    assert isinstance(table, paimonlab.Table)
    while not (warehouse / "go").exists():
        time.sleep(0.001)
    for round_ in range(commits):
        snapshot = table.write(pa.table({"id": [number * 1000 + round_]}))
        assert snapshot is not None
        print(snapshot.id)  # noqa: T201 - the acknowledgement


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
