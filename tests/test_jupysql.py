"""Cells of jupysql, and data frames that ask SQLAlchemy, read and write a warehouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import paimonlab
from paimonlab import dbapi

sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    sqlalchemy.dialects.registry.register(
        "paimonlab", "paimonlab.sqlalchemy_dialect", "PaimonDialect"
    )
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    rows = [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    catalog.write_table("db.t", rows, primary_keys=["id"], options={"bucket": "1"})
    return tmp_path


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    pytest.importorskip("sql.magic", reason="jupysql is not installed")
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell.instance(config=config)
    _run(made, "%load_ext sql")
    yield made
    InteractiveShell.clear_instance()


def _run(shell: InteractiveShell, cell: str) -> Any:
    done = shell.run_cell(cell)  # type: ignore[no-untyped-call]
    done.raise_error()
    return done.result


def test_cells_of_jupysql_answer(
    shell: InteractiveShell, warehouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run(shell, f"%sql paimonlab:///{warehouse}")
    _run(shell, "%config SqlMagic.named_parameters = 'enabled'")
    shell.user_ns["least"] = 2

    _run(shell, "%sql INSERT INTO db.t VALUES (3, 'c')")
    asked = "%%sql\nSELECT id, upper(v) AS v\nFROM db.t WHERE id >= :least ORDER BY id"
    frame = _run(shell, asked).DataFrame()
    _run(shell, "%sql --save kept SELECT id FROM db.t")
    greatest = list(_run(shell, "%sql --with kept SELECT max(id) AS most FROM kept"))
    _run(shell, "%load_ext paimonlab")
    after = list(_run(shell, "%sql SELECT 1 AS one"))

    assert frame.to_dict("list") == {"id": [2, 3], "v": ["B", "C"]}
    assert [tuple(row) for row in greatest] == [(3,)]
    assert [tuple(row) for row in after] == [(1,)]
    assert "t" in str(_run(shell, "%sqlcmd tables -s db"))
    capsys.readouterr()
    shell.run_cell("%sql SELECT nope FROM db.t")  # type: ignore[no-untyped-call]
    said = capsys.readouterr()
    assert "db.t has no column 'nope'; it has id, v" in said.out + said.err


def test_frames_are_read_and_written(warehouse: Path) -> None:
    engine = sqlalchemy.create_engine(f"paimonlab:///{warehouse}")

    pd.DataFrame({"id": [3], "v": ["c"]}).to_sql(
        "t", engine, schema="db", if_exists="append", index=False
    )
    pl.DataFrame({"id": [4], "v": ["d"]}).write_database("db.t", engine, if_table_exists="append")

    query = "SELECT id, v FROM db.t WHERE id > 1 ORDER BY id"
    wanted = {"id": [2, 3, 4], "v": ["b", "c", "d"]}
    assert pd.read_sql_table("t", engine, schema="db").sort_values("id")["id"].tolist() == [
        1,
        2,
        3,
        4,
    ]
    assert pd.read_sql(query, engine).to_dict("list") == wanted
    with dbapi.connect(str(warehouse)) as connection:
        assert pl.read_database(query, connection).to_dict(as_series=False) == wanted
    assert pl.read_database(query, engine).to_dict(as_series=False) == wanted
