"""Rows of a result as files; what another reader finds in them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import commands
from tests.notebook.test_magics import failure, run
from tests.notebook.test_result import make


@pytest.fixture
def table() -> pa.Table:
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return pa.table(
        {
            "n": [2**53 + 1, None],
            "s": ["", 'a,"b'],
            "d": [Decimal("1.20"), None],
            "t": pa.array([moment, None], pa.timestamp("us", "UTC")),
        }
    )


def test_csv_keeps_null_and_the_empty_text_apart(table: pa.Table, tmp_path: Path) -> None:
    size = make(table).export(tmp_path / "rows.csv")

    assert (tmp_path / "rows.csv").read_text() == (
        '"n","s","d","t"\n9007199254740993,"",1.20,2026-01-01 00:00:00.000000Z\n,"a,""b",,\n'
    )
    assert size == (tmp_path / "rows.csv").stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_parquet_and_arrow_keep_types(table: pa.Table, tmp_path: Path) -> None:
    nested = table.append_column("v", pa.array([[{"a": 1}], None]))

    make(nested).export(tmp_path / "rows.parquet")
    make(nested).export(tmp_path / "rows.arrow")

    for found in (
        pl.read_parquet(tmp_path / "rows.parquet"),
        pl.read_ipc(tmp_path / "rows.arrow"),
    ):
        assert found["n"].to_list() == [2**53 + 1, None]
        assert found["d"].to_list() == [Decimal("1.20"), None]
        assert found["v"].to_list() == [[{"a": 1}], None]


def test_what_csv_cannot_hold_is_refused_and_no_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("old")

    with pytest.raises(UnsupportedError, match="the column v of type list"):
        make(pa.table({"v": [[1]]})).export(tmp_path / "rows.csv")
    with pytest.raises(UnsupportedError, match=r"ends with '\.xlsx'"):
        make(pa.table({"v": [1]})).export(tmp_path / "rows.xlsx")

    assert (tmp_path / "rows.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cell_writes_all_rows(
    shell: InteractiveShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = paimonlab.connect(tmp_path / "w")
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "BIGINT"}).write(pa.table({"id": range(250)}))
    commands.connect(tmp_path / "w", engine="native")
    target = tmp_path / "rows.csv"

    shown = run(shell, f"%%paimon --to {target}\nSELECT id FROM db.t")

    assert shown is None
    assert capsys.readouterr().out.startswith(f"{target}: 250 rows, ")
    assert sorted(map(int, target.read_text().split()[1:])) == list(range(250))
    lines = failure(shell, capsys, f"%paimon --to {target} DROP TABLE db.t")
    assert lines[0] == "--to is for queries, and DROP TABLE is none."
