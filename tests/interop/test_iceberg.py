"""Iceberg's metadata in the hands of both: either goes on with what the other wrote."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyiceberg.table import StaticTable

from paimonlab.formats.avro.container import read_records
from tests.interop.pair import SIDES, Pair, Side

pytestmark = pytest.mark.interop

OPTIONS = {"metadata.iceberg.storage": "table-location", "snapshot.num-retained.min": "50"}
COLUMNS = {"a": "INT", "n": "DECIMAL(12, 2)", "t": "TIMESTAMP(6)", "s": "STRING", "dt": "STRING"}


def rows(*numbers: int, dt: str = "x") -> pa.Table:
    return pa.table(
        {
            "a": pa.array(numbers, pa.int32()),
            "n": pa.array([number / 4 for number in numbers]).cast(pa.decimal128(12, 2)),
            "t": pa.array([number * 1_000_001 for number in numbers], pa.timestamp("us")),
            "s": [f"text {number} " * 5 for number in numbers],
            "dt": [dt] * len(numbers),
        }
    )


class Metadata:
    """What is in the folder of Iceberg's metadata now, read without our own code."""

    def __init__(self, pair: Pair, name: str) -> None:
        self.folder = Path(pair.open(name).path) / "metadata"
        hint = (self.folder / "version-hint.text").read_text()
        self.path = self.folder / f"v{hint}.metadata.json"
        self.json: dict[str, Any] = json.loads(self.path.read_text())

    def records(self, path: str) -> list[dict[str, Any]]:
        data = (self.folder / Path(path).name).read_bytes()
        return read_records(data, path=path)

    @property
    def manifests(self) -> list[dict[str, Any]]:
        return self.records(self.json["snapshots"][-1]["manifest-list"])

    def entries(self) -> Iterator[dict[str, Any]]:
        for manifest in self.manifests:
            yield from self.records(manifest["manifest_path"])

    @property
    def live_files(self) -> dict[str, dict[str, Any]]:
        """Everything about the files that are alive but their places in manifests."""
        return {
            plain(entry["data_file"]["file_path"]): known(entry["data_file"])
            for entry in self.entries()
            if entry["status"] != 2
        }


def plain(path: str) -> str:
    return path.removeprefix("file:")


def known(file: Mapping[str, Any]) -> dict[str, Any]:
    pairs = ("null_value_counts", "lower_bounds", "upper_bounds")
    return {
        **file,
        "file_path": plain(file["file_path"]),
        **{key: {one["key"]: one["value"] for one in file[key] or ()} for key in pairs},
    }


def read_by_pyiceberg(metadata: Metadata, **how: Any) -> list[Any]:
    table = StaticTable.from_metadata(str(metadata.path))
    return sorted(table.scan(**how).to_arrow().to_pylist(), key=repr)


def assert_read(pair: Pair, name: str) -> None:
    expected = sorted(pair.open(name).scan().to_arrow().to_pylist(), key=repr)
    assert read_by_pyiceberg(Metadata(pair, name)) == expected


@pytest.mark.every_release
def test_both_describe_the_same_files_alike(pair: Pair) -> None:
    files: dict[Side, list[dict[str, Any]]] = {}
    described: dict[Side, dict[str, Any]] = {}
    for side in SIDES:
        name = f"db.{side}"
        pair.create(side, name, COLUMNS, partition=["dt"], options=OPTIONS)
        pair.write("java", name, rows(1, 2, 3))
        pair.write(side, name, rows(4, dt="y"))
        metadata = Metadata(pair, name)
        files[side] = sorted(metadata.live_files.values(), key=lambda one: one["record_count"])
        described[side] = metadata.json
        assert_read(pair, name)
    for ours, javas in zip(files["us"], files["java"], strict=True):
        for key in javas:
            if key not in ("file_path", "file_size_in_bytes", "first_row_id"):
                assert ours[key] == javas[key], key
    for key in described["java"]:
        if key not in ("table-uuid", "location", "last-updated-ms", "snapshots", "properties"):
            assert without_nulls(described["us"][key]) == without_nulls(described["java"][key]), key
    for ours, javas in zip(
        described["us"]["snapshots"], described["java"]["snapshots"], strict=True
    ):
        for key in javas:
            if key not in ("timestamp-ms", "manifest-list", "summary", "parent-snapshot-id"):
                assert ours[key] == javas[key], key
        assert ours["summary"]["operation"] == javas["summary"]["operation"]


def without_nulls(value: Any) -> Any:
    """Leave out keys that are null, which Java 1.3 writes."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value


@pytest.mark.every_release
def test_either_goes_on_with_the_metadata_of_the_other(pair: Pair) -> None:
    options = {**OPTIONS, "metadata.iceberg.compaction.min.file-num": "3"}
    pair.create("java", "db.t", COLUMNS, partition=["dt"], options=options)
    uuid = None
    for number in range(6):
        pair.write(SIDES[number % 2], "db.t", rows(number, number + 10, dt=f"p{number % 3}"))
        metadata = Metadata(pair, "db.t")
        assert metadata.json["table-uuid"] == (uuid or metadata.json["table-uuid"])
        assert len(metadata.json["snapshots"]) == number + 1
        uuid = metadata.json["table-uuid"]
        assert_read(pair, "db.t")
    pair.open("db.t").delete("a = 11")
    assert_read(pair, "db.t")
    pair.java("drop_partition", table="db.t", partition={"dt": "p2"})
    assert_read(pair, "db.t")
    pair.open("db.t").delete("dt = 'p0'")
    pair.write("java", "db.t", rows(100))
    assert_read(pair, "db.t")
    assert len(Metadata(pair, "db.t").json["snapshots"]) == 10


@pytest.mark.every_release
def test_primary_key_tables_after_full_compactions_of_either(pair: Pair) -> None:
    pair.create(
        "java", "db.t", {"k": "INT NOT NULL", "v": "STRING"}, pk=["k"],
        options={**OPTIONS, "bucket": "1"},
    )  # fmt: skip
    for number in range(4):
        side = SIDES[number % 2]
        new = {"k": pa.array([number, number + 1], pa.int32()), "v": [side, str(number)]}
        pair.write(side, "db.t", pa.table(new))
        if side == "us":
            pair.java("compact", table="db.t", full=True)
        else:
            pair.open("db.t").compact(full=True)
        assert_read(pair, "db.t")


@pytest.mark.releases("1.4.2")
def test_deletion_vectors_are_those_of_java(pair: Pair) -> None:
    options = {
        **OPTIONS,
        "metadata.iceberg.format-version": "3",
        "bucket": "1",
        "deletion-vectors.enabled": "true",
        "deletion-vectors.bitmap64": "true",
    }
    vectors = {}
    for side in SIDES:
        name = f"db.{side}"
        pair.create(side, name, {"k": "INT NOT NULL", "v": "STRING"}, pk=["k"], options=options)
        new = {"k": pa.array(range(10), pa.int32()), "v": ["x"] * 10}
        pair.write("java", name, pa.table(new))
        pair.java("compact", table=name, full=True)
        pair.write(side, name, pa.table({"k": pa.array([3, 20], pa.int32()), "v": ["y", "z"]}))
        if side == "us":  # Java does so as it writes
            pair.open(name).compact()
        found = [
            one["data_file"]
            for one in Metadata(pair, name).entries()
            if one["data_file"]["content"] == 1
        ]
        keys = ("file_format", "record_count", "content_offset", "content_size_in_bytes")
        vectors[side] = [{key: one[key] for key in keys} for one in found]
    assert vectors["us"] == vectors["java"] != []


@pytest.mark.every_release
def test_tags_of_either_are_tags_of_iceberg(pair: Pair) -> None:
    pair.create("java", "db.t", COLUMNS, options=OPTIONS)
    pair.write("us", "db.t", rows(1))
    pair.write("java", "db.t", rows(2))
    pair.open("db.t").tags.create("ours", snapshot=1)
    pair.java("tag", table="db.t", name="javas", snapshot=2)
    for _ in range(2):
        refs = Metadata(pair, "db.t").json["refs"]
        assert {name: ref["snapshot-id"] for name, ref in refs.items()} == {"ours": 1, "javas": 2}
        pair.write("us", "db.t", rows(3))


def test_avro_that_java_reads_is_plain_avro(pair: Pair) -> None:
    """Our manifests are read by fastavro, blocks of snappy included."""
    pair.create("us", "db.t", COLUMNS, partition=["dt"], options=OPTIONS)
    pair.write("us", "db.t", rows(1))
    metadata = Metadata(pair, "db.t")
    for path in metadata.folder.glob("*.avro"):
        assert list(fastavro.reader(io.BytesIO(path.read_bytes())))
