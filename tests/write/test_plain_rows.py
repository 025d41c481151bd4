"""What people have at hand: lists of dicts, dicts of lists, Python's types, numbers as options."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from paimonlab.catalog import Catalog, connect
from paimonlab.errors import ColumnNotFoundError, DataError
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table

COLUMNS = {"id": "BIGINT", "v": "STRING", "n": "INT"}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = connect(tmp_path)
    opened.create_database("db")
    return opened


@pytest.fixture
def table(catalog: Catalog) -> Table:
    return catalog.create_table("db.t", COLUMNS)


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": 1, "v": "a"}, {"id": 2, "n": 7}],
        {"id": [1, 2], "v": ["a", None], "n": [None, 7]},
        {"id": np.array([1, 2]), "v": pa.array(["a", None]), "n": pa.chunked_array([[None, 7]])},
        {"id": range(1, 3), "v": ("a", None), "n": (None, 7)},
        pl.LazyFrame({"id": [1, 2], "v": ["a", None], "n": [None, 7]}),
    ],
    ids=["dicts", "lists", "arrays", "other sequences", "lazy frame"],
)
def test_rows_at_hand_are_written(rows: Any, table: Table) -> None:
    table.write(rows)

    wanted = [{"id": 1, "v": "a", "n": None}, {"id": 2, "v": None, "n": 7}]
    assert table.scan().to_arrow().sort_by("id").to_pylist() == wanted


def test_no_rows_write_nothing(table: Table) -> None:
    assert table.write([]) is None
    assert table.write({}) is None
    assert table.snapshot is None


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([1, 2], TypeError, "there is a int in it"),
        ({"id": 1}, TypeError, "column 'id' of a dict is a list of values, not an int"),
        ({"v": "abc"}, TypeError, "column 'v' of a dict is a list of values, not a str"),
        ({"id": [1], "v": ["a", "b"]}, DataError, "differ in length: 'id' 1, 'v' 2"),
        ({"id": [1, "x"]}, DataError, "column 'id'"),
        ({1: [1]}, DataError, "1"),
        (7, TypeError, "cannot write a int"),
    ],
)
def test_what_is_no_rows_is_refused(
    rows: Any, error: type[Exception], message: str, table: Table
) -> None:
    with pytest.raises(error, match=message):
        table.write(rows)

    assert table.snapshot is None


def test_columns_have_types_of_arrow_and_of_python(catalog: Catalog) -> None:
    given = {
        "a": int,
        "b": pa.decimal128(12, 2),
        "c": dt.date,
        "d": dt.datetime,
        "e": bool,
        "f": pa.list_(pa.string()),
        "g": bytes,
        "h": "CHAR(3)",
        "i": float,
        "j": str,
    }

    types = [field.type for field in catalog.create_table("db.t", given).schema.fields]

    texts = (
        "BIGINT|DECIMAL(12, 2)|DATE|TIMESTAMP(6)|BOOLEAN|ARRAY<STRING>|BYTES|CHAR(3)|DOUBLE|STRING"
    )
    assert "|".join(map(format_type, types)) == texts
    with pytest.raises(TypeError, match=r"column 'a': .*Decimal.* is no type; give Paimon's text"):
        catalog.create_table("db.u", {"a": Decimal})


def test_options_are_numbers_and_truth_values_too(catalog: Catalog) -> None:
    options: Any = {"bucket": 2, "deletion-vectors.enabled": True}

    table = catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options=options)

    assert table.options["bucket"] == "2"
    assert table.options["deletion-vectors.enabled"] == "true"
    with pytest.raises(TypeError, match="values are text, numbers or truth values"):
        catalog.create_table("db.u", COLUMNS, options={"bucket": [1]})  # type: ignore[dict-item]


def test_how_long_ago_is_a_text(table: Table) -> None:
    for number in range(3):
        table.write([{"id": number}])

    expire = table.maintenance.expire_snapshots
    kept = expire(older_than="1 d", retain_min=1, dry_run=True)
    gone = expire(older_than="0 ms", retain_min=1, dry_run=True)

    assert (len(kept.snapshots), len(gone.snapshots)) == (0, 2)
    with pytest.raises(ValueError, match="is no time"):
        expire(older_than="last week", dry_run=True)


def test_conditions_of_others_are_refused_by_name(table: Table) -> None:
    with pytest.raises(TypeError, match=r"a condition is SQL text .* not a builtins\.int"):
        table.scan(where=1)
    with pytest.raises(ColumnNotFoundError, match="A text is quoted: 'sun'"):
        table.scan(where="v = sun")


MAPS: list[dict[str, Any]] = [
    {"k": 1, "m": {"x": 1}, "r": {"a": 1, "n": [{"y": 2, "z": None}]}},
    {"k": 2, "m": {}, "r": None},
    {"k": 3, "m": None, "r": {"a": None, "n": []}},
]
"""Rows whose maps are dicts."""


@pytest.fixture
def with_maps(catalog: Catalog) -> Table:
    columns = {
        "k": "INT NOT NULL",
        "m": "MAP<STRING, INT>",
        "r": "ROW<a INT, n ARRAY<MAP<STRING, INT>>>",
    }
    return catalog.create_table("db.maps", columns, primary_keys=["k"])


@pytest.mark.parametrize("way", ["rows", "pairs", "columns", "pandas"])
def test_maps_are_dicts_or_pairs(with_maps: Table, way: str) -> None:
    wanted = pa.Table.from_pylist(MAPS, schema=with_maps.arrow_schema)
    data: Any = MAPS
    if way == "pairs":
        data = wanted.to_pylist()
    elif way == "columns":
        data = {name: [row[name] for row in MAPS] for name in ("k", "m", "r")}
    elif way == "pandas":
        data = pytest.importorskip("pandas").DataFrame(MAPS)
    with_maps.write(data)
    assert with_maps.scan().to_arrow().sort_by("k") == wanted
    with_maps.merge(data, on="t.k = s.k").when_matched_update().when_not_matched_insert().execute()
    assert with_maps.scan().to_arrow().sort_by("k") == wanted


@pytest.mark.parametrize(
    "wrong",
    [
        {"m": 5},
        {"m": {"x": "y"}},
        {"m": [1, 2]},
        {"m": [[1, 2]]},
        {"r": {"a": 1, "b": 2}},
        {"r": {"n": [{"x": {}}]}},
    ],
)
def test_what_is_no_map_is_an_error_that_names_the_column(
    with_maps: Table, wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    with pytest.raises(DataError, match=rf"db\.maps: column '{name}'"):
        with_maps.write([{"k": 1} | wrong])
    assert with_maps.snapshot is None
