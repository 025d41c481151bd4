"""What only a catalog in a Hive metastore does.

`tests/catalog/test_every_catalog.py` has the rest, `test_beside_java` what Java makes of it.
"""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import paimonlab as pl
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.catalog.hive.client import Metastore as Client
from paimonlab.cli.main import main
from paimonlab.errors import (
    AlreadyExistsError,
    CatalogServerError,
    CorruptMetadataError,
    DatabaseNotFoundError,
    PaimonError,
    PostCommitError,
    ReadOnlyError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spec.view import View
from tests.catalog.format_contract import FormatTableContract
from tests.catalog.hive.metastores import OWN_DATABASE

pytest.importorskip("thriftpy2")

COLUMNS = {"id": "INT"}
NOWHERE = "thrift://127.0.0.1:1"
PARTITIONS = int(os.environ.get("PAIMONLAB_PARTITIONS", "50"))
BY_DAY: dict[str, Any] = {
    "partition_keys": ["day"],
    "options": {"metastore.partitioned-table": "true"},
}


def opened(folder: Path, uri: str = NOWHERE, **options: str) -> HiveCatalog:
    catalog = pl.connect(
        {"metastore": "hive", "uri": uri, "warehouse": str(folder / "w"), **options}
    )
    assert isinstance(catalog, HiveCatalog)
    return catalog


@pytest.fixture
def catalog(hive_uri: str, tmp_path: Path) -> HiveCatalog:
    made = opened(tmp_path, hive_uri)
    made.create_database("db")
    return made


class TestFormatTables(FormatTableContract):
    pass


def object_of(catalog: HiveCatalog, name: str) -> Any:
    return catalog._metastore.ask("get_table", "db", name)


def partitions_of(catalog: HiveCatalog, name: str) -> list[str]:
    found = catalog._metastore.ask("get_partitions", "db", name, -1)
    return sorted("/".join(partition.values) for partition in found)


def test_nothing_is_asked_before_it_is_used(tmp_path: Path) -> None:
    opened(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_names_are_lower_case(catalog: HiveCatalog) -> None:
    table = catalog.create_table("db.t", {"Id": "INT"})

    for name in ("db.T", "DB.t"):
        with pytest.raises((SchemaError, DatabaseNotFoundError)):
            catalog.create_table(name, COLUMNS)
        with pytest.raises((TableNotFoundError, DatabaseNotFoundError)):
            catalog.table(name)
    with pytest.raises(SchemaError, match="'Db' cannot be the name of a database"):
        catalog.create_database("Db")
    with pytest.raises(SchemaError, match="'U' cannot be the name of a table"):
        catalog.rename_table("db.t", "db.U")
    with pytest.raises(SchemaError, match="lower case"):
        catalog.create_view("db.V", View(fields=(), query="SELECT 1"))
    assert table.arrow_schema.names == ["Id"]
    assert catalog.table("db.t").arrow_schema.names == ["Id"]


def test_what_others_keep_there_is_left_alone(catalog: HiveCatalog) -> None:
    client = catalog._metastore
    text = client.new(
        "StorageDescriptor",
        cols=[client.new("FieldSchema", name="id", type="int")],
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        serdeInfo=client.new("SerDeInfo", serializationLib="x", parameters={}),
    )
    table = client.new(
        "Table", tableName="h", dbName="db", sd=text, partitionKeys=[], parameters={}
    )
    client.ask("create_table", table)

    assert catalog.tables("db") == []
    assert not catalog.has_table("db.h")
    for call in (
        lambda: catalog.table("db.h"),
        lambda: catalog.alter_table("db.h", pl.AddColumn("x", "INT")),
        lambda: catalog.rename_table("db.h", "db.x"),
        lambda: catalog.drop_table("db.h"),
        lambda: catalog.repair("db.h"),
    ):
        with pytest.raises(UnsupportedError, match=r"TextInputFormat|lines that Hive wrote"):
            call()
    with pytest.raises(AlreadyExistsError):
        catalog.create_table("db.h", COLUMNS)
    with pytest.raises(SchemaError, match="cascade=True"):
        catalog.drop_database("db")
    with pytest.raises(SchemaError, match=r"not Paimon's \(h\)"):
        catalog.drop_database("db", cascade=True)
    assert OWN_DATABASE in catalog.databases()


def test_files_of_external_tables_stay(catalog: HiveCatalog, tmp_path: Path) -> None:
    place = {"path": str(tmp_path / "elsewhere")}
    catalog.create_table("db.t", COLUMNS, options=place).write([{"id": 1}])
    catalog.alter_table("db.t", pl.AddColumn("v", "STRING"))
    catalog.rename_table("db.t", "db.u")
    with pytest.raises(SchemaError, match="'path' is part of the definition"):
        catalog.alter_table("db.u", pl.SetOption("path", "/x"))
    catalog.write_table("db.u", {"id": [2]}, mode="replace")
    table = catalog.table("db.u")
    assert (table.path, table.options["path"]) == (place["path"], place["path"])
    assert object_of(catalog, "u").tableType == "EXTERNAL_TABLE"

    catalog.drop_table("db.u")
    with pytest.raises(SchemaError, match="has other columns"):
        catalog.create_table("db.t", {"x": "INT"}, options=place)
    again = catalog.create_table("db.t", {"id": "BIGINT"}, options=place)

    assert again.scan().to_arrow().to_pylist() == [{"id": 2}]
    kept = catalog.create_table("db.kept", COLUMNS, options={"external": "true"})
    catalog.drop_database("db", cascade=True)
    assert Path(kept.path, "schema", "schema-0").exists()
    with pytest.raises(UnsupportedError, match="path = '/x'"):
        pl.connect(tmp_path / "files").create_table("db.t", COLUMNS, options={"path": "/x"})


def test_a_catalog_of_external_tables_deletes_no_files(
    catalog: HiveCatalog, hive_uri: str, tmp_path: Path
) -> None:
    catalog.create_table("db.old", COLUMNS)
    external = opened(tmp_path, hive_uri, **{"table.type": "external"})
    external.create_table("db.new", COLUMNS)
    folders = [Path(external.table(f"db.{name}").path) for name in ("old", "new")]

    for name in ("old", "new"):
        external.drop_table(f"db.{name}")

    assert external.tables("db") == []
    assert all(Path(folder, "schema", "schema-0").exists() for folder in folders)


def test_locations_can_be_hidden_from_the_metastore(hive_uri: str, tmp_path: Path) -> None:
    catalog = opened(tmp_path, hive_uri, **{"location-in-properties": "true"})
    catalog.create_database("db")
    columns = {"id": "INT", "day": "STRING NOT NULL"}
    table = catalog.create_table("db.t", columns, **BY_DAY)
    table.write([{"id": 1, "day": "a"}])
    assert table.path == f"{tmp_path}/w/db.db/t"
    assert object_of(catalog, "t").parameters["paimon_location"] == f"file:{table.path}"
    (partition,) = catalog._metastore.ask("get_partitions", "db", "t", -1)
    assert partition.parameters["paimon_location"] == f"file:{table.path}/day=a"

    catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    catalog.rename_table("db.t", "db.u")
    assert catalog.table("db.u").path == f"{tmp_path}/w/db.db/u"
    assert catalog.table("db.u").scan().count() == 1
    (partition,) = catalog._metastore.ask("get_partitions", "db", "u", -1)
    assert partition.parameters["paimon_location"] == f"file:{tmp_path}/w/db.db/u/day=a"
    catalog.drop_database("db", cascade=True)
    assert not Path(tmp_path, "w", "db.db").exists()


def test_a_place_that_no_store_reaches_is_refused(catalog: HiveCatalog) -> None:
    for options in ({"path": "alluxio://h/t"}, {"path": "dls://b/t"}):
        with pytest.raises(UnsupportedError, match="no built-in store"):
            catalog.create_table("db.t", COLUMNS, options=options)
    with pytest.raises(SchemaError, match="path = 'here' must be an absolute path"):
        catalog.create_table("db.t", COLUMNS, options={"path": "here"})
    with pytest.raises(UnsupportedError, match="no built-in store for alluxio"):
        catalog.create_database("other", options={"location": "alluxio://h/db"})
    assert catalog.tables("db") == []


def test_partitions_come_and_go_with_commits(
    catalog: HiveCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"id": "INT", "day": "STRING NOT NULL"}
    table = catalog.create_table("db.t", columns, **BY_DAY)
    calls: list[str] = []
    called = Client._called

    def counted(self: Client, call: str, arguments: Any) -> Any:
        calls.append(call)
        return called(self, call, arguments)

    monkeypatch.setattr(Client, "_called", counted)
    days = [f"d{number:03}" for number in range(PARTITIONS)]
    table.write([{"id": 1, "day": day} for day in days])
    assert calls == ["get_table", "add_partitions_req"]
    monkeypatch.undo()
    assert partitions_of(catalog, "t") == days

    table.branches.create("b")
    catalog.table("db.t$branch_b").write([{"id": 2, "day": "d000"}, {"id": 2, "day": "new"}])
    table.delete("day >= 'd001' and id = 1")
    assert partitions_of(catalog, "t") == ["d000", "new"]
    table.truncate()
    assert partitions_of(catalog, "t") == ["d000", "new"]
    catalog.table("db.t$branch_b").delete("day = 'new'")
    assert partitions_of(catalog, "t") == ["d000"]
    catalog.rename_table("db.t", "db.u")
    (partition,) = catalog._metastore.ask("get_partitions", "db", "u", -1)
    assert partition.sd.location == f"file:{catalog.path}/db.db/u/day=d000"


def test_tags_become_partitions(catalog: HiveCatalog) -> None:
    option = {"metastore.tag-to-partition": "tag"}
    table = catalog.create_table("db.t", COLUMNS, options=option)
    table.write([{"id": 1}])
    for name in ("a", "b", "v 1=2"):
        table.tags.create(name)
    found = object_of(catalog, "t")
    assert [(key.name, key.type) for key in found.partitionKeys] == [("tag", "string")]
    assert [column.name for column in found.sd.cols] == ["id"]
    assert partitions_of(catalog, "t") == ["a", "b", "v 1=2"]
    places = [one.sd.location for one in catalog._metastore.ask("get_partitions", "db", "t", -1)]
    assert sorted(places)[::2] == [f"file:{table.path}/tag=a", f"file:{table.path}/tag=v 1%3D2"]

    again = catalog.table("db.t")
    again.tags.rename("a", "c")
    again.tags.replace("b")
    again.tags.delete("v 1=2")
    assert partitions_of(catalog, "t") == ["b", "c"]
    again.write([{"id": 2}])
    again.tags.create("late")
    again.branches.create("x")
    catalog.table("db.t$branch_x").write([{"id": 3}])
    catalog.table("db.t$branch_x").tags.create("of a branch")
    assert partitions_of(catalog, "t") == ["b", "c", "late"]
    again.maintenance.rollback_to(snapshot=1)
    assert partitions_of(catalog, "t") == ["b", "c"]
    catalog.alter_table(
        "db.t", pl.AddColumn("x", "INT"), pl.SetOption("snapshot.num-retained.max", "99")
    )
    assert [key.name for key in object_of(catalog, "t").partitionKeys] == ["tag"]
    pickle.loads(pickle.dumps(catalog.table("db.t"))).tags.create("d")
    catalog.rename_table("db.t", "db.u")
    assert partitions_of(catalog, "u") == ["b", "c", "d"]
    (first, *_) = catalog._metastore.ask("get_partitions", "db", "u", -1)
    assert first.sd.location == f"file:{catalog.path}/db.db/u/tag=b"


def test_tags_are_shown_ahead_and_added_by_repair(
    catalog: HiveCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.clock.now_millis", lambda: 1_767_225_600_000 + 5_000)
    options = {
        "metastore.tag-to-partition": "tag",
        "metastore.tag-to-partition.preview": "process-time",
        "tag.creation-period": "hourly",
        "sink.process-time-zone": "UTC",
    }
    table = catalog.create_table("db.t", COLUMNS, options=options)
    table.write([{"id": 1}])
    assert partitions_of(catalog, "t") == ["2026-01-01 00"]
    pl.connect(catalog.path).table("db.t").tags.create("others")
    catalog.repair("db.t")
    assert partitions_of(catalog, "t") == ["2026-01-01 00", "others"]


def test_a_column_of_tags_must_fit_the_table(catalog: HiveCatalog) -> None:
    key = "metastore.tag-to-partition"
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("tag", {"partition_keys": ["day"]}, "without partition columns"),
        ("day", {}, "has a column of this name"),
        ("Tag", {}, "in lower case"),
    ]
    for column, how, said in wrong:
        with pytest.raises(SchemaError, match=said):
            catalog.create_table(
                "db.t", {"id": "INT", "day": "STRING"}, options={key: column}, **how
            )
    catalog.create_table("db.t", COLUMNS)
    with pytest.raises(CatalogServerError, match="partition"):  # it is the metastore that refuses
        catalog.alter_table("db.t", pl.SetOption(key, "tag"))
    assert catalog.table("db.t").options == {}
    assert catalog.tables("db") == ["t"]


def test_repair_adds_what_is_in_the_warehouse(
    catalog: HiveCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = pl.connect(tmp_path / "w")
    columns = {"id": "INT", "day": "STRING NOT NULL"}
    for name in ("a.t", "a.u", "b.t", "c.t", "c.X"):
        files.create_database(name[0], exist_ok=True)
        files.create_table(name, columns, **BY_DAY).write([{"id": 1, "day": "a"}])
    catalog.create_database("c")
    monkeypatch.setattr("paimonlab.catalog.hive.catalog._SECONDS_FOR_OTHERS", 0)
    with pytest.raises(SchemaError, match="no such table"):
        catalog.create_table("c.t", COLUMNS)

    catalog.repair("a.t")
    assert catalog.tables("a") == ["t"]
    catalog.repair("b")
    assert catalog.tables("b") == ["t"]
    catalog.repair()
    assert [catalog.tables(name) for name in "abc"] == [["t", "u"], ["t"], ["t"]]
    assert catalog.table("c.t").scan().count() == 1
    files.alter_table("a.t", pl.AddColumn("v", "DATE"))
    files.table("a.t").write([{"id": 1, "day": "b"}])
    catalog.repair("a.t")
    catalog.repair()

    repaired = catalog._metastore.ask("get_table", "a", "t")
    assert [(one.name, one.type) for one in repaired.sd.cols] == [("id", "int"), ("v", "date")]
    found = catalog._metastore.ask("get_partitions", "a", "t", -1)
    assert sorted(one.values for one in found) == [["a"], ["b"]]
    with pytest.raises(TableNotFoundError):
        catalog.repair("a.none")
    with pytest.raises(DatabaseNotFoundError):
        catalog.repair("none")
    shutil.rmtree(catalog.table("b.t").path)
    with pytest.raises(CorruptMetadataError, match="there is no schema in its folder"):
        catalog.table("b.t")
    catalog.drop_table("b.t")
    assert catalog.tables("b") == []


def test_what_the_metastore_refuses_leaves_all_as_it_was(
    catalog: HiveCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"id": "INT", "day": "STRING NOT NULL"}
    table = catalog.create_table("db.t", columns, partition_keys=["day"])
    schemas = Path(table.path, "schema")
    with pytest.raises(CatalogServerError, match="partition keys can not be changed"):
        catalog.alter_table("db.t", pl.SetOption("metastore.partitioned-table", "true"))
    assert [path.name for path in schemas.iterdir()] == ["schema-0"]
    assert catalog.table("db.t").schema == table.schema

    monkeypatch.setattr(type(catalog.file_io), "publish", _full)
    with pytest.raises(OSError, match="full"):
        catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    with pytest.raises(OSError, match="full"):
        catalog.create_table("db.u", COLUMNS)
    monkeypatch.undo()
    assert [one.name for one in object_of(catalog, "t").sd.cols] == ["id", "day"]
    with pytest.raises(CatalogServerError):
        catalog.create_table("db.u", COLUMNS, options={"data-file.path-directory": "x" * 50_000})

    assert catalog.tables("db") == ["t"]
    assert [path.name for path in Path(catalog.path, "db.db").iterdir()] == ["t"]


def _full(*_: Any) -> bool:
    raise OSError("the disk is full")


def test_a_read_only_catalog_changes_nothing(
    catalog: HiveCatalog, hive_uri: str, tmp_path: Path
) -> None:
    catalog.create_table("db.t", COLUMNS)
    reader = opened(tmp_path, hive_uri, **{"read-only": "true"})

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
        lambda: reader.table("db.t").write([{"id": 1}]),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert reader.tables("db") == ["t"]


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"lock.type": "jdbc"}, UnsupportedError, "lock.type = 'jdbc'"),
        ({"lock.enabled": "maybe"}, ValueError, "lock.enabled"),
        ({"lock-acquire-timeout": "soon"}, ValueError, "lock-acquire-timeout"),
        ({"client-pool-size": "0"}, ValueError, "client-pool-size"),
        ({"metastore.client.class": "x.Y"}, UnsupportedError, "metastore.client.class = 'x.Y'"),
        ({"format-table.enabled": "maybe"}, ValueError, "format-table.enabled"),
        ({"table.type": "other"}, UnsupportedError, "table.type = 'other'"),
        ({"hadoop-conf-dir": "/x"}, ValueError, "hadoop-conf-dir"),
        (
            {"hive.metastore.sasl.enabled": "true"},
            UnsupportedError,
            "hive.metastore.sasl.enabled = 'true'",
        ),
        ({"hive.exec.x": "1"}, UnsupportedError, "hive.exec.x = '1'"),
        ({"hive.metastore.client.socket.timeout": "soon"}, ValueError, "socket.timeout = 'soon'"),
        ({"hive-conf-dir": "/nowhere"}, ValueError, "/nowhere/hive-site.xml cannot be read"),
        ({"uri": "http://h:1"}, UnsupportedError, "uri = 'http://h:1'"),
        ({"uri": "thrift://zqme:zqhush@h:1"}, ValueError, "a host and a port"),
        ({"uri": " , "}, ValueError, "'uri' is empty"),
        ({"alter-table-cascades": "true"}, ValueError, "Did you mean 'alter-table-cascade'"),
    ],
)
def test_other_options_are_refused_by_name(
    options: dict[str, str], error: type[Exception], told: str, tmp_path: Path
) -> None:
    with pytest.raises(error) as caught:
        opened(tmp_path, **options)

    assert told in str(caught.value)
    assert "zqhush" not in str(caught.value)


def test_hive_site_says_where_the_metastore_is(
    hive_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "conf" / "hive-site.xml"
    site.parent.mkdir()
    settings = {"hive.metastore.uris": f"{NOWHERE},{hive_uri}", "hive.exec.scratchdir": "/tmp/x"}

    def write() -> None:
        properties = "".join(
            f"<property><name>{key}</name><value>{value}</value></property>"
            for key, value in settings.items()
        )
        site.write_text(f'<?xml version="1.0"?><configuration>{properties}</configuration>')

    write()
    given = {"metastore": "hive", "warehouse": str(tmp_path / "w")}
    with_option = pl.connect(given | {"hive-conf-dir": str(site.parent)})
    assert with_option.databases() == [OWN_DATABASE]  # the second address answers
    with pytest.raises(ValueError, match="'uri' is missing"):
        pl.connect(given)
    monkeypatch.setenv("HIVE_CONF_DIR", str(site.parent))
    assert pl.connect(given).databases() == [OWN_DATABASE]
    settings["hive.metastore.sasl.enabled"] = "true"
    write()
    with pytest.raises(UnsupportedError, match=r"hive\.metastore\.sasl\.enabled"):
        pl.connect(given)


def test_a_metastore_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        CatalogServerError, match=r"no metastore answers \(thrift://127\.0\.0\.1:1:"
    ):
        opened(tmp_path).databases()


def test_a_catalog_and_its_tables_can_be_sent_to_another_process(catalog: HiveCatalog) -> None:
    columns = {"id": "INT", "day": "STRING NOT NULL"}
    table = catalog.create_table("db.t", columns, **BY_DAY)
    table.write([{"id": 1, "day": "a"}])

    again = pickle.loads(pickle.dumps(catalog))
    pickle.loads(pickle.dumps(table)).write([{"id": 1, "day": "b"}])

    assert again.tables("db") == ["t"]
    assert partitions_of(again, "t") == ["a", "b"]


def test_a_forked_process_has_connections_of_its_own(catalog: HiveCatalog) -> None:
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            try:
                catalog.create_table(f"db.t{number}", COLUMNS)
                os._exit(0)
            except PaimonError:
                os._exit(1)
        children.append(child)

    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert catalog.tables("db") == ["t0", "t1", "t2"]


def test_the_shell_and_the_catalog_options_reach_it(
    catalog: HiveCatalog, hive_uri: str, tmp_path: Path
) -> None:
    catalog.create_table("db.t", COLUMNS).write([{"id": 7}])
    options = ["--catalog-option", "metastore=hive", "--catalog-option", f"uri={hive_uri}"]

    listed = CliRunner().invoke(main, ["tables", str(tmp_path / "w"), *options])
    scanned = CliRunner().invoke(main, ["scan", str(tmp_path / "w"), "db.t", *options])

    assert (listed.exit_code, "db.t" in listed.output) == (0, True)
    assert (scanned.exit_code, "7" in scanned.output) == (0, True)
    shown = str(catalog.system_table("sys.catalog_options").scan().to_arrow().to_pylist())
    assert hive_uri in shown
    assert hive_uri in repr(catalog)


def test_a_metastore_that_is_gone_after_a_commit_leaves_the_commit(
    catalog: HiveCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"id": "INT", "day": "STRING NOT NULL"}
    table = catalog.create_table("db.t", columns, **BY_DAY)
    monkeypatch.setattr(catalog._metastore, "addresses", ())
    catalog._metastore.close()
    with pytest.raises(PostCommitError):
        table.write([{"id": 1, "day": "a"}])
    monkeypatch.undo()

    assert catalog.table("db.t").scan().count() == 1
    assert partitions_of(catalog, "t") == []
    catalog.repair("db.t")
    assert partitions_of(catalog, "t") == ["a"]


def test_partitions_of_a_registered_table_are_added(catalog: HiveCatalog, tmp_path: Path) -> None:
    other = pl.connect(tmp_path / "elsewhere")
    other.create_database("x")
    made = other.create_table("x.t", {"id": "INT", "day": "STRING"}, **BY_DAY)
    made.write([{"id": 1, "day": "a"}, {"id": 2, "day": "b"}])

    catalog.register("db.t", made.path)

    found = object_of(catalog, "t")
    assert (found.tableType, found.sd.location) == ("EXTERNAL_TABLE", f"file:{made.path}")
    assert found.parameters["EXTERNAL"] == "TRUE"
    assert partitions_of(catalog, "t") == ["a", "b"]
    [one, _] = catalog._metastore.ask("get_partitions", "db", "t", -1)
    assert one.sd.location == f"file:{made.path}/day=a"
