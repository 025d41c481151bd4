"""The four tables that views are looked at with; those on a disk are made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import paimonlab as pl
from benchmarks.growth.planning import name_files
from paimonlab.notebook import demo
from paimonlab.notebook.connections import connection
from paimonlab.table.table import Table

SNAPSHOTS = 300
COLUMNS = 120
FILES = 100_000

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
    """Make a table whose metadata names 100,000 files; there are none."""
    if not folder.exists():
        name_files(_catalog(folder), "db.files", FILES)
    return _table(pl.connect(folder), "db.files")


def empty(folder: Path) -> Table:
    """Make a table that nothing was written to."""
    if not folder.exists():
        _catalog(folder).create_table("db.empty", {"id": "BIGINT NOT NULL", "v": "STRING"})
    return _table(pl.connect(folder), "db.empty")


TABLES: dict[str, Callable[[Path], Table]] = {
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
