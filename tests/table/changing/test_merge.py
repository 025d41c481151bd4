"""Merges: what belongs together, what is refused."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import ColumnNotFoundError, DataError, SchemaError, UnsupportedError
from paimonlab.table.table import Table
from tests.table.changing.changed_tables import Interference


@pytest.fixture
def make(tmp_path: Path) -> Any:
    """Return what makes a table and writes its rows."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")

    def made(rows: pa.Table, keys: tuple[str, ...] = (), **options: str) -> Table:
        named = {key.replace("_", "-"): value for key, value in options.items()}
        table = catalog.create_table("db.t", rows.schema, primary_keys=keys, options=named)
        assert isinstance(table, Table)
        table.write(rows)
        return table

    return made


def numbers(**columns: list[Any]) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


@pytest.mark.parametrize(
    ("ours", "theirs", "matches"),
    [
        (pa.array([1, 2], pa.int64()), pa.array([2], pa.int32()), [2]),
        (pa.array([1, 2], pa.int32()), pa.array([2**40, 1]), [1]),
        (pa.array([0.0, float("nan")]), pa.array([float("nan"), -0.0]), [0.0, float("nan")]),
        (
            pa.array([decimal.Decimal("1.50")], pa.decimal128(5, 2)),
            pa.array([decimal.Decimal("1.5")], pa.decimal128(9, 1)),
            [decimal.Decimal("1.50")],
        ),
        (
            pa.array([dt.date(2026, 1, 1)]),
            pa.array([dt.date(2026, 1, 1), None]),
            [dt.date(2026, 1, 1)],
        ),
        (pa.array(["a", None]), pa.array(["a", None]), ["a"]),
        (pa.array([b"a", b"b"]), pa.array([b"b"]), [b"b"]),
    ],
)
def test_rows_belong_together_where_their_values_are_equal(
    ours: pa.Array, theirs: pa.Array, matches: list[Any], make: Any
) -> None:
    hits = pa.array([0] * len(ours))
    table = make(pa.table({"k": ours, "hit": hits}))

    merge = table.merge(pa.table({"k": theirs}), "s.k = t.k").when_matched_update({"hit": 1})
    result = merge.execute()

    assert result.rows_updated == len(matches)
    found = table.scan(where="hit = 1").to_arrow()["k"].to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, matches))


@pytest.mark.parametrize("on", ["k", ["k"], ("k", "odd `name`"), "t.k = s.k"])
def test_columns_that_are_equal_may_be_named(on: Any, make: Any) -> None:
    odd = "odd `name`"
    table = make(pa.table({"k": [1, 2], odd: ["a", "b"], "hit": [0, 0]}))
    source = pa.table({"k": [2, 1], odd: ["b", "z"]})

    result = table.merge(source, on).when_matched_update({"hit": 1}).execute()

    assert result.rows_updated == (1 if odd in on else 2)


def test_columns_of_a_merge_that_are_not_there_are_named(make: Any) -> None:
    table = make(numbers(k=[1], v=[0]))
    with pytest.raises(ColumnNotFoundError, match="'x'"):
        table.merge(numbers(k=[1]), ["k", "x"])
    with pytest.raises(ColumnNotFoundError, match=r"s\.v"):
        table.merge(numbers(k=[1]), "v").when_matched_delete().execute()
    with pytest.raises(ValueError, match="needs a column"):
        table.merge(numbers(k=[1]), [])


def test_many_keys_are_asked_for_as_a_range(make: Any) -> None:
    count = 5_000
    table = make(numbers(k=list(range(count)), v=[0] * count))
    source = numbers(k=list(range(1_000, 4_000, 2)), v=[1] * 1_500)

    result = table.merge(source, "t.k = s.k").when_matched_update().execute()

    assert result.rows_updated == 1_500
    where = table.scan(where="v = 1").to_arrow()["k"].to_pylist()
    assert sorted(where) == list(range(1_000, 4_000, 2))


def test_more_than_an_equality_may_be_asked_for(make: Any) -> None:
    table = make(numbers(k=[1, 2, 3], day=[5, 5, 5]))
    source = numbers(k=[1, 2, 2, 3], day=[4, 6, 1, 6])

    merge = table.merge(source, on="t.k = s.k AND s.day > t.day").when_matched_update()
    result = merge.when_not_matched_insert().execute()

    assert (result.rows_updated, result.rows_inserted) == (2, 2)
    rows = table.scan().to_arrow().sort_by([("k", "ascending"), ("day", "ascending")])
    assert rows.to_pydict() == {"k": [1, 1, 2, 2, 3], "day": [4, 5, 1, 6, 6]}


def test_a_row_that_several_source_rows_change_is_an_error_with_an_example(make: Any) -> None:
    table = make(numbers(k=[1, 2], v=[0, 0]))
    source = numbers(k=[2, 2], v=[1, 2])

    with pytest.raises(DataError, match=r"several rows .* \(k = 2\)"):
        table.merge(source, "t.k = s.k").when_matched_update().execute()

    result = table.merge(source, "t.k = s.k").when_matched_delete().execute()
    assert result.rows_deleted == 1
    assert table.scan().to_arrow().to_pydict() == {"k": [1], "v": [0]}


def test_a_scan_can_be_the_source(make: Any) -> None:
    table = make(numbers(k=[1, 2], v=[1, 5]), keys=("k",), bucket="1")

    merge = table.merge(table.scan(where="v > 1"), "t.k = s.k")
    merge.when_matched_update({"v": "t.v + s.v"}).execute()

    assert table.scan().to_arrow().sort_by("k").to_pydict() == {"k": [1, 2], "v": [1, 10]}


@pytest.mark.parametrize(
    ("on", "error", "message"),
    [
        ("t.k > s.k", UnsupportedError, "needs an equality of both sides"),
        ("t.k = 1", UnsupportedError, "needs an equality of both sides"),
        ("k = s.k", SchemaError, "may be t.k or s.k"),
        ("t.x = s.k", ColumnNotFoundError, "t.x"),
        ("t.k = s.k +", SchemaError, "cannot read"),
    ],
)
def test_conditions_that_cannot_be_answered_are_refused(
    on: str, error: type[Exception], message: str, make: Any
) -> None:
    table = make(numbers(k=[1], v=[0]))

    with pytest.raises(error, match=message):
        table.merge(numbers(k=[1]), on).when_matched_delete().execute()


def test_clauses_that_cannot_be_meant_are_refused(make: Any) -> None:
    table = make(numbers(k=[1], v=[0]), keys=("k",), bucket="1")
    merge = table.merge(numbers(k=[1], n=[2]), "t.k = s.k")

    with pytest.raises(ValueError, match="only the last WHEN MATCHED may have no where"):
        merge.when_matched_delete().when_matched_update()
    with pytest.raises(ColumnNotFoundError, match="w"):
        merge.when_matched_update({"w": 1})
    with pytest.raises(SchemaError, match=r"'s\.n' is not known here, only t\.column"):
        merge.when_not_matched_by_source_delete(where="s.n = 1").execute()
    with pytest.raises(SchemaError, match="primary key"):
        merge.when_matched_update({"k": "s.n"}).execute()
    with pytest.raises(ValueError, match="needs a clause"):
        merge.execute()
    assert table.scan().to_arrow().to_pydict() == {"k": [1], "v": [0]}


@pytest.mark.parametrize("engine", ["aggregation", "first-row"])
def test_engines_that_do_not_replace_rows_are_refused(engine: str, make: Any) -> None:
    table = make(numbers(k=[1], v=[0]), keys=("k",), bucket="1", merge_engine=engine)
    merge = table.merge(numbers(k=[1], v=[2]), "t.k = s.k")

    with pytest.raises(UnsupportedError, match=engine):
        merge.when_matched_update({"v": "s.v"}).execute()
    with pytest.raises(UnsupportedError, match=engine):
        merge.when_matched_delete().execute()


@pytest.mark.parametrize(
    "text",
    [
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint32(), pa.large_string()),
        pa.dictionary(pa.uint32(), pa.string_view()),
    ],
    ids=str,
)
@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_merge_takes_texts_as_frames_have_them(
    tmp_path: Path, text: pa.DataType, keys: list[str]
) -> None:
    """Text of pandas 3 is large_string, of polars string_view, of categories a dictionary."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING", "l": "ARRAY<STRING>", "b": "BYTES"}
    table = catalog.create_table("db.t", columns, primary_keys=keys)
    table.write([{"id": 1, "v": "a", "l": ["a"], "b": b"a"}])
    values = ["x", None, "a"]
    source = pa.table(
        {
            "id": pa.array([1, 2, 3], pa.int32()),
            "v": as_type(values, text),
            "l": pa.array([["x"], None, []], pa.large_list(pa.large_string())),
            "b": pa.array([b"x", None, b""], pa.large_binary()),
            "unused": pa.array([None, None, None]),
        }
    )

    table.merge(source, on="id").when_matched_update().when_not_matched_insert().execute()
    table.merge(source, on="t.v = s.v AND s.v <> 'x'").when_matched_update(
        {"v": "upper(s.v)"}
    ).execute()
    table.merge(source, on="v").when_matched_update(
        {"v": "concat(s.v, CAST(s.v AS STRING))"}
    ).execute()

    rows = table.scan().to_arrow().sort_by("id").to_pylist()
    assert rows == [
        {"id": 1, "v": "xx", "l": ["x"], "b": b"x"},
        {"id": 2, "v": None, "l": None, "b": None},
        {"id": 3, "v": "A", "l": [], "b": b""},
    ]


def as_type(values: list[Any], text: pa.DataType) -> pa.Array:
    """Make an array, of a dictionary if that is the type."""
    if not pa.types.is_dictionary(text):
        return pa.array(values).cast(text)
    encoded = pa.array(values).dictionary_encode()
    indices = encoded.indices.cast(text.index_type)
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary.cast(text.value_type))


@pytest.mark.parametrize(
    ("keys", "options", "expected"),
    [
        (["k"], {"bucket": "1"}, [(1, 11), (2, 5)]),
        (["k"], {}, [(1, 11), (2, 5)]),
        ([], {"write.isolation": "serializable"}, [(1, 11), (2, 5)]),
        ([], {}, [(1, 1), (1, 10), (2, 5)]),
    ],
    ids=["keys", "dynamic buckets", "serializable", "as if the other came later"],
)
def test_a_merge_into_an_empty_table_sees_what_others_wrote(
    keys: list[str],
    options: dict[str, str],
    expected: list[tuple[int, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"k": "BIGINT NOT NULL", "n": "BIGINT"}
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=options)
    Interference(monkeypatch, lambda: table.write(numbers(k=[1], n=[10])))

    merge = table.merge(numbers(k=[1, 2], n=[1, 5]), on="k")
    merge.when_matched_update({"n": "t.n + s.n"}).when_not_matched_insert().execute()

    found = [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()]
    assert sorted(found) == expected
