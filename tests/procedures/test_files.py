"""What procedures do with files that are too many or missing, and what they refuse."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab
from paimonlab.errors import ArgumentError, DataError, UnsupportedError
from paimonlab.procedures import PROCEDURES, bind, find, told
from paimonlab.procedures.declare import RESULT
from paimonlab.table.table import Table
from tests.procedures.conftest import Lake, rows_of, write

SOON = f"{datetime.now().astimezone() - timedelta(minutes=1):%Y-%m-%d %H:%M:%S}"


def orphan(table: Table, *, hours: int, size: int = 10) -> Path:
    """Leave a data file that nothing names, so old."""
    path = Path(table.path) / "dt=a" / "bucket-0" / f"data-{hours}-{size}.parquet"
    path.write_bytes(b"x" * size)
    written = time.time() - 3600 * hours
    os.utime(path, (written, written))
    return path


def removed(count: int, size: int) -> list[dict[str, int]]:
    """Tell what the procedure tells."""
    return [{"deletedFileCount": count, "deletedFileTotalLenInBytes": size}]


@pytest.fixture
def table(lake: Lake) -> Table:
    """Make a table with two rows in a partition."""
    table = lake.keyed()
    write(table, (1, "v", "a"))
    write(table, (2, "v", "a"))
    return table


def test_orphans_of_a_day_or_more_go(lake: Lake, table: Table) -> None:
    young, old = orphan(table, hours=20), orphan(table, hours=30, size=7)

    assert lake.call("remove_orphan_files", "db.t", dry_run=True) == removed(1, 7)
    assert (young.exists(), old.exists()) == (True, True)
    assert lake.call("remove_orphan_files", "db.t", mode="LOCAL") == removed(1, 7)
    assert (young.exists(), old.exists()) == (True, False)
    assert lake.call("remove_orphan_files", "db.t", SOON) == removed(1, 10)
    assert not young.exists()
    assert len(rows_of(table)) == 2


def test_orphans_of_all_tables_of_a_database_go(lake: Lake, table: Table) -> None:
    other = lake.keyed("db.other")
    write(other, (1, "v", "a"))
    orphan(table, hours=30)
    orphan(other, hours=40, size=5)

    assert lake.call("remove_orphan_files", "db.*") == removed(2, 15)


def test_all_tables_of_a_call_get_the_options_of_the_session(lake: Lake, table: Table) -> None:
    lake.append("db.u")
    asked: list[str] = []

    def of_session(table: Table) -> dict[str, str]:
        asked.append(table.name)
        return {"file.format": "orc"}

    for name, arguments in (("remove_orphan_files", ["db.*"]), ("copy", ["db.t", "db.v"])):
        found = find(name)
        found.call(lake.catalog, bind(found, arguments), of_session=of_session)

    assert sorted(asked) == ["db.t", "db.t", "db.u", "db.v"]
    copied = lake.table("db.v")
    assert rows_of(copied) == rows_of(table)
    assert not list(Path(copied.path).rglob("*.parquet"))
    assert len(list(Path(copied.path).rglob("data-*.orc"))) == 1
    assert "file.format" not in copied.options


def test_a_time_that_is_not_past_is_refused(lake: Lake, table: Table) -> None:
    left = orphan(table, hours=1)
    tomorrow = f"{datetime.now().astimezone() + timedelta(days=1):%Y-%m-%d %H:%M:%S}"

    with pytest.raises(ArgumentError, match="is not in the past"):
        lake.call("remove_orphan_files", "db.t", tomorrow)
    with pytest.raises(ArgumentError, match="mode => 'remote' is neither"):
        lake.call("remove_orphan_files", "db.t", SOON, mode="remote")
    with pytest.raises(UnsupportedError, match="mode => 'distributed'"):
        lake.call("remove_orphan_files", "db.t", SOON, mode="distributed")
    with pytest.raises(UnsupportedError, match="parallelism => 4"):
        lake.call("remove_orphan_files", "db.t", SOON, parallelism=4)

    assert left.exists()


def test_data_files_that_are_missing_are_given_up(lake: Lake, table: Table) -> None:
    first, *_ = sorted(
        (Path(table.path) / "dt=a" / "bucket-0").glob("data-*"), key=os.path.getmtime
    )
    assert lake.call("remove_unexisting_files", "db.t") == []
    first.unlink()

    told = lake.call("remove_unexisting_files", "db.t", dry_run=True)
    assert told == [{"fileName": str(first)}]
    assert lake.call("remove_unexisting_files", "db.t") == told
    assert lake.call("remove_unexisting_files", "db.t") == []
    assert len(rows_of(table)) == 1


def test_a_table_is_emptied_for_good(lake: Lake, table: Table) -> None:
    lake.call("create_tag", "db.t", "x")

    assert lake.call("purge_files", "db.t") == [{"result": "Success"}]

    assert rows_of(table) == []
    assert not table.tags.list()
    assert not list(Path(table.path).rglob("data-*"))


REFUSED = {
    "alter_function": ("db.f", "{}"),
    "alter_view_dialect": ("db.v", "drop"),
    "compact_chain_table": ("db.t", "dt=a"),
    "create_function": ("db.f", "[]", "[]"),
    "create_global_index": ("db.t", "k", "btree"),
    "drop_function": ("db.f",),
    "drop_global_index": ("db.t", "k", "btree"),
    "materialize_deletion_vectors": ("db.t",),
    "migrate_database": ("hive", "db"),
    "migrate_table": ("hive", "db.t", None, None, "db.u"),
    "reassign_row_id": ("db.t",),
    "repair": ("db",),
    "repair_earliest_snapshot": ("db.t", 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_catalog_of_files_cannot_do_is_refused(lake: Lake, name: str) -> None:
    with pytest.raises(UnsupportedError):
        lake.call(name, *REFUSED[name])


ELSEWHERE = {"clone", "merge_branch", "rollback_to_watermark"}
SAID = {
    "copy": "db.t: 2 rows to db.u, snapshot 1",
    "create_branch": "db.t: created branch new, empty",
    "delete_branch": "db.t: deleted branch b",
    "delete_tag": "tag one of snapshot 1",
    "fast_forward": "db.t: continues from branch b, snapshot 1",
    "rename_branch": "db.t: branch b is now new",
    "rename_tag": "db.t: tag one is now new",
}


@pytest.mark.parametrize("name", sorted(PROCEDURES.keys() - REFUSED - ELSEWHERE))
def test_a_result_has_the_columns_that_are_declared(lake: Lake, table: Table, name: str) -> None:
    procedure = PROCEDURES[name]
    lake.call("create_tag", "db.t", "one", 1)
    lake.call("create_branch", "db.t", "b", "one")
    arguments: dict[str, list[object]] = {
        "copy": ["db.u"],
        "create_branch": ["new"],
        "create_tag": ["new"],
        "create_tag_from_timestamp": ["new", 0],
        "delete_branch": ["b"],
        "delete_tag": ["one"],
        "expire_partitions": ["9999 d"],
        "fast_forward": ["b"],
        "mark_partition_done": ["dt=a"],
        "rename_branch": ["b", "new"],
        "rename_tag": ["one", "new"],
        "replace_tag": ["one"],
        "reset_consumer": ["c", 1],
        "rollback": ["1"],
        "rollback_to_timestamp": [2**62],
    }
    given = bind(procedure, ["db.t", *arguments.get(name, [])])
    noted: list[object] = []
    result = procedure.call(lake.catalog, given, noted=noted)

    assert told(noted).startswith(SAID.get(name, "db.t: " if procedure.result == RESULT else ""))
    assert result.schema.names == [one.name for one in procedure.result]
    assert [one.nullable for one in result.schema] == [
        one.type.nullable for one in procedure.result
    ]
    result.validate(full=True)
    assert result.num_rows == (0 if name == "remove_unexisting_files" else 1)


def test_a_procedure_does_not_take_what_was_not_bound(lake: Lake) -> None:
    with pytest.raises(TypeError, match="compact has no parameter"):
        PROCEDURES["compact"].call(lake.catalog, {"Table": "db.t"})


def test_migrate_table_takes_a_folder_of_files(lake: Lake, tmp_path: Path) -> None:
    rows = pa.table({"a": [1, 2], "s": ["x", None]})
    (tmp_path / "d").mkdir()
    pq.write_table(rows, tmp_path / "d" / "x.parquet")
    arguments = {"source_type": "parquet", "table": str(tmp_path / "d"), "target_table": "m"}
    planned = find("migrate_table").plan(
        lake.catalog, bind(find("migrate_table"), (), arguments), default_database="db"
    )
    assert [plan.row_count for plan in planned] == [2]  # type: ignore[attr-defined]
    assert not lake.catalog.has_table("db.m")
    lake.call("migrate_table", **arguments, options="compaction.min.file-num=3")
    found = lake.table("db.m").scan().to_arrow()
    assert found.to_pylist() == rows.to_pylist()
    assert not list((tmp_path / "d").rglob("*.parquet"))
    for named, said in (
        ({"source_type": "avro"}, "source_type"),
        ({"parallelism": 0}, "parallelism"),
        ({"target_table": None}, "target_table"),
    ):
        with pytest.raises((ArgumentError, UnsupportedError), match=said):
            lake.call("migrate_table", **{**arguments, **named})


def test_tables_are_cloned_into_another_catalog(lake: Lake, table: Table, tmp_path: Path) -> None:
    there = tmp_path / "there"
    arguments = {"target_catalog_conf": f"warehouse={there}", "excluded_tables": "db.u, db.v"}
    for name in ("u", "v"):
        lake.append(f"db.{name}")
    clone = find("clone")
    [planned] = clone.plan(lake.catalog, bind(clone, (), arguments))
    assert (getattr(planned, "rows", 0), there.exists()) == (2, False)

    [made] = lake.call("clone", **arguments)
    [again] = lake.call("clone", **arguments)
    [within] = lake.call("clone", "db", "t", target_database="db2")
    copied = paimonlab.connect(there).table("db.t")
    assert isinstance(copied, Table)
    write(table, (3, "w", "a"))
    [left] = lake.call("clone", **arguments, database="db", clone_if_exists=False)

    assert made == {"table": "db.t", "target_table": "db.t", "rows": 2, "state": "cloned"}
    assert again == {**made, "state": "there already"}
    assert within == {**made, "target_table": "db2.t"}
    assert left == {**made, "rows": None, "state": "left"}
    assert rows_of(copied) == rows_of(lake.table("db2.t")) == [(1, "v", "a"), (2, "v", "a")]
    with pytest.raises(ArgumentError, match="parallelism => 0 must be at least 1"):
        lake.call("clone", **arguments, parallelism=0)
    with pytest.raises(ArgumentError, match="target_catalog_conf has 'x'"):
        lake.call("clone", target_catalog_conf="x")
    with pytest.raises(UnsupportedError, match="it is the same table"):
        lake.call("clone")


def test_migrate_table_takes_a_delta_table(lake: Lake, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    place = str(tmp_path / "delta")
    rows = pa.table({"k": [1, 2], "v": ["a", "b"]})
    deltalake.write_deltalake(place, rows, partition_by=["v"])
    arguments = {"source_type": "delta", "table": place, "target_table": "db.d"}

    lake.call("migrate_table", **arguments, options="primary-key=k,partition=,bucket=1")

    made = lake.table("db.d")
    assert (made.primary_keys, made.partition_keys, made.options["bucket"]) == (("k",), (), "1")
    assert made.scan().to_arrow().sort_by("k").to_pylist() == rows.to_pylist()
    with pytest.raises(UnsupportedError, match="delete_origin => true of delta"):
        lake.call("migrate_table", **arguments, delete_origin=True)
    with pytest.raises(DataError, match="none: "):
        lake.call("migrate_table", **{**arguments, "table": f"{tmp_path}/none"})
    with pytest.raises(DataError, match="none: "):
        lake.call("migrate_table", "iceberg", f"{tmp_path}/none", target_table="db.e")
