"""Tables of many columns: how many are allowed, and that work grows with them, not faster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError
from paimonlab.same_objects import MOST_REMEMBERED
from tests.catalog.lines_of_columns import columns

ROOT = Path(__file__).parents[2]


def catalog_of(folder: Path, **options: Any) -> pl.Catalog:
    catalog = pl.connect(folder, **options)
    catalog.create_database("db", exist_ok=True)
    return catalog


def test_a_table_of_more_than_20000_columns_is_refused(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)

    with pytest.raises(SchemaError, match=r"db\.t has 20,001 columns, .*max_columns=20001"):
        catalog.create_table("db.t", columns(20_001))

    assert catalog.tables("db") == []


def test_more_columns_are_allowed_where_they_are_asked_for(tmp_path: Path) -> None:
    catalog_of(tmp_path, max_columns=5).create_table("db.t", columns(5))
    options = {"warehouse": str(tmp_path), "max-columns": "4"}

    with pytest.raises(SchemaError, match="5 columns, more than the 4 allowed"):
        pl.connect(options).table("db.t")
    with pytest.raises(SchemaError, match="6 columns, more than the 5 allowed"):
        pl.connect(tmp_path, max_columns=5).alter_table("db.t", pl.AddColumn("d", "INT"))
    pl.connect(options, max_columns=6).alter_table("db.t", pl.AddColumn("d", "INT"))

    table = pl.connect(tmp_path).table("db.t")
    assert isinstance(table, pl.Table)
    assert len(table.schema.fields) == 6


@pytest.mark.parametrize("value", ["", "0", "-1", "many"])
def test_a_number_of_columns_is_positive(tmp_path: Path, value: str) -> None:
    options: Mapping[str, str] = {"warehouse": str(tmp_path), "max-columns": value}

    with pytest.raises(ValueError, match="max-columns"):
        pl.connect(options)
    with pytest.raises(ValueError, match="max-columns"):
        pl.connect(tmp_path, max_columns=0)


def test_work_grows_with_columns_and_not_faster(tmp_path: Path) -> None:
    least = MOST_REMEMBERED + 44  # what is made of fewer columns is remembered
    counts = (8, least, 4 * least)  # the first loads what is loaded on use
    command = [sys.executable, "-m", "tests.catalog.lines_of_columns", str(tmp_path)]
    done = subprocess.run(
        [*command, *map(str, counts)], cwd=ROOT, capture_output=True, text=True, check=True
    )

    wrote, read = zip(*json.loads(done.stdout), strict=True)

    for lines in (wrote, read):
        # Four times as much, and some of it twice: two threads may find out the same at once.
        assert lines[2] < 5.5 * lines[1]
