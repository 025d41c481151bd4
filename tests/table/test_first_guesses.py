"""What people write first, out of habit: it works, or the answer says what to write."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import paimonlab as pm


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    return catalog


@pytest.fixture
def sales(catalog: pm.Catalog) -> Any:
    rows = [
        {"id": 1, "region": "north", "day": dt.date(2026, 1, 1), "sold": 2},
        {"id": 2, "region": "south", "day": dt.date(2026, 1, 2), "sold": None},
    ]
    return catalog.write_table("db.sales", rows, primary_keys="id")


@pytest.mark.parametrize("key", ["id", ["id"], ("id",)])
def test_one_key_needs_no_list(catalog: pm.Catalog, key: Any) -> None:
    columns = {"id": "BIGINT", "day": "DATE"}

    assert catalog.create_table("db.a", columns, primary_keys=key).primary_keys == ("id",)
    assert pm.Schema(columns, primary_keys=key).primary_keys == ("id",)
    parted = catalog.write_table("db.b", {"day": [1], "id": [1]}, partition_keys="day")
    assert parted.partition_keys == ("day",)


@pytest.mark.parametrize(
    ("given", "kind"), [(pa.int32(), "INT"), (float, "DOUBLE"), ("DECIMAL(9, 2)", "DECIMAL(9, 2)")]
)
def test_a_column_is_added_and_retyped_by_any_type(
    catalog: pm.Catalog, sales: Any, given: Any, kind: str
) -> None:
    changed = catalog.alter_table(
        sales.name, pm.AddColumn("new", given), pm.UpdateColumnType("sold", given)
    )

    types = {field.name: str(field.type) for field in changed.arrow_schema}
    asked = catalog.create_table("db.asked", {"new": kind, "sold": kind}).arrow_schema
    assert (types["new"], types["sold"]) == tuple(str(field.type) for field in asked)


def test_a_type_that_is_none_is_named(catalog: pm.Catalog, sales: Any) -> None:
    with pytest.raises(TypeError, match=r"column 'new': 3 is no type; give Paimon's text"):
        catalog.alter_table(sales.name, pm.AddColumn("new", 3))


@pytest.mark.parametrize("read", [pa.table, pl.DataFrame, lambda given: given.scan().to_arrow()])
def test_a_table_is_read_by_whatever_reads_arrow(sales: Any, read: Callable[[Any], Any]) -> None:
    found = read(sales)

    rows = found.to_pylist() if isinstance(found, pa.Table) else found.to_dicts()
    assert sorted(row["region"] for row in rows) == ["north", "south"]


def test_a_table_is_written_into_another_and_asked_by_duckdb(
    catalog: pm.Catalog, sales: Any
) -> None:
    duckdb = pytest.importorskip("duckdb")
    copied = catalog.write_table("db.copied", sales, primary_keys="id")

    assert copied.scan().to_arrow().equals(sales.scan().to_arrow())
    assert duckdb.sql("SELECT count(*) FROM sales").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        (len, r"has no len\(\): its rows are counted by (scan\(\)\.)?count\(\)"),
        (list, r"is no list of rows: read them by (scan\(\)\.)?to_batches\(\)"),
        (lambda read: read["region"], r"in brackets: write (table\.)?scan\(\['region'\]\)"),
        (lambda read: read[:5], r"in brackets: write table\.scan\(columns, where\)"),
    ],
)
def test_a_read_says_what_it_is_instead_of_a_list(
    sales: Any, guess: Callable[[Any], Any], said: str
) -> None:
    for read in (sales, sales.scan()):
        with pytest.raises(TypeError, match=said):
            guess(read)
        assert read  # true, whatever it has


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("region", r"it is a column, read by scan\(\['region'\]\)"),
        ("to_duckdb", r"it is scan\(\)\.to_duckdb\(…\)"),
        ("sample", r"it is scan\(limit=5\)\.to_pandas\(\)"),
    ],
)
def test_a_table_says_where_columns_and_reads_are(sales: Any, name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said):
        getattr(sales, name)


def test_a_catalog_says_how_a_table_is_opened(catalog: pm.Catalog) -> None:
    with pytest.raises(AttributeError, match=r"'db'; a table is opened by catalog\['db\.t'\]"):
        getattr(catalog, "db")  # noqa: B009 - a type checker knows that it has none


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("day", ["2026-01-05", "2026-01-06"], r"in pandas pandas\.to_datetime\(frame\['day'\]\)$"),
        ("sold", ["1", "2"], r"in pandas pandas\.to_numeric\(frame\['sold'\]\)$"),
    ],
)
def test_texts_of_a_frame_are_cast_as_the_error_says(
    sales: Any, column: str, values: list[str], said: str
) -> None:
    frame = pd.DataFrame({"id": [1, 2], "region": ["a", "b"], column: values})
    for lacks in {"day", "sold"} - {column}:
        frame[lacks] = None

    with pytest.raises(pm.errors.DataError, match=said) as caught:
        sales.write(frame)
    cast = re.search(r"in pandas (pandas\.\w+\(.*\))$", str(caught.value))
    assert cast is not None
    frame[column] = eval(cast[1], {"pandas": pd, "frame": frame})
    sales.write(frame)
    assert sales.scan(where=f"{column} IS NOT NULL").count() == 2


def test_a_frame_is_read_changed_and_written_back(sales: Any) -> None:
    frame = sales.scan().to_pandas()  # where one is missing whole numbers are floats
    frame["region"] = frame["region"].str.upper()
    sales.write(frame)

    assert sales.scan(["id", "region", "sold"]).to_arrow().to_pylist() == [
        {"id": 1, "region": "NORTH", "sold": 2},
        {"id": 2, "region": "SOUTH", "sold": None},
    ]


def test_a_column_is_no_table(catalog: pm.Catalog, sales: Any) -> None:
    frame = pd.DataFrame({"region": ["a", "b", "a"], "sold": [1, 2, 3]})
    sums = frame.groupby("region").sold.sum()

    with pytest.raises(TypeError, match=r"a Series is one column, and \.reset_index\(\) makes"):
        catalog.write_table("db.sums", sums)
    assert catalog.write_table("db.sums", sums.reset_index()).scan().count() == 2
    with pytest.raises(TypeError, match=r"and \.to_frame\(\) makes a frame of it"):
        sales.write(pl.Series("id", [1]))
    with pytest.raises(
        TypeError, match=r"a list of values, not an int; one row is written \[{…}\]"
    ):
        sales.write({"id": 5})


def test_a_text_in_an_update_is_quoted(sales: Any) -> None:
    with pytest.raises(pm.errors.ColumnNotFoundError, match=r"A text is quoted: 'east'\."):
        sales.update({"region": "east"}, where="id = 1")
    with pytest.raises(pm.errors.ColumnNotFoundError) as caught:
        sales.update({"region": "`east`"}, where="id = 1")
    assert "quoted" not in str(caught.value)


@pytest.mark.parametrize("key", [1, "1"])
def test_a_key_alone_is_no_lookup(sales: Any, key: Any) -> None:
    with pytest.raises(TypeError, match=r"primary key: lookup\({'id': …}\), not "):
        sales.lookup(key)
    assert sales.lookup({"id": 1}).num_rows == 1


def test_a_compaction_takes_nobodys_rows(sales: Any) -> None:
    sales.write(sales.scan().to_arrow())
    sales.compact(full=True)

    assert "compact, 2 old versions of rows merged away, 2 in all" in repr(sales.snapshot)
    assert "append, +2 rows" in repr(sales.snapshots[1])


def test_tags_that_there_are_stand_in_the_error(sales: Any) -> None:
    sales.tags.create("before")

    with pytest.raises(pm.errors.TagNotFoundError, match=r"no tag 'v9'\. Its tags are before\."):
        _ = sales.tags["v9"]
    with pytest.raises(TypeError, match=r"no argument 'snapshot_id'; it is 'snapshot'"):
        sales.tags.create("x", snapshot_id=1)
