"""One Hive metastore that Java Paimon and paimonlab use in turn."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.table import StaticTable

import paimonlab as pl
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.errors import CatalogLockError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.view import View
from tests.catalog.beside_java import Beside, alter_in_turn
from tests.catalog.hive.metastores import client_jar
from tests.interop.conftest import java_tools as java_tools  # noqa: PLC0414 - a fixture
from tests.interop.conftest import without_java
from tests.interop.java_build import NEWEST, JavaMissingError, JavaTools, chosen_releases
from tests.interop.oracle import Oracle

pytestmark = pytest.mark.interop
_OF_ITS_OWN = ("createTime", "lastAccessTime", "transient_lastDdlTime")
_COUNTED = ("numFiles", "totalSize")
"""What a metastore counts by itself when it is told a folder."""
TYPES = {
    "a": "BOOLEAN",
    "b": "TINYINT NOT NULL",
    "c": "SMALLINT",
    "d": "BIGINT",
    "e": "FLOAT",
    "f": "DOUBLE",
    "g": "DECIMAL(9, 3)",
    "h": "CHAR(3)",
    "i": "CHAR(300)",
    "j": "VARCHAR(7)",
    "k": "VARCHAR(70000)",
    "l": "STRING",
    "m": "BINARY(4)",
    "n": "BYTES",
    "o": "DATE",
    "p": "TIME(3)",
    "q": "TIMESTAMP(6)",
    "r": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
}
NESTED: dict[str, Any] = {
    "s": {"type": "ARRAY", "element": "INT"},
    "t": {"type": "MAP", "key": "STRING", "value": {"type": "ARRAY", "element": "DATE"}},
    "u": {"type": "MULTISET", "element": "STRING"},
    "v": {"type": "ROW", "fields": [{"name": "x", "type": "INT"}, {"name": "y", "type": "STRING"}]},
}
NESTED_TEXT = {
    "s": "ARRAY<INT>",
    "t": "MAP<STRING, ARRAY<DATE>>",
    "u": "MULTISET<STRING>",
    "v": "ROW<x INT, y STRING>",
}


@pytest.fixture(scope="module", params=chosen_releases() or (NEWEST,))
def java(
    request: pytest.FixtureRequest,
    java_tools: JavaTools,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Oracle]:
    try:
        jars = [client_jar(java_tools)]
        started = Oracle(java_tools, tmp_path_factory.mktemp("java"), request.param, more_jars=jars)
    except JavaMissingError as missing:
        without_java(missing)
    yield started
    started.close()


class Both(Beside):
    """Java Paimon and paimonlab on one metastore."""

    ours: HiveCatalog

    def __init__(self, oracle: Oracle, uri: str, folder: Path, **options: str) -> None:
        where = {"metastore": "hive", "uri": uri, "warehouse": str(folder)}
        super().__init__(oracle, where | options)
        assert isinstance(self.ours, HiveCatalog)

    def ask(self, call: str, *arguments: Any) -> Any:
        return self.ours._metastore.ask(call, *arguments)

    def objects(self, database: str) -> dict[str, Any]:
        """Return all objects of a database as values, with its name left out."""
        found = {"": plain(self.ask("get_database", database), database)}
        for name in self.ask("get_all_tables", database):
            table = self.ask("get_table", database, name)
            found[name] = plain(table, database)
            if table.partitionKeys:
                partitions = self.ask("get_partitions", database, name, -1)
                found[f"{name}/"] = [plain(partition, database) for partition in partitions]
        return found


def plain(struct: Any, database: str) -> Any:
    """Return a struct as a value."""
    if isinstance(struct, dict):
        return {
            key: plain(value, database)
            for key, value in struct.items()
            if key not in (*_OF_ITS_OWN, *_COUNTED)
        }
    if isinstance(struct, list):
        return [plain(one, database) for one in struct]
    if hasattr(struct, "thrift_spec"):
        return plain(vars(struct), database)
    return struct.replace(database, "DB") if isinstance(struct, str) else struct


@pytest.fixture
def both(java: Oracle, hive_uri: str, tmp_path: Path) -> Both:
    return Both(java, hive_uri, tmp_path / "w")


def test_objects_are_those_of_a_java_made_twin(both: Both, tmp_path: Path) -> None:
    long = "x" * 200 + "\n" + "y" * 200
    keyed = {"bucket": "2", "file.format": "parquet", "partition.expiration-time": "400 d"}
    options = {"comment": "it's ünal's", "owner": "ünal", "b": "2"}
    both.ours.create_database("ours", options=options)
    both.java("create_database", database="java", options=options)
    both.ours.alter_database("ours", set={"b": "3", "c": "4", "owner": "eve"})
    both.java(
        "alter_database", database="java", set={"b": "3", "c": "4", "owner": "eve"}, remove=[]
    )
    fields = [["day", "STRING NOT NULL"], ["id", "INT NOT NULL"], ["v", "STRING"]]

    def make(name: str, fields: Sequence[Any] = fields, texts: Any = None, **how: Any) -> None:
        both.ours.create_table(
            f"ours.{name}",
            texts or dict(fields),
            primary_keys=how.get("pk", []),
            partition_keys=how.get("partition", []),
            options=how.get("options"),
            comment=how.get("comment"),
        )
        both.java("create_table", table=f"java.{name}", fields=fields, **how)

    make("keyed", pk=["day", "id"], partition=["day"], options=keyed, comment=long)
    make("append", options={"bucket": "3", "bucket-key": "id"})
    make("old", partition=["day"])
    make("gone")
    make("parts", partition=["day", "id"], options={"metastore.partitioned-table": "true"})
    make("types", [[*one] for one in (TYPES | NESTED).items()], TYPES | NESTED_TEXT)
    for name in ("ours", "java"):
        place = {"path": f"{tmp_path}/external_{name}"}
        arguments: Any = {"options": place}
        if name == "ours":
            both.ours.create_table("ours.external", {"id": "INT"}, options=place)
        else:
            both.java("create_table", table="java.external", fields=[["id", "INT"]], **arguments)
    make("kept", options={"external": "true"})
    both.ours.alter_table(
        "ours.keyed",
        pl.SetOption("snapshot.num-retained.max", "20"),
        pl.RemoveOption("file.format"),
        pl.AddColumn("w", "DATE"),
        pl.RenameColumn("v", "vv"),
    )
    both.java(
        "alter_table",
        table="java.keyed",
        changes=[
            ["set", "snapshot.num-retained.max", "20"],
            ["unset", "file.format"],
            ["add", "w", "DATE"],
            ["rename", "v", "vv"],
        ],
    )
    for name, rename, drop in (
        ("ours", both.ours.rename_table, both.ours.drop_table),
        ("java", both_rename(both), lambda table: both.java("drop_table", table=table)),
    ):
        rename(f"{name}.old", f"{name}.new")
        drop(f"{name}.gone")
        drop(f"{name}.kept")
    both.ours.table("ours.parts").write(
        [{"day": day, "id": 1, "v": "x"} for day in ("a b/c", "ü=1", " ", "z")]
    )
    both.java_write("java.parts", *([day, 1, "x"] for day in ("a b/c", "ü=1", " ", "z")))
    query = "SELECT 1 AS id, 'ü' AS v"
    columns = new_table_schema(Schema({"id": "BIGINT", "v": "ARRAY<STRING>"}), time_millis=0).fields
    both.ours.create_view(
        "ours.view", View(fields=columns, query=query, comment="c", options={"a": "1"})
    )
    both.java(
        "create_view",
        table="java.view",
        fields=[["id", "BIGINT"], ["v", {"type": "ARRAY", "element": "STRING"}]],
        query=query,
        comment="c",
        options={"a": "1"},
    )

    found, wanted = both.objects("ours"), both.objects("java")

    assert found.keys() == wanted.keys()
    for name in found:
        assert found[name] == wanted[name], name
    assert len(found["parts/"]) == 4
    for name in ("keyed", "append", "new", "types", "external", "parts"):
        mine, theirs = both.ours.table(f"ours.{name}"), both.ours.table(f"java.{name}")
        assert mine.schema.fields == theirs.schema.fields
        assert {k: v.replace("ours", "java") for k, v in mine.options.items()} == theirs.options
    assert both.java("view", table="ours.view")[:2] == [query, "c"]
    assert both.ours.view("java.view") == both.ours.view("ours.view")
    for name in ("ours", "java"):
        assert (tmp_path / "w" / f"{name}.db" / "kept" / "schema" / "schema-0").exists()


def test_tags_are_partitions_as_java_makes_them(both: Both) -> None:
    column = {"metastore.tag-to-partition": "tag"}
    ahead = {**column, "metastore.tag-to-partition.preview": "process-time"}
    fields = [["id", "INT"], ["day", "STRING"]]
    for database in ("dbx", "dby"):
        both.ours.create_database(database)
    for name in ("t", "u"):
        both.ours.create_table(f"dbx.{name}", dict(fields), options=column)
        both.java("create_table", table=f"dby.{name}", fields=fields, options=column)
    both.java("create_table", table="dby.ahead", fields=fields, options=ahead)
    both.ours.create_table("dbx.ahead", dict(fields), options=ahead)
    for table in ("t", "u"):
        both.ours.table(f"dbx.{table}").write([{"id": 1, "day": "a"}])
        both.java_write(f"dby.{table}", [1, "a"])
    both.ours.table("dbx.ahead").write([{"id": 1, "day": "a"}])
    both.java_write("dby.ahead", [1, "a"])
    for tag in ("2026-01-01", "v 1=ü", "gone"):
        both.ours.table("dbx.t").tags.create(tag)
        both.java("tag", table="dby.t", name=tag, snapshot=1)
        both.java("tag", table="dbx.u", name=tag, snapshot=1)  # each in the other's table
        both.ours.table("dby.u").tags.create(tag)
    both.ours.table("dbx.t").tags.delete("gone")
    both.java("delete_tag", table="dby.t", name="gone")
    both.java("delete_tag", table="dbx.u", name="gone")
    both.ours.table("dby.u").tags.delete("gone")

    found, wanted = both.objects("dbx"), both.objects("dby")

    assert found == wanted
    tags = [one["values"] for one in found["t/"]]
    assert sorted(tags) == [["2026-01-01"], ["v 1=ü"]]
    [today] = found["ahead/"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", today["values"][0])


def test_tables_of_iceberg_are_those_that_java_makes(
    both: Both, hive_uri: str, tmp_path: Path
) -> None:
    (tmp_path / "hive-site.xml").write_text(
        "<configuration><property><name>hive.metastore.uris</name>"
        f"<value>{hive_uri}</value></property></configuration>"
    )
    fields = [["id", "INT"], ["day", "STRING"]]
    stored = {"metadata.iceberg.storage": "hive-catalog"}
    here = {"metadata.iceberg.uri": hive_uri, "metadata.iceberg.glue.skip-archive": "true"}
    for database, shown in (("ours", "ice_ours"), ("java", "ice_java")):
        both.ours.create_database(database)
        names = {"metadata.iceberg.database": shown, "metadata.iceberg.table": "x"}
        folder = {"metadata.iceberg.hive-conf-dir": str(tmp_path)}
        for name, more in (("t", {**here, **names}), ("u", folder)):
            options = {**stored, **more, "metadata.iceberg.hive-skip-update-stats": "true"}
            if database == "ours":
                both.ours.create_table(f"ours.{name}", dict(fields), options=options)
            else:
                both.java("create_table", table=f"java.{name}", fields=fields, options=options)
    for day in ("a", "b"):
        for name in ("t", "u"):
            both.ours.table(f"ours.{name}").write([{"id": 1, "day": day}])
            both.java_write(f"java.{name}", [1, day])
    changes = pl.AddColumn("w", "DATE"), pl.RenameColumn("day", "tag")
    both.ours.alter_table("ours.t", *changes)
    both.java(
        "alter_table", table="java.t", changes=[["add", "w", "DATE"], ["rename", "day", "tag"]]
    )
    both.ours.table("ours.t").write([{"id": 2, "tag": "c", "w": None}])
    both.java_write("java.t", [2, "c", None])

    for database in ("", "ice_"):  # without one of its own they are in the object of the table
        found, wanted = (
            {name: plain(one, whose) for name, one in both.objects(f"{database}{whose}").items()}
            for whose in ("ours", "java")
        )
        assert found == wanted
    [shown] = [one for name, one in both.objects("ice_ours").items() if name]
    newest = shown["parameters"]["metadata_location"]
    assert newest.endswith("/iceberg/ours/t/metadata/v3.metadata.json")
    rows = StaticTable.from_metadata(newest.removeprefix("file:")).scan().to_arrow()
    assert sorted(rows.to_pylist(), key=str) == [
        {"id": 1, "tag": "a", "w": None},
        {"id": 1, "tag": "b", "w": None},
        {"id": 2, "tag": "c", "w": None},
    ]


def both_rename(both: Both) -> Any:
    return lambda old, new: both.java("rename_table", table=old, target=new)


def test_tables_are_altered_in_turn(both: Both) -> None:
    alter_in_turn(both)

    both.java("drop_table", table="db.s")
    assert both.ours.tables("db") == []
    both.java("create_table", table="db.S", fields=[["X", "INT"]])
    both.java_write("db.S", [1])
    assert both.ours.tables("db") == ["s"]
    assert both.our_rows("db.s") == [[1]]
    assert not both.ours.has_table("db.S")
    both.ours.drop_table("db.s")
    assert both.java("tables", database="db") == []


def test_both_take_the_same_lock(java: Oracle, hive_uri: str, tmp_path: Path) -> None:
    waiting = {"lock-acquire-timeout": "60 s", "lock-check-max-sleep": "100 ms"}
    both = Both(java, hive_uri, tmp_path / "w", **{"lock.enabled": "true"}, **waiting)
    both.ours.create_database("db")
    both.java("create_table", table="db.t", fields=[["id", "INT"]])
    assert both.ours._lock is not None

    with both.ours._lock.held(Identifier("db", "t")) as held:
        writing = threading.Thread(target=both.java_write, args=("db.t", [1]))
        writing.start()
        time.sleep(0.5)
        assert writing.is_alive()
        assert both.ours.table("db.t").snapshot is None
        impatient = pl.connect(both.options | {"lock-acquire-timeout": "100 ms"})
        with pytest.raises(CatalogLockError, match=r"db\.t: not taken within 0\.1 s"):
            impatient.alter_table("db.t", pl.AddColumn("v", "INT"))
        assert held.is_held()
    writing.join(60)
    both.ours.table("db.t").write([{"id": 2}])

    assert both.java_rows("db.t") == both.our_rows("db.t") == [[1], [2]]
