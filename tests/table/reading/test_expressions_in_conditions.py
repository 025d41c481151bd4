"""Conditions with functions, arithmetic and two columns: looked at row by row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paimonlab
from paimonlab.errors import ColumnNotFoundError, SchemaError, UnsupportedError
from paimonlab.table.table import Table

ROWS: list[dict[str, Any]] = [
    {"id": 1, "day": dt.date(2025, 12, 31), "s": " Sun ", "a": 1, "b": 2},
    {"id": 2, "day": dt.date(2026, 1, 1), "s": "rain", "a": 5, "b": 5},
    {"id": 3, "day": None, "s": None, "a": None, "b": 0},
    {"id": 4, "day": dt.date(2026, 2, 3), "s": "RAIN", "a": 9, "b": 4},
    {"id": 5, "day": dt.date(2024, 2, 29), "s": "snow", "a": -9, "b": None},
]


@pytest.fixture(params=["keys", "append"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT", "day": "DATE", "s": "STRING", "a": "INT", "b": "INT"}
    keys = ["id"] if request.param == "keys" else []
    table = catalog.create_table("db.t", columns, primary_keys=keys)
    table.write(ROWS[:3])
    table.write(ROWS[2:] if keys else ROWS[3:])
    return table


Test = Callable[[dict[str, Any]], Any]
CASES: list[tuple[str, Test]] = [
    ("year(day) = 2026", lambda row: row["day"] and row["day"].year == 2026),
    (
        "lower(s) = 'rain' AND id > 2",
        lambda row: (row["s"] or "").lower() == "rain" and row["id"] > 2,
    ),
    ("s ILIKE 'r%'", lambda row: (row["s"] or "").lower().startswith("r")),
    ("s NOT ILIKE 'r%'", lambda row: row["s"] and not row["s"].lower().startswith("r")),
    ("s NOT LIKE 'R%' AND a = a", lambda row: row["s"] and row["a"] and row["s"][0] != "R"),
    ("a > b", lambda row: None not in (row["a"], row["b"]) and row["a"] > row["b"]),
    ("a + 1 > 5 OR id = 1", lambda row: (row["a"] or 0) + 1 > 5 or row["id"] == 1),
    ("abs(a) = 9 AND b IS NULL", lambda row: row["id"] == 5),
    ("trim(s) = 'Sun' AND id IN (1, 2)", lambda row: row["id"] == 1),
    ("NOT length(s) = 4", lambda row: row["s"] is not None and len(row["s"]) != 4),
    ("coalesce(a, 0) = 0", lambda row: not row["a"]),
]


@pytest.mark.parametrize(("where", "test"), CASES, ids=[where for where, _ in CASES])
def test_rows_for_which_an_expression_is_true_are_read(
    where: str, test: Test, table: Table
) -> None:
    wanted = [row for row in ROWS if test(row)]

    scan = table.scan(["s", "id"], where)

    found = scan.to_arrow().sort_by("id")
    assert found.to_pylist() == [{"s": row["s"], "id": row["id"]} for row in wanted]
    assert scan.count() == len(wanted)
    assert table.scan(where=where).to_arrow().sort_by("id").to_pylist() == wanted
    assert table.scan(where=where, limit=1).count() == min(1, len(wanted))
    assert table.scan(where=where, limit=1).to_arrow().num_rows == min(1, len(wanted))
    assert table.scan(where=where, limit=0).to_arrow().num_rows == 0


def test_what_can_rule_out_files_still_does(table: Table) -> None:
    few = table.scan(where="id > 4 AND lower(s) = 'snow'")

    assert few.to_arrow()["id"].to_pylist() == [5]
    assert few.plan_here().files.num_rows < table.scan().plan().files.num_rows
    assert "lower(s)" in repr(few)


def test_other_states_and_readers_know_the_condition(table: Table) -> None:
    assert table.scan(where="a < b", snapshot=1).count() == 1
    assert table.scan(where="length(s) > 4").to_polars()["id"].to_list() == [1]
    with pytest.raises(UnsupportedError, match="a plan of"):
        table.scan(where="a < b").plan()


def test_other_columns_of_the_rows_are_those_of_the_same_rows(table: Table) -> None:
    scan = table.scan(["s"], "length(s) > 4", limit=1)

    assert scan.selecting(["id"]).to_arrow().to_pydict() == {"id": [1]}
    assert scan.selecting(["a", "s"]).count() == 1
    assert scan.selecting([]).count() == 1


def test_the_read_of_the_top_level_knows_the_condition(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.write_table("db.t", ROWS, primary_keys=["id"], options={"bucket": 1})
    table.compact(full=True)
    table.write([{"id": 9, "s": "hail"}])

    optimized = catalog.system_table("db.t$ro")

    assert optimized.scan(where="length(s) = 4 AND id > 4").to_arrow()["id"].to_pylist() == [5]


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("nofunction(s) = 1", UnsupportedError, "nofunction"),
        ("lower(nocolumn) = 'x'", ColumnNotFoundError, "nocolumn"),
        ("s = sun", ColumnNotFoundError, "sun"),
        ("lower(s)", UnsupportedError, "as a condition.*such as id = 5"),
        ("lower(s = 'x'", SchemaError, "cannot read"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    where: str, error: type[Exception], message: str, table: Table
) -> None:
    with pytest.raises(error, match=message):
        table.scan(where=where)
