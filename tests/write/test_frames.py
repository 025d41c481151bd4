"""Frames of pandas and polars as rows, as keys and as definitions of tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from paimonlab import Schema
from paimonlab.catalog import Catalog, connect
from paimonlab.errors import ColumnNotFoundError, DataError, SchemaError
from paimonlab.spec.types.text import parse_type
from paimonlab.table.table import Table

Frame: TypeAlias = Any
"""A frame of pandas; its stubs do not know columns as attributes."""
COLUMNS = {"id": "BIGINT", "v": "STRING", "d": "DATE", "x": "DOUBLE"}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = connect(tmp_path / "warehouse")
    opened.create_database("db")
    return opened


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Return an empty table with the primary key id."""
    return catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options={"bucket": "1"})


@pytest.fixture
def frame() -> Frame:
    return pd.DataFrame(
        {
            "id": [1, 2, 3, 4],
            "v": ["a", None, "c", "d"],
            "d": pd.to_datetime(["2026-01-01", "1969-12-31", "NaT", "2026-01-04"]),
            "x": [1.5, float("nan"), 3.0, 4.0],
        }
    )


def wanted(frame: Frame) -> list[tuple[Any, ...]]:
    """Return the rows of a frame by pandas' own means."""
    return [
        (
            int(row.id),
            None if pd.isna(row.v) else row.v,
            None if pd.isna(row.d) else row.d.date(),
            None if pd.isna(row.x) else row.x,
        )
        for row in frame.itertuples(index=False)
    ]


def stored(table: Table) -> list[tuple[Any, ...]]:
    rows = table.scan(columns=list(COLUMNS)).to_arrow().sort_by("id")
    return list(zip(*rows.to_pydict().values(), strict=True))


def _named(frame: Frame, index: pd.Index) -> Frame:
    return frame.set_axis(index, axis=0)


@pytest.mark.parametrize(
    "indexed",
    [
        lambda frame: frame,
        lambda frame: frame[frame.id != 2],
        lambda frame: frame.sort_values("v"),
        lambda frame: _named(frame, pd.Index(["p", "q", "r", "s"])),
        lambda frame: _named(frame, pd.RangeIndex(10, 50, 10)),
        lambda frame: _named(frame, pd.MultiIndex.from_product([[1, 2], ["x", "y"]])),
        lambda frame: pd.concat([frame[:2], frame[2:]]),
        lambda frame: frame.iloc[[3, 0]],
        lambda frame: frame[:0],
    ],
    ids=["range", "filter", "sort", "texts", "steps", "levels", "concat", "iloc", "empty"],
)
def test_an_index_without_a_name_is_no_data(
    table: Table, frame: Frame, indexed: Callable[[Frame], Frame]
) -> None:
    given = indexed(frame)

    table.write(given)

    assert stored(table) == sorted(wanted(given))


@pytest.mark.parametrize(
    "indexed",
    [
        lambda frame: frame.set_index("id"),
        lambda frame: frame.set_index("d"),
        lambda frame: frame.set_index(["v", "id"]),
        lambda frame: frame.set_index(["id", "v", "d", "x"]),
        lambda frame: frame.set_index([frame.set_index("id").index, [7, 8, 9, 10]]).drop(
            columns="id"
        ),
        lambda frame: _named(frame.drop(columns="id"), pd.RangeIndex(1, 5, name="id")),
    ],
    ids=["key", "date", "two", "all", "one of two", "range"],
)
def test_a_level_of_an_index_with_the_name_of_a_column_is_that_column(
    table: Table, frame: Frame, indexed: Callable[[Frame], Frame]
) -> None:
    table.write(indexed(frame))

    assert stored(table) == wanted(frame)


@pytest.mark.parametrize(
    ("indexed", "message"),
    [
        (lambda frame: frame.rename_axis("row"), "the index of the frame is 'row', which is no"),
        (lambda frame: frame[frame.id > 2].rename_axis("row"), r"reset_index\(drop=True\) leaves"),
        (
            lambda frame: frame.set_index([frame["id"], frame["v"].rename("w")]),
            "the index of the frame is 'w'",
        ),
        (
            lambda frame: frame.set_index([frame["id"], frame["id"]]).drop(columns="id"),
            "column 'id' twice",
        ),
        (
            lambda frame: frame.set_index(["id", frame["v"].rename("w")]),
            "the index of the frame is 'w'",
        ),
        (
            lambda frame: frame.rename_axis("id"),
            r"'id' twice, an index counted.* frame\.reset_index\(drop=True\) leaves",
        ),
        (
            lambda frame: frame.set_index("id", drop=False).astype({"id": "float64"}),
            "'id' twice, an index counted",
        ),
        (lambda frame: frame.rename_axis(7), "a column or index 7, and names of columns are texts"),
        (lambda frame: frame.rename(columns={"v": 1}), "a column or index 1, and"),
        (
            lambda frame: frame.set_axis(pd.MultiIndex.from_product([["a"], list("idvx")]), axis=1),
            r"a column or index \('a', 'i'\)",
        ),
        (lambda frame: frame.set_axis(["id", "v", "v", "x"], axis=1), "column 'v' twice"),
        (
            lambda frame: frame.assign(v=["a", 1, "b", "c"]),
            "the frame cannot become an Arrow table. Column 'v'",
        ),
        (
            lambda frame: frame.assign(id=pd.Series([1, 2, 3, 2**70], dtype=object)),
            "the frame cannot become an Arrow table. Column 'id': Python int too large",
        ),
        (
            lambda frame: frame.assign(v="\ud800").astype({"v": object}),
            "the frame cannot become an Arrow table. Column 'v': 'utf-8' codec",
        ),
        (
            lambda frame: frame.drop(columns="id").set_index(
                pd.Index([1, 2, 3, 2**70], dtype=object, name="id")
            ),
            "the frame cannot become an Arrow table. Column 'id': Python int too large",
        ),
    ],
)
def test_what_would_be_lost_or_taken_for_something_else_is_refused(
    table: Table,
    frame: Frame,
    indexed: Callable[[Frame], Frame],
    message: str,
) -> None:
    with pytest.raises(DataError, match=r"db\.t: .*" + message):
        table.write(indexed(frame))

    assert table.snapshot is None


@pytest.mark.parametrize("names", [["id"], ["d"], ["v", "x"]], ids="-".join)
def test_an_index_that_repeats_a_column_is_written_once(
    catalog: Catalog, table: Table, frame: Frame, names: list[str]
) -> None:
    repeated = frame.set_index(names, drop=False)

    table.write(repeated)

    assert stored(table) == wanted(frame)
    made = catalog.create_table("db.made", repeated)
    assert made.arrow_schema.names == list(frame.columns)


def test_no_table_is_made_of_integers_that_arrow_cannot_hold(catalog: Catalog) -> None:
    frame = pd.DataFrame({"id": [2**70]}, dtype=object)

    with pytest.raises(DataError, match=r"db\.big: .*Column 'id': Python int too large"):
        catalog.create_table("db.big", frame)

    assert not catalog.has_table("db.big")


def test_an_unknown_column_is_still_one(table: Table, frame: Frame) -> None:
    with pytest.raises(ColumnNotFoundError, match="'y'"):
        table.write(frame[frame.id > 1].assign(y=1))


def test_a_table_of_arrow_made_of_a_filtered_frame_is_taken(table: Table, frame: Frame) -> None:
    given = frame[frame.id > 2]
    rows = pa.Table.from_pandas(given)
    assert "__index_level_0__" in rows.schema.names

    table.write(rows)
    table.write(rows.to_reader())

    assert stored(table) == wanted(given)


def test_a_column_that_is_called_like_an_index_is_written(catalog: Catalog) -> None:
    table = catalog.create_table("db.i", {"id": "BIGINT", "__index_level_0__": "BIGINT"})
    frame = pd.DataFrame({"id": [1, 2, 3]})

    table.write(pa.Table.from_pandas(frame[frame.id > 1]))

    rows = table.scan().to_arrow().to_pydict()
    assert rows == {"id": [2, 3], "__index_level_0__": [1, 2]}


def test_every_verb_takes_a_filtered_frame(table: Table, frame: Frame) -> None:
    part = frame[frame.id > 2]
    table.write(frame)

    assert table.lookup(part[["id"]])["id"].to_pylist() == [3, 4]
    assert table.lookup(part.set_index("id")[[]])["id"].to_pylist() == [3, 4]
    with pytest.raises(DataError, match="lookup takes the primary key columns id, it was given v"):
        table.lookup(part.set_index("v")[[]])
    table.write(part[["id"]].assign(kind="-D"), row_kinds="kind")
    assert stored(table) == wanted(frame[:2])
    table.overwrite(part)
    assert stored(table) == wanted(part)
    writer = table.new_writer()
    writer.write(frame[frame.id < 2])
    writer.write(frame[frame.id == 2].set_index("id"))
    table.commit(writer.prepare_commit(1), identifier=1, user=writer.user)
    assert stored(table) == wanted(frame)


def test_a_partition_by_date_is_overwritten_by_a_frame(catalog: Catalog, frame: Frame) -> None:
    table = catalog.create_table("db.p", COLUMNS, partition_keys=["d"])
    table.write(frame)
    new = frame[frame.id == 4].assign(v="new")

    table.overwrite(new, partition={"d": dt.date(2026, 1, 4)})

    assert stored(table) == wanted(pd.concat([frame[:3], new]))
    late = new.assign(d=pd.Timestamp("2026-01-04 12:00"))
    with pytest.raises(DataError, match=r"db\.p: column 'd' is DATE, but row 0"):
        table.overwrite(late, partition={"d": dt.date(2026, 1, 4)})
    with pytest.raises(DataError, match=r"db\.p: column 'd' is DATE"):
        table.overwrite(new.assign(d="today"), partition={"d": dt.date(2026, 1, 4)})


def test_new_columns_of_rows_come_in_a_frame(catalog: Catalog) -> None:
    table = catalog.create_table(
        "db.e",
        {"id": "BIGINT", "d": "DATE"},
        options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    )
    table.write(pa.table({"id": [1, 2, 3]}))
    days = pd.to_datetime(["2026-01-03", "2026-01-01"])
    frame = pd.DataFrame({"_ROW_ID": [2, 0], "d": days}, index=[5, 6])

    table.write_columns(frame)

    assert table.scan().to_arrow()["d"].to_pylist() == [
        dt.date(2026, 1, 1),
        None,
        dt.date(2026, 1, 3),
    ]
    with pytest.raises(DataError, match=r"row 0 \(counted from 0\) is 2026-01-03 01:00"):
        table.write_columns(frame.assign(d=days + pd.Timedelta(hours=1)))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "America/New_York"])
def test_days_of_pandas_are_dates(table: Table, frame: Frame, unit: str, zone: str | None) -> None:
    days = frame["d"].astype(f"datetime64[{unit}]").dt.tz_localize(zone)

    table.write(frame.assign(d=days))

    assert stored(table) == wanted(frame)


def test_times_of_a_day_are_no_dates(table: Table, frame: Frame) -> None:
    late = frame.assign(d=[*frame["d"][:3], pd.Timestamp("2026-01-04 00:00:00.000000001")])
    message = (
        r"db\.t: column 'd' is DATE, but row 3 \(counted from 0\) is 2026-01-04 00:00:00.000000001"
    )
    with pytest.raises(DataError, match=message):
        table.write(late)
    berlin = pd.to_datetime(["2025-12-31 23:00", "2026-01-01 00:00"], utc=True)
    with pytest.raises(DataError, match=r"row 1 .* 2026-01-01 01:00"):  # midnight in UTC
        table.write(frame[:2].assign(d=berlin.tz_convert("Europe/Berlin")))
    rows = pa.Table.from_pandas(late)
    with pytest.raises(DataError, match="row 3 "):
        table.write(pa.Table.from_batches(rows.to_batches(max_chunksize=2)))


def test_frames_of_polars_are_taken(table: Table, frame: Frame) -> None:
    given = pl.from_pandas(frame).filter(pl.col("id") > 1)

    table.write(given)

    assert stored(table) == wanted(frame[1:])
    with pytest.raises(DataError, match="row 0 "):
        table.write(given.with_columns(d=pl.col("d").dt.offset_by("1h")))


@pytest.mark.parametrize("as_schema", [False, True])
def test_a_frame_defines_a_table_and_writes_nothing(
    catalog: Catalog,
    frame: Frame,
    as_schema: bool,
) -> None:
    given = frame[frame.id > 1].assign(c=pd.Categorical(["x", "y", "x"]))

    if as_schema:
        table = catalog.create_table("db.f", Schema(given, primary_keys=["id"]))
    else:
        table = catalog.create_table("db.f", given, primary_keys=["id"])

    assert table.snapshot is None
    assert [(field.name, str(field.type)) for field in table.schema.fields] == [
        (field.name, str(field.type))
        for field in catalog.create_table(
            "db.g",
            {
                "id": "BIGINT NOT NULL",
                "v": "STRING",
                "d": "TIMESTAMP(6)",
                "x": "DOUBLE",
                "c": "STRING",
            },
            primary_keys=["id"],
        ).schema.fields
    ]
    table.write(given)
    assert table.scan().to_arrow().sort_by("id")["c"].to_pylist() == ["x", "y", "x"]


def test_times_of_pandas_have_nanoseconds_where_they_need_them(catalog: Catalog) -> None:
    whole = pd.Series(["2026-01-02 03:04:05.000006", None], dtype="datetime64[ns]")
    fine = whole + pd.Timedelta(1, "ns")
    given = pd.DataFrame({"whole": whole, "fine": fine, "zone": whole.dt.tz_localize("UTC")})

    table = catalog.create_table("db.f", given)

    types = ["TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP(6) WITH LOCAL TIME ZONE"]
    assert [field.type for field in table.schema.fields] == [*map(parse_type, types)]
    table.write(given)
    stored = table.scan().to_pandas()
    assert [[*stored[name].dropna()] for name in given] == [[*given[name][:1]] for name in given]
    with pytest.raises(DataError, match="whole"):
        table.write(given.assign(whole=fine))


def test_levels_of_an_index_become_the_first_columns(catalog: Catalog, frame: Frame) -> None:
    given = frame.set_index(["id", "v"])

    table = catalog.create_table("db.f", given, primary_keys=["id"])

    assert table.schema.field_names == ("id", "v", "d", "x")
    table.write(given)
    assert table.scan().count() == 4
    range_index = catalog.create_table("db.r", frame[["v"]].rename_axis("n"))
    assert range_index.schema.field_names == ("n", "v")


@pytest.mark.parametrize(
    "rows",
    [
        pa.Table.from_pandas,
        lambda frame: pa.Table.from_pandas(frame).to_batches()[0],
        lambda frame: pa.Table.from_pandas(frame).to_reader(),
        pa.Schema.from_pandas,
        pl.from_pandas,
    ],
    ids=["table", "batch", "reader", "schema", "polars"],
)
def test_whatever_speaks_arrow_defines_a_table(
    catalog: Catalog, frame: Frame, rows: Callable[[Frame], Any]
) -> None:
    given = rows(frame[frame.id > 1])

    table = catalog.create_table("db.f", given)

    assert table.schema.field_names == ("id", "v", "d", "x")
    if not isinstance(given, pa.Schema):
        table.write(given)  # nothing of a reader was read
        assert table.scan().count() == 3


def test_a_frame_that_can_be_no_table_is_refused(catalog: Catalog, frame: Frame) -> None:
    for given, kind, message in [
        (frame.rename(columns={"v": 1}), DataError, r"db\.f: .* index 1,"),
        (frame.set_axis(["id", "v", "v", "x"], axis=1), DataError, "'v' twice"),
        (frame.assign(v=None), SchemaError, "column 'v': no type of Paimon"),
        (frame["v"], TypeError, "a Series is one column"),
        ("id BIGINT", TypeError, "columns cannot be made of a str"),
        ([("id", "BIGINT")], TypeError, "columns cannot be made of a list"),
    ]:
        with pytest.raises(kind, match=message):
            catalog.create_table("db.f", given)
    assert catalog.tables("db") == []


def test_the_rows_of_a_frame_that_is_left_alone_are_untouched(table: Table, frame: Frame) -> None:
    given = frame.set_index("id")
    before = given.copy(deep=True)

    table.write(given)

    pd.testing.assert_frame_equal(given, before)


def test_whole_numbers_of_which_some_are_missing(catalog: Catalog) -> None:
    # pandas makes fractions of them.
    table = catalog.create_table("db.whole", {"k": "BIGINT", "n": "TINYINT", "f": "DOUBLE"})
    frame = pd.DataFrame({"k": [1, None, 3], "n": [None, -7, 127], "f": [1.5, None, 2.0]})
    table.write(frame)
    rows = table.scan().to_arrow().to_pylist()
    assert rows == [
        {"k": 1, "n": None, "f": 1.5},
        {"k": None, "n": -7, "f": None},
        {"k": 3, "n": 127, "f": 2.0},
    ]


@pytest.mark.parametrize("wrong", [[1.5, None], [2.0**53, None], [float("inf"), 1.0]])
def test_fractions_are_no_whole_numbers(catalog: Catalog, wrong: list[float | None]) -> None:
    table = catalog.create_table("db.whole", {"k": "BIGINT"})
    with pytest.raises(DataError, match=r"column 'k' is BIGINT and does not take double"):
        table.write(pd.DataFrame({"k": wrong}))
    with pytest.raises(DataError, match=r"column 'k': .*128"):
        catalog.create_table("db.tiny", {"k": "TINYINT"}).write(pd.DataFrame({"k": [128, None]}))
