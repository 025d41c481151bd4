"""Iceberg's metadata of our tables, read by DuckDB's extension for Iceberg."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from tests.interop.python_environments import required_environment
from tests.table.test_iceberg import TABLE_LOCATION, V3, metadata_file, metadata_folder, ours

pytestmark = pytest.mark.interop

_DRIVER = Path(__file__).parent / "duckdb_driver.py"
_RELEASE = "1.5.5"
"""The last that has its extensions as packages."""
Read = Callable[[pl.Table], list[tuple[Any, ...]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    extensions = [f"duckdb-extension-{name}=={_RELEASE}" for name in ("avro", "iceberg")]
    python = required_environment("duckdb", f"duckdb=={_RELEASE}", "pyarrow", *extensions)

    def rows(table: pl.Table) -> list[tuple[Any, ...]]:
        out = tmp_path / "rows.arrow"
        command = [str(python), str(_DRIVER), str(metadata_file(metadata_folder(table))), str(out)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(run.stderr[-1000:])
        with pa.memory_map(str(out)) as source:
            found = pa.ipc.open_file(source).read_all()
        return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)

    return rows


def test_an_append_table_whose_columns_change(catalog: pl.Catalog, read: Read) -> None:
    columns = {
        "id": "INT",
        "day": "DATE",
        "v": "STRING",
        "x": "DECIMAL(10, 2)",
        "ts": "TIMESTAMP(6)",
        "flag": "BOOLEAN",
        "d": "DOUBLE",
        "l": "ARRAY<INT>",
        "m": "MAP<STRING, INT>",
        "r": "ROW<a INT, b STRING>",
    }
    table = catalog.create_table("db.t", columns, partition_keys=["day"], options=TABLE_LOCATION)
    schema = table.scan().to_arrow().schema

    def rows(start: int, end: int) -> pa.Table:
        return pa.Table.from_pylist(
            [
                {
                    "id": n,
                    "day": dt.date(2026, 1, 1 + n % 3),
                    "v": None if n % 5 == 0 else f"v{n} ü",
                    "x": decimal.Decimal(n) / 4,
                    "ts": dt.datetime(2026, 1, 1, 0, 0, n % 60, n),
                    "flag": n % 2 == 0,
                    "d": n / 3,
                    "l": [n, None],
                    "m": [(f"k{n}", n)],
                    "r": {"a": n, "b": "z"},
                }
                for n in range(start, end)
            ],
            schema=schema,
        )

    table.write(rows(0, 50))
    table.write(rows(50, 90))
    assert read(table) == ours(table)
    catalog.alter_table("db.t", pl.AddColumn("n", "BIGINT"), pl.RenameColumn("v", "w"))
    changed = catalog.table("db.t")
    assert isinstance(changed, pl.Table)
    changed.delete("id = 7")
    assert len(ours(changed)) == 89
    assert read(changed) == ours(changed)


def test_a_table_with_keys_as_of_its_last_compaction(catalog: pl.Catalog, read: Read) -> None:
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "v": "STRING"},
        primary_keys=["id"],
        options={**TABLE_LOCATION, "bucket": "2"},
    )
    table.write({"id": list(range(100)), "v": ["a"] * 100})
    table.write({"id": list(range(50)), "v": ["b"] * 50})
    table.compact(full=True)
    assert read(table) == ours(table)
    assert len(ours(table)) == 100


def test_deletion_vectors_are_refused_and_never_passed_over(
    catalog: pl.Catalog, read: Read
) -> None:
    """DuckDB takes whole Puffin files alone, which those of Paimon are not."""
    table = catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING"}, options=V3)
    table.write({"id": list(range(100)), "v": ["a"] * 100})
    assert read(table) == ours(table)
    table.delete("id % 3 = 0")
    with pytest.raises(RuntimeError, match="not a valid Puffin file"):
        read(table)
