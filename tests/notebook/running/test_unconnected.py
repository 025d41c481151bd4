"""Cells that read only files and data frames take no connection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.results.result import PartialResultWarning

ROWS = [{"id": 1, "name": "kite"}, {"id": 2, "name": "rope"}, {"id": 3, "name": "kite"}]
GROUPED = {"name": ["kite", "rope"], "n": [2, 1]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the same rows as a file of each kind, and make their folder the current one."""
    frame = pl.DataFrame(ROWS)
    frame.write_csv(tmp_path / "rows.csv")
    pq.write_table(frame.to_arrow(), tmp_path / "rows.parquet")
    (tmp_path / "rows.json").write_text("\n".join(map(json.dumps, ROWS)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(shell: InteractiveShell, sql: str, options: str = "") -> dict[str, list[Any]]:
    """Run a cell; return its rows."""
    done = shell.run_cell(f"%%paimon {options}\n{sql}")
    assert done.success, done
    assert not connections.is_connected()
    rows: dict[str, list[Any]] = done.result.to_arrow().to_pydict()
    return rows


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.json"])
@pytest.mark.parametrize("engine", ["", "--engine native", "--engine auto"])
def test_a_file_is_read_without_a_connection(
    shell: InteractiveShell, folder: Path, name: str, engine: str
) -> None:
    del folder
    sql = f"SELECT name, count(*) AS n FROM '{name}' GROUP BY name ORDER BY name"
    assert answer(shell, sql, engine) == GROUPED


def test_files_frames_and_queries_by_a_name_are_joined(
    shell: InteractiveShell, folder: Path
) -> None:
    shell.user_ns["df"] = pl.DataFrame({"id": [1, 2], "price": [3.5, 1.25]})
    sql = f"""WITH sold AS (SELECT * FROM parquet.`{folder}/rows.parquet`)
        SELECT sold.name, df.price FROM sold JOIN df ON df.id = sold.id
        WHERE sold.id IN (SELECT id FROM 'rows.csv') ORDER BY 1"""

    assert answer(shell, sql) == {"name": ["kite", "rope"], "price": [3.5, 1.25]}
    assert answer(shell, "SELECT 1 + 1 AS two") == {"two": [2]}


def test_its_rows_are_exported_and_profiled(
    shell: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.run_cell("%%paimon --to copy.csv\nSELECT * FROM 'rows.csv'").success
    assert pl.read_csv(folder / "copy.csv").to_dicts() == ROWS
    shell.user_ns["df"] = pl.DataFrame(ROWS)
    profiled = shell.run_cell("%%paimon --profile\nSELECT name FROM df WHERE id < 3")

    assert profiled.success, capsys.readouterr()
    assert profiled.result.value.row_count == 2


@pytest.mark.parametrize(
    ("options", "sql"),
    [
        ("", "SELECT * FROM db.t JOIN 'rows.csv' USING (id)"),
        ("", "SELECT * FROM nothing_of_this_name"),
        ("", "SHOW TABLES"),
        ("", "INSERT INTO db.t SELECT * FROM 'rows.csv'"),
        ("--engine spark", "SELECT * FROM 'rows.csv'"),
        ("--lazy", "SELECT * FROM 'rows.csv'"),
    ],
)
def test_what_takes_a_catalog_or_spark_says_how_to_connect(
    shell: InteractiveShell,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    options: str,
    sql: str,
) -> None:
    del folder
    assert not shell.run_cell(f"%%paimon {options}\n{sql}").success
    captured = capsys.readouterr()
    assert "not connected to a warehouse; first: %paimon_connect" in captured.out + captured.err


def test_what_is_wrong_with_it_is_said(
    shell: InteractiveShell, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del folder
    for sql, said in [
        ("SELECT nme FROM 'rows.csv'", "nme"),
        ("SELECT * FROM 'row.csv'", "rows.csv"),
        ("SELECT * FRM 'rows.csv'", "FRM"),
    ]:
        assert not shell.run_cell(f"%%paimon\n{sql}").success
        captured = capsys.readouterr()
        assert said in captured.out + captured.err


def test_a_configured_default_is_connected_to_first(
    shell: InteractiveShell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", str(folder / "warehouse"))
    monkeypatch.setenv("PAIMONLAB_ENGINE", "native")

    assert shell.run_cell("%paimon SELECT id FROM 'rows.csv' WHERE id = 2").success
    assert connections.current().engine == "native"


OUTSIDE = pl.DataFrame({"id": [2, 3], "price": [1.5, 2.5]})


def test_frames_of_a_program_are_tables_where_sql_is_called(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.write_table("db.t", ROWS, primary_keys=["id"])
    inside = OUTSIDE.to_pandas()

    assert paimonlab.sql("SELECT sum(price) AS p FROM OUTSIDE").to_arrow()["p"].to_pylist() == [4.0]
    joined = paimonlab.sql(
        "SELECT name, price FROM db.t JOIN inside USING (id) ORDER BY name", catalog=catalog
    )
    assert joined.to_arrow().to_pylist() == [
        {"name": "kite", "price": 2.5},
        {"name": "rope", "price": 1.5},
    ]
    given = paimonlab.sql("SELECT * FROM inside", frames={"inside": pl.DataFrame({"a": [7]})})
    assert given.to_arrow().to_pydict() == {"a": [7]}
    del inside
    with pytest.raises(paimonlab.errors.PaimonError, match="inside is no data frame"):
        paimonlab.sql("SELECT * FROM inside", catalog=catalog)
    assert not connections.is_connected()


def test_statements_on_a_catalog_change_its_tables(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    new = pl.DataFrame(ROWS)

    made = "CREATE TABLE db.t AS SELECT * FROM new; CALL sys.compact('db.t'); SELECT * FROM db.t"
    rows = paimonlab.sql(made, catalog=catalog).to_arrow()

    assert rows.num_rows == new.height == catalog.table("db.t").scan().count()
    with pytest.raises(ValueError, match="leave out spark and engine"):
        paimonlab.sql("SELECT 1", catalog=catalog, engine="auto")
    read_only = paimonlab.connect({"warehouse": str(tmp_path), "read-only": "true"})
    with pytest.raises(paimonlab.errors.PaimonError, match="read-only"):
        paimonlab.sql("DROP TABLE db.t", catalog=read_only)


def test_categories_of_polars_are_texts(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    kinds = pl.DataFrame({"id": [1, 2], "v": ["x", None]}, schema_overrides={"v": pl.Categorical})
    table = catalog.write_table("db.t", kinds, primary_keys=["id"])

    gone = pl.DataFrame({"id": [2], "kind": ["-D"]})
    assert table.scan().to_arrow().to_pydict() == {"id": [1, 2], "v": ["x", None]}
    table.write(gone, row_kinds="kind")
    assert table.scan().to_arrow().to_pydict() == {"id": [1], "v": ["x"]}
    table.write(gone.with_columns(pl.lit("+I", pl.Categorical).alias("kind")), row_kinds="kind")
    assert table.scan().count() == 2
    found = paimonlab.sql("SELECT id FROM kinds WHERE v = 'x'", catalog=catalog).to_arrow()
    assert found.to_pydict() == {"id": [1]}


def test_a_program_gets_all_rows(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.write_table("db.many", pl.DataFrame({"id": range(1_000)}))

    assert paimonlab.sql("SELECT id FROM db.many", catalog=catalog).to_arrow().num_rows == 1_000
    some = paimonlab.sql("SELECT id FROM db.many", catalog=catalog, limit=10)
    with pytest.warns(PartialResultWarning):
        assert some.to_arrow().num_rows == 10
