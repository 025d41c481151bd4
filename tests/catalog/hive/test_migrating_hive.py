"""Tables of Hive itself become ours, in one metastore; compared with what pyarrow wrote."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyarrow import orc

import paimonlab as pl
from paimonlab import procedures
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.catalog.migrating import FolderMigration
from paimonlab.cli.main import main
from paimonlab.errors import ArgumentError, SchemaError, TableNotFoundError, UnsupportedError

pytest.importorskip("thriftpy2")

_SERDES = {
    "parquet": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    "orc": "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
    "text": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
}
_ORC = "org.apache.hadoop.hive.ql.io.orc.Orc{}Format"


@pytest.fixture
def catalog(hive_uri: str, tmp_path: Path) -> HiveCatalog:
    made = pl.connect({"metastore": "hive", "uri": hive_uri, "warehouse": str(tmp_path / "w")})
    assert isinstance(made, HiveCatalog)
    made.create_database("db")
    return made


def descriptor(catalog: HiveCatalog, place: Path, kind: str) -> Any:
    new = catalog._metastore.new
    return new(
        "StorageDescriptor",
        cols=[
            new("FieldSchema", name=name, type=of) for name, of in (("a", "int"), ("s", "string"))
        ],
        location=f"file:{place}",
        inputFormat=_ORC.format("Input"),  # a metastore asks for it of transactional tables
        outputFormat=_ORC.format("Output"),
        bucketCols=["a"],
        numBuckets=1,
        serdeInfo=new("SerDeInfo", serializationLib=_SERDES[kind], parameters={}),
    )


def hive_table(
    catalog: HiveCatalog,
    place: Path,
    kind: str,
    keys: dict[str, str],
    *,
    name: str = "h",
    **parameters: str,
) -> None:
    new = catalog._metastore.new
    place.mkdir(parents=True, exist_ok=True)
    made = new(
        "Table",
        tableName=name,
        dbName="db",
        sd=descriptor(catalog, place, kind),
        partitionKeys=[new("FieldSchema", name=key, type=of) for key, of in keys.items()],
        parameters={"comment": "of Hive", **parameters},
        tableType="MANAGED_TABLE",
    )
    catalog._metastore.ask("create_table", made)


def partition(
    catalog: HiveCatalog, place: Path, *values: str, kind: str = "parquet", name: str = "h"
) -> None:
    request = catalog._metastore.new(
        "AddPartitionsRequest",
        dbName="db",
        tblName=name,
        parts=[
            catalog._metastore.new(
                "Partition",
                values=list(values),
                dbName="db",
                tableName=name,
                sd=descriptor(catalog, place, kind),
            )
        ],
        ifNotExists=False,
        needResult=False,
    )
    catalog._metastore.ask("add_partitions_req", request)


def write(folder: Path, *numbers: int, kind: str = "parquet") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = pa.table({"a": pa.array(numbers, pa.int32()), "s": [f"v{n}" for n in numbers]})
    if kind == "orc":
        orc.write_table(rows, str(folder / "000000_0"))
    else:
        pq.write_table(rows, folder / "000000_0")


def rows_of(catalog: pl.Catalog, name: str) -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


@pytest.mark.parametrize("kind", ["parquet", "orc"])
@pytest.mark.parametrize("moves", [False, True])
def test_a_table_without_partitions(
    catalog: HiveCatalog, tmp_path: Path, kind: str, moves: bool
) -> None:
    place = tmp_path / "hive" / "h"
    hive_table(catalog, place, kind, {})
    write(place, 1, 2, kind=kind)

    plan = catalog.migrate_hive_table("db.h", "db.t", moves=moves, dry_run=True)
    assert (plan.row_count, catalog.tables("db")) == (2, [])
    procedures.find("migrate_table").call(
        catalog,
        procedures.bind(
            procedures.find("migrate_table"),
            ["hive", "db.h"],
            {"target_table": "db.t", "delete_origin": moves},
        ),
    )

    assert rows_of(catalog, "db.t") == [(1, "v1"), (2, "v2")]
    assert catalog.table("db.t").comment == "of Hive"
    names = catalog._metastore.ask("get_all_tables", "db")
    assert sorted(names) == (["t"] if moves else ["h", "t"])
    assert (place / "000000_0").exists() is not moves


def test_a_table_is_named_on_the_command_line(
    catalog: HiveCatalog, hive_uri: str, tmp_path: Path
) -> None:
    place = tmp_path / "hive" / "h"
    hive_table(catalog, place, "parquet", {"dt": "date"})
    write(place / "dt=2026-01-01", 1, 2)
    partition(catalog, place / "dt=2026-01-01", "2026-01-01")
    here = ("--catalog-option", "metastore=hive", "--catalog-option", f"uri={hive_uri}")
    words = ("migrate", str(tmp_path / "w"), "db.t", "db.h", "--from", "hive", *here)

    planned = CliRunner().invoke(main, [*words, "--dry-run"])
    assert (planned.exit_code, catalog.tables("db")) == (0, []), planned.output
    told = CliRunner().invoke(main, [*words, "--move", "--yes", "--json"])

    assert told.exit_code == 0, told.output
    found = json.loads(told.output)
    assert (found["kind"], found["rows"], found["partition_keys"]) == ("hive", 2, ["dt"])
    day = date(2026, 1, 1)
    assert rows_of(catalog, "db.t") == [(1, "v1", day), (2, "v2", day)]
    assert catalog._metastore.ask("get_all_tables", "db") == ["t"]


@pytest.mark.parametrize("moves", [False, True])
def test_partitions_are_those_that_the_metastore_knows(
    catalog: HiveCatalog, tmp_path: Path, moves: bool
) -> None:
    place = tmp_path / "hive" / "h"
    hive_table(catalog, place, "parquet", {"dt": "date", "kind": "string"})
    known = {
        ("2026-01-01", "a/b"): place / "dt=2026-01-01" / "kind=a%2Fb",
        ("2026-01-02", "7"): tmp_path / "elsewhere",
        ("2026-01-02", "__HIVE_DEFAULT_PARTITION__"): place / "null",
    }
    for number, (values, folder) in enumerate(known.items()):
        write(folder, number)
        partition(catalog, folder, *values)
    write(place / "dt=2026-01-09" / "kind=unknown", 99)

    done = catalog.migrate_hive_table("db.h", "db.t", moves=moves)

    assert done.partition_keys == ("dt", "kind")
    assert dict(done.columns) == {"a": "INT", "s": "STRING", "dt": "DATE", "kind": "STRING"}
    assert rows_of(catalog, "db.t") == [
        (0, "v0", date(2026, 1, 1), "a/b"),
        (1, "v1", date(2026, 1, 2), "7"),
        (2, "v2", date(2026, 1, 2), None),
    ]
    assert (tmp_path / "elsewhere" / "000000_0").exists() is not moves
    assert (place / "dt=2026-01-09" / "kind=unknown" / "000000_0").exists()
    assert not catalog.table("db.t").fsck(deep=True).findings


def call(catalog: HiveCatalog, name: str, **arguments: Any) -> list[Any]:
    procedure = procedures.find(name)
    done = procedure.call(catalog, procedures.bind(procedure, [], arguments))
    return list(done.to_pylist())


def test_a_table_keeps_its_name_where_no_other_is_given(
    catalog: HiveCatalog, tmp_path: Path
) -> None:
    place = tmp_path / "w" / "db.db" / "h"
    hive_table(catalog, place, "parquet", {"pt": "int"})
    for value, number in (("1", 1), ("__HIVE_DEFAULT_PARTITION__", 2)):
        write(place / f"pt={value}", number)
        partition(catalog, place / f"pt={value}", value)
    (place / "_SUCCESS").touch()
    with pytest.raises(UnsupportedError, match="'bucket' = '1'"):
        call(catalog, "migrate_table", source_type="hive", table="db.h", options="bucket=1")
    with pytest.raises(ArgumentError, match="parallelism => 0"):
        call(catalog, "migrate_table", source_type="hive", table="db.h", parallelism=0)
    assert catalog.hive_tables("db") == ["h"]

    options = {"file.format": "orc"}
    arguments = {"source_type": "hive", "table": "db.h", "options_map": options}
    assert call(catalog, "migrate_table", **arguments, parallelism=6) == [{"result": True}]

    table = catalog.table("db.h")
    assert rows_of(catalog, "db.h") == [(1, "v1", 1), (2, "v2", None)]
    assert table.scan(where="pt = 1").to_arrow().to_pylist() == [{"a": 1, "s": "v1", "pt": 1}]
    assert table.scan(where="s LIKE 'v1%' OR pt IS NULL").to_arrow().num_rows == 2
    assert (table.path, table.options["file.format"]) == (str(place), "orc")
    assert catalog._metastore.ask("get_all_tables", "db") == ["h"]
    table.write(pa.table({"a": pa.array([3], pa.int32()), "s": ["v3"], "pt": [1]}))
    assert not catalog.table("db.h").fsck(deep=True).findings


def test_rows_are_added_to_a_table_that_is_there(catalog: HiveCatalog, tmp_path: Path) -> None:
    place = tmp_path / "hive" / "h"
    for moves, keys in ((False, {}), (True, {"pt": "int"})):
        hive_table(catalog, place, "parquet", keys)
        write(place / "pt=1" if keys else place, 1, 2)
        if keys:
            partition(catalog, place / "pt=1", "1")
        made = catalog.create_table(
            "db.t",
            {"a": "INT", "s": "STRING", **dict.fromkeys(keys, "INT")},
            partition_keys=list(keys),
        )
        more = {name: pa.array([1], pa.int32()) for name in keys}
        made.write(pa.table({"a": pa.array([3], pa.int32()), "s": ["v3"], **more}))

        call(
            catalog,
            "migrate_table",
            source_type="hive",
            table="db.h",
            target_table="db.t",
            delete_origin=moves,
        )

        of_partition = [1] * len(keys)
        assert rows_of(catalog, "db.t") == [(n, f"v{n}", *of_partition) for n in (1, 2, 3)]
        assert catalog.hive_tables("db") == ([] if moves else ["h"])
        if not moves:
            context, deletes = catalog._metastore.new("EnvironmentContext", properties={}), True
            catalog._metastore.ask(
                "drop_table_with_environment_context", "db", "h", deletes, context
            )
            catalog.drop_table("db.t")


def test_all_tables_of_a_database_become_ours(catalog: HiveCatalog, tmp_path: Path) -> None:
    place = tmp_path / "hive"
    hive_table(catalog, place / "h", "parquet", {})
    write(place / "h", 1, 2)
    for name, kind, keys in (("e", "orc", {}), ("p", "orc", {"dt": "date"}), ("x", "text", {})):
        hive_table(catalog, place / name, kind, keys, name=name)
    catalog.create_table("db.ours", {"a": "INT"})

    arguments = {"source_type": "hive", "database": "db", "parallelism": 6}
    procedure = procedures.find("migrate_database")
    planned = procedure.plan(catalog, procedures.bind(procedure, [], arguments))
    assert [plan.target for plan in planned if isinstance(plan, FolderMigration)] == [
        "db.e",
        "db.h",
        "db.p",
    ]
    assert (catalog.tables("db"), len(catalog.hive_tables("db"))) == (["ours"], 4)
    assert call(catalog, "migrate_database", **arguments) == [
        {"result": "migrate database is finished, success cnt: 3 , failed cnt: 1"}
    ]

    assert rows_of(catalog, "db.h") == [(1, "v1"), (2, "v2")]
    assert (rows_of(catalog, "db.e"), rows_of(catalog, "db.p")) == ([], [])
    assert catalog.table("db.p").partition_keys == ("dt",)
    assert (catalog.tables("db"), catalog.hive_tables("db")) == (["e", "h", "ours", "p"], ["x"])


def test_a_migration_in_place_that_was_killed_is_gone_on_with(
    catalog: HiveCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "hive" / "h"
    hive_table(catalog, place, "parquet", {})
    write(place, 1, 2)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("_drop_object", "rename_table"):
        with monkeypatch.context() as patched:
            patched.setattr(HiveCatalog, step, killed)
            with pytest.raises(KeyboardInterrupt):
                catalog.migrate_hive_table("db.h", "db.h", moves=True)
        assert catalog.tables("db") == ["h_paimon_"]
    catalog.migrate_hive_table("db.h", "db.h", moves=True)

    assert (catalog.tables("db"), rows_of(catalog, "db.h")) == (["h"], [(1, "v1"), (2, "v2")])


def test_what_cannot_be_taken_is_refused(catalog: HiveCatalog, tmp_path: Path) -> None:
    place = tmp_path / "hive" / "h"
    with pytest.raises(TableNotFoundError):
        catalog.migrate_hive_table("db.h", "db.t")
    catalog.create_table("db.p", {"a": "INT"})
    with pytest.raises(UnsupportedError, match="Paimon's already"):
        catalog.migrate_hive_table("db.p", "db.t")
    hive_table(catalog, place, "orc", {}, transactional="true")
    with pytest.raises(UnsupportedError, match="transactional"):
        catalog.migrate_hive_table("db.h", "db.t")
    with pytest.raises(SchemaError, match="another name"):
        catalog.migrate_hive_table("db.h", "db.h")
    context, deletes = catalog._metastore.new("EnvironmentContext", properties={}), True
    catalog._metastore.ask("drop_table_with_environment_context", "db", "h", deletes, context)
    hive_table(catalog, place, "parquet", {"dt": "string"})
    write(place / "one", 1)
    partition(catalog, place / "one", "a", kind="text")
    with pytest.raises(UnsupportedError, match=r"lazysimpleserde.*Parquet and ORC"):
        catalog.migrate_hive_table("db.h", "db.t")
    assert catalog.tables("db") == ["p"]
