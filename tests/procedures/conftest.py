"""A warehouse with a database ``db``, and calls of procedures on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.procedures import bind, find
from paimonlab.table.table import Table

Values = list[dict[str, Any]]


@dataclass(frozen=True)
class Lake:
    """A catalog, and the procedures on it."""

    catalog: paimonlab.Catalog

    def call(self, procedure: str, *positional: object, **named: object) -> Values:
        """Call a procedure as ``CALL paimon.sys.…`` in the database ``db`` does: its rows."""
        found = find(procedure)
        return found.call(
            self.catalog,
            bind(found, positional, named),
            default_database="db",
            catalog_name="paimon",
        ).to_pylist()

    def keyed(self, name: str = "db.t", **options: str) -> Table:
        """Make a table of (k, v, dt) with a key, partitioned by dt."""
        return self._create(name, ["k", "dt"], {"bucket": "1", **_keys(options)})

    def append(self, name: str = "db.t", **options: str) -> Table:
        """Make an append table of (k, v, dt), partitioned by dt."""
        return self._create(name, [], {"bucket": "-1", **_keys(options)})

    def _create(self, name: str, keys: Sequence[str], options: Mapping[str, str]) -> Table:
        return self.catalog.create_table(
            name,
            {"k": "INT NOT NULL", "v": "STRING", "dt": "STRING NOT NULL"},
            primary_keys=keys,
            partition_keys=["dt"],
            options=options,
        )

    def table(self, name: str = "db.t") -> Table:
        """Open a table."""
        table = self.catalog.table(name)
        assert isinstance(table, Table)
        return table


def _keys(options: Mapping[str, str]) -> dict[str, str]:
    return {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}


def write(table: Table, *rows: tuple[int, str, str]) -> None:
    """Commit rows of (k, v, dt)."""
    columns = [list(values) for values in zip(*rows, strict=True)]
    types = [pa.int32(), pa.string(), pa.string()]
    table.write(
        pa.table(
            {
                name: pa.array(values, data_type)
                for name, values, data_type in zip(["k", "v", "dt"], columns, types, strict=True)
            }
        )
    )


def rows_of(table: Table) -> list[tuple[int, str, str]]:
    """Read all rows, sorted."""
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return an empty database ``db``."""
    catalog = paimonlab.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    return Lake(catalog)
