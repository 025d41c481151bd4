from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import fastavro
import pytest

from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.formats.avro import container as avro_container
from paimonlab.formats.avro.container import read_table
from paimonlab.formats.avro.container_writing import write_records
from paimonlab.formats.manifests.manifest import read_entries, read_manifest_list
from tests.golden import golden

SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": ["null", "string"]}],
}
RECORDS: list[dict[str, Any]] = [{"a": -1, "b": None}, {"a": 2**40, "b": "ä" * 500}] * 300


def foreign(codec: str) -> bytes:
    buffer = io.BytesIO()
    fastavro.writer(buffer, SCHEMA, RECORDS, codec=codec, sync_interval=1_000)
    return buffer.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "bzip2", "xz"])
def test_files_of_other_writers_are_read(codec: str) -> None:
    assert read_table(foreign(codec), path="f").to_pylist() == RECORDS


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"])
def test_files_of_java_are_read_with_every_codec(codec: str) -> None:
    folder = golden("java-1.3.1") / "wh/db.db" / f"comp_avro_{codec}" / "bucket-0"

    tables = [read_table(path.read_bytes(), path=str(path)) for path in folder.glob("*.avro")]

    assert sum(table.num_rows for table in tables) == 50


@pytest.mark.parametrize("compression", ["zstd", "null"])
@pytest.mark.parametrize("checksum", [True, False])
def test_other_readers_read_what_is_written(compression: str, checksum: bool) -> None:
    data = write_records(SCHEMA, RECORDS, compression=compression, checksum=checksum)

    assert list(fastavro.reader(io.BytesIO(data))) == RECORDS
    assert data == write_records(SCHEMA, RECORDS, compression=compression, checksum=checksum)


def test_a_union_of_null_and_the_record_is_read_as_the_record() -> None:
    buffer = io.BytesIO()
    fastavro.writer(buffer, ["null", SCHEMA], RECORDS, codec="zstandard")

    assert read_table(buffer.getvalue(), path="f").to_pylist() == RECORDS


def test_an_unknown_codec_is_refused_naming_the_file() -> None:
    data = foreign("null").replace(b"\x08null", b"\x08lzzz")

    with pytest.raises(UnsupportedError, match=r"Avro codec 'lzzz' is not supported: some/file"):
        read_table(data, path="some/file")


def test_a_file_that_is_no_avro_is_an_error() -> None:
    with pytest.raises(CorruptMetadataError, match="some/file: this is not an Avro file"):
        read_table(b"{} and more", path="some/file")


@pytest.mark.parametrize("codec", ["deflate", "zstandard", "bzip2", "xz", "null"])
def test_too_many_bytes_are_not_believed(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro_container, "MAX_DECODED_BYTES", 10_000)

    with pytest.raises(CorruptMetadataError, match="some/file"):
        read_table(foreign(codec), path="some/file")


@pytest.mark.parametrize("writer", ["pypaimon-2.1", "pypaimon-2.1-native", "pypaimon-rust-0.4"])
def test_manifests_of_other_implementations_are_read(writer: str) -> None:
    read = 0
    for path in manifests(golden(writer)):
        data = path.read_bytes()
        if path.name.startswith("manifest-list"):
            read_manifest_list(data, path=str(path))
        else:
            assert read_entries(data, path=str(path)).num_rows > 0
            read += 1
    assert read > 5


def manifests(root: Path) -> list[Path]:
    return sorted((root / "wh").glob("*.db/*/manifest/manifest-*"))
