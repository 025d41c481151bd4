"""Files of Hive tables that Java moved in as they are: they have no partition columns."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from tests.interop.pair import Pair

pytestmark = pytest.mark.interop
COLUMNS = {"v": "INT", "day": "DATE", "t": "STRING", "n": "INT"}
FOLDERS = [("2026-11-01", "1"), ("2026-11-02", "2"), ("2026-11-02", "__DEFAULT_PARTITION__")]


@pytest.fixture(params=["parquet", "orc"])
def moved(request: pytest.FixtureRequest, pair: Pair, tmp_path: Path) -> Pair:
    options = {"file.format": request.param}
    pair.create("java", "db.t", COLUMNS, partition=["day", "n"], options=options)
    folders = []
    for number, texts in enumerate(FOLDERS):
        folder = tmp_path / f"hive/day={texts[0]}/n={texts[1]}"
        folder.mkdir(parents=True)
        first = 10 * number
        rows = pa.table(
            {"v": pa.array(range(first, first + 4), pa.int32()), "t": ["a", None, "b", "c"]}
        )
        write = pq.write_table if request.param == "parquet" else pyarrow.orc.write_table
        write(rows, folder / f"000000_0.{request.param}")
        folders.append([str(folder), texts])
    pair.java("import_folders", table="db.t", format=request.param, folders=folders)
    return pair


def test_partition_columns_come_from_the_partition(moved: Pair) -> None:
    moved.assert_same("db.t")
    scan = moved.open("db.t").scan(columns=["n", "v", "day"], where="v >= 13 and v < 22")
    days, numbers = [date(2026, 11, 2)] * 3, [2, None, None]
    assert scan.to_arrow().sort_by("v").to_pydict() == {
        "n": numbers,
        "v": [13, 20, 21],
        "day": days,
    }
