"""What objects of a table say of themselves, and that they can be iterated and refreshed."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import (
    AlreadyExistsError,
    DataError,
    SchemaError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
    UnsupportedError,
)
from paimonlab.table.table import Table


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


@pytest.fixture
def table(catalog: Catalog) -> Table:
    columns = {"id": "BIGINT", "v": "STRING"}
    made = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    made.write({"id": [1, 2], "v": ["a", "b"]})
    made.tags.create("first")
    made.write({"id": [2, 3], "v": ["c", "d"]})
    return made


def test_every_object_says_in_a_line_what_it_is(catalog: Catalog, table: Table) -> None:
    snapshot = table.snapshot
    assert snapshot is not None
    time = dt.datetime.fromtimestamp(snapshot.time_millis / 1000).astimezone()
    wide = catalog.create_table("db.wide", {f"c{number}": "INT" for number in range(20)})

    said: list[tuple[object, str]] = [
        (snapshot, f"<Snapshot 2: append, +2 rows, 4 in all, {time:%Y-%m-%d %H:%M:%S}>"),
        (
            table.schema,
            "<TableSchema 0: id BIGINT NOT NULL, v STRING; primary key id; bucket = '1'>",
        ),
        (
            table.scan(["v"], "id > 1", limit=3),
            ("<Scan of db.t, at snapshot 2: v; where id > 1; limit 3>"),
        ),
        (table.changes(0, 2), "<Changes of db.t, of snapshots 1 to 2: id, v>"),
        (table.scan().plan(), "<Plan of snapshot 2: 2 files in 1 split>"),
        (table.tags, "<Tags: first>"),
        (table.branches, "<Branches: none>"),
        (table.consumers, "<Consumers: none>"),
        (wide.scan(), "<Scan of db.wide, empty: c0, c1, c2, c3, c4, c5, c6, c7, 12 more>"),
    ]

    assert [repr(each) for each, _ in said] == [line for _, line in said]
    assert repr(table.tags["first"]).startswith("<Tag 1: append, +2 rows, 2 in all, ")
    assert "<Snapshots of db.t:" in repr(table.snapshots)
    assert repr(wide.schema).endswith(", c7 INT, 12 more>")


def test_what_a_table_has_is_iterated_and_asked_for(table: Table) -> None:
    table.branches.create("dev")
    table.consumers.reset("reader", 2)

    assert [snapshot.id for snapshot in table.snapshots] == [1, 2]
    assert table.snapshots[2] == table.snapshot
    assert [schema.id for schema in table.schemas] == [0]
    assert table.schemas[0] == table.schema
    assert (list(table.tags), table.tags["first"].id) == (["first"], 1)
    assert (list(table.consumers), table.consumers["reader"]) == (["reader"], 2)
    assert list(table.branches) == ["dev"]
    assert table.branches["dev"].name == "db.t$branch_dev"
    assert list(table.changelogs) == []
    assert [len(each) for each in (table.snapshots, table.tags, table.branches)] == [2, 1, 1]
    assert 2 in table.snapshots
    assert 3 not in table.snapshots
    assert "first" in table.tags
    assert "second" not in table.tags
    with pytest.raises(SnapshotNotFoundError):
        table.snapshots[7]
    with pytest.raises(TagNotFoundError):
        table.tags["second"]


def test_values_of_options_may_be_numbers_and_truth_values(catalog: Catalog, table: Table) -> None:
    altered = catalog.alter_table(
        "db.t",
        paimonlab.SetOption("num-sorted-run.compaction-trigger", 7),
        paimonlab.SetOption("write-only", value=True),
    )

    assert table.scan(options={"scan.snapshot-id": 1}).count() == 2
    assert catalog.system_table("db.t$ro").scan(options={"scan.snapshot-id": 1}).count() == 0
    assert (
        altered.options["num-sorted-run.compaction-trigger"],
        altered.options["write-only"],
    ) == (
        "7",
        "true",
    )
    with pytest.raises(TypeError, match="values are text, numbers or truth values"):
        table.scan(options={"scan.snapshot-id": [1]})  # type: ignore[dict-item]


def test_system_tables_are_opened_by_their_own_name_alone(catalog: Catalog, table: Table) -> None:
    assert catalog.system_table("db.t$snapshots").scan().count() == 2
    with pytest.raises(SchemaError, match=r"catalog\.system_table\('db\.t\$files'\) opens it"):
        catalog.table("db.t$files")
    with pytest.raises(SchemaError, match=r"catalog\.system_table\('sys\.tables'\) opens it"):
        catalog.table("sys.tables")
    with pytest.raises(SchemaError, match=r"catalog\.table\('db\.t'\) opens it"):
        catalog.system_table("db.t")


def test_managers_of_nothing_are_still_there(catalog: Catalog) -> None:
    empty = catalog.create_table("db.e", {"id": "INT"})

    for manager in (empty.snapshots, empty.tags, empty.branches, empty.consumers):
        assert len(manager) == 0
        assert manager


def test_a_table_follows_its_definition_when_refreshed(catalog: Catalog, table: Table) -> None:
    catalog.alter_table("db.t", paimonlab.AddColumn("n", "INT"))
    assert table.schema.field_names == ("id", "v")

    refreshed = table.refresh()

    assert refreshed is table
    assert refreshed.schema.field_names == ("id", "v", "n")
    table.write({"id": [4], "n": [7]})
    assert table.scan(where="n = 7").to_arrow()["id"].to_pylist() == [4]
    catalog.drop_table("db.t")
    with pytest.raises(TableNotFoundError):
        table.refresh()


def test_a_refreshed_table_reads_folders_outside_that_were_added(
    catalog: Catalog, tmp_path: Path
) -> None:
    before = catalog.create_table("db.o", {"id": "INT"})
    outside = {
        "data-file.external-paths": f"file://{tmp_path}/elsewhere",
        "data-file.external-paths.strategy": "round-robin",
    }
    changes = [paimonlab.SetOption(key, value) for key, value in outside.items()]
    catalog.alter_table("db.o", *changes).write({"id": [1]})

    assert before.refresh().scan().to_arrow().to_pydict() == {"id": [1]}


def test_rows_are_read_into_polars(table: Table) -> None:
    found = table.scan(where="id > 1").to_polars().sort("id")

    assert found.equals(pl.DataFrame({"id": [2, 3], "v": ["c", "d"]}))


@pytest.mark.parametrize(
    "data",
    [
        {"id": [1, 2], "v": ["a", "b"]},
        [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}],
        pa.table({"id": [1, 2], "v": ["a", "b"]}).to_reader(),
        pl.DataFrame({"id": [1, 2], "v": ["a", "b"]}),
        pl.LazyFrame({"id": [1, 2], "v": ["a", "b"]}),
    ],
    ids=["dict", "list", "reader", "polars", "lazy"],
)
def test_a_table_is_made_and_filled_in_one_call(data: Any, catalog: Catalog) -> None:
    made = catalog.write_table("db.n", data, primary_keys=["id"], options={"bucket": 1})

    assert made.primary_keys == ("id",)
    rows = catalog.table("db.n").scan().to_arrow().sort_by("id")
    assert rows.to_pydict() == {"id": [1, 2], "v": ["a", "b"]}


def test_the_mode_says_what_becomes_of_a_table_that_is_there(catalog: Catalog) -> None:
    def rows() -> list[dict[str, Any]]:
        return catalog.table("db.n").scan().to_arrow().sort_by("id").to_pylist()

    catalog.write_table("db.n", [{"id": 1, "v": "a"}])
    with pytest.raises(AlreadyExistsError):
        catalog.write_table("db.n", [{"id": 2, "v": "b"}])
    catalog.write_table("db.n", [{"id": 2, "v": "b"}], mode="append")
    assert rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    catalog.write_table("db.n", [{"id": 3, "v": "c"}], mode="overwrite")
    assert rows() == [{"id": 3, "v": "c"}]
    replaced = catalog.write_table("db.n", [{"id": 4, "n": 5}], mode="replace")
    assert rows() == [{"id": 4, "n": 5}]
    assert replaced.schema.field_names == ("id", "n")
    assert replaced.scan(snapshot=1).to_arrow().to_pylist() == [{"id": 1, "v": "a"}]
    with pytest.raises(ValueError, match="mode = 'upsert'"):
        catalog.write_table("db.n", [], mode="upsert")  # type: ignore[arg-type]


def test_a_table_whose_rows_do_not_fit_is_not_left_behind(catalog: Catalog) -> None:
    with pytest.raises(DataError):
        catalog.write_table("db.n", {"id": [1, None]}, primary_keys=["id"])

    assert not catalog.has_table("db.n")
    catalog.write_table("db.n", {"id": [1]}, primary_keys=["id"])
    with pytest.raises(UnsupportedError, match="primary key"):
        catalog.write_table("db.n", {"id": [1]}, mode="replace")


@pytest.mark.parametrize("is_other", [False, True])
def test_a_table_that_was_renamed_says_so_whatever_it_is_asked(
    catalog: Catalog, table: Table, tmp_path: Path, is_other: bool
) -> None:
    planned = table.scan()
    planned.plan()
    renaming = paimonlab.connect(tmp_path) if is_other else catalog
    renaming.rename_table("db.t", "db.u")

    for ask in (
        lambda: table.scan().to_arrow(),
        lambda: table.snapshot,
        lambda: list(table.snapshots),
        lambda: table.write({"id": [7], "v": ["g"]}),
        lambda: table.delete("id = 1"),
        table.compact,
        table.refresh,
        planned.to_arrow,
    ):
        with pytest.raises(TableNotFoundError, match=r"renamed .* catalog\.table\('db\.t'\)"):
            ask()
    assert not (tmp_path / "db.db" / "t").exists()
    assert catalog.table("db.u").scan().count() == 3


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("keys", [[], ["id"]])
def test_no_row_is_written_to_or_read_of_another_table_of_the_name(
    catalog: Catalog, tmp_path: Path, keys: list[str], is_read: bool
) -> None:
    old = {"id": [1, 2], "v": ["a", "b"]}
    table = catalog.write_table(
        "db.t", old, primary_keys=keys, options={"bucket": "1"} if keys else {}
    )
    if is_read:
        assert table.scan().count() == 2
    other = paimonlab.connect(tmp_path)
    other.drop_table("db.t")
    other.write_table("db.t", {"v": [1.5], "id": [7]}, primary_keys=keys)

    for ask in (
        lambda: table.scan().to_arrow(),
        lambda: table.write({"id": [3], "v": ["c"]}),
        lambda: table.overwrite({"id": [3], "v": ["c"]}),
        lambda: table.delete("id = 7"),
    ):
        with pytest.raises(TableNotFoundError, match="another table has its name"):
            ask()

    assert other.table("db.t").scan().to_arrow().to_pylist() == [{"v": 1.5, "id": 7}]
    assert table.refresh().schema.field_names == ("v", "id")
    table.write({"v": [2.5], "id": [8]})
    assert sorted(table.scan(["id"]).to_arrow()["id"].to_pylist()) == [7, 8]
