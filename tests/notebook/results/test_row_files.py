"""Rows of a result as files; what another reader finds in them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyarrow import parquet
from pyspark.sql import SparkSession

import paimonlab
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import commands
from paimonlab.notebook.results import spark_fetch as fetch
from paimonlab.notebook.results.row_files import export
from tests.notebook.magics.test_magics import failure, run
from tests.notebook.results.test_result import make


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


def test_json_loses_no_digit(table: pa.Table, tmp_path: Path) -> None:
    kind = pa.struct([("a", pa.list_(pa.int64())), ("m", pa.map_(pa.string(), pa.float32()))])
    values: list[Any] = [{"a": [2**53, 2**63 - 1, None], "m": [("k", 0.1)]}, None]
    pairs = pa.array([[(1, "a")], None], pa.map_(pa.int32(), pa.string()))
    rows = table.append_column("v", pa.array(values, kind)).append_column("p", pairs)
    rows = rows.append_column("x", pa.array([float("nan"), 0.1]))
    rows = rows.append_column("y", pa.array([b"\x00\xff", None]))
    rows = rows.append_column("f", pa.array([-0.1, float("-inf")], pa.float32()))

    made = make(rows).export(tmp_path / "rows.json")

    lines = (tmp_path / "rows.json").read_bytes().splitlines()
    assert made == (tmp_path / "rows.json").stat().st_size
    assert [json.loads(line) for line in lines] == [
        {
            "n": "9007199254740993",
            "s": "",
            "d": "1.20",
            "t": "2026-01-01T00:00:00Z",
            "v": {"a": [2**53, "9223372036854775807", None], "m": {"k": 0.1}},
            "p": [[1, "a"]],
            "x": "NaN",
            "y": "0x00ff",
            "f": -0.1,
        },
        dict.fromkeys("ndtvpy") | {"s": 'a,"b', "x": 0.1, "f": "-Infinity"},
    ]
    with pytest.raises(UnsupportedError, match="two columns named n"):
        make(pa.table([[1], [2]], names=["n", "n"])).export(tmp_path / "rows.json")


def test_markdown_has_all_rows_and_escapes_them(tmp_path: Path) -> None:
    rows = pa.concat_tables([pa.table({"a|b": ["<b>", None]}), pa.table({"a|b": ["x\ny"]})])

    make(rows).export(tmp_path / "rows.md")

    assert (tmp_path / "rows.md").read_text().splitlines() == [
        "| a\\|b |",
        "| --- |",
        "| \\<b\\> |",
        "| NULL |",
        "| x\\\\ny |",
    ]


def test_batches_are_written_as_they_come(tmp_path: Path) -> None:
    schema = pa.schema([("n", pa.int64())])
    seen: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(3):
            (part,) = tmp_path.glob(".rows.json.*.part")
            seen.append(part.stat().st_size)
            yield pa.record_batch([pa.array([number] * 100_000)], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    written = export(reader, tmp_path / "rows.json")

    assert written.row_count == 300_000
    assert 0 == seen[0] < seen[1] < seen[2]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "json", "md"])
def test_spark_streams_all_rows_in_order(
    connected: InteractiveShell, tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / f"rows.{ending}"
    sql = "SELECT id, CAST(id AS STRING) AS id FROM range(0, 25000, 1, 4) ORDER BY 1 DESC"
    sql = sql if ending in {"parquet", "arrow"} else sql.replace("AS id", "AS s")
    expected = list(range(24_999, -1, -1))

    run(connected, f"%%paimon --to {target}\n{sql}")

    assert capsys.readouterr().out.startswith(f"{target}: 25,000 rows, ")
    found: list[int] = []
    if ending == "csv":
        found = [int(line.split(",")[0]) for line in target.read_text().splitlines()[1:]]
    elif ending == "json":
        found = [json.loads(line)["id"] for line in target.read_text().splitlines()]
    elif ending == "md":
        found = [int(line.split("|")[1]) for line in target.read_text().splitlines()[2:]]
    else:
        made = parquet.ParquetFile(target).read() if ending == "parquet" else _arrow_file(target)
        found = made.column(0).to_pylist()
        assert made.column_names == ["id", "id"]
    assert found == expected


def test_values_that_travel_as_text_and_no_rows_are_streamed(
    spark: SparkSession, tmp_path: Path
) -> None:
    sql = (
        "SELECT interval '1-2' year to month AS i, timestamp'2026-01-01' AS t, time'12:30:00' AS c"
    )
    stream = fetch.stream(spark.sql(sql))

    assert stream.read_all() == fetch.fetch(spark.sql(sql), limit=None).table
    empty = fetch.stream(spark.sql(f"{sql} LIMIT 0"))
    assert export(empty, tmp_path / "rows.csv").row_count == 0
    assert (tmp_path / "rows.csv").read_text() == '"i","t","c"\n'


def _arrow_file(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def test_what_csv_cannot_hold_is_refused_and_no_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('"old"')

    with pytest.raises(UnsupportedError, match="the column v of type list"):
        make(pa.table({"v": [[1]]})).export(tmp_path / "rows.csv")
    with pytest.raises(UnsupportedError, match=r"ends with '\.xlsx'"):
        make(pa.table({"v": [1]})).export(tmp_path / "rows.xlsx")

    assert (tmp_path / "rows.csv").read_text() == '"old"'
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
    assert lines[0] == "--to is for queries, and DROP TABLE is not one."
    run(shell, f"%paimon x << --to {target} SELECT id FROM db.t")
    assert len(shell.user_ns["x"]) == 250
    assert "250 rows" in capsys.readouterr().out
