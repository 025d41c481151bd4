"""Deletes and updates take the conditions that a scan takes, against a list of rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm

Row = dict[str, Any]
KINDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "rewritten": ([], {}),
    "vectors": ([], {"deletion-vectors.enabled": "true"}),
    "keys": (["id"], {"bucket": "2"}),
    "dynamic": (["id"], {}),
}
CONDITIONS: dict[str, Callable[[Row], bool | None]] = {
    "length(name) > 3": lambda row: row["name"] is not None and len(row["name"]) > 3,
    "name IS NULL OR upper(name) = 'BOB'": lambda row: row["name"] in (None, "bob"),
    "id > 5 AND a * 2 > b": lambda row: row["id"] > 5 and row["a"] * 2 > row["b"],
    "a = b": lambda row: row["a"] == row["b"],
    "year(day) = 2026 AND id IN (1, 2, 3)": lambda row: row["id"] in (1, 2, 3),
    "NOT (concat(name, '!') = 'bob!')": lambda row: row["name"] not in (None, "bob"),
    "a + b < 0": lambda _row: False,
}


def _rows() -> list[Row]:
    names = ["bob", "alice", None, "eve", "mallory"]
    return [
        {
            "id": number,
            "name": names[number % 5],
            "a": number % 4,
            "b": number % 6,
            "day": dt.date(2026, 1, 1 + number),
        }
        for number in range(20)
    ]


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> pm.Table:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    keys, options = KINDS[request.param]
    made = catalog.create_table(
        "db.t",
        {"id": "INT", "name": "STRING", "a": "INT", "b": "INT", "day": "DATE"},
        primary_keys=keys,
        options=options,
    )
    for first in range(0, 20, 7):
        made.write(_rows()[first : first + 7])
    return made


def _there(table: pm.Table) -> list[Row]:
    return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: int(row["id"]))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_delete_takes_the_rows_for_which_it_is_true(table: pm.Table, condition: str) -> None:
    before = table.snapshot
    hit = [row for row in _rows() if CONDITIONS[condition](row)]

    snapshot = table.delete(condition)

    assert _there(table) == [row for row in _rows() if row not in hit]
    assert (snapshot is None) == (not hit)
    assert hit or table.snapshot == before


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_update_changes_the_rows_for_which_it_is_true(table: pm.Table, condition: str) -> None:
    table.update({"a": "a + 100"}, where=condition)

    assert _there(table) == [
        {**row, "a": row["a"] + 100} if CONDITIONS[condition](row) else row for row in _rows()
    ]


def test_partitions_go_by_their_rows_where_a_function_is_asked(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", {"id": "INT", "day": "DATE"}, partition_keys=["day"], primary_keys=["day", "id"]
    )
    table.write([{"id": n, "day": dt.date(2025 + n % 2, 1, 1)} for n in range(6)])

    table.delete("year(day) = 2025")

    assert {row["day"].year for row in table.scan().to_arrow().to_pylist()} == {2026}


def test_what_cannot_be_asked_changes_nothing(table: pm.Table) -> None:
    before = table.snapshot

    with pytest.raises(pm.errors.UnsupportedError, match="soundex"):
        table.delete("soundex(name) = 'B100'")
    with pytest.raises(pm.errors.ColumnNotFoundError, match="nam"):
        table.update({"a": 1}, where="length(nam) > 2")
    assert table.snapshot == before
