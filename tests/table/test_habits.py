"""Names of other libraries are answered with what is here."""

from __future__ import annotations

import copy
import datetime as dt
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import (
    DataError,
    ProcedureNotFoundError,
    SchemaError,
    SnapshotNotFoundError,
    TableNotFoundError,
    UnsupportedError,
    habits,
)
from paimonlab.procedures import find
from paimonlab.sql_engine.tables import Sources


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path)


@pytest.fixture
def table(catalog: pm.Catalog) -> pm.Table:
    catalog.create_database("db")
    return catalog.create_table("db.t", {"id": "INT"}, primary_keys=["id"])


@pytest.mark.parametrize("name", habits.TABLE)
def test_a_table_says_what_it_has_instead(name: str, table: pm.Table, catalog: pm.Catalog) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(table, name)

    assert f"'{name}'; it is " in str(caught.value)
    for first in re.findall(r"(?:^|or |, )([a-z_]+)\b(?!\.)", habits.TABLE[name])[:1]:
        assert hasattr(table, first) or hasattr(catalog, first) or first == "list"
    for owner, method in re.findall(r"(catalog|maintenance|scan\(\))\.(\w+)", habits.TABLE[name]):
        owners = {"catalog": catalog, "maintenance": table.maintenance, "scan()": table.scan()}
        assert hasattr(owners[owner], method)


@pytest.mark.parametrize("name", ["rollback_to", "analyze", "expire_partitions", "rescale"])
def test_a_verb_of_maintenance_says_where_it_is(name: str, table: pm.Table) -> None:
    with pytest.raises(AttributeError, match=rf"'{name}'; it is maintenance\.{name}\(…\)$"):
        getattr(table, name)


@pytest.mark.parametrize(
    ("name", "said"),
    [("t", "Did you mean 'db.t'?"), ("t$files", "Did you mean 'db.t'?"), ("z", "There is db.t.")],
)
def test_a_name_without_a_database_says_which_tables_there_are(
    name: str, said: str, catalog: pm.Catalog, table: pm.Table
) -> None:
    for opens in (catalog.table, catalog.system_table, catalog.opened):
        with pytest.raises(ValueError, match=r"is not a table name; write it as") as caught:
            opens(name)
        assert str(caught.value).endswith(f"as database.table. {said}")


@pytest.mark.parametrize("names", ["tags", "branches", "consumers", "schemas", "snapshots"])
def test_what_a_table_has_does_not_look_empty_when_it_is_gone(
    names: str, catalog: pm.Catalog, table: pm.Table
) -> None:
    catalog.drop_table("db.t")

    with pytest.raises(TableNotFoundError, match="dropped or renamed after it was opened"):
        getattr(table, names).list()
    with pytest.raises(TableNotFoundError, match="dropped or renamed after it was opened"):
        table.tags.get("x")


def test_a_table_is_named_by_a_text(catalog: pm.Catalog) -> None:
    with pytest.raises(
        TypeError, match=r"named by a text, 'database\.table', not by \('db', 't'\)"
    ):
        catalog.table(("db", "t"))  # type: ignore[arg-type]


def test_without_a_key_an_upsert_is_a_merge(catalog: pm.Catalog, table: pm.Table) -> None:
    plain = catalog.write_table("db.plain", [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    with pytest.raises(AttributeError, match=r"it is merge\(.*, as the table has no primary key"):
        _ = plain.upsert
    with pytest.raises(AttributeError, match=r"it is write\(rows\): rows replace those"):
        _ = table.upsert

    said = habits.WITHOUT_KEY["upsert"].partition(", as ")[0]
    eval(said, {"merge": plain.merge, "rows": [{"id": 2, "v": "new"}, {"id": 3, "v": "c"}]})

    rows = plain.scan().to_arrow().sort_by("id").to_pylist()
    assert [(row["id"], row["v"]) for row in rows] == [(1, "a"), (2, "new"), (3, "c")]


@pytest.mark.parametrize("name", habits.MERGE)
def test_a_merge_says_what_it_has_instead(name: str, table: pm.Table) -> None:
    merge = table.merge([{"id": 1}], on="id")
    with pytest.raises(AttributeError, match=f"a merge has no attribute '{name}'; it is "):
        getattr(merge, name)

    for method in re.findall(r"(?:^| or )([a-z_]+)\(", habits.MERGE[name]):
        assert hasattr(merge, method)


def test_a_merge_says_what_it_is_about_and_what_values_are(table: pm.Table) -> None:
    merge = table.merge([{"id": 1}], on="id")

    assert repr(merge) == "<paimonlab merge into db.t, not executed: no clause yet>"
    assert repr(merge.when_matched_delete().when_not_matched_insert()).endswith(
        ": WHEN MATCHED DELETE, WHEN NOT MATCHED INSERT>"
    )
    with pytest.raises(TypeError, match=r"db\.t: values is a dict, .* got '\*'"):
        merge.when_matched_update("*")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("transform", "columns", "options", "value"),
    [
        ("days(ts)", {"day": "DATE"}, {}, "CAST(ts AS DATE)"),
        ("year(ts)", {"year": "INT"}, {}, "year(ts)"),
        ("months(ts)", {"month": "STRING"}, {}, "date_format(ts, 'yyyy-MM')"),
        ("hour(ts)", {"hour": "STRING"}, {}, "date_format(ts, 'yyyy-MM-dd HH')"),
        ("truncate(2, v)", {"v_start": "STRING"}, {}, "substr(v, 1, 2)"),
        ("bucket(4, id)", {}, {"bucket": "4", "bucket-key": "id"}, ""),
    ],
)
def test_partition_transforms_are_answered_with_what_makes_such_a_table(
    transform: str,
    columns: dict[str, str],
    options: dict[str, str],
    value: str,
    catalog: pm.Catalog,
) -> None:
    catalog.create_database("db")
    known = {"id": "INT", "v": "STRING", "ts": "TIMESTAMP(6)"}
    with pytest.raises(SchemaError, match=r"is not a column\. ") as caught:
        catalog.create_table("db.x", known, partition_keys=[transform])
    for said in (columns, options):
        assert not said or str(said) in str(caught.value)
    with pytest.raises(pm.errors.PaimonError, match=r"is not a column\. "):
        pm.sql(
            f"CREATE TABLE db.x (id INT, v STRING, ts TIMESTAMP) PARTITIONED BY ({transform})",
            catalog=catalog,
        )

    keys = list(columns)
    catalog.create_table("db.x", {**known, **columns}, partition_keys=keys, options=options)

    if value:
        assert value in str(caught.value)
        rows = "(SELECT 1 AS id, 'kite' AS v, TIMESTAMP_NTZ '2026-01-31 05:00:00' AS ts)"
        pm.sql(f"INSERT INTO db.x SELECT id, v, ts, {value} FROM {rows}", catalog=catalog)
        (row,) = catalog.table("db.x").scan(keys).to_arrow().to_pylist()
        shown = {"day": "2026-01-31", "year": "2026", "month": "2026-01", "hour": "2026-01-31 05"}
        assert str(row[keys[0]]) == {**shown, "v_start": "ki"}[keys[0]]


@pytest.mark.parametrize("name", habits.MAINTENANCE)
def test_maintenance_says_what_it_has_instead(name: str, table: pm.Table) -> None:
    with pytest.raises(AttributeError, match=f"maintenance has no attribute '{name}'; it is "):
        getattr(table.maintenance, name)

    written = habits.MAINTENANCE[name]
    owner = table if written.startswith("table.") else table.maintenance
    assert hasattr(owner, written.removeprefix("table.").partition("(")[0])


def test_the_newest_snapshot_is_not_minus_one(table: pm.Table) -> None:
    table.write({"id": [1]})

    with pytest.raises(SnapshotNotFoundError, match=r"are 1 to 1\. The newest is table\.snapshot"):
        _ = table.snapshots[-1]


@pytest.mark.parametrize("name", habits.CATALOG)
def test_a_catalog_says_what_it_has_instead(name: str, catalog: pm.Catalog) -> None:
    with pytest.raises(AttributeError, match=f"'{name}'; it is "):
        getattr(catalog, name)

    first = re.split(r"[(.]", habits.CATALOG[name])[0]
    assert first == "paimonlab" or hasattr(catalog, first)


@pytest.mark.parametrize("name", habits.READ)
def test_a_scan_says_what_it_has_instead(name: str, table: pm.Table) -> None:
    scan = table.scan()
    with pytest.raises(AttributeError, match=f"a scan has no attribute '{name}'; it is "):
        getattr(scan, name)

    first = re.split(r"[(.]", habits.READ[name])[0]
    assert first == "table" or hasattr(scan, first)


def test_arguments_of_other_libraries_are_answered_with_ours(
    catalog: pm.Catalog, table: pm.Table
) -> None:
    merge = table.merge([{"id": 1}], on="id")
    verbs: tuple[tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, str]], ...] = (
        (catalog.create_database, ("x",), habits.DATABASE),
        (catalog.drop_database, ("db",), habits.DROP),
        (catalog.drop_table, ("db.t",), habits.DROP),
        (catalog.create_table, ("db.x", {"id": "INT"}), habits.CREATE | habits.EXISTING),
        (catalog.write_table, ("db.x", [{"id": 1}]), habits.CREATE),
        (pm.AddColumn, ("a", "INT"), habits.NEW_COLUMN),
        (table.branches.create, ("b",), habits.BRANCH),
        (table.delete, ("id = 1",), habits.DELETE),
        (table.overwrite, ([{"id": 1}],), habits.OVERWRITE),
        (table.scan, (), habits.SCAN),
        (table.scan().to_duckdb, (), habits.DUCKDB),
        (table.maintenance.expire_snapshots, (), habits.EXPIRE),
        (table.maintenance.rollback_to, (), habits.ROLLBACK),
        (table.tags.create, ("t",), habits.TAG),
        (table.write, ([{"id": 1}],), habits.WRITE),
        (table.merge, ([{"id": 1}],), habits.MERGE_BEGUN),
        (merge.when_matched_update, (), habits.CLAUSE),
        (merge.when_not_matched_insert, (), habits.CLAUSE),
        (merge.when_not_matched_by_source_update, (), habits.CLAUSE),
        (merge.when_matched_delete, (), habits.CONDITION),
        (merge.when_not_matched_by_source_delete, (), habits.CONDITION),
    )
    for verb, given, instead in verbs:
        for name, ours in instead.items():
            said = repr(ours) if ours.isidentifier() else ours
            with pytest.raises(TypeError, match=re.escape(f"no argument '{name}'; it is {said}")):
                verb(*given, **{name: None})
            assert not ours.isidentifier() or ours in inspect.signature(verb).parameters
    assert catalog.tables("db") == ["t"]
    assert catalog.databases() == ["db"]
    with pytest.raises(TypeError, match="'orders' is not a connection; give name='orders'"):
        table.scan().to_duckdb("orders")  # type: ignore[arg-type]


def test_what_is_given_without_its_name_is_answered_with_the_names(table: pm.Table) -> None:
    verbs: tuple[tuple[Callable[..., Any], tuple[Any, ...], str], ...] = (
        (table.tags.create, ("v1", 1), "create() takes 1 by name only: snapshot=…, timestamp=…"),
        (table.branches.create, ("b", "v1"), "create() takes 'v1' by name only: tag=…, snapshot=…"),
        (table.maintenance.rollback_to, (1,), "rollback_to() takes 1 by name only: snapshot=…"),
        (table.write, ([], {}), "write() takes a dict by name only: row_kinds=…, properties=…"),
    )
    for verb, given, said in verbs:
        with pytest.raises(TypeError, match=re.escape(said)):
            verb(*given)
    assert table.snapshot is None
    assert not list(table.tags)


def test_an_expiry_says_that_it_is_done(table: pm.Table) -> None:
    done = table.maintenance.expire_snapshots()

    for name in habits.EXPIRED:
        with pytest.raises(AttributeError, match=f"'{name}'; it is done: expire_snapshots"):
            getattr(done, name)
    assert pickle.loads(pickle.dumps(done)) == done


def test_a_partition_that_is_a_condition_is_answered(catalog: pm.Catalog) -> None:
    catalog.create_database("db")
    days = catalog.create_table("db.p", {"day": "STRING", "a": "INT"}, partition_keys="day")

    with pytest.raises(TypeError, match=r"by its values, as \{'day': …\}, not as \"day = 'a'\""):
        days.overwrite([{"a": 1}], partition="day = 'a'")  # type: ignore[arg-type]


def test_a_table_that_was_only_opened_says_what_it_has_instead(
    catalog: pm.Catalog, table: pm.Table
) -> None:
    """Of a scan, whose module is not loaded before."""
    program = f"""
import paimonlab as pm
table = pm.connect({str(catalog.path)!r}).table({table.name!r})
try:
    table.dynamic_partition_overwrite
except AttributeError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout == (
        "a table has no attribute 'dynamic_partition_overwrite'; "
        "it is overwrite(rows, dynamic=True)\n"
    )


def test_names_that_are_imported_say_what_is_here() -> None:
    with pytest.raises(ImportError, match=r"no attribute 'load_catalog'; it is connect\(path\)"):
        from paimonlab import load_catalog  # noqa: F401, PLC0415
    with pytest.raises(ImportError, match="Did you mean 'connect'"):
        from paimonlab import conect  # noqa: F401, PLC0415


def test_a_schema_of_iceberg_says_how_it_is_given(catalog: pm.Catalog) -> None:
    schema = pytest.importorskip("pyiceberg.schema")
    catalog.create_database("db")

    with pytest.raises(TypeError, match=r"schema\.as_arrow\(\) and primary_keys=\[…\]"):
        catalog.create_table("db.i", schema.Schema())


def test_a_table_of_another_format_says_how_it_is_taken_over(
    catalog: pm.Catalog, tmp_path: Path
) -> None:
    deltalake = pytest.importorskip("deltalake")
    catalog.create_database("db")
    deltalake.write_deltalake(tmp_path / "d", pa.table({"id": [1, 2]}))
    there = deltalake.DeltaTable(tmp_path / "d")

    with pytest.raises(TypeError, match=r"; catalog\.migrate_table\(table, 'db\.t'\) makes"):
        catalog.create_table("db.i", there)
    planned = catalog.migrate_table(there, "db.i", dry_run=True)
    assert repr(planned).startswith("would be done: ")
    assert repr(planned).endswith(" to db.i, a new table: 2 rows")
    done = repr(catalog.migrate_table(there, "db.i"))
    assert done == f"{planned.source} to db.i, a new table: 2 rows, compared, snapshot 1"
    again = repr(catalog.migrate_table(there, "db.i"))
    assert again.endswith("2 rows, compared, snapshot 1, which it had already")


def test_values_of_several_types_are_named(table: pm.Table) -> None:
    with pytest.raises(DataError, match=r"'id': its values are of several types \(date, str\)"):
        table.write([{"id": dt.date(2026, 1, 1)}, {"id": "2026-01-01"}])


def test_a_server_says_how_it_is_asked_and_ended(catalog: pm.Catalog) -> None:
    with catalog.serve(port=0) as server:
        for name, instead in habits.SERVER.items():
            with pytest.raises(AttributeError, match=re.escape(f"'{name}'; it is {instead}")):
                getattr(server, name)
            assert instead.startswith("paimonlab.") or hasattr(server, instead.removesuffix("()"))
        with pytest.raises(UnsupportedError, match="'metastore': 'rest', 'uri': 'http://127"):
            pm.connect(server.address)
        assert pm.connect(server.options).databases() == []


@pytest.mark.parametrize("name", habits.PACKAGE)
def test_the_package_says_how_tables_are_opened(name: str) -> None:
    with pytest.raises(AttributeError, match=f"paimonlab has no attribute '{name}'; it is connect"):
        getattr(pm, name)

    assert not hasattr(pm, name)


def test_the_package_names_what_is_nearly_right() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'connect'"):
        pm.conect  # noqa: B018


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("snapshots", ", as in list(table.snapshots) or table.snapshots.list()"),
        ("schemas", ", as in list(table.schemas) or table.schemas.list()"),
        ("changelogs", ", as in list(table.changelogs) or table.changelogs.list()"),
        ("tags", ", as in list(table.tags) or table.tags.list()"),
        ("branches", ", as in list(table.branches) or table.branches.list()"),
        ("consumers", ", as in list(table.consumers) or table.consumers.list()"),
        ("schema", ""),
        ("snapshot", ""),
    ],
)
def test_attributes_that_others_call_say_so(name: str, instead: str, table: pm.Table) -> None:
    table.write([{"id": 1}])

    with pytest.raises(TypeError) as caught:
        getattr(table, name)()

    said = f"table.{name} is not a method: leave out the brackets{instead}"
    assert str(caught.value) == said
    found = getattr(table, name)
    assert not instead or list(found) == list(found.list())


def test_a_name_that_is_nearly_right_gets_the_right_one(
    catalog: pm.Catalog, table: pm.Table
) -> None:
    with pytest.raises(AttributeError, match="Did you mean 'rename_table'"):
        catalog.rename_tabel  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="Did you mean 'snapshot'"):
        table.snapshoot  # noqa: B018


def test_other_protocols_ask_for_what_is_not_there(catalog: pm.Catalog, table: pm.Table) -> None:
    assert not hasattr(catalog, "_repr_html_")
    assert copy.copy(catalog).databases() == ["db"]
    assert pickle.loads(pickle.dumps(table)).name == "db.t"


def test_what_was_written_and_read_is_pickled(catalog: pm.Catalog, table: pm.Table) -> None:
    table.write([{"id": 1}])
    scan = table.scan(where="id > 0")
    assert scan.count() == 1

    assert pickle.loads(pickle.dumps(table)).scan().to_arrow().to_pylist() == [{"id": 1}]
    assert pickle.loads(pickle.dumps(scan)).to_arrow().to_pylist() == [{"id": 1}]
    assert pickle.loads(pickle.dumps(catalog)).tables("db") == ["t"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [("TEXT", "STRING"), ("LONG", "BIGINT"), ("datetime", "TIMESTAMP"), ("BOOL", "BOOLEAN")],
)
def test_types_of_other_systems_are_translated(text: str, meant: str, catalog: pm.Catalog) -> None:
    catalog.create_database("db")

    with pytest.raises(pm.errors.SchemaError, match=f"Did you mean .?{meant}"):
        catalog.create_table("db.x", {"id": text})


def test_a_database_that_is_missing_says_which_there_are(catalog: pm.Catalog) -> None:
    with pytest.raises(pm.errors.DatabaseNotFoundError, match="There is none; create_database"):
        catalog.write_table("shop.t", [{"id": 1}])
    catalog.create_database("lake")
    with pytest.raises(pm.errors.DatabaseNotFoundError, match="There are: lake"):
        catalog.tables("shop")


@pytest.mark.parametrize(("name", "meant"), habits.PROCEDURES.items())
def test_procedures_of_other_formats_are_answered_with_ours(name: str, meant: str) -> None:
    assert find(meant).description

    with pytest.raises(ProcedureNotFoundError, match=f"it is sys.{meant}$"):
        find(name)


def test_metadata_tables_of_other_formats_are_answered_with_system_tables(
    catalog: pm.Catalog, table: pm.Table
) -> None:
    assert catalog.has_table(table.name)
    with pytest.raises(SchemaError, match=r"system tables are written db\.t\$snapshots"):
        Sources(catalog).name_of(("db", "t", "snapshots"))


def test_names_with_blanks_and_files_are_answered(catalog: pm.Catalog) -> None:
    catalog.create_database("db", exist_ok=True)
    table = catalog.write_table("db.sales", [{"Order ID": 5}, {"Order ID": 6}])

    with pytest.raises(SchemaError, match=r"written in backquotes: `Order ID`$"):
        table.scan(where="Order ID = 5")
    with pytest.raises(pm.errors.AlreadyExistsError, match=r"already exists; mode='append' adds"):
        catalog.write_table("db.sales", [{"Order ID": 7}])
    with pytest.raises(TypeError, match=r"pandas.read_csv\('sales.csv'\) reads one"):
        catalog.write_table("db.files", "sales.csv")


def test_a_snapshot_counts_one_row_in_the_singular(table: pm.Table) -> None:
    one = table.write({"id": [1]})
    two = table.write({"id": [2, 3]})

    assert re.search(r"append, \+1 row, 1 in all,", repr(one))
    assert re.search(r"append, \+2 rows, 3 in all,", repr(two))


@pytest.mark.parametrize("name", ["table_name", "view_name", "alias"])
def test_duckdb_takes_a_name(table: pm.Table, name: str) -> None:
    with pytest.raises(TypeError, match=f"no argument '{name}'; it is name, "):
        table.scan().to_duckdb(**{name: "x"})  # type: ignore[arg-type]
