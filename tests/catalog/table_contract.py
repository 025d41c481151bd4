"""What every catalog must do with databases and tables: inherit and give it a catalog.

The rules are those of Java Paimon's ``CatalogTestBase``. A subclass has a fixture ``catalog``, of
an empty warehouse, and a fixture ``again``, which opens the same one once more.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    AlreadyExistsError,
    ColumnNotFoundError,
    DatabaseNotFoundError,
    SchemaError,
    SnapshotConflictError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table

Again: TypeAlias = Callable[[], pl.Catalog]
COLUMNS = {"id": "BIGINT NOT NULL", "day": "STRING NOT NULL", "v": "STRING"}


def _table_of_another(folder: Path) -> Table:
    """Return a table of two commits and a tag, which only another catalog knows."""
    other = pl.connect(folder / "elsewhere")
    other.create_database("x")
    made = other.create_table("x.t", COLUMNS, partition_keys=["day"])
    made.write([{"id": 1, "day": "a", "v": "x"}])
    made.tags.create("first")
    made.write([{"id": 2, "day": "b", "v": "x"}])
    return made


class TableContract:
    """Tests of databases and tables."""

    def test_databases_are_created_listed_and_dropped(
        self, catalog: pl.Catalog, again: Again
    ) -> None:
        own = catalog.databases()
        assert own in ([], ["default"])  # each metastore of Hive has that one
        catalog.create_database("b")
        catalog.create_database("a")
        catalog.create_database("a", exist_ok=True)

        assert again().databases() == sorted(["a", "b", *own])
        assert (catalog.has_database("a"), catalog.has_database("c")) == (True, False)
        with pytest.raises(AlreadyExistsError, match="database a already exists"):
            catalog.create_database("a")
        catalog.drop_database("a")
        catalog.drop_database("a", missing_ok=True)
        with pytest.raises(DatabaseNotFoundError, match="database a not found"):
            catalog.drop_database("a")
        assert again().databases() == sorted(["b", *own])

    def test_options_of_databases_are_kept_or_refused(
        self, catalog: pl.Catalog, again: Again
    ) -> None:
        options = {"comment": "it's ours", "owner": "ünal"}
        if not catalog.keeps_database_options:
            catalog.create_database("db")
            with pytest.raises(UnsupportedError, match="comment"):
                catalog.create_database("other", options=options)
            with pytest.raises(UnsupportedError, match="comment"):
                catalog.alter_database("db", set=options)
            assert catalog.database_options("db") == {}
            return
        catalog.create_database("db", options=options)
        assert again().database_options("db").items() >= options.items()

        removed = ["comment", "none"]
        if catalog.options.get("metastore") == "hive":  # that of Hive 2 keeps a comment for ever
            with pytest.raises(UnsupportedError, match="comment of database db"):
                catalog.alter_database("db", set={"owner": "eve"}, remove=removed)
            assert again().database_options("db").items() >= options.items()
            removed = ["none"]
        catalog.alter_database("db", set={"owner": "eve", "new": "1"}, remove=removed)

        kept = again().database_options("db")
        assert (kept["owner"], kept["new"]) == ("eve", "1")
        assert kept.get("comment") == (None if "comment" in removed else "it's ours")
        assert "exists" not in kept
        with pytest.raises(DatabaseNotFoundError):
            catalog.alter_database("none", set={"a": "1"})

    def test_a_database_with_tables_is_dropped_only_with_cascade(self, catalog: pl.Catalog) -> None:
        catalog.create_database("db")
        table = catalog.create_table("db.t", COLUMNS)

        with pytest.raises(SchemaError, match="cascade=True"):
            catalog.drop_database("db")
        catalog.drop_database("db", cascade=True)

        assert "db" not in catalog.databases()
        assert not catalog.file_io.exists(table.path)
        catalog.create_database("db")
        assert catalog.tables("db") == []

    def test_a_table_is_opened_as_it_was_created(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        made = catalog.create_table(
            "db.t",
            COLUMNS,
            primary_keys=["day", "id"],
            partition_keys=["day"],
            options={"bucket": "2"},
            comment="orders",
        )
        made.write([{"id": 1, "day": "a", "v": "x"}, {"id": 2, "day": "b", "v": None}])

        table = again().table("db.t")

        assert (table.name, table.path) == ("db.t", made.path)
        assert table.schema == made.schema
        assert table.options["bucket"] == "2"
        assert (table.primary_keys, table.partition_keys) == (("day", "id"), ("day",))
        assert table.comment == "orders"
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
        assert again().tables("db") == ["t"]
        assert (catalog.has_table("db.t"), catalog.has_table("db.u")) == (True, False)

    def test_a_name_is_taken_once(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        catalog.create_table("db.t", COLUMNS)

        with pytest.raises(AlreadyExistsError, match=r"table db\.t already exists"):
            again().create_table("db.t", COLUMNS)
        kept = again().create_table("db.t", {"x": "INT"}, exist_ok=True)

        assert kept.arrow_schema.names == ["id", "day", "v"]

    def test_all_changes_of_a_definition_are_kept(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        catalog.create_table(
            "db.t",
            {"a": "INT NOT NULL", "b": "INT", "c": "STRING", "d": "STRING"},
            options={"bucket": "1", "bucket-key": "a", "file.format": "parquet"},
        )

        catalog.alter_table("db.t", pl.AddColumn("e", "DATE", comment="new", after="a"))
        catalog.alter_table("db.t", pl.RenameColumn("b", "bb"), pl.DropColumn("c"))
        catalog.alter_table(
            "db.t",
            pl.UpdateColumnType("bb", "BIGINT"),
            pl.UpdateColumnNullability("d", nullable=True),
            pl.UpdateColumnComment("d", "text"),
            pl.UpdateColumnDefault("d", "x"),
            pl.MoveColumn("d", first=True),
        )
        catalog.alter_table(
            "db.t",
            pl.SetOption("snapshot.num-retained.max", "20"),
            pl.RemoveOption("file.format"),
            pl.UpdateComment("changed"),
        )

        table = again().table("db.t")
        assert [(field.name, format_type(field.type)) for field in table.schema.fields] == [
            ("d", "STRING"),
            ("a", "INT NOT NULL"),
            ("e", "DATE"),
            ("bb", "BIGINT"),
        ]
        assert [field.description for field in table.schema.fields] == ["text", None, "new", None]
        assert table.comment == "changed"
        assert table.options["snapshot.num-retained.max"] == "20"
        assert "file.format" not in table.options
        assert table.schema.fields[0].default_value == "x"

    def test_changes_happen_all_or_not_at_all(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        before = catalog.create_table("db.t", COLUMNS).schema

        with pytest.raises(ColumnNotFoundError):
            catalog.alter_table("db.t", pl.SetOption("bucket", "-1"), pl.DropColumn("none"))
        with pytest.raises(SchemaError):
            catalog.alter_table("db.t", pl.AddColumn("v", "INT"))

        assert again().table("db.t").schema == before

    def test_tables_are_renamed_within_and_between_databases(
        self, catalog: pl.Catalog, again: Again
    ) -> None:
        catalog.create_database("db")
        catalog.create_database("other")
        catalog.create_table("db.a", COLUMNS).write([{"id": 1, "day": "x", "v": "y"}])
        catalog.create_table("db.b", COLUMNS)

        with pytest.raises(AlreadyExistsError, match=r"table db\.b already exists"):
            catalog.rename_table("db.a", "db.b")
        with pytest.raises(AlreadyExistsError):
            catalog.rename_table("db.a", "db.a")
        catalog.rename_table("db.a", "db.c")
        catalog.rename_table("db.c", "other.d")

        assert (again().tables("db"), again().tables("other")) == (["b"], ["d"])
        assert {"db.b", "other.d"} <= set(again().tables())
        assert again().table("other.d").scan().count() == 1
        catalog.create_table("db.a", COLUMNS)

    def test_tables_are_dropped_with_their_files(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        table = catalog.create_table("db.t", COLUMNS)
        table.write([{"id": 1, "day": "x", "v": "y"}])

        catalog.drop_table("db.t")
        catalog.drop_table("db.t", missing_ok=True)

        assert again().tables("db") == []
        assert not catalog.file_io.exists(table.path)
        with pytest.raises(TableNotFoundError):
            table.write([{"id": 1, "day": "x", "v": "y"}])
        assert catalog.create_table("db.t", {"x": "INT"}).scan().count() == 0

    def test_a_table_in_another_folder_is_registered_or_refused(
        self, catalog: pl.Catalog, again: Again, tmp_path: Path
    ) -> None:
        catalog.create_database("db")
        there = _table_of_another(tmp_path)

        if not (catalog.takes_places and catalog.has_folder):  # our server takes none
            with pytest.raises(UnsupportedError, match=r"registering.*db\.t"):
                catalog.register("db.t", there.path)
            assert again().tables("db") == []
            return
        made = catalog.register("db.t", there.path)

        assert (made.name, made.path, made.schema) == ("db.t", there.path, there.schema)
        opened = again().table("db.t")
        assert opened.scan().count() == 2
        assert opened.scan(tag="first").count() == 1
        opened.write([{"id": 3, "day": "c", "v": None}])
        assert there.scan().count() == 3
        with pytest.raises(AlreadyExistsError, match=r"table db\.t already exists"):
            catalog.register("db.t", there.path)
        catalog.create_database("empty")
        for name, path, error in (
            ("none.t", there.path, DatabaseNotFoundError),
            ("empty.t", f"{there.path}/snapshot", SchemaError),
            ("empty.t", "relative/folder", SchemaError),
        ):
            with pytest.raises(error):
                catalog.register(name, path)
        assert again().tables("empty") == []
        catalog.drop_table("db.t")
        assert there.scan().count() == 3, "its files are not the catalog's"
        catalog.register("db.u", there.path)
        assert again().tables("db") == ["u"]

    def test_a_table_in_the_folder_of_its_name_is_registered(
        self, catalog: pl.Catalog, again: Again, tmp_path: Path
    ) -> None:
        if catalog.options.get("metastore") == "rest":
            return  # it has no folder
        catalog.create_database("db")
        own = f"{catalog.path}/db.db/t"
        with pytest.raises((SchemaError, UnsupportedError), match=r"db\.t"):
            catalog.register("db.t", own)
        shutil.copytree(_table_of_another(tmp_path).path, own)

        if "metastore" not in catalog.options:  # it knows it already
            with pytest.raises(AlreadyExistsError):
                catalog.register("db.t", own)
            return
        catalog.register("db.t", f"file:{own}/")

        assert again().table("db.t").scan().count() == 2
        catalog.drop_table("db.t")
        assert not catalog.file_io.exists(own)

    def test_what_is_missing_is_an_error_of_its_kind(self, catalog: pl.Catalog) -> None:
        catalog.create_database("db")
        catalog.create_table("db.orders", COLUMNS)

        with pytest.raises(TableNotFoundError, match=r"table db\.order not found\. Did you mean"):
            catalog.table("db.order")
        calls: list[Callable[[], object]] = [
            lambda: catalog.alter_table("db.none", pl.SetOption("bucket", "-1")),
            lambda: catalog.rename_table("db.none", "db.x"),
            lambda: catalog.drop_table("db.none"),
        ]
        for call in calls:
            with pytest.raises(TableNotFoundError):
                call()
        calls = [
            lambda: catalog.table("none.t"),
            lambda: catalog.tables("none"),
            lambda: catalog.create_table("none.t", COLUMNS),
            lambda: catalog.rename_table("db.orders", "none.x"),
            lambda: catalog.drop_table("none.t"),
            lambda: catalog.database_options("none"),
        ]
        for call in calls:
            with pytest.raises(DatabaseNotFoundError):
                call()
        assert catalog.tables("db") == ["orders"]

    def test_partitions_are_listed_and_dropped(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        table = catalog.create_table("db.t", COLUMNS, partition_keys=["day"])
        table.write([{"id": n, "day": day, "v": "x"} for n in (1, 2) for day in ("a", "ü b")])

        listed = again().system_table("db.t$partitions").scan().to_arrow()
        assert sorted(listed["partition"].to_pylist()) == ["day=a", "day=ü b"]
        again().table("db.t").delete("day = 'a'")

        assert set(again().table("db.t").scan().to_arrow()["day"].to_pylist()) == {"ü b"}

    def test_branches_and_system_tables_have_names(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        table = catalog.create_table("db.t", COLUMNS)
        table.write([{"id": 1, "day": "x", "v": "y"}])
        table.branches.create("dev")
        again().table("db.t$branch_dev").write([{"id": 2, "day": "x", "v": "y"}])

        assert again().table("db.t").scan().count() == 1
        assert again().table("db.t$branch_dev").scan().count() == 1
        assert again().system_table("db.t$branch_dev$snapshots").scan().to_arrow().num_rows == 1
        tables = again().system_table("sys.tables").scan().to_arrow()
        assert tables["table_name"].to_pylist() == ["t"]

    def test_a_table_is_replaced_and_keeps_its_history(
        self, catalog: pl.Catalog, again: Again
    ) -> None:
        catalog.create_database("db")
        first = catalog.create_table("db.t", COLUMNS)
        first.write([{"id": 1, "day": "x", "v": "y"}])

        catalog.write_table("db.t", pa.table({"n": [1, 2]}), mode="replace")

        table = again().table("db.t")
        assert table.scan().to_arrow()["n"].to_pylist() == [1, 2]
        assert table.scan(snapshot=1).count() == 1

    def test_commits_of_two_follow_each_other(self, catalog: pl.Catalog, again: Again) -> None:
        catalog.create_database("db")
        one = catalog.create_table("db.t", COLUMNS)
        two = again().table("db.t")

        for table, number in ((one, 1), (two, 2), (one, 3), (two, 4)):
            try:
                table.write([{"id": number, "day": "x", "v": "y"}])
            except SnapshotConflictError:  # pragma: no cover - nobody else writes
                pytest.fail("there was no race")

        assert again().table("db.t").scan().count() == 4
        assert [snapshot.id for snapshot in again().table("db.t").snapshots] == [1, 2, 3, 4]
