"""Tables with dynamic buckets, against a dict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CorruptMetadataError, FilesConflictError
from paimonlab.spec.manifests.index_manifest import HASH, IndexManifestEntry
from paimonlab.table.inside import store_of
from paimonlab.write.hash_indexes import HashIndexFiles
from paimonlab.write.key_hashes import Hashes
from tests.golden import golden


def make(catalog: pl.Catalog, **options: str) -> pl.Table:
    return catalog.create_table(
        "db.t",
        {"p": "STRING", "k": "BIGINT", "v": "BIGINT"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"dynamic-bucket.target-row-num": "20", **options},
    )


def rows(partitions: list[str], keys: list[int], first_value: int = 0) -> pa.Table:
    values = range(first_value, first_value + len(keys))
    return pa.table({"p": partitions, "k": keys, "v": pa.array(values, pa.int64())})


def contents(table: pl.Table) -> dict[tuple[str, int], int]:
    found = table.scan().to_arrow().to_pylist()
    assert len({(row["p"], row["k"]) for row in found}) == len(found), "a key has two rows"
    return {(row["p"], row["k"]): row["v"] for row in found}


def indexes(table: pl.Table) -> list[IndexManifestEntry]:
    snapshot = table.snapshot
    assert snapshot is not None
    assert snapshot.index_manifest is not None
    return store_of(table).manifests.read_index(snapshot.index_manifest)


def bucket_of(table: pl.Table) -> dict[int, set[int]]:
    """Return the buckets that each key of partition a was written to."""
    found: dict[int, set[int]] = {}
    for split in table.scan(where="p = 'a'").plan().splits:
        for file in split.files:
            path = f"{table.path}/{split.bucket_path}/{file.file_name}"
            for key in pa.parquet.read_table(path)["k"].to_pylist():
                found.setdefault(key, set()).add(split.bucket)
    return found


@pytest.fixture
def hash_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep hashes in lookup stores however few they are."""
    monkeypatch.setattr("paimonlab.write.hash_indexes.pays", lambda rows, asked: rows > 0)


def stores_of_hashes(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("hash_stores")
@pytest.mark.parametrize("is_damaged", [False, True])
def test_hashes_found_in_stores_are_those_of_the_index(
    tmp_path: Path, rng: np.random.Generator, is_damaged: bool
) -> None:
    folder = tmp_path / "stores"
    options = {"warehouse": str(tmp_path / "w"), "lookup.cache-folder": str(folder)}
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = make(catalog)
    model: dict[tuple[str, int], int] = {}

    for turn in range(8):
        keys = rng.integers(0, 25 * (turn + 1), 60).tolist()
        partitions = rng.choice(["a", "b"], 60).tolist()
        data = rows(partitions, keys, turn * 1000)
        table.write(pa.Table.from_batches(data.to_batches(max_chunksize=20)))
        model |= dict(zip(zip(partitions, keys, strict=True), data["v"].to_pylist(), strict=True))
        assert contents(table) == model
        if is_damaged:
            for store in stores_of_hashes(folder):
                store.write_bytes(store.read_bytes()[::-1])

    assert stores_of_hashes(folder)
    assert all(len(buckets) == 1 for buckets in bucket_of(table).values())
    known = {(one.partition, one.bucket): one.row_count for one in indexes(table)}
    assert sum(known.values()) == len(model)
    assert max(known.values()) == 20


def test_known_keys_are_found_without_reading_a_large_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stores"
    options = {"warehouse": str(tmp_path / "w"), "lookup.cache-folder": str(folder)}
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = make(catalog, **{"dynamic-bucket.target-row-num": "30000"})
    table.write(rows(["a"] * 60_000, list(range(60_000))))
    table.write(rows(["a"], [7], 10))
    before = stores_of_hashes(folder)
    read = []
    read_file = HashIndexFiles.read_file

    def watched(self: HashIndexFiles, entry: IndexManifestEntry) -> Hashes:
        read.append(entry.file_name)
        return read_file(self, entry)

    monkeypatch.setattr(HashIndexFiles, "read_file", watched)

    table.write(rows(["a"] * 3, [8, 31_000, 59_999], 20))
    assert read == []
    table.write(rows(["a"], [70_000], 30))

    assert len(before) == 2
    assert read == []
    assert contents(table)["a", 70_000] == 30
    table.write(rows(["a"] * 3, [8, 70_000, 70_001], 40))
    assert len(contents(table)) == 60_002
    # The file of a bucket that got a key is another one; its store goes with it.
    assert {len(one) for one in bucket_of(table).values()} == {1}
    assert len(stores_of_hashes(folder)) <= 3


def test_many_keys_read_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "stores"
    options = {"warehouse": str(tmp_path / "w"), "lookup.cache-folder": str(folder)}
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = make(catalog, **{"dynamic-bucket.target-row-num": "30000"})
    table.write(rows(["a"] * 60_000, list(range(60_000))))

    table.write(rows(["a"] * 40_000, list(range(30_000, 70_000)), 10))

    assert stores_of_hashes(folder) == []
    assert sum(one.row_count for one in indexes(table)) == 70_000


@pytest.mark.parametrize("buffer", ["256 mb", "1 kb"])
def test_a_key_stays_in_its_bucket(
    catalog: pl.Catalog, buffer: str, rng: np.random.Generator
) -> None:
    table = make(catalog, **{"write-buffer-size": buffer})
    model: dict[tuple[str, int], int] = {}

    for turn in range(6):
        keys = rng.integers(0, 30 * (turn + 1), 80).tolist()
        partitions = rng.choice(["a", "b", "c"], 80).tolist()
        data = rows(partitions, keys, turn * 1000)
        table.write(pa.Table.from_batches(data.to_batches(max_chunksize=25)))
        model |= dict(zip(zip(partitions, keys, strict=True), data["v"].to_pylist(), strict=True))
        assert contents(table) == model

    assert all(len(buckets) == 1 for buckets in bucket_of(table).values())
    known = {(one.partition, one.bucket): one.row_count for one in indexes(table)}
    assert sum(known.values()) == len(model)
    assert max(known.values()) == 20


def test_one_writer_makes_many_commits(catalog: pl.Catalog) -> None:
    table = make(catalog)
    writer = table.new_writer(user="me")

    for number in range(4):
        writer.write(rows(["a"] * 30, list(range(number * 15, number * 15 + 30)), number * 100))
        table.commit(writer.prepare_commit(number), identifier=number, user="me")

    assert len(contents(table)) == 75
    assert all(len(buckets) == 1 for buckets in bucket_of(table).values())
    assert {one.row_count for one in indexes(table)} == {20, 15}


def test_two_writers_who_add_keys_at_once_are_in_conflict(catalog: pl.Catalog) -> None:
    table = make(catalog)
    table.write(rows(["a"], [1]))
    first, second = table.new_writer("first"), table.new_writer("second")
    first.write(rows(["a"], [2]))
    second.write(rows(["a"], [3]))

    table.commit(first.prepare_commit(), user="first")
    with pytest.raises(FilesConflictError):
        table.commit(second.prepare_commit(), user="second")

    assert sorted(key for _, key in contents(table)) == [1, 2]


@pytest.mark.parametrize("has_index", [True, False])
def test_who_adds_no_key_is_in_conflict_with_an_overwrite(
    catalog: pl.Catalog, has_index: bool
) -> None:
    """The overwrite begins the index anew: the row might stand in two buckets."""
    table = make(catalog)
    table.write(rows(["a"] * 30, list(range(30))))
    table.write(rows(["b"], [1]))
    writer = table.new_writer("me")
    writer.write(rows(["a"], [29], 7))
    messages = writer.prepare_commit()
    assert not messages[0].new_indexes

    table.overwrite(rows(["a"], [28 if has_index else 29], 9))
    if not has_index:
        table.drop_partitions([{"p": "a"}])

    with pytest.raises(FilesConflictError, match="Open a new writer"):
        table.commit(messages, user="me", identifier=1)
    again = table.new_writer("me")
    again.write(rows(["a"], [29], 7))
    table.commit(again.prepare_commit(), user="me", identifier=1)
    table.write(rows(["a"], [29], 8))
    assert contents(table)["a", 29] == 8


def test_who_adds_no_key_fits_what_others_do_elsewhere(catalog: pl.Catalog) -> None:
    table = make(catalog)
    table.write(rows(["a", "b"], [1, 1]))
    writer = table.new_writer("me")
    writer.write(rows(["a"], [1], 7))
    first = writer.prepare_commit(1)

    table.overwrite(rows(["b"], [2], 9))
    table.write(rows(["a"], [2]))
    table.commit(first, user="me", identifier=1)
    writer.write(rows(["a"], [1], 8))
    second = writer.prepare_commit(2)
    table.overwrite(rows(["b"], [3], 9))
    table.commit(second, user="me", identifier=2)

    assert contents(table) == {("a", 1): 8, ("a", 2): 0, ("b", 3): 9}


def test_an_overwrite_is_noticed_after_many_rounds(catalog: pl.Catalog) -> None:
    """What was checked once is not looked at again, but partitions are apart."""
    table = make(catalog)
    table.write(rows(["a", "b"], [1, 1]))
    writer = table.new_writer("me")
    for number in range(3):
        writer.write(rows(["a"], [1], number))
        table.commit(writer.prepare_commit(number), user="me", identifier=number)
    table.overwrite(rows(["b"], [2], 9))
    writer.write(rows(["a"], [1], 3))
    table.commit(writer.prepare_commit(3), user="me", identifier=3)
    writer.write(rows(["a", "b"], [1, 1], 4))

    with pytest.raises(FilesConflictError, match="overwrote a partition in snapshot 5"):
        table.commit(writer.prepare_commit(4), user="me", identifier=4)


def test_two_who_begin_a_bucket_at_once_are_in_conflict(catalog: pl.Catalog) -> None:
    table = make(catalog)
    first, second = table.new_writer("first"), table.new_writer("second")
    first.write(rows(["a"], [2]))
    second.write(rows(["a"], [3]))

    table.commit(first.prepare_commit(), user="first")
    with pytest.raises(FilesConflictError):
        table.commit(second.prepare_commit(), user="second")

    assert len(list(Path(table.path, "index").iterdir())) >= 1
    assert sorted(key for _, key in contents(table)) == [2]


def test_an_overwrite_begins_anew(catalog: pl.Catalog) -> None:
    table = make(catalog)
    table.write(rows(["a"] * 50 + ["b"] * 50, [*range(50)] * 2))

    table.overwrite(rows(["a"] * 5, [41, 42, 43, 44, 45]), partition={"p": "a"})
    table.write(rows(["a", "a"], [41, 7], 500))

    found = contents(table)
    assert {key: value for (p, key), value in found.items() if p == "a"} == {
        41: 500, 42: 1, 43: 2, 44: 3, 45: 4, 7: 501,
    }  # fmt: skip
    assert len(found) == 56
    assert bucket_of(table) == {key: {0} for key in (7, 41, 42, 43, 44, 45)}


def test_an_index_that_is_missing_is_made_of_the_keys(
    catalog: pl.Catalog, rng: np.random.Generator
) -> None:
    table = make(catalog)
    keys = list(range(70))
    table.write(rows(["a"] * 70 + ["b"] * 70, keys * 2))
    table.write(pa.table({"p": ["a"], "k": [3], "kind": ["-D"]}), row_kinds="kind")
    path = Path(table.path, "snapshot", "snapshot-2")
    snapshot = json.loads(path.read_text())
    del snapshot["indexManifest"]
    path.write_text(json.dumps(snapshot))

    again = rng.permutation(keys).tolist()
    other = pl.connect(catalog.path).table("db.t")
    assert isinstance(other, pl.Table)
    other.write(rows(["a"] * 70, again, 500))

    assert all(len(buckets) == 1 for buckets in bucket_of(other).values())
    assert len(contents(other)) == 140


def test_a_damaged_index_is_an_error(catalog: pl.Catalog) -> None:
    table = make(catalog)
    table.write(rows(["a"], [1]))
    (file,) = Path(table.path, "index").iterdir()
    file.write_bytes(b"abc")

    with pytest.raises(CorruptMetadataError, match="1 hashes take 4"):
        table.write(rows(["a"], [2]))
    table.write(rows(["b"], [2]))


@pytest.mark.parametrize("name", ["dyn", "dyn_max"])
def test_keys_of_java_stay_where_they_are(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    shutil.copytree(golden("java-1.3.1") / "wh" / "db.db" / name, tmp_path / "db.db" / name)
    table = pl.connect(tmp_path).table(f"db.{name}")
    assert isinstance(table, pl.Table)
    before = {row["a"]: row["b"] for row in table.scan().to_arrow().to_pylist()}
    keys = [*rng.permutation(list(before)).tolist(), *range(1000, 1010)]

    table.write(pa.table({"a": pa.array(keys, pa.int32()), "b": list(map(str, keys))}))

    found = table.scan().to_arrow().to_pylist()
    assert {row["a"]: row["b"] for row in found} == {key: str(key) for key in keys}
    assert len(found) == len(keys)
    assert {one.index_type for one in indexes(table)} == {HASH}
    assert sum(one.row_count for one in indexes(table)) >= len(keys)


def test_indexes_may_stand_beside_the_data(catalog: pl.Catalog) -> None:
    table = make(catalog, **{"index-file-in-data-file-dir": "true"})
    for first in (0, 15):
        table.write(rows(["a"] * 30, list(range(first, first + 30)), first))

    assert not Path(table.path, "index").exists()
    assert all(len(buckets) == 1 for buckets in bucket_of(table).values())
    names = {one.file_name for one in indexes(table)}
    assert names <= {file.name for file in Path(table.path, "p=a").glob("bucket-*/index-*")}
