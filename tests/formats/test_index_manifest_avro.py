from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import msgspec
import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.index_manifest_avro import read_index_manifest, write_index_manifest
from paimonlab.formats.manifest_avro import write_entries
from paimonlab.spec.index_manifest import (
    DELETION_VECTORS,
    HASH,
    GlobalIndexRange,
    IndexManifestEntry,
)
from tests.golden import golden


def entries(table: str) -> tuple[list[IndexManifestEntry], list[dict[str, Any]]]:
    root = golden("java-1.3.1")
    folder = root / "wh/db.db" / table
    newest = max(folder.glob("snapshot/snapshot-*"), key=lambda path: int(path.name[9:]))
    name = json.loads(newest.read_text())["indexManifest"]
    expected = json.loads((root / "expected" / f"{table}.json").read_text())["index_manifest"]
    return read_index_manifest((folder / "manifest" / name).read_bytes(), path=name), expected


@pytest.mark.parametrize(
    ("table", "index_type"),
    [
        ("pk_dv", DELETION_VECTORS),
        ("dv64_pk", DELETION_VECTORS),
        ("append_dv", DELETION_VECTORS),
        ("dyn", HASH),
        ("dyn_part", HASH),
    ],
)
def test_index_files_are_those_java_lists(table: str, index_type: str) -> None:
    read, expected = entries(table)

    assert read
    assert {entry.index_type for entry in read} == {index_type}
    assert sorted(described(entry) for entry in read) == sorted(map(described_by_java, expected))


@pytest.mark.parametrize("table", ["pk_dv", "dv64_pk", "append_dv", "dyn", "dyn_part"])
@pytest.mark.parametrize("compression", ["zstd", "null"])
def test_what_java_wrote_is_written_again_as_it_was(table: str, compression: str) -> None:
    folder = golden("java-1.3.1") / "wh/db.db" / table / "manifest"
    for file in folder.glob("index-manifest-*"):
        data = file.read_bytes()

        again = write_index_manifest(
            read_index_manifest(data, path=file.name), compression=compression
        )

        old, new = (fastavro.reader(io.BytesIO(one)) for one in (data, again))
        assert old.writer_schema == new.writer_schema
        assert list(old) == list(new)


def test_global_indexes_are_kept_as_they_are() -> None:
    about = GlobalIndexRange(row_range_start=5, row_range_end=9, index_field_id=2,
                             extra_field_ids=(3, 4), index_meta=b"i", source_meta=None)  # fmt: skip
    plain = IndexManifestEntry(partition=b"\0" * 12, bucket=0, index_type=HASH, file_name="index-1",
                               file_size_bytes=1, row_count=1)  # fmt: skip
    entries = [plain, msgspec.structs.replace(plain, index_type="btree", global_index=about)]

    data = write_index_manifest(entries)

    assert read_index_manifest(data, path="m") == entries
    for file_format in ("orc", "parquet"):
        other = write_index_manifest(entries, file_format=file_format)
        assert read_index_manifest(other, path="m") == entries
    records: list[Any] = list(fastavro.reader(io.BytesIO(data)))
    first, second = records
    assert first["_GLOBAL_INDEX"] is None
    assert second["_GLOBAL_INDEX"]["_EXTRA_FIELD_IDS"] == [3, 4]
    assert read_index_manifest(write_index_manifest([plain]), path="m") == [plain]


def described(entry: IndexManifestEntry) -> str:
    ranges: dict[str, list[int | None]] | None = None
    if entry.deletion_vectors is not None:
        ranges = {
            vector.data_file_name: [vector.offset, vector.length_bytes, vector.cardinality]
            for vector in entry.deletion_vectors
        }
    values = [entry.bucket, entry.file_name, entry.file_size_bytes, entry.row_count]
    return json.dumps([*values, ranges], sort_keys=True)


def described_by_java(entry: dict[str, Any]) -> str:
    ranges = None
    if "ranges" in entry:
        ranges = {
            name: [vector["offset"], vector["length"], vector["cardinality"]]
            for name, vector in entry["ranges"].items()
        }
    values = [entry["bucket"], entry["file"], entry["size"], entry["rows"]]
    return json.dumps([*values, ranges], sort_keys=True)


def test_another_kind_of_manifest_is_an_error_that_names_it() -> None:
    with pytest.raises(CorruptMetadataError, match="some/index: field _INDEX_TYPE is missing"):
        read_index_manifest(write_entries([]), path="some/index")
