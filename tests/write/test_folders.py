from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import DataError


def test_a_partition_value_too_long_for_a_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"p": "STRING", "v": "STRING"}, partition_keys=["p"])

    with pytest.raises(DataError, match=r"db\.t: a value of partition column 'p' is too long"):
        table.write(pa.table({"p": ["ok", "ü" * 130], "v": ["a", "b"]}))

    assert table.snapshot is None
    assert not list(Path(table.path).rglob("*.parquet"))


def test_the_longest_name_is_written(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"p": "STRING", "v": "STRING"}, partition_keys=["p"])

    table.write(pa.table({"p": ["x" * 253], "v": ["a"]}))

    assert table.scan().count() == 1
