"""The four tables that views are looked at with; those on a disk are made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet  # noqa: TID251 - bytes of a small file

import paimonlab as pl
from benchmarks.growth.planning import name_files
from paimonlab.notebook import demo
from paimonlab.notebook.connections import connection
from paimonlab.table.table import Table

SNAPSHOTS = 300
COLUMNS = 120
FILES = 100_000
FILE_BYTES = 1_000
ROW_OF_MANY = 777
"""The id of a row of the table of many files that no other row has."""

_HISTORY = "db.every_measurement_of_all_sensors_in_the_northern_plant"


def small(_folder: Path) -> Table:
    """Return the demo's table."""
    demo()
    return _table(connection.current().catalog, "demo.orders")


def history(folder: Path) -> Table:
    """Make a table of 300 snapshots and 120 columns with long names."""
    if folder.exists():
        return _table(pl.connect(folder), _HISTORY)
    names = [
        f"measured_value_of_the_sensor.number_{at:03}_in_hall_{at % 7}" for at in range(COLUMNS)
    ]
    columns = {"identifier_of_the_device": "BIGINT NOT NULL", **dict.fromkeys(names, "DOUBLE")}
    table = _catalog(folder).create_table(
        _HISTORY, columns, primary_keys=["identifier_of_the_device"], options={"bucket": "2"}
    )
    chance = np.random.default_rng(1)
    for number in range(SNAPSHOTS):
        if (table.refresh().snapshots.ids() or [0])[-1] >= SNAPSHOTS:
            break
        ids = np.arange(number, number + 20)
        rows = {name: chance.normal(size=20) * 10 ** (number % 9) for name in names}
        table.write(pa.table({"identifier_of_the_device": ids, **rows}))
        if number == SNAPSHOTS // 3:
            table.tags.create("the_last_one_before_the_migration")
    return table


def many(folder: Path) -> Table:
    """Make a table of 100,000 files; those of a partition are links to one."""
    if not folder.exists():
        catalog = _catalog(folder)
        name_files(catalog, "db.files", FILES)
        _link_files(catalog.system_table("db.files$files").scan(["file_path"]).to_arrow())
        for number in (ROW_OF_MANY, ROW_OF_MANY + 1):
            row = {"dt": ["d005"], "id": pa.array([number]), "v": ["the only one"]}
            _table(catalog, "db.files").write(pa.table(row))
    return _table(pl.connect(folder), "db.files")


def _link_files(files: pa.Table) -> None:
    sources: dict[Path, Path] = {}
    for name in files["file_path"].to_pylist():
        path = Path(name.removeprefix("file:"))
        source = sources.setdefault(path.parent, path)
        if source is path:
            path.write_bytes(_rows_of(path.parent.parent.name.removeprefix("dt=")))
        else:
            path.hardlink_to(source)


def _rows_of(day: str) -> bytes:
    """Write ten rows into as many bytes as `name_files` says."""
    texts = [letter * 16 for letter in "abcdefghiz"]
    rows = pa.table({"dt": [day] * 10, "id": pa.array([1, *range(1, 10)]), "v": texts})
    target = pa.BufferOutputStream()
    parquet.write_table(rows, target, store_schema=False, write_statistics=False)
    data = target.getvalue().to_pybytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:footer] + bytes(FILE_BYTES - len(data)) + data[footer:]


def empty(folder: Path) -> Table:
    """Make a table that nothing was written to."""
    if not folder.exists():
        _catalog(folder).create_table("db.empty", {"id": "BIGINT NOT NULL", "v": "STRING"})
    return _table(pl.connect(folder), "db.empty")


MakeTable = Callable[[Path], Table]
TABLES: dict[str, MakeTable] = {
    "small": small,
    "history": history,
    "many": many,
    "empty": empty,
}


def _catalog(folder: Path) -> pl.Catalog:
    catalog = pl.connect(folder)
    catalog.create_database("db")
    return catalog


def _table(catalog: pl.Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table
