from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    AlreadyExistsError,
    ColumnNotFoundError,
    DatabaseNotFoundError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)


def open_table(catalog: pl.Catalog, name: str) -> pl.Table:
    table = catalog.table(name)
    assert isinstance(table, pl.Table)
    return table


COLUMNS = {"id": "BIGINT", "v": "STRING"}


def test_a_new_warehouse_is_empty_and_not_yet_on_disk(tmp_path: Path) -> None:
    catalog = pl.connect({"warehouse": f"file://{tmp_path}/w", "metastore": "filesystem"})

    assert catalog.databases() == []
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("new_name", [None, "db.other"])
def test_a_table_that_was_dropped_or_renamed_is_not_read_as_empty(
    new_name: str | None, catalog: pl.Catalog
) -> None:
    table = catalog.write_table("db.t", [{"id": 1}], primary_keys=["id"])
    if new_name is None:
        catalog.drop_table("db.t")
    else:
        catalog.rename_table("db.t", new_name)

    uses: tuple[Callable[[], object], ...] = (
        lambda: table.snapshot,
        table.scan,
        lambda: table.lookup({"id": [1]}),
        lambda: table.write([{"id": 2}]),
        lambda: table.delete("id = 1"),
        table.compact,
    )
    for use in uses:
        with pytest.raises(TableNotFoundError, match=r"table db\.t not found"):
            use()
    assert not Path(table.path).exists()
    assert new_name is None or open_table(catalog, new_name).scan().count() == 1


def test_databases_are_made_listed_and_dropped(catalog: pl.Catalog) -> None:
    catalog.create_database("a")
    catalog.create_database("a", exist_ok=True)

    assert catalog.databases() == ["a", "db"]
    with pytest.raises(AlreadyExistsError, match="database a already exists"):
        catalog.create_database("a")
    catalog.drop_database("a")
    catalog.drop_database("a", missing_ok=True)
    with pytest.raises(DatabaseNotFoundError, match=r"database dbb not found.* Did you mean 'db'"):
        catalog.drop_database("dbb")


def test_a_database_with_tables_is_dropped_only_with_cascade(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS)

    with pytest.raises(SchemaError, match="cascade=True"):
        catalog.drop_database("db")
    catalog.drop_database("db", cascade=True)

    assert catalog.databases() == []


def test_a_table_is_opened_as_it_was_made(catalog: pl.Catalog) -> None:
    catalog.create_table(
        "db.t",
        {"dt": "STRING", "id": "BIGINT", "amount": "DECIMAL(12, 2)"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": "2"},
        comment="orders",
    )

    table = catalog.table("db.t")

    assert isinstance(table, pl.Table)
    assert table.name == "db.t"
    assert table.primary_keys == ("dt", "id")
    assert table.partition_keys == ("dt",)
    assert table.options == {"bucket": "2"}
    assert table.comment == "orders"
    assert table.arrow_schema == pa.schema(
        [
            pa.field("dt", pa.string(), nullable=False),
            pa.field("id", pa.int64(), nullable=False),
            pa.field("amount", pa.decimal128(12, 2)),
        ]
    )
    assert table.snapshot is None
    assert catalog.tables("db") == ["t"]


def test_an_arrow_schema_makes_a_table(catalog: pl.Catalog) -> None:
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False), ("t", pa.timestamp("ns"))])

    table = catalog.create_table("db.t", schema)

    assert table.arrow_schema == schema


def test_a_name_is_taken_once(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS)

    with pytest.raises(AlreadyExistsError, match=r"table db\.t already exists"):
        catalog.create_table("db.t", COLUMNS)
    assert catalog.create_table("db.t", {"x": "INT"}, exist_ok=True).arrow_schema.names == [
        "id",
        "v",
    ]


def test_tables_are_renamed_and_dropped(catalog: pl.Catalog) -> None:
    catalog.create_database("other")
    catalog.create_table("db.a", COLUMNS)
    catalog.create_table("db.b", COLUMNS)

    with pytest.raises(AlreadyExistsError):
        catalog.rename_table("db.a", "db.b")
    catalog.rename_table("db.a", "other.c")
    catalog.drop_table("db.b")
    catalog.drop_table("db.b", missing_ok=True)

    assert (catalog.tables("db"), catalog.tables("other")) == ([], ["c"])
    with pytest.raises(TableNotFoundError):
        catalog.drop_table("db.b")


def test_a_missing_table_names_close_ones(catalog: pl.Catalog) -> None:
    catalog.create_table("db.orders", COLUMNS)

    with pytest.raises(TableNotFoundError, match=r"table db.order not found. Did you mean 'db.or"):
        catalog.table("db.order")
    with pytest.raises(DatabaseNotFoundError):
        catalog.table("nope.order")
    with pytest.raises(TableNotFoundError, match="snapshots"):
        catalog.system_table("db.orders$snapshot")
    with pytest.raises(ValueError, match=r"database\.table"):
        catalog.table("orders")


@pytest.mark.parametrize("name", ["db./x", "db.a b/..", "../x.t", "db. ", "db.a\nb", "sys.t"])
def test_names_that_cannot_be_folders_are_refused(catalog: pl.Catalog, name: str) -> None:
    with pytest.raises((SchemaError, ValueError)):
        catalog.create_table(name, COLUMNS)


def test_alter_changes_the_definition_in_order(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS)

    table = catalog.alter_table(
        "db.t",
        pl.AddColumn("note", "STRING", after="id"),
        pl.RenameColumn("v", "w"),
        pl.SetOption("write-only", "true"),
    )

    assert table.arrow_schema.names == ["id", "note", "w"]
    assert table.options["write-only"] == "true"
    assert table.schema.id == 1
    assert [schema.id for schema in table.schemas.list()] == [0, 1]


def test_what_is_unknown_or_missing_is_an_error(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS)

    with pytest.raises(ColumnNotFoundError, match="it has id, v"):
        catalog.alter_table("db.t", pl.DropColumn("x"))
    with pytest.raises(SchemaError, match="Did you mean 'write-only'"):
        catalog.alter_table("db.t", pl.SetOption("write-onli", "true"))
    with pytest.raises(SchemaError, match="bukket"):
        catalog.create_table("db.u", COLUMNS, options={"bukket": "1"})
    with pytest.raises(UnsupportedError, match="pk-clustering-override = 'true'"):
        catalog.create_table(
            "db.u",
            COLUMNS,
            primary_keys=["id"],
            options={"bucket": "1", "pk-clustering-override": "true"},
        )
    with pytest.raises(SchemaError, match="'nope' is not a column"):
        catalog.create_table("db.u", COLUMNS, primary_keys=["nope"], options={"bucket": "1"})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"warehouse": "dls://bucket/w"}, UnsupportedError),
        ({"warehouse": "w", "metastore": "glue"}, UnsupportedError),
        ({"warehouse": "w", "wearhouse": "x"}, ValueError),
        ({"metastore": "filesystem"}, ValueError),
    ],
)
def test_connect_refuses_what_it_cannot_do(options: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        pl.connect(options)


@pytest.mark.parametrize("type_", ["BLOB", "ARRAY<ROW<x BLOB>>", "MAP<INT, BLOB>"])
def test_a_column_that_cannot_be_written_is_refused_by_name(
    catalog: pl.Catalog, type_: str
) -> None:
    with pytest.raises(UnsupportedError, match="column 'bad'"):
        catalog.create_table("db.t", {**COLUMNS, "bad": type_})
    assert not catalog.has_table("db.t")

    catalog.create_table("db.t", COLUMNS)
    with pytest.raises(UnsupportedError, match="column 'bad'"):
        catalog.alter_table("db.t", pl.AddColumn("bad", type_))
    assert catalog.table("db.t").arrow_schema.names == ["id", "v"]


@pytest.mark.parametrize(
    ("type_", "options"),
    [
        ("TIMESTAMP(9)", {"file.format": "avro"}),
        ("TIMESTAMP(9)", {"file.format.per.level": "5:avro"}),
        ("TIMESTAMP(9)", {"changelog-file.format": "avro", "changelog-producer": "input"}),
        ("VARIANT", {"file.format": "orc"}),
        ("INT", {"file.format": "orc", "file.compression": "gzip"}),
    ],
)
def test_what_files_cannot_hold_is_refused_before_there_is_a_table(
    tmp_path: Path, type_: str, options: dict[str, str]
) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    columns = {"k": "INT", "v": type_}
    with pytest.raises(UnsupportedError):
        catalog.create_table(
            "db.t", columns, primary_keys=["k"], options={"bucket": "1", **options}
        )
    assert catalog.tables("db") == []

    options = {"bucket": "1", **options}
    plain = catalog.create_table("db.p", {"k": "INT"}, primary_keys=["k"], options={"bucket": "1"})
    with pytest.raises(UnsupportedError):
        catalog.alter_table(
            "db.p", pl.AddColumn("v", type_), *(pl.SetOption(*each) for each in options.items())
        )
    assert open_table(catalog, "db.p").schema == plain.schema


def test_a_table_that_others_made_unwritable_can_be_altered(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"v": "TIMESTAMP(9)"})
    path = Path(table.path) / "schema" / "schema-0"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["options"]["file.format"] = "avro"
    path.write_text(json.dumps(document), encoding="utf-8")

    catalog.alter_table("db.t", pl.UpdateComment("seen"))

    with pytest.raises(UnsupportedError, match="Avro"):
        open_table(catalog, "db.t").write(pa.table({"v": pa.array([0], pa.timestamp("ns"))}))


@pytest.mark.parametrize("name", [None, "db", "db.t"])
def test_there_is_no_metastore_to_repair(tmp_path: Path, name: str | None) -> None:
    catalog = pl.connect(tmp_path)

    with pytest.raises(UnsupportedError, match=r"metastore is not supported.*fsck") as caught:
        catalog.repair(name)
    assert (name or catalog.path) in str(caught.value)


def test_a_catalog_has_its_tables_by_name(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS)

    assert catalog["db.t"].name == "db.t"
    assert list(catalog) == ["db.t"]
    assert "db.t" in catalog
    assert "db.other" not in catalog
    assert "t" not in catalog
    with pytest.raises(TableNotFoundError):
        catalog["db.other"]
