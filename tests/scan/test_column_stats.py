"""What is decoded to know the statistics of some columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.spec.binary_row import decode

COLUMNS = 30


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    """Make a table of many columns, a file per version of its schema."""
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.t", {f"c{number}": "INT" for number in range(COLUMNS)})
    for version in range(3):
        table = catalog.table("db.t")
        assert isinstance(table, pl.Table)
        names = table.schema.field_names
        table.write(pa.table({name: pa.array([version], pa.int32()) for name in names}))
        catalog.alter_table("db.t", pl.AddColumn(f"new{version}", "INT"))
    found = catalog.table("db.t")
    assert isinstance(found, pl.Table)
    return found


def test_of_many_columns_only_those_of_the_condition_are_decoded(
    table: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = list[Any]()
    values = decode.values

    def counted(cells: Any, data_type: Any) -> pa.Array:
        decoded.append(data_type)
        return values(cells, data_type)

    monkeypatch.setattr(decode, "values", counted)
    plan = table.scan(where="c3 = 1").plan()

    assert plan.files.num_rows == 1
    assert len(decoded) == 2 * 3  # least and greatest, of each version


def test_where_the_pages_of_a_small_file_are_is_not_looked_up(
    table: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = list[ParquetInput]()
    index = ParquetInput._index

    def counted(self: ParquetInput) -> Any:
        looked_up.append(self)
        return index.fget(self)  # type: ignore[attr-defined]

    monkeypatch.setattr(ParquetInput, "_index", property(counted))
    rows = table.scan(["c1"], "c3 = 1").to_arrow()

    assert rows.to_pylist() == [{"c1": 1}]
    assert looked_up == []
