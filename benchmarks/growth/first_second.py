"""The first second of a process: the import, and the first scan of a small table.

``python -m benchmarks.growth.first_second import`` and ``… scan WAREHOUSE`` each do one, as `rows`
asks for it.
"""

from __future__ import annotations

import py_compile
import sys
import tempfile
import time
from collections.abc import Iterator

import pyarrow as pa

from benchmarks.growth.row import ROOT, GrowthRow, in_new_process

_TIMES = 5
"""Each is done so many times, and the least counts: nothing is faster than it can be."""


def rows() -> Iterator[GrowthRow]:
    """Import beyond pyarrow; then scan a table of 100 rows with two files."""
    for path in (ROOT / "paimonlab").rglob("*.py"):
        py_compile.compile(str(path))  # as installing does
    with tempfile.TemporaryDirectory() as folder:
        _make(folder)
        for work, goal, arguments in (
            ("import paimonlab, beyond pyarrow", 150, ("import",)),
            ("first scan of 100 rows, primary key, after the import", 120, ("scan", folder)),
        ):
            cost = min(in_new_process(__name__, *arguments) for _ in range(_TIMES))
            yield GrowthRow(
                work=work,
                sizes=("one",),
                costs=(cost,),
                unit="CPU ms",
                goal=f"at most {goal} ms",
                holds=cost <= goal,
            )


def _make(warehouse: str) -> None:
    import paimonlab as pl  # noqa: PLC0415 - its import is measured

    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    for _ in range(2):
        table.write(pa.table({"id": range(100), "v": [str(number) for number in range(100)]}))


def _millis(what: str, warehouse: str) -> float:
    start = time.process_time()
    import paimonlab as pl  # noqa: PLC0415 - its import is measured

    for name in ("connect", "Table", "Schema", "col"):
        getattr(pl, name)  # loads what opening a catalog takes
    imported = time.process_time()
    if what == "import":
        return (imported - start) * 1000
    pl.connect(warehouse).table("db.t").scan().to_arrow()
    return (time.process_time() - imported) * 1000


if __name__ == "__main__":
    print(_millis(sys.argv[1], sys.argv[-1]))
