"""Compacting append tables changes files, never rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import FilesConflictError, SchemaError, UnsupportedError
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.snapshot import CommitKind
from paimonlab.storage import LocalFileIO
from paimonlab.table.table import Table

VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETS = {"bucket": "2", "bucket-key": "k", "write-only": "true"}
TRACKED = {"row-tracking.enabled": "true"}
KINDS: list[tuple[list[str], dict[str, str]]] = [
    ([], {}),
    ([], VECTORS | {"deletion-vector.index-file.target-size": "60 b"}),
    ([], BUCKETS),
    ([], VECTORS | BUCKETS | {"deletion-vectors.bitmap64": "true"}),
    (["p"], VECTORS),
    (["p"], VECTORS | BUCKETS | {"index-file-in-data-file-dir": "true"}),
    ([], TRACKED),
    (["p"], TRACKED | VECTORS | {"file.format": "orc"}),
    ([], {"file.format": "avro", "file-index.bloom-filter.columns": "k"}),
]


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


def make(
    catalog: paimonlab.Catalog, options: Mapping[str, str], partition: Sequence[str] = ()
) -> Table:
    columns = {"p": "STRING", "k": "INT", "n": "BIGINT"}
    return catalog.create_table("db.t", columns, partition_keys=partition, options=options)


def open_again(catalog: paimonlab.Catalog) -> Table:
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    return table


def rows(first: int, count: int = 10) -> pa.Table:
    keys = range(first, first + count)
    return pa.table(
        {
            "p": ["xy"[key % 2] for key in keys],
            "k": pa.array(keys, pa.int32()),
            "n": [key * 10 for key in keys],
        }
    )


def seen(table: Table) -> pa.Table:
    ids = ["_ROW_ID", "_SEQUENCE_NUMBER"] if "row-tracking.enabled" in table.options else []
    return table.scan([*table.schema.field_names, *ids]).to_arrow().sort_by("k")


def file_names(table: Table) -> set[str]:
    return set(table.scan().plan().files["file_name"].to_pylist())


def files_on_disk(table: Table) -> set[str]:
    return {path.name for path in Path(table.path).rglob("*") if path.is_file()}


@pytest.mark.parametrize(("partition", "options"), KINDS, ids=str)
def test_rows_stay_as_they_are(
    partition: list[str], options: Mapping[str, str], catalog: paimonlab.Catalog
) -> None:
    table = make(catalog, options, partition)
    for number in range(7):
        table.write(rows(10 * number))
    catalog.alter_table(
        "db.t", paimonlab.AddColumn("z", "STRING"), paimonlab.RenameColumn("n", "m")
    )
    table = open_again(catalog)
    table.delete("k IN (3, 13, 14, 55)")
    table.update({"m": "m + 1"}, where="k = 20")
    before, count = seen(table), len(file_names(table))

    for full in (False, True):
        result = table.compact(full=full)

        assert seen(table).equals(before)
        assert result.is_dry_run is False
        if result.snapshot is not None:
            assert result.snapshot.commit_kind is CommitKind.COMPACT
            assert result.after is not None
            assert result.after.files < result.before.files
            assert result.snapshot.total_record_count == sum(
                table.scan().plan().files["row_count"].to_pylist()
            )
    assert len(file_names(table)) < count
    assert table.compact(full=True).snapshot is None, "there is nothing left to do"
    table.delete("k = 30")
    table.write(pa.table({"p": ["x"], "k": pa.array([99], pa.int32()), "m": [1], "z": ["z"]}))
    assert set(seen(table)["k"].to_pylist()) == {*range(70), 99} - {3, 13, 14, 55, 30}
    assert table.fsck(deep=True).is_clean


def test_new_files_say_what_they_are(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {"file-index.bloom-filter.columns": "k"})
    for number in range(5):
        table.write(rows(10 * number))

    table.compact()

    (file,) = table.scan().plan().files.to_pylist()
    assert file["file_source"] == FileSource.COMPACT
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (0, 49)
    assert file["extra_files"] == [file["file_name"] + ".index"]
    assert not table.scan(where="k = 50").plan().splits, "statistics are those of all rows"


def test_buckets_keep_the_order_of_their_rows(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {"bucket": "1", "bucket-key": "k", "write-only": "true"})
    for number in (5, 3, 1, 4, 2):
        table.write(rows(10 * number))

    table.compact()

    keys = [key for number in (5, 3, 1, 4, 2) for key in range(10 * number, 10 * number + 10)]
    assert table.scan().to_arrow()["k"].to_pylist() == keys


def test_files_get_the_target_size(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {"target-file-size": "100 kb"})
    noise = np.random.default_rng(1).integers(0, 2**60, 20_000)
    for part in np.split(noise, 10):
        keys = pa.array(np.arange(len(part)), pa.int32())
        table.write(pa.table({"p": ["x"] * len(part), "k": keys, "n": part}))

    result = table.compact(full=True)

    assert result.before.files == 10
    assert sorted(table.scan().to_arrow()["n"].to_pylist()) == sorted(noise.tolist())
    sizes = table.scan().plan().files["file_size_bytes"].to_pylist()
    assert max(sizes) < 200_000


def test_partitions_and_buckets_can_be_chosen(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, BUCKETS, ["p"])
    for number in range(5):
        table.write(rows(10 * number))

    by_value = table.compact(partitions=[{"p": "x"}], buckets=[1], dry_run=True)
    by_condition = table.compact(where="p = 'y'", dry_run=True)

    assert [(one.partition, one.bucket) for one in by_value.buckets] == [("p=x", 1)]
    assert by_value.before.files == 5
    assert {one.partition for one in by_condition.buckets} == {"p=y"}
    assert not table.compact(where="p = 'z'").buckets
    with pytest.raises(SchemaError, match="partition columns only"):
        table.compact(where="k > 3")
    with pytest.raises(SchemaError, match="no partition column"):
        table.compact(partitions=[{"k": 3}])


def test_a_dry_run_writes_nothing(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, VECTORS)
    for number in range(5):
        table.write(rows(10 * number))
    before = files_on_disk(table)

    result = table.compact(dry_run=True)

    assert result.is_dry_run
    assert result.snapshot is None
    assert result.before.files == 5
    assert result.buckets[0].reason == "small files"
    assert files_on_disk(table) == before


@pytest.mark.parametrize("options", [VECTORS, VECTORS | BUCKETS, {}], ids=str)
def test_it_runs_again_if_others_change_its_files(
    options: Mapping[str, str], catalog: paimonlab.Catalog
) -> None:
    table = make(catalog, options)
    for number in range(6):
        table.write(rows(10 * number))
    disturbances = [5, 17]

    def disturb(done: int, total: int, unit: str) -> None:
        assert unit == "files"
        if disturbances and done == total:
            table.delete(f"k = {disturbances.pop()}")

    result = table.compact(progress=disturb)

    assert result.snapshot is not None
    assert set(seen(table)["k"].to_pylist()) == {*range(60)} - {5, 17}
    assert table.fsck(deep=True).is_clean
    there = {name for name in files_on_disk(table) if name.startswith("data-")}
    named = {name for one in table.snapshots.list() for name in names_at(table, one.id)}
    assert there == named, "what did not become visible is deleted again"


def names_at(table: Table, snapshot_id: int) -> list[str]:
    found: list[str] = table.scan(snapshot=snapshot_id).plan().files["file_name"].to_pylist()
    return found


def test_files_added_meanwhile_stay(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {})
    for number in range(5):
        table.write(rows(10 * number))

    def write(*_: object) -> None:
        table.write(rows(100))

    table.compact(progress=write)

    assert seen(table)["k"].to_pylist() == [*range(50), *range(100, 110)]


def test_it_gives_up_when_others_are_always_faster(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, VECTORS)
    for number in range(5):
        table.write(rows(10 * number))
    keys = iter(range(50))

    def delete(*_: object) -> None:
        table.delete(f"k = {next(keys)}")

    with pytest.raises(FilesConflictError):
        table.compact(progress=delete)

    assert seen(table)["k"].to_pylist() == list(range(4, 50))


def test_what_was_written_is_deleted_when_writing_fails(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, VECTORS, ["p"])
    for number in range(5):
        table.write(rows(10 * number))
    table.delete("k = 7")
    before = files_on_disk(table)
    sync = LocalFileIO.sync_files
    calls: list[object] = []

    def fail_at_last(self: LocalFileIO, sizes: Mapping[str, int]) -> None:
        calls.append(sizes)
        if len(calls) > 1:
            raise OSError(28, "no space left on device")
        sync(self, sizes)

    monkeypatch.setattr(LocalFileIO, "sync_files", fail_at_last)
    with pytest.raises(OSError, match="no space"):
        table.compact(full=True)

    assert files_on_disk(table) == before


def test_an_old_definition_loses_no_columns(catalog: paimonlab.Catalog) -> None:
    old = make(catalog, {})
    catalog.alter_table("db.t", paimonlab.AddColumn("z", "STRING"))
    new = open_again(catalog)
    for number in range(5):
        new.write(rows(10 * number).append_column("z", [["z"] * 10]))

    old.compact()

    assert seen(new)["z"].to_pylist() == ["z"] * 50
    assert new.scan().plan().files["schema_id"].to_pylist() == [1]


def test_rows_with_columns_in_files_of_their_own_cannot_be_ordered(
    catalog: paimonlab.Catalog,
) -> None:
    table = make(catalog, TRACKED | {"data-evolution.enabled": "true"})

    with pytest.raises(UnsupportedError, match=r"data-evolution\.enabled = 'true'"):
        table.compact(order_by=["k"])


def test_an_empty_table_has_nothing_to_compact(catalog: paimonlab.Catalog) -> None:
    result = make(catalog, {}).compact(full=True)

    assert (result.snapshot, result.buckets) == (None, ())
    assert str(result) == "db.t: nothing to compact"
