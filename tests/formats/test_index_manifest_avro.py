from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import msgspec
import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.manifests.index_manifest import read_index_manifest, write_index_manifest
from paimonlab.formats.manifests.manifest import write_entries
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    HASH,
    GlobalIndexRange,
    IndexManifestEntry,
)
from tests.golden import RELEASES, golden


def entries(writer: str, table: str) -> tuple[list[IndexManifestEntry], list[dict[str, Any]]]:
    root = golden(writer)
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
@pytest.mark.parametrize("writer", RELEASES)
def test_index_files_are_those_java_lists(writer: str, table: str, index_type: str) -> None:
    read, expected = entries(writer, table)

    assert read
    assert {entry.index_type for entry in read} == {index_type}
    assert sorted(described(entry) for entry in read) == sorted(map(described_by_java, expected))


@pytest.mark.parametrize("table", ["pk_dv", "dv64_pk", "append_dv", "dyn", "dyn_part"])
@pytest.mark.parametrize("compression", ["zstd", "null"])
@pytest.mark.parametrize("writer", RELEASES)
def test_what_java_wrote_is_written_again_as_it_was(
    writer: str, table: str, compression: str
) -> None:
    folder = golden(writer) / "wh/db.db" / table / "manifest"
    for file in folder.glob("index-manifest-*"):
        data = file.read_bytes()

        again = write_index_manifest(
            read_index_manifest(data, path=file.name), compression=compression
        )

        (layout, old), (new_layout, new) = records(data), records(again)
        assert [one for one in layout if one["name"] != "_GLOBAL_INDEX"] == new_layout
        assert [without_nothing(one) for one in old] == new


def records(data: bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the fields and the records of a container file."""
    opened: Any = fastavro.reader(io.BytesIO(data))
    return opened.writer_schema["fields"], list(opened)


def without_nothing(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out the place of a global index that is not there, as Java has it since 1.4."""
    assert record.get("_GLOBAL_INDEX") is None
    return {name: value for name, value in record.items() if name != "_GLOBAL_INDEX"}


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
