"""What only a catalog in a database does; `tests/catalog/test_every_catalog.py` has the rest."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import paimonlab as pl
from paimonlab.catalog.jdbc.catalog import JdbcCatalog
from paimonlab.cli.main import main
from paimonlab.errors import (
    AlreadyExistsError,
    CatalogDatabaseError,
    CatalogLockError,
    CorruptMetadataError,
    DatabaseNotFoundError,
    PaimonError,
    ReadOnlyError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spec.view import View
from tests.catalog.jdbc.servers import PASSWORD, USER, login_of

pytest.importorskip("sqlalchemy")

COLUMNS = {"id": "INT"}
SERVERS = ("mariadb", "postgres")


def opened(folder: Path, uri: str = "", **options: str) -> JdbcCatalog:
    uri = uri or f"jdbc:sqlite:{folder}/c.db"
    given = {"catalog-key": folder.name, **login_of(uri), **options}
    catalog = pl.connect({"metastore": "jdbc", "uri": uri, "warehouse": str(folder / "w"), **given})
    assert isinstance(catalog, JdbcCatalog)
    return catalog


@pytest.fixture
def catalog(tmp_path: Path) -> JdbcCatalog:
    made = opened(tmp_path)
    made.create_database("db")
    return made


def test_nothing_is_asked_before_it_is_used(tmp_path: Path) -> None:
    opened(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_catalogs_with_other_keys_share_a_database(tmp_path: Path, catalog: JdbcCatalog) -> None:
    other = opened(tmp_path, **{"catalog-key": "other"})
    catalog.create_table("db.t", COLUMNS)

    assert other.databases() == []
    other.create_database("db")
    assert other.tables("db") == []
    other.drop_database("db", cascade=True)
    assert catalog.table("db.t").scan().count() == 0


def test_repair_adds_what_is_in_the_warehouse(tmp_path: Path) -> None:
    files = pl.connect(tmp_path / "w")
    for name in ("a.t", "a.u", "b.t", "c.t"):
        files.create_database(name[0], exist_ok=True)
        files.create_table(name, COLUMNS, options={"bucket": "1", "bucket-key": "id"}).write(
            [{"id": 1}]
        )
    catalog = opened(tmp_path)
    assert catalog.databases() == []

    catalog.repair("a.t")
    assert (catalog.databases(), catalog.tables("a")) == (["a"], ["t"])
    catalog.repair("b")
    assert catalog.tables("b") == ["t"]
    catalog.repair()
    catalog.repair()

    assert [len(catalog.tables(name)) for name in catalog.databases()] == [2, 1, 1]
    assert catalog.table("c.t").scan().count() == 1
    stored = catalog._database().rows(
        "SELECT property_value FROM paimon_table_properties WHERE table_name = 'u' AND "
        "property_key = 'bucket-key'"
    )
    assert stored == [("id",)]
    with pytest.raises(TableNotFoundError):
        catalog.repair("a.none")
    with pytest.raises(DatabaseNotFoundError):
        catalog.repair("none")


def test_files_without_a_row_are_not_taken_for_a_table(catalog: JdbcCatalog) -> None:
    files = pl.connect(catalog.path)
    files.create_database("db")
    files.create_table("db.t", COLUMNS)

    with pytest.raises(SchemaError, match=r"catalog\.repair\('db\.t'\) adds it"):
        catalog.create_table("db.t", COLUMNS)
    assert catalog.tables("db") == []
    catalog.repair("db.t")
    assert catalog.tables("db") == ["t"]


def test_a_row_without_files_is_damage_that_can_be_dropped(catalog: JdbcCatalog) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    shutil.rmtree(table.path)

    with pytest.raises(CorruptMetadataError, match="there is no schema in its folder"):
        catalog.table("db.t")
    catalog.drop_table("db.t")
    assert catalog.tables("db") == []


def test_a_failed_creation_leaves_nothing(
    catalog: JdbcCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.create_view("db.v", View(fields=(), query="SELECT 1"))
    with pytest.raises(AlreadyExistsError, match=r"view db\.v already exists"):
        catalog.create_table("db.v", COLUMNS)
    monkeypatch.setattr(type(catalog.file_io), "publish", _full)
    with pytest.raises(OSError, match="full"):
        catalog.create_table("db.t", COLUMNS)
    monkeypatch.undo()

    assert not Path(catalog.path, "db.db", "t", "schema", "schema-0").exists()
    assert catalog.tables("db") == []
    catalog.create_table("db.t", COLUMNS)


def _full(*_: Any) -> bool:
    raise OSError("the disk is full")


def test_a_failed_move_of_the_folder_leaves_the_name(
    catalog: JdbcCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.create_table("db.t", COLUMNS).write([{"id": 1}])
    Path(catalog.path, "db.db", "u").mkdir()
    with pytest.raises(AlreadyExistsError):
        catalog.rename_table("db.t", "db.u")
    monkeypatch.setattr(type(catalog.file_io), "rename", _full)
    with pytest.raises(OSError, match="full"):
        catalog.rename_table("db.t", "db.x")

    assert catalog.tables("db") == ["t"]
    assert catalog.table("db.t").scan().count() == 1


@pytest.mark.parametrize("server", SERVERS)
def test_values_that_have_no_room_are_refused_before_anything_is_written(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    catalog = opened(tmp_path, request.getfixturevalue(f"{server}_uri"))
    catalog.create_database("db", options={"comment": "ü€🌊" * 333 + "x"})  # 1,000 characters
    assert catalog.database_options("db")["comment"] == "ü€🌊" * 333 + "x"
    long, longest = "x" * 1001, "ü" * 1000
    table = catalog.create_table("db.t", COLUMNS)

    with pytest.raises(SchemaError, match="comment has 1,001 characters"):
        catalog.alter_database("db", set={"comment": long})
    with pytest.raises(SchemaError, match="comment has 1,001 characters"):
        catalog.create_database("other", options={"comment": long})
    with pytest.raises(SchemaError, match=r"path-directory has 1,001 .* sync-all-properties"):
        catalog.create_table("db.u", COLUMNS, options={"data-file.path-directory": long})
    assert catalog.table("db.t").schema == table.schema
    assert (catalog.tables("db"), catalog.databases()) == (["t"], ["db"])
    assert not Path(catalog.path, "db.db", "u").exists()
    catalog.create_table("db.u", COLUMNS, options={"data-file.path-directory": longest})
    unmirrored = opened(
        tmp_path, request.getfixturevalue(f"{server}_uri"), **{"sync-all-properties": "false"}
    )
    unmirrored.create_table("db.w", COLUMNS, options={"data-file.path-directory": long})
    with pytest.raises(SchemaError, match="path-directory has 1,001"):
        catalog.alter_table("db.w", pl.SetOption("snapshot.num-retained.max", "20"))
    unmirrored.alter_table("db.w", pl.SetOption("snapshot.num-retained.max", "20"))


@pytest.mark.parametrize("server", SERVERS)
def test_names_that_have_no_room_are_refused(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    uri = request.getfixturevalue(f"{server}_uri")
    catalog = opened(tmp_path, uri, **{"lock.enabled": "true", "catalog-key": "k"})
    catalog.create_database("db" if server == "mariadb" else "dp")
    database = catalog.databases()[0]
    for name in ("t" * 251, "t" * 256):
        with pytest.raises((SchemaError, CatalogLockError), match="characters"):
            catalog.create_table(f"{database}.{name}", COLUMNS)
    catalog.create_table(f"{database}.{'t' * 250}", COLUMNS)
    with pytest.raises(CatalogLockError, match="lock-key-max-length = 255"):
        catalog.rename_table(f"{database}.{'t' * 250}", f"{database}.{'u' * 251}")


def test_a_name_that_the_database_takes_for_another_is_told(
    mariadb_uri: str, tmp_path: Path
) -> None:
    catalog = opened(tmp_path, mariadb_uri)
    catalog.create_database("db")
    catalog.create_table("db.orders", COLUMNS)

    assert not catalog.has_table("db.Orders")
    with pytest.raises(TableNotFoundError):
        catalog.table("db.ORDERS")
    with pytest.raises(AlreadyExistsError, match=r"table db\.orders already exists"):
        catalog.create_table("db.Orders", COLUMNS)


def test_a_read_only_catalog_changes_nothing(tmp_path: Path, catalog: JdbcCatalog) -> None:
    catalog.create_table("db.t", COLUMNS)
    reader = opened(tmp_path, **{"read-only": "true"})

    for change in (
        lambda: reader.create_database("x"),
        lambda: reader.alter_database("db", set={"a": "1"}),
        lambda: reader.drop_database("db", cascade=True),
        lambda: reader.create_table("db.u", COLUMNS),
        lambda: reader.alter_table("db.t", pl.AddColumn("x", "INT")),
        lambda: reader.rename_table("db.t", "db.u"),
        lambda: reader.drop_table("db.t"),
        reader.repair,
        lambda: reader.create_view("db.v", View(fields=(), query="SELECT 1")),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert reader.tables("db") == ["t"]
    assert reader.table("db.t").scan().count() == 0


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"lock.type": "hive"}, UnsupportedError, "lock.type = 'hive'"),
        ({"lock.enabled": "maybe"}, ValueError, "lock.enabled"),
        ({"lock-acquire-timeout": "soon"}, ValueError, "lock-acquire-timeout"),
        ({"lock-key-max-length": "0"}, ValueError, "lock-key-max-length"),
        ({"client-pool-size": "many"}, ValueError, "client-pool-size"),
        ({"catalog-key": ""}, ValueError, "catalog-key"),
        ({"jdbc.charset": "x"}, UnsupportedError, "charset = 'x'"),
        ({"hive-conf-dir": "/x"}, ValueError, "hive-conf-dir"),
        ({"table.type": "external"}, UnsupportedError, "table.type = 'external'"),
        ({"lock.enable": "true"}, ValueError, "Did you mean 'lock.enabled'"),
    ],
)
def test_other_options_are_refused_by_name(
    options: dict[str, str], error: type[Exception], told: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as caught:
        opened(tmp_path, **options)

    assert told in str(caught.value)


def test_the_address_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'uri' is missing"):
        pl.connect({"metastore": "jdbc", "warehouse": str(tmp_path)})
    with pytest.raises(UnsupportedError, match="uri = 'jdbc:sqlite:x'"):
        pl.connect({"uri": "jdbc:sqlite:x", "warehouse": str(tmp_path)})


@pytest.mark.parametrize("server", SERVERS)
def test_secrets_are_shown_nowhere(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    uri = request.getfixturevalue(f"{server}_uri")
    inside = uri.replace("//", f"//{USER}:{PASSWORD}@")
    catalog = opened(tmp_path, inside)
    catalog.create_database("db")
    table = catalog.create_table("db.t", COLUMNS)
    shown = [repr(catalog), repr(table), repr(catalog._database()), str(catalog._database())]
    shown.append(repr(catalog._database().address))
    shown.append(str(catalog.system_table("sys.catalog_options").scan().to_arrow().to_pylist()))
    for wrong in ({"jdbc.password": "zqhush"}, {"jdbc.user": "zqnobody"}):
        other = opened(tmp_path, uri, **wrong)
        with pytest.raises(CatalogDatabaseError) as caught:
            other.databases()
        shown += [str(caught.value), repr(caught.value), repr(other)]
        assert caught.value.__cause__ is None
    gone = opened(tmp_path, uri.replace(uri.split(":")[3].split("/")[0], "1"))
    with pytest.raises(CatalogDatabaseError) as caught:
        gone.databases()
    shown.append(str(caught.value))

    assert all(PASSWORD not in text and "zqhush" not in text for text in shown)
    assert "127.0.0.1" in shown[-1]


def test_a_catalog_can_be_sent_to_another_process(catalog: JdbcCatalog) -> None:
    catalog.create_table("db.t", COLUMNS)

    assert pickle.loads(pickle.dumps(catalog)).tables("db") == ["t"]


@pytest.mark.parametrize("server", SERVERS)
def test_a_forked_process_has_connections_of_its_own(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    catalog = opened(tmp_path, request.getfixturevalue(f"{server}_uri"))
    catalog.create_database("db")
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            try:
                catalog.create_table(f"db.t{number}", COLUMNS)
                os._exit(0)
            except PaimonError:
                os._exit(1)
        children.append(child)

    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0, 0]
    assert catalog.tables("db") == ["t0", "t1", "t2", "t3"]


def test_the_shell_and_the_catalog_options_reach_it(tmp_path: Path, catalog: JdbcCatalog) -> None:
    catalog.create_table("db.t", COLUMNS).write([{"id": 7}])
    options = ["--catalog-option", "metastore=jdbc", "--catalog-option"]
    options += [
        f"uri=jdbc:sqlite:{tmp_path}/c.db",
        "--catalog-option",
        f"catalog-key={tmp_path.name}",
    ]

    listed = CliRunner().invoke(main, ["tables", str(tmp_path / "w"), *options])
    scanned = CliRunner().invoke(main, ["scan", str(tmp_path / "w"), "db.t", *options])

    assert (listed.exit_code, "db.t" in listed.output) == (0, True)
    assert (scanned.exit_code, "7" in scanned.output) == (0, True)
