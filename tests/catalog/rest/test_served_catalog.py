"""Our client against our server: what any catalog does, a REST catalog does as well."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from urllib.request import Request, urlopen

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog.rest.catalog import RestCatalog
from paimonlab.catalog.rest.history import RestHistory
from paimonlab.catalog.rest_server.exchange import NoSuchPathError
from paimonlab.catalog.rest_server.serving import Server
from paimonlab.errors import (
    AccessDeniedError,
    ReadOnlyError,
    SchemaError,
    SnapshotConflictError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spec.snapshot import Snapshot
from tests.catalog.contracts import FunctionContract, ViewContract
from tests.catalog.format_contract import FormatTableContract, keeper
from tests.catalog.kept import KeepingCatalog


class TestViews(ViewContract):
    pass


class TestFunctions(FunctionContract):
    pass


class TestFormatTables(FormatTableContract):
    def test_an_external_folder_stays(self, catalog: pl.Catalog, tmp_path: Path) -> None:
        # Whoever may write one database would read and write any folder.
        kept = keeper(catalog)
        options = {"path": str(tmp_path)}
        with pytest.raises(UnsupportedError, match="where the catalog is served"):
            kept.create_format_table("db.e", {"id": "INT"}, file_format="csv", options=options)
        kept.create_format_table("db.e", {"id": "INT"}, file_format="csv")
        with pytest.raises(UnsupportedError, match="where the catalog is served"):
            catalog.alter_table("db.e", pl.SetOption("path", str(tmp_path)))


def test_a_table_lives_its_life_through_a_server(
    catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    life_of_a_table(catalog)
    assert served.tables("db") == []


def life_of_a_table(catalog: pl.Catalog) -> None:
    """Create, write, alter, tag, branch, roll back, rename and drop a table."""
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "v": "STRING", "dt": "STRING NOT NULL"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "2", "metastore.partitioned-table": "true"},
        comment="prix ü 漢",
    )
    assert (table.snapshot, table.comment) == (None, "prix ü 漢")

    table.write(pa.table({"id": [1, 2], "v": ["a", "b"], "dt": ["x", "y"]}))
    table.write(pa.table({"id": [1, 3], "v": ["A", "c"], "dt": ["x", "y"]}))
    assert isinstance(catalog, RestCatalog)
    partitions = {one.spec["dt"]: one.record_count for one in catalog.partitions("db.t")}
    assert partitions == {"x": 2, "y": 2}

    table = catalog.alter_table(
        "db.t",
        pl.AddColumn("w", "INT", after="id"),
        pl.RenameColumn("v", "u"),
        pl.DropColumn("u"),
        pl.AddColumn("v", "STRING"),
        pl.SetOption("snapshot.num-retained.max", "20"),
    )
    table.write(pa.table({"id": [9], "w": [1], "v": ["z"], "dt": ["x"]}))
    expected = [(1, None, None), (2, None, None), (3, None, None), (9, 1, "z")]
    assert _rows(table, "id", "w", "v") == expected

    table.tags.create("three")
    table.branches.create("b", tag="three")
    branch = catalog.table("db.t$branch_b")
    branch.write(pa.table({"id": [77], "dt": ["x"]}))
    latest, of_branch = table.snapshot, branch.snapshot
    assert latest is not None
    assert of_branch is not None
    assert (latest.id, of_branch.id) == (3, 4)
    table.branches.fast_forward("b")
    assert _rows(table.refresh(), "id") == [(1,), (2,), (3,), (9,), (77,)]

    table.maintenance.rollback_to(snapshot=1)
    assert table.snapshots.ids() == [1]
    assert _rows(table, "id") == [(1,), (2,)]
    table.branches.delete("b")
    assert table.branches.list() == []
    assert catalog.system_table("db.t$snapshots").scan().count() == 1

    catalog.rename_table("db.t", "db.u")
    assert catalog.tables("db") == ["u"]
    with pytest.raises(pl.errors.AlreadyExistsError, match=r"table db\.u already exists"):
        catalog.create_table("db.u", {"id": "INT"})
    with pytest.raises(pl.errors.TableNotFoundError, match=r"db\.t"):
        catalog.table("db.t")
    with pytest.raises(pl.errors.DatabaseNotFoundError, match="nowhere"):
        catalog.create_table("nowhere.t", {"id": "INT"})
    catalog.drop_table("db.u")
    assert catalog.tables("db") == []


def _rows(table: pl.Table, *columns: str) -> list[tuple[object, ...]]:
    rows = table.scan(columns=list(columns)).to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def test_writers_through_servers_and_files_meet(
    catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    """The server's own catalog writes the same table."""
    remote = catalog.create_table("db.t", {"n": "INT"})
    local = served.table("db.t")
    for number in range(4):
        (remote if number % 2 else local).write(pa.table({"n": [number]}))

    assert remote.snapshots.ids() == [1, 2, 3, 4]
    assert _rows(local, "n") == _rows(remote, "n") == [(0,), (1,), (2,), (3,)]


def test_a_commit_loses_its_race_and_is_tried_again(
    catalog: pl.Catalog, served: KeepingCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = catalog.create_table("db.t", {"n": "INT"}, options={"commit.max-retries": "0"})
    patient = catalog.create_table("db.p", {"n": "INT"})
    for opened in (table, patient):
        _overtake(served, opened, monkeypatch)
    with pytest.raises(SnapshotConflictError):
        table.write(pa.table({"n": [1]}))
    patient.write(pa.table({"n": [1]}))

    assert _rows(patient, "n") == [(0,), (1,)]
    assert _rows(table, "n") == [(0,)]


def _overtake(served: KeepingCatalog, opened: pl.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another writer be first, once."""
    history = opened._store.publisher
    assert isinstance(history, RestHistory)
    publish = type(history).publish
    left = [served.table(opened.name)]

    def overtaken(self: RestHistory, snapshot: Snapshot) -> bool:
        if left:
            left.pop().write(pa.table({"n": [0]}))
        return publish(self, snapshot)

    monkeypatch.setattr(
        "paimonlab.catalog.rest.history.RestHistory.publish",
        lambda self, snapshot: (overtaken if self is history else publish)(self, snapshot),
    )


def test_databases_keep_options_if_the_served_catalog_does(catalog: pl.Catalog) -> None:
    catalog.create_database("other", exist_ok=True)
    catalog.create_database("other", exist_ok=True)
    assert catalog.databases() == ["db", "other"]
    with pytest.raises(UnsupportedError, match="keeps no options"):
        catalog.create_database("third", options={"comment": "x"})
    with pytest.raises(pl.errors.DatabaseNotFoundError):
        catalog.drop_database("nowhere")
    catalog.create_table("other.t", {"n": "INT"})
    with pytest.raises(pl.errors.SchemaError, match="has tables"):
        catalog.drop_database("other")
    catalog.drop_database("other", cascade=True)
    assert catalog.databases() == ["db"]


def test_options_for_all_tables_come_from_the_catalog(server: Server) -> None:
    catalog = pl.connect({**server.options, "table-default.bucket": "3"})
    keyed = catalog.create_table("db.a", {"id": "INT NOT NULL"}, primary_keys=["id"])
    other = catalog.create_table(
        "db.b", {"id": "INT NOT NULL"}, primary_keys=["id"], options={"bucket": "1"}
    )

    assert (keyed.options["bucket"], other.options["bucket"]) == ("3", "1")


def test_a_read_only_client_changes_nothing(server: Server, catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", {"n": "INT"}).write(pa.table({"n": [1]}))
    reader = pl.connect({**server.options, "read-only": "true"})

    assert reader.is_read_only
    assert _rows(reader.table("db.t"), "n") == [(1,)]
    for change in (
        lambda: reader.create_database("x"),
        lambda: reader.drop_table("db.t"),
        lambda: reader.rename_table("db.t", "db.u"),
        lambda: reader.alter_table("db.t", pl.SetOption("write-only", "true")),
        lambda: reader.replacement("db.t", pl.Schema({"m": "INT"})).publish(),
        lambda: reader.table("db.t").write(pa.table({"n": [2]})),
    ):
        with pytest.raises(ReadOnlyError):
            change()


def test_a_replaced_table_has_fields_that_no_file_before_has(
    catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    table = catalog.create_table("db.t", {"n": "INT", "gone": "STRING"}, comment="old")
    table.write(pa.table({"n": [1], "gone": ["x"]}))
    catalog.alter_table("db.t", pl.DropColumn("gone"))
    defaults = {"table-default.file.format": "orc"}
    client = pl.connect({**server_options(catalog), **defaults})
    replacement = client.replacement("db.t", pl.Schema({"m": "ROW<x INT>", "n": "INT"}))
    assert _rows(catalog.table("db.t"), "n") == [(1,)]
    replaced = replacement.publish()

    schema = served.table("db.t").schema
    assert schema.fields == replacement.table.schema.fields == replaced.schema.fields
    assert [field.id for field in schema.fields] == [2, 4]
    assert (schema.id, schema.comment) == (replacement.table.schema.id, None)
    assert schema.options["file.format"] == "orc"
    assert replaced.scan().count() == 0
    assert replaced.scan(snapshot=1).to_arrow()["gone"].to_pylist() == ["x"]
    assert replaced.snapshots.ids() == [1, 2]


def test_a_definition_that_others_changed_is_not_replaced(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", {"n": "INT"}).write(pa.table({"n": [1]}))
    replacement = catalog.replacement("db.t", pl.Schema({"m": "INT"}))
    catalog.alter_table("db.t", pl.AddColumn("o", "INT"))

    with pytest.raises(SchemaError, match="others changed its definition"):
        replacement.publish()
    assert _rows(catalog.table("db.t"), "n", "o") == [(1, None)]
    with pytest.raises(UnsupportedError, match=r"by a table with the primary key \(m\)"):
        catalog.replacement("db.t", pl.Schema({"m": "INT"}, primary_keys=["m"]))
    catalog.drop_table("db.t")
    with pytest.raises(TableNotFoundError, match=r"db\.t"):
        replacement.publish()


def server_options(catalog: pl.Catalog) -> Mapping[str, str]:
    assert isinstance(catalog, RestCatalog)
    return catalog.options


def test_a_server_that_replaces_no_tables_is_named(
    catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.create_table("db.t", {"n": "INT"})
    monkeypatch.setattr("paimonlab.catalog.rest_server.tables.replaced", _no_such_path)
    with catalog.serve(token="tok") as old:
        client = pl.connect(old.options)
        with pytest.raises(
            UnsupportedError, match=r"replacing the definition of db\.t.*ALTER TABLE"
        ):
            client.write_table("db.t", pa.table({"m": [1]}), mode="replace")
    assert catalog.table("db.t").arrow_schema.names == ["n"]


def _no_such_path(*_: object) -> None:
    raise NoSuchPathError("there is no such path here")


def test_a_table_with_rules_for_readers_is_refused_by_name(
    catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    table = served.create_table("db.t", {"n": "INT"})
    schema = Path(table.path, "schema", "schema-0")
    schema.write_text(
        schema.read_text().replace('"options": {}', '"options": {"query-auth.enabled": "true"}')
    )
    with pytest.raises(UnsupportedError, match=r"query-auth\.enabled = 'true'"):
        catalog.table("db.t").scan().to_arrow()


def test_a_rescale_sets_the_option_at_the_server(
    catalog: pl.Catalog, served: KeepingCatalog
) -> None:
    table = catalog.create_table(
        "db.t", {"id": "INT NOT NULL"}, primary_keys=["id"], options={"bucket": "1"}
    )
    table.write(pa.table({"id": [1, 2, 3]}))
    table.maintenance.rescale(buckets=2)

    assert served.table("db.t").options["bucket"] == "2"
    assert _rows(catalog.table("db.t"), "id") == [(1,), (2,), (3,)]


def test_a_token_that_is_wrong_or_revoked_is_one_clear_error(server: Server) -> None:
    wrong = pl.connect({**server.options, "token": "hush"})
    with pytest.raises(AccessDeniedError, match="not authorised, look at the token") as raised:
        wrong.databases()
    assert "hush" not in repr(raised.value) + str(raised.value)
    assert raised.value.__context__ is None or "hush" not in str(raised.value.__context__)


def test_a_catalog_shows_no_secret(server: Server) -> None:
    catalog = pl.connect(server.options)
    assert server.token is not None
    assert isinstance(catalog, RestCatalog)
    shown = repr(catalog) + repr(catalog._client) + repr(catalog._stores) + repr(server)
    assert server.token not in shown
    history = catalog.create_table("db.t", {"n": "INT"})._store.publisher
    assert server.token not in repr(history)


def test_a_client_goes_to_other_processes(server: Server) -> None:
    catalog = pl.connect(server.options)
    assert isinstance(catalog, RestCatalog)
    catalog.databases()
    sent = pickle.loads(pickle.dumps(catalog._client))
    assert sent.options == catalog.merged_options
    assert sent.address == server.address


def test_who_made_a_table_is_a_text_even_if_nobody_knows(server: Server) -> None:
    # Java makes options of it, and Flink refuses a table with an option that is null.
    catalog = pl.connect(server.options)
    catalog.create_table("db.t", {"n": "INT"})
    request = Request(f"{server.address}/v1/{server.warehouse}/databases/db/tables/t")
    request.add_header("Authorization", f"Bearer {server.token}")
    with urlopen(request) as answer:
        said = json.load(answer)
    assert [said[key] for key in ("owner", "createdBy", "updatedBy")] == ["", "", ""]
