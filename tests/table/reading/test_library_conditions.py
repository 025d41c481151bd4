"""Conditions made with pyarrow or polars mean what they mean there, and rule out files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import paimonlab
from paimonlab.errors import ColumnNotFoundError, SchemaError, UnsupportedError
from paimonlab.table.reading.arrow_texts import read_expression
from paimonlab.table.table import Table

DAY = dt.date(2026, 1, 2)
ROWS = pa.table(
    {
        "id": pa.array(range(8), pa.int32()),
        "s": ['a"b\\n', "Rain", None, "rain", "SUN", "", "é", "rain"],
        "d": [DAY, None, DAY, DAY + dt.timedelta(1), None, DAY, DAY, DAY],
        "x": [1.5, float("nan"), None, -0.0, 2.5, 0.0, float("inf"), 3.5],
        "a b": pa.array([1, 2, None, 4, 5, 6, 7, 8], pa.int64()),
    }
)
TYPES = {"id": "INT NOT NULL", "s": "STRING", "d": "DATE", "x": "DOUBLE", "a b": "BIGINT"}
f, c = pc.field, pl.col
OF_ARROW = [
    f("id") > 5,
    (f("id") >= 2) & ~(f("s") == "rain"),
    (f("s") == 'a"b\\n') | (f("d") > DAY),
    f("s").is_null() | f("d").is_valid(),
    f("a b") != 4,
    f("x") > 1,
    ~(f("x") < 1),
    f("id").isin([1, 4]),
    pc.utf8_lower(f("s")) == "rain",
    pc.year(f("d")) == 2026,
    f("id") == pc.scalar(pa.scalar(3, pa.int8())),
    f("id") < f("a b"),
]
OF_POLARS = [
    c("id") > 5,
    (c("id") >= 2) & ~(c("s") == "rain"),
    (c("s") == 'a"b\\n') | (c("d") > DAY),
    c("s").is_null() | c("d").is_not_null(),
    c("id") > 5,
    c("x") > 1,
    ~(c("x") < 1),
    c("id").is_in([1, 4]),
    (c("s").str.to_lowercase() == "rain") & (c("id") > 1),
    c("d").dt.year() == 2026,
    c("a b") < c("id"),
]


@pytest.fixture(scope="module", params=["keys", "append"])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    catalog = paimonlab.connect(tmp_path_factory.mktemp("w"))
    catalog.create_database("db")
    keys = ["id"] if request.param == "keys" else []
    made = catalog.create_table("db.t", TYPES, primary_keys=keys)
    made.write(ROWS[:5])
    made.write(ROWS[3:] if keys else ROWS[5:])
    return made


def ids(rows: Any) -> list[int]:
    found: list[int] = sorted(pa.table(rows)["id"].to_pylist())
    return found


@pytest.mark.parametrize("where", OF_ARROW, ids=str)
def test_rows_are_those_that_pyarrow_finds(where: pc.Expression, table: Table) -> None:
    wanted = ids(ROWS.filter(where))

    scan = table.scan(["s", "id"], where)

    assert (ids(scan), scan.count()) == (wanted, len(wanted))
    assert ids(table.scan(["id"], where, snapshot=1)) == ids(ROWS[:5].filter(where))
    assert ids(table.scan().to_dataset().to_table(columns=["id"], filter=where)) == wanted
    assert len(table.scan(where=where, limit=1).to_arrow()) == min(1, len(wanted))


@pytest.mark.parametrize("where", OF_POLARS, ids=str)
def test_rows_are_those_that_polars_finds(where: pl.Expr, table: Table) -> None:
    wanted = ids(pl.DataFrame(ROWS).filter(where).to_arrow())

    assert ids(table.scan(["id", "d"], where)) == wanted
    assert ids(table.scan().to_polars_lazy().filter(where).select("id").collect()) == wanted


def test_files_are_ruled_out_where_the_condition_is_understood(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", TYPES)
    for number in range(4):
        table.write(ROWS[2 * number : 2 * number + 2])
    (tmp_path / "db.db" / "t" / "bucket-0").rename(tmp_path / "hidden")
    last = max((tmp_path / "hidden").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    (tmp_path / "db.db" / "t" / "bucket-0").mkdir()
    last.rename(tmp_path / "db.db" / "t" / "bucket-0" / last.name)
    sql = table.scan().to_duckdb(name="t")

    # Only the last file is there: who opens another one fails.
    assert ids(table.scan(where=f("id") > 5)) == [6, 7]
    assert ids(table.scan(where=(c("id") > 5) & (c("s").str.to_uppercase() == "RAIN"))) == [7]
    assert ids(table.scan().to_polars_lazy().filter(c("id") == 7).collect()) == [7]
    assert sql.filter("id > 6").project("id").fetchall() == [(7,)]
    with pytest.raises(Exception, match="bucket-0"):
        table.scan().to_arrow()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, upper(s) u FROM t WHERE id > 3 AND s IS NOT NULL",
        "SELECT count(*) n FROM t",
        "SELECT sum(\"a b\") n, d FROM t WHERE d >= DATE '2026-01-02' OR id = 4 GROUP BY d",
        "SELECT id FROM t WHERE id IN (1, 3, 99) OR x > 2",
        "SELECT u.id FROM t JOIN t u ON t.s = u.s AND t.id < u.id",
    ],
)
def test_duckdb_answers_as_it_does_of_the_rows_themselves(query: str, table: Table) -> None:
    database = duckdb.connect()
    database.register("plain", ROWS)
    relation = table.scan().to_duckdb(database, name="t")

    found = database.sql(query).fetchall()

    wanted = database.sql(
        query.replace("FROM t", "FROM plain AS t").replace("JOIN t ", "JOIN plain ")
    )
    assert sorted(map(repr, found)) == sorted(map(repr, wanted.fetchall()))
    assert relation.columns == ROWS.column_names


def test_a_dataset_of_a_narrowed_scan_stays_within_it(table: Table) -> None:
    rows = table.scan(["id", "s"], "id > 2", limit=3).to_dataset()
    by_function = table.scan(["id", "s"], "lower(s) = 'rain'").to_dataset()

    assert rows.schema.names == ["id", "s"]
    assert rows.count_rows() == 3
    assert rows.to_table(filter=f("id") < 3).num_rows == 0
    assert ids(by_function.to_table(filter=f("id") > 1)) == [3, 7]
    assert by_function.count_rows(f("id") > 1) == 2
    assert rows.to_table(columns={"n": f("id") * 0}).column_names == ["n"]


OTHER = ds.InMemoryDataset(pa.table({"id": pa.array([3, 7, 9], pa.int32()), "n": [1, 2, 3]}))


@pytest.mark.parametrize(
    "use",
    [
        lambda rows: rows.filter(f("id") > 5),
        lambda rows: rows.filter(pc.utf8_lower(f("s")) == "rain"),
        lambda rows: rows.sort_by([("id", "descending")]),
        lambda rows: rows.join(OTHER, "id", join_type="inner"),
        lambda rows: rows.join(rows, "id", right_suffix="_again"),
        lambda rows: rows.filter(f("id") > 3).sort_by("s"),
        lambda rows: rows.filter(f("id") == 5).join_asof(OTHER, "id", [], 2),
    ],
)
def test_a_dataset_answers_as_one_in_memory(use: Any, table: Table) -> None:
    found = use(table.scan(["id", "s"]).to_dataset()).to_table()

    wanted = use(ds.InMemoryDataset(table.scan(["id", "s"]).to_arrow())).to_table()
    assert found.sort_by("id").equals(wanted.sort_by("id"))


@pytest.mark.parametrize(
    "use",
    [
        lambda rows: rows.get_fragments(),
        lambda rows: rows.replace_schema(rows.schema),
        lambda rows: ds.dataset([rows, rows]).to_table(),
        lambda rows: OTHER.join(rows, "id"),
    ],
)
def test_what_pyarrow_would_read_by_itself_is_refused(use: Any, table: Table) -> None:
    with pytest.raises(UnsupportedError, match="dataset of a scan"):
        use(table.scan(["id"]).to_dataset())


def test_verbs_take_them(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", TYPES, primary_keys=["id"])
    table.write(ROWS)

    table.delete(pc.utf8_lower(f("s")) == "rain")
    table.update({"s": "'new'"}, where=c("id") >= 5)

    left = table.scan(["id", "s"]).to_arrow().sort_by("id")
    assert left["id"].to_pylist() == [0, 2, 4, 5, 6]
    assert left["s"].to_pylist()[-2:] == ["new", "new"]
    assert ids(table.changes(0, 1, where=f("id") < 3).to_arrow()) == [0, 1, 2]
    with pytest.raises(UnsupportedError, match="only columns that are compared"):
        table.changes(0, 1, where=pc.utf8_lower(f("s")) == "rain")


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        (c("id") > c("id").mean(), UnsupportedError, "Agg may look at other rows"),
        (c("id").shift() > 1, UnsupportedError, "Shift may look at other rows"),
        (pl.lit(value=True), UnsupportedError, "it reads no column"),
        (c("idd") > 1, ColumnNotFoundError, "idd"),
        (f("idd") > 1, SchemaError, "No match for FieldRef"),
        (c("id") + 1, SchemaError, "no truth value"),
        (f("id") + 1, SchemaError, "no truth value"),
        (pc.cumulative_sum(f("id")) > 1, SchemaError, "non-scalar"),
    ],
)
def test_what_cannot_be_asked_of_a_row_is_refused(
    where: Any, error: type[Exception], message: str, table: Table
) -> None:
    with pytest.raises(error, match=message):
        table.scan(where=where)


def test_a_text_that_looks_like_a_comparison_is_not_one() -> None:
    schema = pa.schema([("id", pa.int64()), ("id > 2) or (id", pa.int64()), ("f", pa.float64())])

    assert read_expression(f("id > 2) or (id") < 1, schema) is None
    assert read_expression(f("f") > 1, schema) is None
    assert read_expression(f("id") > 1.5, schema) is None
    assert str(read_expression(~(f("id") > 1), schema)) == "NOT id > 1"
