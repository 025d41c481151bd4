from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError

ROWS = 100_000


@pytest.mark.parametrize("has_key", [False, True])
def test_files_are_about_as_large_as_the_option_says(tmp_path: Path, has_key: bool) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"target-file-size": "300 kb"} | ({"bucket": "1"} if has_key else {})
    keys = ["k"] if has_key else []
    table = catalog.create_table(
        "db.t", {"k": "BIGINT", "v": "DOUBLE"}, primary_keys=keys, options=options
    )
    values = np.random.default_rng(1).random(ROWS)

    table.write(pa.table({"k": np.arange(ROWS), "v": values}))

    files = table.scan().plan().files
    sizes = files["file_size_bytes"].to_pylist()
    assert len(sizes) > 2
    assert max(sizes) < 700_000
    assert min(sizes[:-1]) > 150_000
    assert table.scan().to_arrow()["v"].to_numpy().sum() == pytest.approx(values.sum())


@pytest.mark.parametrize("has_key", [False, True])
def test_files_have_no_more_rows_than_the_option_says(tmp_path: Path, has_key: bool) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"target-file-row-num": "700", "write-only": "true"}
    if has_key:
        options |= {"bucket": "1", "changelog-producer": "input"}
    table = catalog.create_table(
        "db.t", {"k": "BIGINT"}, primary_keys=["k"] if has_key else [], options=options
    )

    table.write(pa.table({"k": np.arange(1500)}))
    table.write(pa.table({"k": np.arange(3)}))

    files = table.scan().plan().files
    assert sorted(files["row_count"].to_pylist()) == [3, 100, 700, 700]
    assert len(list(Path(table.path).rglob("changelog-*"))) == (4 if has_key else 0)
    assert table.fsck(deep=True).findings == ()


def test_a_file_has_at_least_one_row(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")

    with pytest.raises(SchemaError, match="target-file-row-num"):
        catalog.create_table("db.t", {"k": "BIGINT"}, options={"target-file-row-num": "0"})
