from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl

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
