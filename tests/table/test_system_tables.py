"""System tables of a table: columns, conditions, limits, points in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import ColumnNotFoundError, TableNotFoundError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan import entries, live_files
from paimonlab.scan.statistics import column_stats
from paimonlab.table.system import SYSTEM_TABLES, SystemTable, files
from paimonlab.table.system.help_texts import HELP

KINDS = ["+I", "-U", "+U", "-D"]


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    table = opened.create_table(
        "db.t",
        {"a": "INT NOT NULL", "b": "STRING", "p": "INT NOT NULL"},
        primary_keys=["a", "p"],
        partition_keys=["p"],
        options={"bucket": "1"},
    )
    table.write(pa.table({"a": [1, 2, 3, 4], "b": ["x", "y", "z", "u"], "p": [0, 0, 0, 1]}))
    changes = {"a": [2, 2, 3], "b": ["y", "Y", "z"], "p": [0, 0, 0], "kind": ["-U", "+U", "-D"]}
    table.write(pa.table(changes), row_kinds="kind")
    return opened


def system(catalog: paimonlab.Catalog, name: str) -> SystemTable:
    table = catalog.system_table(f"db.t${name}")
    assert isinstance(table, SystemTable)
    return table


COLUMNS = {
    "snapshots": "snapshot_id schema_id commit_user commit_identifier commit_kind commit_time "
    "base_manifest_list delta_manifest_list changelog_manifest_list total_record_count "
    "delta_record_count changelog_record_count watermark next_row_id operation writer_version",
    "schemas": "schema_id fields partition_keys primary_keys options comment update_time",
    "options": "key value",
    "manifests": "file_name file_size num_added_files num_deleted_files schema_id "
    "min_partition_stats max_partition_stats min_row_id max_row_id",
    "files": "partition bucket file_path file_format schema_id level record_count "
    "file_size_in_bytes min_key max_key null_value_counts min_value_stats max_value_stats "
    "min_sequence_number max_sequence_number creation_time deleteRowCount file_source "
    "first_row_id write_cols",
    "file_key_ranges": "partition bucket file_path file_format schema_id level record_count "
    "file_size_in_bytes min_key max_key first_row_id",
    "partitions": "partition record_count file_size_in_bytes file_count last_update_time "
    "created_at created_by updated_by options total_buckets done deleted_record_count",
    "buckets": "partition bucket record_count file_size_in_bytes file_count last_update_time",
    "tags": "tag_name snapshot_id schema_id commit_time record_count create_time time_retained",
    "branches": "branch_name create_time",
    "consumers": "consumer_id next_snapshot_id",
    "aggregation_fields": "field_name field_type function function_options comment",
    "statistics": "snapshot_id schema_id mergedRecordCount mergedRecordSize colstat",
    "table_indexes": "partition bucket index_type file_name file_size row_count dv_ranges "
    "row_range_start row_range_end index_field_id index_field_name",
    "file_indexes": "partition bucket file_path file_size_in_bytes record_count schema_id "
    "column_name index_type storage_type index_file_path index_size_in_bytes "
    "index_container_size_in_bytes is_empty",
    "audit_log": "rowkind a b p",
    "binlog": "rowkind a b p",
    "ro": "a b p",
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_system_table_has_the_columns_of_paimon(catalog: paimonlab.Catalog, name: str) -> None:
    table = system(catalog, name)

    assert table.arrow_schema.names == COLUMNS[name].split()
    found = table.scan().to_arrow()
    assert found.schema.equals(table.arrow_schema)
    assert table.scan().count() == found.num_rows
    last = COLUMNS[name].split()[-1]
    assert ordered(table.scan([last]).to_arrow()) == ordered(found.select([last]))
    assert table.scan(limit=1).to_arrow().num_rows == min(1, found.num_rows)


def test_every_system_table_is_tested_here() -> None:
    assert set(SYSTEM_TABLES) - set(COLUMNS) <= {"row_tracking"}


def test_each_system_table_has_a_line_of_help() -> None:
    assert {name: kind.help for name, kind in SYSTEM_TABLES.items()} == HELP


def test_a_column_or_a_table_that_is_not_there_is_an_error(catalog: paimonlab.Catalog) -> None:
    with pytest.raises(ColumnNotFoundError, match="nope"):
        system(catalog, "files").scan(["nope"])
    with pytest.raises(TableNotFoundError, match="t\\$filez"):
        catalog.system_table("db.t$filez")


def test_a_condition_may_look_at_columns_that_are_not_asked_for(
    catalog: paimonlab.Catalog,
) -> None:
    found = system(catalog, "files").scan(["record_count"], "partition = '{1}'").to_arrow()

    assert found["record_count"].to_pylist() == [1]


@pytest.mark.parametrize("name", ["files", "file_key_ranges"])
@pytest.mark.parametrize("where", [None, "level = 0", "min_key = '{1}'", "bucket = 7", "1 = 1"])
@pytest.mark.parametrize("limit", [None, 0, 2])
def test_columns_and_rows_of_files_are_those_of_all_of_them(
    catalog: paimonlab.Catalog, name: str, where: str | None, limit: int | None
) -> None:
    table = system(catalog, name)
    whole = table.scan(where=where).to_arrow()

    for columns in (["max_key", "level"], ["file_path"], None):
        found = table.scan(columns, where, limit=limit).to_arrow()

        assert found.equals(whole.select(columns or whole.column_names).slice(0, limit))
    assert table.scan(where=where, limit=limit).count() == whole.slice(0, limit).num_rows


def test_of_files_beyond_a_limit_no_statistics_are_decoded(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = list[int]()
    decode = column_stats

    def counted(entries: pa.Table, *arguments: Any) -> Any:
        decoded.append(entries.num_rows)
        return decode(entries, *arguments)

    monkeypatch.setattr(files, "column_stats", counted)
    table = system(catalog, "files")
    table.scan(limit=1).to_arrow()
    table.scan(where="partition = '{1}'").to_arrow()
    table.scan(["level", "partition"]).to_arrow()

    assert decoded == [1, 1]


@pytest.fixture
def many_files(tmp_path: Path) -> paimonlab.Table:
    """Make a table whose files were added, deleted and moved by many commits."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"a": "INT NOT NULL", "p": "INT NOT NULL"},
        primary_keys=["a", "p"],
        partition_keys=["p"],
        options={"bucket": "2", "num-sorted-run.compaction-trigger": "3"},
    )
    for number in range(9):
        table.write(pa.table({"a": range(number, number + 6), "p": [0, 0, 1, 1, 2, 2]}))
        if number == 4:
            table.drop_partitions([{"p": 1}])
    return table


@pytest.mark.parametrize("where", [None, "partition = '{1}'", "level > 0 AND bucket = 1"])
def test_the_first_files_are_those_of_all(
    many_files: paimonlab.Table, where: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = SystemTable(many_files, "files")
    whole = table.scan().to_arrow().to_pylist()
    wanted = [file for file in whole if WANTED[where](file)]
    assert wanted

    for rows in (1, 2, 1000):
        monkeypatch.setattr(live_files, "_FIRST_PIECE_ROWS", rows)
        for limit in range(len(wanted) + 2):
            assert table.scan(where=where, limit=limit).to_arrow().to_pylist() == wanted[:limit]
    assert table.scan(where=where).to_arrow().to_pylist() == wanted


WANTED: dict[str | None, Callable[[dict[str, Any]], bool]] = {
    None: lambda file: True,
    "partition = '{1}'": lambda file: file["partition"] == "{1}",
    "level > 0 AND bucket = 1": lambda file: file["level"] > 0 and file["bucket"] == 1,
}


def test_which_files_are_alive_is_found_among_those_of_the_condition(
    many_files: paimonlab.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = list[pa.Table]()

    def fold(tables: Sequence[pa.Table], **names: Any) -> pa.Table:
        looked_at.extend(tables)
        return folded(tables, **names)

    folded = entries.fold
    monkeypatch.setattr(entries, "fold", fold)

    SystemTable(many_files, "files").scan(where="partition = '{1}'").to_arrow()

    partitions = {row for table in looked_at for row in table["partition"].to_pylist()}
    assert len(partitions) == 1


def test_the_first_files_need_no_manifests_after_them(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = catalog.create_table("db.more", {"a": "INT"}, options={"manifest.merge-min-count": "9"})
    for number in range(4):
        table.write(pa.table({"a": [number]}))
    read = list[str]()
    of_store = ManifestStore.read

    def counted(store: ManifestStore, metas: Any, **names: Any) -> list[pa.Table]:
        metas = list(metas)
        read.extend(meta.file_name for meta in metas)
        return of_store(store, metas, **names)

    monkeypatch.setattr(ManifestStore, "read", counted)

    SystemTable(table, "files").scan(limit=2).to_arrow()

    assert len(read) == 2


def test_the_point_in_time_may_be_an_option(catalog: paimonlab.Catalog) -> None:
    table = system(catalog, "files")

    assert table.scan().count() == 3
    assert table.scan(options={"scan.snapshot-id": "1"}).count() == 2
    assert table.scan(snapshot=1).count() == 2


def test_the_audit_log_shows_the_newest_row_of_each_key_and_its_kind(
    catalog: paimonlab.Catalog,
) -> None:
    log = system(catalog, "audit_log")

    assert sorted(map(tuple, rows(log.scan()))) == [
        ("+I", 1, "x", 0),
        ("+I", 4, "u", 1),
        ("+U", 2, "Y", 0),
        ("-D", 3, "z", 0),
    ]
    assert rows(log.scan(["b"], "rowkind = '-D'")) == [["z"]]
    assert rows(log.scan(["rowkind"], "a = 2")) == [["+U"]]
    assert log.scan(where="rowkind = '+I' AND p = 1").count() == 1
    assert log.scan(where="rowkind = '+I' OR p = 1", limit=5).count() == 2
    assert sorted(map(tuple, rows(log.scan(["rowkind", "a"], snapshot=1)))) == [
        ("+I", 1),
        ("+I", 2),
        ("+I", 3),
        ("+I", 4),
    ]


def test_the_audit_log_of_changes_has_each_of_them(catalog: paimonlab.Catalog) -> None:
    log = system(catalog, "audit_log")

    found = log.scan(["rowkind", "a", "b"], options={"incremental-between": "1,2"})

    assert sorted(map(tuple, rows(found))) == [("+U", 2, "Y"), ("-D", 3, "z")]


def test_the_audit_log_of_an_append_table_has_inserts(catalog: paimonlab.Catalog) -> None:
    catalog.create_table("db.u", {"a": "INT"}).write(pa.table({"a": [1, 2]}))

    found = catalog.system_table("db.u$audit_log").scan().to_arrow()

    assert found.to_pydict() == {"rowkind": ["+I", "+I"], "a": [1, 2]}
    assert catalog.system_table("db.u$ro").scan().count() == 2


def test_the_binlog_has_lists(catalog: paimonlab.Catalog) -> None:
    found = system(catalog, "binlog").scan(["rowkind", "a"], "rowkind <> '+I'").to_arrow()

    assert sorted(found.to_pylist(), key=str) == [
        {"rowkind": "+U", "a": [2]},
        {"rowkind": "-D", "a": [3]},
    ]
    assert found.schema.field("a").type == pa.list_(pa.int32())


def test_an_update_is_one_row_of_the_binlog_also_across_batches() -> None:
    from paimonlab.table.system.audit_log import _as_lists  # noqa: PLC0415

    kinds = ["+I", "-U", "+U", "-D", "-U", "+U", "-U", "-U", "+U", "+U", "-U"]
    whole = pa.record_batch({"rowkind": kinds, "v": list(range(len(kinds)))})
    wanted = [
        ("+I", [0]),
        ("+U", [1, 2]),
        ("-D", [3]),
        ("+U", [4, 5]),
        ("-U", [6]),
        ("+U", [7, 8]),
        ("+U", [9]),
        ("-U", [10]),
    ]
    for size in range(1, len(kinds) + 1):
        parts = [whole.slice(start, size) for start in range(0, len(kinds), size)]
        joined = pa.Table.from_batches(_as_lists(iter(parts), True))
        found = [(row["rowkind"], row["v"]) for row in joined.to_pylist()]
        assert found == wanted, size


def test_the_read_optimized_table_shows_only_the_top_level(catalog: paimonlab.Catalog) -> None:
    assert system(catalog, "ro").scan().count() == 0


def ordered(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def rows(scan: object) -> list[list[object]]:
    return [list(row.values()) for row in pa.table(scan).to_pylist()]
