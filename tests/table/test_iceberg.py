"""Iceberg's metadata of our tables, read by pyiceberg, which is not ours."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pyroaring
import pytest
from pyiceberg.table import StaticTable

import paimonlab as pl
from paimonlab.commit.iceberg.after_commit import IcebergUpkeep
from paimonlab.errors import PostCommitError, SchemaError, UnsupportedError
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SchemaChange,
    SetOption,
    UpdateColumnType,
)

TABLE_LOCATION = {"metadata.iceberg.storage": "table-location"}
V3 = {
    **TABLE_LOCATION,
    "metadata.iceberg.format-version": "3",
    "deletion-vectors.enabled": "true",
    "deletion-vectors.bitmap64": "true",
}


def metadata_folder(table: pl.Table) -> Path:
    return Path(table.path) / "metadata"


def metadata_file(folder: Path) -> Path:
    return folder / f"v{(folder / 'version-hint.text').read_text()}.metadata.json"


def opened(folder: Path) -> StaticTable:
    return StaticTable.from_metadata(str(metadata_file(folder)))


def seen(folder: Path, **how: Any) -> list[tuple[Any, ...]]:
    """Return the rows that pyiceberg reads."""
    rows = opened(folder).scan(**how).to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)


def records(folder: Path, path: str) -> list[dict[str, Any]]:
    """Read a manifest, or a list of some, as fastavro does."""
    with (folder / Path(path).name).open("rb") as file:
        return list(fastavro.reader(file))  # type: ignore[arg-type]


def vectors_of(folder: Path) -> dict[str, set[int]]:
    """Return the rows that deletion vectors delete, by data file.

    pyiceberg reads vectors of whole Puffin files only, so they are taken apart here.
    Source: https://iceberg.apache.org/puffin-spec/#deletion-vector-v1-blob-type
    """
    deleted = dict[str, set[int]]()
    for manifest in records(folder, described(folder)["snapshots"][-1]["manifest-list"]):
        for entry in records(folder, manifest["manifest_path"]):
            vector = entry["data_file"]
            if vector["content"] == 0:
                continue
            start = vector["content_offset"]
            data = Path(vector["file_path"]).read_bytes()
            data = data[start : start + vector["content_size_in_bytes"]]
            length = int.from_bytes(data[:4], "big")
            blob, checksum = data[4 : 4 + length], data[4 + length :]
            assert blob[:4] == b"\xd1\xd3\x39\x64"
            assert zlib.crc32(blob).to_bytes(4, "big") == checksum
            positions = set(pyroaring.BitMap64.deserialize(blob[4:]))
            assert len(positions) == vector["record_count"]
            assert vector["file_format"] == "puffin"
            deleted[vector["referenced_data_file"]] = positions
    return deleted


def seen_with_vectors(folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows of version 3, of files as pyiceberg plans them."""
    rows = list[tuple[Any, ...]]()
    names = [field.name for field in opened(folder).schema().fields]
    deleted = vectors_of(folder)
    for task in opened(folder).scan().plan_files():
        path = task.file.file_path
        found = pq.read_table(path, columns=names).to_pylist()
        gone = deleted.get(path, set())
        rows += [tuple(row.values()) for at, row in enumerate(found) if at not in gone]
    return sorted(rows, key=repr)


def ours(table: pl.Table, **how: Any) -> list[tuple[Any, ...]]:
    rows = table.scan(**how).to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)


def described(folder: Path) -> dict[str, Any]:
    metadata: dict[str, Any] = json.loads(metadata_file(folder).read_text())
    return metadata


def make(
    catalog: pl.Catalog,
    columns: Mapping[str, str],
    options: Mapping[str, str] = TABLE_LOCATION,
    **more: Sequence[str],
) -> pl.Table:
    return catalog.create_table("db.t", columns, options=options, **more)  # type: ignore[arg-type]


def test_an_append_table_is_read_after_every_commit(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT", "b": "STRING"})
    folder = metadata_folder(table)
    for number in range(3):
        table.write({"a": [number, number + 10], "b": ["x", None]})
        assert seen(folder) == ours(table)
    table.delete("a = 1")
    assert seen(folder) == ours(table)
    table.overwrite({"a": [7], "b": ["y"]})
    assert seen(folder) == ours(table) == [(7, "y")]
    assert [path.name for path in folder.glob("v*.json")] == ["v5.metadata.json"]
    operations = [one["summary"]["operation"] for one in described(folder)["snapshots"]]
    assert operations == ["append", "append", "append", "overwrite", "overwrite"]


def test_every_type_that_iceberg_has(catalog: pl.Catalog) -> None:
    columns = {
        "i8": "TINYINT",
        "i16": "SMALLINT",
        "i32": "INT NOT NULL",
        "i64": "BIGINT",
        "f32": "FLOAT",
        "f64": "DOUBLE",
        "b": "BOOLEAN",
        "d": "DATE",
        "n": "DECIMAL(20, 3)",
        "c": "CHAR(3)",
        "s": "STRING",
        "y": "BYTES",
        "t3": "TIMESTAMP(3)",
        "t6": "TIMESTAMP(6)",
        "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "l": "ARRAY<INT>",
        "m": "MAP<STRING, ARRAY<BIGINT>>",
        "r": "ROW<x INT, y ARRAY<ROW<z STRING>>>",
    }
    table = make(catalog, columns)
    row = dict(  # noqa: C408 - shorter so
        i8=-1,
        i16=-300,
        i32=5,
        i64=2**40,
        f32=0.5,
        f64=-2.25,
        b=True,
        d=date(2026, 1, 2),
        n=Decimal("-12345678901234567.125"),
        c="abc",
        s="é",
        y=b"\0\xff",
        t3=datetime(2026, 1, 2, 3, 4, 5, 678000),
        t6=datetime(1969, 12, 31, 23, 59, 59, 999999),
        z=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        l=[1, None],
        m=[("k", [1, 2])],
        r={"x": 1, "y": [{"z": "q"}]},
    )
    nothing = {name: 6 if name == "i32" else None for name in row}
    table.write(pa.Table.from_pylist([row, nothing], table.scan().to_arrow().schema))
    rows = opened(metadata_folder(table)).scan().to_arrow().to_pylist()
    assert rows == [row, nothing]
    conditions = ["i64 > 5", "n < 0", "d = '2026-01-02'", "s = 'é'", "t6 < '1970-01-01T00:00:00'"]
    for condition in conditions:
        found = opened(metadata_folder(table)).scan(row_filter=condition).to_arrow()
        assert found["i32"].to_pylist() == [5], condition


@pytest.mark.parametrize("kind", ["TIME(6)", "TIMESTAMP(2)", "TIMESTAMP(9)", "VARIANT"])
def test_types_that_iceberg_lacks_are_refused(catalog: pl.Catalog, kind: str) -> None:
    with pytest.raises(UnsupportedError, match="column 'v'"):
        make(catalog, {"v": kind})
    table = catalog.create_table("db.t", {"v": kind, "a": "INT"})
    with pytest.raises(UnsupportedError, match="column 'v'"):
        catalog.alter_table("db.t", SetOption("metadata.iceberg.storage", "table-location"))
    assert table.schema.id == 0


def test_files_are_left_out_by_their_bounds(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT", "s": "STRING"})
    for number in range(4):
        table.write({"a": [number * 10, number * 10 + 5], "s": ["a" * 40, "z" * 40]})
    tasks = list(opened(metadata_folder(table)).scan(row_filter="a = 25").plan_files())
    assert len(tasks) == 1
    assert seen(metadata_folder(table), row_filter="a = 25") == ours(table, where="a = 25")
    assert not list(opened(metadata_folder(table)).scan(row_filter="s > 'zzzzz~'").plan_files())


def test_partitions_are_pruned_and_dropped(catalog: pl.Catalog) -> None:
    table = make(
        catalog,
        {"v": "INT", "dt": "DATE", "n": "DECIMAL(9, 2)", "t": "STRING"},
        partition_keys=["dt", "n", "t"],
    )
    days = [date(2026, 1, 1), date(2026, 1, 2), None]
    for number, day in enumerate(days):
        table.write(
            pa.table(
                {
                    "v": pa.array([number], pa.int32()),
                    "dt": pa.array([day], pa.date32()),
                    "n": pa.array([Decimal(number) / 4], pa.decimal128(9, 2)),
                    "t": ["x y" if number else None],
                }
            )
        )
    folder = metadata_folder(table)
    assert seen(folder) == ours(table)
    scan = opened(folder).scan(row_filter="dt = '2026-01-02'")
    assert len(list(scan.plan_files())) == 1
    assert seen(folder, row_filter="n = 0.25") == ours(table, where="n = 0.25")
    table.delete("dt = DATE '2026-01-01'")
    table.delete("dt IS NULL")
    assert seen(folder) == ours(table)
    assert len(seen(folder)) == 1


def test_columns_that_change_keep_their_ids(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT", "b": "STRING", "gone": "INT"})
    table.write({"a": [1], "b": ["x"], "gone": [9]})
    changes: list[SchemaChange] = [
        RenameColumn("b", "c"),
        DropColumn("gone"),
        AddColumn("b", "DOUBLE"),
        UpdateColumnType("a", "BIGINT"),
    ]
    table = catalog.alter_table("db.t", *changes)
    table.write({"a": [2], "c": ["y"], "b": [0.5]})
    folder = metadata_folder(table)
    assert seen(folder) == ours(table) == [(1, "x", None), (2, "y", 0.5)]
    first = opened(folder).scan(snapshot_id=1).to_arrow()
    assert first.to_pylist() == [{"a": 1, "b": "x", "gone": 9}]
    assert described(folder)["last-column-id"] == 3


def test_primary_key_tables_show_what_needs_no_merging(catalog: pl.Catalog) -> None:
    table = make(
        catalog,
        {"k": "INT NOT NULL", "v": "STRING"},
        {**TABLE_LOCATION, "bucket": "2", "write-only": "true"},
        primary_keys=["k"],
    )
    folder = metadata_folder(table)
    table.write({"k": [1, 2, 3], "v": ["a", "b", "c"]})
    assert seen(folder) == []
    table.compact(full=True)
    before = ours(table)
    assert seen(folder) == before
    table.write({"k": [1, 4], "v": ["A", "d"]})
    table.delete("k = 2")
    assert seen(folder) == before
    table.compact(full=True)
    assert seen(folder) == ours(table) == [(1, "A"), (3, "c"), (4, "d")]


@pytest.mark.parametrize("has_key", [True, False])
def test_deletion_vectors_of_version_3(catalog: pl.Catalog, has_key: bool) -> None:
    table = make(
        catalog,
        {"k": "INT NOT NULL", "v": "STRING"},
        {**V3, "bucket": "1", **({} if has_key else {"bucket-key": "k"})},
        primary_keys=["k"] if has_key else [],
    )
    folder = metadata_folder(table)
    table.write({"k": list(range(20)), "v": ["x"] * 20})
    if has_key:
        table.compact(full=True)
    table.delete("k IN (3, 7)")
    if has_key:
        table.write({"k": [5, 30], "v": ["new", "y"]})
        table.compact()
    metadata = described(folder)
    assert metadata["format-version"] == 3
    assert metadata["snapshots"][-1]["summary"]["total-delete-files"] != "0"
    assert seen_with_vectors(folder) == ours(table)
    table.write({"k": [100], "v": ["z"]})
    table.compact(full=True)
    assert seen_with_vectors(folder) == ours(table)
    metadata = described(folder)
    ids = [one["first-row-id"] + one["added-rows"] for one in metadata["snapshots"]]
    assert metadata["next-row-id"] == ids[-1] == max(ids)


def test_tags_are_tags_of_iceberg(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT"})
    table.write({"a": [1]})
    table.tags.create("one")
    table.write({"a": [2]})
    folder = metadata_folder(table)
    table.tags.create("two")
    scan = opened(folder).scan(snapshot_id=opened(folder).refs()["one"].snapshot_id)
    assert scan.to_arrow()["a"].to_pylist() == [1]
    table.tags.rename("two", "three")
    table.tags.delete("one")
    assert {*described(folder)["refs"]} == {"three"}
    table.tags.replace("three", snapshot=1)
    assert described(folder)["refs"]["three"]["snapshot-id"] == 1
    table.write({"a": [3]})
    assert described(folder)["refs"]["three"]["snapshot-id"] == 1


def test_snapshots_expire_with_their_manifests(catalog: pl.Catalog) -> None:
    table = make(
        catalog,
        {"a": "INT"},
        {
            **TABLE_LOCATION,
            "snapshot.num-retained.min": "1",
            "snapshot.num-retained.max": "3",
            "metadata.iceberg.compaction.min.file-num": "4",
            "metadata.iceberg.compaction.max.file-num": "4",
            "metadata.iceberg.previous-versions-max": "1",
        },
    )
    folder = metadata_folder(table)
    for number in range(12):
        table.write({"a": [number]})
    metadata = described(folder)
    assert [one["snapshot-id"] for one in metadata["snapshots"]] == [10, 11, 12]
    assert len(list(folder.glob("snap-*.avro"))) == 3
    assert len(list(folder.glob("*-m*.avro"))) <= 9
    assert sorted(path.name for path in folder.glob("v*")) == [
        "v11.metadata.json",
        "v12.metadata.json",
        "version-hint.text",
    ]
    assert seen(folder) == ours(table)
    for number in (10, 11):
        count = opened(folder).scan(snapshot_id=number).to_arrow().num_rows
        assert count == table.scan(snapshot=number).count()


def test_a_crash_after_a_commit_is_mended_by_the_next(
    catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, {"a": "INT"})
    folder = metadata_folder(table)
    table.write({"a": [1]})
    uuid = described(folder)["table-uuid"]
    with monkeypatch.context() as patched:

        def killed(*_: object) -> None:
            raise OSError("no space left")

        patched.setattr(IcebergUpkeep, "_write", killed)
        with pytest.raises(PostCommitError, match="no space left"):
            table.write({"a": [2]})
    assert seen(folder) == [(1,)]
    table.write({"a": [3]})
    assert seen(folder) == ours(table) == [(1,), (2,), (3,)]
    assert described(folder)["table-uuid"] == uuid
    assert len(described(folder)["snapshots"]) == 1
    assert len(list(folder.iterdir())) == 4


def test_a_rollback_takes_the_metadata_with_it(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT"})
    folder = metadata_folder(table)
    for number in range(4):
        table.write({"a": [number]})
    table.maintenance.rollback_to(snapshot=2)
    assert seen(folder) == ours(table) == [(0,), (1,)]
    for number in (12, 13):
        table.write({"a": [number]})
        assert seen(folder) == ours(table)
    assert len(ours(table)) == 4


def test_metadata_of_a_deleted_timeline_is_not_gone_on_with(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT"}, TABLE_LOCATION)
    folder = metadata_folder(table)
    for number in range(3):
        table.write({"a": [number]})
    stale = metadata_file(folder).read_bytes()
    without = catalog.table("db.t")
    without.maintenance.rollback_to(snapshot=2)
    for path in folder.glob("v*.json"):
        path.unlink()
    (folder / "v3.metadata.json").write_bytes(stale)
    (folder / "version-hint.text").write_text("3")
    table.write({"a": [33]})
    assert seen(folder) == ours(table) == [(0,), (1,), (33,)]


def test_a_folder_for_an_iceberg_catalog_of_files(catalog: pl.Catalog, tmp_path: Path) -> None:
    table = make(catalog, {"a": "INT"}, {"metadata.iceberg.storage": "hadoop-catalog"})
    folder = Path(table.path).parents[1] / "iceberg" / "db" / "t" / "metadata"
    table.write({"a": [1]})
    assert seen(folder) == [(1,)]
    catalog.drop_table("db.t")
    table = make(catalog, {"a": "INT"}, {"metadata.iceberg.storage": "hadoop-catalog"})
    table.write({"a": [2]})
    assert seen(folder) == [(2,)]
    assert len(list(folder.iterdir())) == 4


def test_a_catalog_of_files_may_find_metadata_in_the_tables_folder(catalog: pl.Catalog) -> None:
    options = {
        "metadata.iceberg.storage": "hadoop-catalog",
        "metadata.iceberg.storage-location": "table-location",
    }
    table = make(catalog, {"a": "INT"}, options)
    table.write({"a": [1]})
    assert seen(metadata_folder(table)) == [(1,)]


def test_former_metadata_stays_if_it_is_not_to_be_deleted(catalog: pl.Catalog) -> None:
    stays = {**TABLE_LOCATION, "metadata.iceberg.delete-after-commit.enabled": "false"}
    table = make(catalog, {"a": "INT"}, stays)
    for number in range(3):
        table.write({"a": [number]})
    names = {path.name for path in metadata_folder(table).glob("v*.json")}
    assert names == {f"v{number}.metadata.json" for number in (1, 2, 3)}


@pytest.mark.parametrize("is_legacy", [True, False])
def test_lists_of_manifests_have_former_names_of_fields_for_old_readers(
    catalog: pl.Catalog, *, is_legacy: bool
) -> None:
    option = {"metadata.iceberg.manifest-legacy-version": str(is_legacy).lower()}
    table = make(catalog, {"a": "INT"}, {**TABLE_LOCATION, **option})
    table.write({"a": [1]})
    (manifests,) = metadata_folder(table).glob("snap-*.avro")
    (one,) = records(metadata_folder(table), manifests.name)
    assert ("added_data_files_count" in one, "added_files_count" in one) == (
        is_legacy,
        not is_legacy,
    )
    assert seen(metadata_folder(table)) == [(1,)]


def test_a_table_that_was_renamed_has_metadata_of_its_new_place(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT"})
    table.write({"a": [1]})
    catalog.rename_table("db.t", "db.u")
    moved = catalog.table("db.u")
    moved.write({"a": [2]})
    assert seen(metadata_folder(moved)) == ours(moved) == [(1,), (2,)]


def test_branches_have_no_iceberg_metadata(catalog: pl.Catalog) -> None:
    table = make(catalog, {"a": "INT"})
    table.write({"a": [1]})
    table.branches.create("b")
    branch = table.on_branch("b")
    branch.write({"a": [2]})
    assert seen(metadata_folder(table)) == [(1,)]


def test_options_that_are_refused(catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HIVE_CONF_DIR", raising=False)
    refused = {
        "metadata.iceberg.rest.uri": "http://h:1",
        "metadata.iceberg.uri": "thrift://h:1",
        "metadata.iceberg.database": "d",
        "metadata.iceberg.manifest-compression": "brotli",
        "file.format": "orc",
        "deletion-vectors.enabled": "true",
    }
    for key, value in refused.items():
        with pytest.raises(UnsupportedError, match=key):
            make(catalog, {"a": "INT"}, {**TABLE_LOCATION, key: value})
    nowhere = make(catalog, {"a": "INT"}, {"metadata.iceberg.storage": "hive-catalog"})
    with pytest.raises(ValueError, match=r"'metadata\.iceberg\.uri' is missing"):
        nowhere.write({"a": [1]})
    assert nowhere.snapshot is None
    with pytest.raises(SchemaError, match=r"needs the option 'metadata\.iceberg\.rest\.uri'"):
        make(catalog, {"a": "INT"}, {"metadata.iceberg.storage": "rest-catalog"})
    with pytest.raises(SchemaError, match="must be 2 or 3"):
        make(catalog, {"a": "INT"}, {**TABLE_LOCATION, "metadata.iceberg.format-version": "1"})
