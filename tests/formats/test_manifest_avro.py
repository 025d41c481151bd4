from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest

from paimonlab.errors import CorruptMetadataError, PaimonError, UnsupportedError
from paimonlab.formats.avro.blocks import encoded_long
from paimonlab.formats.avro.container import read_head
from paimonlab.formats.manifests import manifest as manifest_avro
from paimonlab.formats.manifests.entry_rows import entries_to_table, table_to_entries
from paimonlab.formats.manifests.manifest import (
    read_entries,
    read_manifest_list,
    read_many_entries,
    write_entries,
    write_manifest_list,
)
from paimonlab.spec.manifests.data_file import EMPTY_ROW, DataFileMeta, SimpleStats
from paimonlab.spec.manifests.manifest import (
    ENTRY_SCHEMA,
    FileKind,
    ManifestEntry,
    ManifestFileMeta,
)
from tests.golden import RELEASES, golden

ARCHIVES = [*RELEASES, "java-0.9"]
OTHER_FORMATS = {"mani_orc", "mani_parquet"}
COMPACTED_AFTER_RECORDING = {"evo_avro", "evo_orc", "evo_parquet"}


def entry(number: int = 0, **changes: Any) -> ManifestEntry:
    stats = SimpleStats(b"\0\0\0\1" + bytes(16), b"\0\0\0\1" + bytes(15) + b"\1", (None, number))
    values: dict[str, Any] = {
        "file_name": f"data-{number}.parquet",
        "file_size_bytes": 10**12 + number,
        "row_count": number,
        "key_stats": stats,
        "value_stats": SimpleStats(EMPTY_ROW, EMPTY_ROW, None),
        "min_sequence_number": -1,
        "max_sequence_number": 2**62,
        "schema_id": 3,
        "level": 5,
        "extra_files": ("a", "b"),
        "creation_time_millis": 1_700_000_000_123,
        "delete_row_count": 0,
        "embedded_file_index": b"\xff\0",
        "file_source": 1,
        "value_stats_cols": (),
        "external_path": "s3://b/ä",
        "first_row_id": 7,
        "write_cols": ("x",),
    }
    return ManifestEntry(
        kind=FileKind.DELETE,
        partition=EMPTY_ROW,
        bucket=2,
        total_buckets=-1,
        file=DataFileMeta(**(values | changes)),
    )


BARE = entry(
    extra_files=(),
    creation_time_millis=None,
    delete_row_count=None,
    embedded_file_index=None,
    file_source=None,
    value_stats_cols=None,
    external_path=None,
    first_row_id=None,
    write_cols=None,
)

META = ManifestFileMeta(
    file_name="manifest-1",
    file_size_bytes=5,
    num_added_files=2,
    num_deleted_files=1,
    partition_stats=SimpleStats(EMPTY_ROW, EMPTY_ROW, ()),
    schema_id=4,
    min_bucket=0,
    max_bucket=3,
    min_level=0,
    max_level=5,
)


@pytest.mark.parametrize("file_format", ["avro", "orc", "parquet"])
@pytest.mark.parametrize("compression", ["zstd", "null"])
@pytest.mark.parametrize("entries", [[], [entry()], [entry(n) for n in range(1_000)] + [BARE]])
def test_entries_come_back_as_they_were_written(
    file_format: str, compression: str, entries: list[ManifestEntry]
) -> None:
    data = write_entries(entries, compression=compression, file_format=file_format)

    table = read_entries(data, path="m")

    assert table.schema == ENTRY_SCHEMA
    assert table_to_entries(table) == entries
    assert write_entries(table, compression=compression, file_format=file_format) == data


def test_values_and_tables_are_the_same_entries() -> None:
    entries = [entry(), BARE]

    assert table_to_entries(entries_to_table(entries)) == entries


@pytest.mark.parametrize(
    "manifests",
    [
        [],
        [META],
        [
            META,
            ManifestFileMeta(
                file_name="old", file_size_bytes=1, num_added_files=0, num_deleted_files=0
            ),
        ],
    ],
)
@pytest.mark.parametrize("file_format", ["avro", "orc", "parquet"])
def test_manifest_lists_come_back_as_they_were_written(
    file_format: str, manifests: list[ManifestFileMeta]
) -> None:
    data = write_manifest_list(manifests, file_format=file_format)
    assert read_manifest_list(data, path="l") == manifests


def test_lists_that_repeat_others_are_what_each_is_alone() -> None:
    """What a list has in common with others is not encoded again, and is the same."""
    metas = [msgspec.structs.replace(META, file_name=f"m-{n}", schema_id=n) for n in range(2000)]
    with_ids = [msgspec.structs.replace(meta, min_row_id=1, max_row_id=7) for meta in metas[:2]]
    for listed in (metas[:2], metas[:3], metas, with_ids, [*with_ids, metas[0]], metas[1:3]):
        data = write_manifest_list(listed)

        records: list[Any] = [*fastavro.reader(io.BytesIO(data))]
        assert [record["_FILE_NAME"] for record in records] == [meta.file_name for meta in listed]
        assert [record["_SCHEMA_ID"] for record in records] == [meta.schema_id for meta in listed]
        assert read_manifest_list(data, path="l") == listed
        manifest_avro._LIST_RECORDS.clear()
        assert write_manifest_list(listed) == data


@pytest.mark.parametrize("kind", ["manifest-list-", "manifest-[!l]"])
def test_columns_of_a_parquet_manifest_are_those_of_javas(kind: str) -> None:
    folder = golden("java-1.3.1") / "wh/db.db/mani_parquet/manifest"
    for path in folder.glob(f"{kind}*"):
        data = path.read_bytes()
        again = (
            write_manifest_list(read_manifest_list(data, path="l"), file_format="parquet")
            if "list" in kind
            else write_entries(read_entries(data, path="m"), file_format="parquet")
        )
        theirs, ours = (pq.ParquetFile(io.BytesIO(one)).schema for one in (data, again))
        for number, _ in enumerate(theirs):
            assert str(ours.column(number)) == str(theirs.column(number))


def test_many_manifests_are_read_as_each_alone() -> None:
    files = [
        ("a", write_entries([entry(1), entry(2)])),
        ("b", write_entries([])),
        ("c", write_entries([entry(3)], compression="null")),
    ]

    table, counts = read_many_entries(files)

    alone = [read_entries(data, path=path).to_pylist() for path, data in files]
    assert table.to_pylist() == [row for rows in alone for row in rows]
    assert counts == [2, 0, 1]
    assert read_many_entries([])[1] == []


def test_manifests_of_several_writers_stay_in_their_order() -> None:
    ours = write_entries([entry(1), entry(2)])
    paths = (golden("java-1.3.1") / "wh").glob("**/manifest/manifest-*")
    of_java = next(path for path in sorted(paths) if "list" not in path.name)
    files = [("a", ours), ("b", of_java.read_bytes()), ("c", write_entries([entry(3)]))]

    table, counts = read_many_entries(files)

    alone = [read_entries(data, path=path).to_pylist() for path, data in files]
    assert table.to_pylist() == [row for rows in alone for row in rows]
    assert counts == [len(rows) for rows in alone]


def test_the_damaged_one_of_many_manifests_is_named() -> None:
    damaged = bytearray(write_entries([entry(2)], compression="null"))
    damaged[damaged.index(b"data-2.parquet") - 1] = 0xFF  # the length of the file name

    with pytest.raises(CorruptMetadataError, match=r"^bad: "):
        read_many_entries([("good", write_entries([entry(1)])), ("bad", bytes(damaged))])


def many(first: int, count: int) -> bytes:
    return write_entries([entry(first + n) for n in range(count)], checksum=False)


def with_count(data: bytes, count: int) -> bytes:
    """Say another number of records before the only block of a file."""
    end = read_head(data, "head").end
    return data[:end] + encoded_long(count) + data[end + len(encoded_long(count)) :]


@pytest.mark.parametrize("counts", [(50, 52), (52, 50)])
def test_manifests_with_opposite_wrong_counts_are_refused(counts: tuple[int, int]) -> None:
    files = [("good", many(200, 1)), ("first", many(0, 51)), ("second", many(100, 51))]
    assert read_many_entries(files)[1] == [1, 51, 51]
    wrong = [
        (path, with_count(data, count))
        for (path, data), count in zip(files, (1, *counts), strict=True)
    ]

    with pytest.raises(CorruptMetadataError, match=r"^first: "):
        read_many_entries(wrong)


def test_a_manifest_with_more_entries_than_it_says_is_refused() -> None:
    with pytest.raises(CorruptMetadataError, match=r"^m: "):
        read_entries(with_count(many(0, 80), 79), path="m")


def test_another_compression_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="'lz4'"):
        write_entries([entry()], compression="lz4")


def manifest_files(archive: str) -> Iterator[Path]:
    for path in sorted((golden(archive) / "wh").glob("**/manifest/manifest-*")):
        if path.parts[-3] not in OTHER_FORMATS:
            yield path


@pytest.mark.parametrize("archive", ARCHIVES)
def test_every_manifest_of_java_survives_decoding_and_encoding(archive: str) -> None:
    read = 0
    for path in manifest_files(archive):
        data = path.read_bytes()
        if path.name.startswith("manifest-list"):
            manifests = read_manifest_list(data, path=str(path))
            assert read_manifest_list(write_manifest_list(manifests), path="l") == manifests
        else:
            table = read_entries(data, path=str(path))
            assert read_entries(write_entries(table), path="m").equals(table)
        read += 1

    assert read > 500


@pytest.mark.parametrize("archive", ARCHIVES)
def test_the_live_files_are_those_java_lists(archive: str) -> None:
    root, compared = golden(archive), 0
    for expected_path in sorted((root / "expected").glob("*.json")):
        expected = json.loads(expected_path.read_text())
        table = root / "wh/db.db" / expected_path.stem
        if expected_path.stem in OTHER_FORMATS or not expected.get("files"):
            continue

        live = live_files(table, latest_snapshot(table))

        assert sorted(map(described, live)) == sorted(
            described_by_java(file) for file in expected["files"]
        ), expected_path.stem
        compared += len(live)
    assert compared > 100


def latest_snapshot(table: Path) -> dict[str, Any]:
    newest = max(int(path.name[9:]) for path in (table / "snapshot").glob("snapshot-*"))
    if table.name in COMPACTED_AFTER_RECORDING:
        newest -= 1
    return json.loads((table / f"snapshot/snapshot-{newest}").read_text())


def live_files(table: Path, snapshot: dict[str, Any]) -> list[ManifestEntry]:
    live: dict[tuple[Any, ...], ManifestEntry] = {}
    for key in ("baseManifestList", "deltaManifestList"):
        manifest_list = table / "manifest" / snapshot[key]
        for meta in read_manifest_list(manifest_list.read_bytes(), path=snapshot[key]):
            manifest = table / "manifest" / meta.file_name
            assert manifest.stat().st_size == meta.file_size_bytes
            entries = table_to_entries(read_entries(manifest.read_bytes(), path=meta.file_name))
            assert meta.num_added_files == sum(e.kind is FileKind.ADD for e in entries)
            for one in entries:
                identity = (one.partition, one.bucket, one.file.level, one.file.file_name)
                if one.kind is FileKind.ADD:
                    live[identity] = one
                else:
                    del live[identity]
    return list(live.values())


def described(entry: ManifestEntry) -> str:
    file = entry.file
    created = file.creation_time_millis
    values = {
        "bucket": entry.bucket,
        "totalBuckets": entry.total_buckets,
        "name": file.file_name,
        "size": file.file_size_bytes,
        "rows": file.row_count,
        "level": file.level,
        "schema": file.schema_id,
        "minSeq": file.min_sequence_number,
        "maxSeq": file.max_sequence_number,
        "deleteRows": file.delete_row_count,
        "created": None if created is None else created,
        "source": file.file_source,
        "extra": file.extra_files,
        "valueStatsCols": file.value_stats_cols,
        "writeCols": file.write_cols,
        "firstRowId": file.first_row_id,
        "externalPath": file.external_path,
        "keyStats": [file.key_stats.min_values.hex(), file.key_stats.max_values.hex()],
        "valueStats": [file.value_stats.min_values.hex(), file.value_stats.max_values.hex()],
        "nullCounts": [file.key_stats.null_counts, file.value_stats.null_counts],
    }
    return json.dumps(values)


def described_by_java(entry: dict[str, Any]) -> str:
    file = entry["file"]
    created = dt.datetime.fromisoformat(file["creationTime"]).replace(tzinfo=dt.UTC)
    keys, values = file["keyStats"], file["valueStats"]
    description = {
        "bucket": entry["bucket"],
        "totalBuckets": entry["totalBuckets"],
        **{name: file[name] for name in ("name", "size", "rows", "level", "schema")},
        **{name: file.get(name) for name in ("minSeq", "maxSeq", "deleteRows")},
        "created": round(created.timestamp() * 1000),
        "source": {"APPEND": 0, "COMPACT": 1}[file["source"]],
        "extra": file["extra"],
        **{
            name: file.get(name)
            for name in ("valueStatsCols", "writeCols", "firstRowId", "externalPath")
        },
        "keyStats": [keys["min_hex"], keys["max_hex"]],
        "valueStats": [values["min_hex"], values["max_hex"]],
        "nullCounts": [keys["null_counts"], values["null_counts"]],
    }
    return json.dumps(description)


def test_a_file_cut_anywhere_is_a_typed_error_that_names_it() -> None:
    data = write_entries([entry(n) for n in range(20)])

    for length in [*range(0, len(data), 7), len(data) - 1]:
        with pytest.raises(CorruptMetadataError, match=r"^some/manifest: "):
            read_entries(data[:length], path="some/manifest")


@pytest.mark.parametrize("compression", ["zstd", "null"])
def test_a_flipped_bit_is_found_wherever_it_is(compression: str, rng: np.random.Generator) -> None:
    entries = [entry(n) for n in range(20)]
    data = write_entries(entries, compression=compression)

    for position in rng.integers(0, 8 * len(data), 400).tolist():
        assert outcome(flip(data, position)) in ("error that names the file", entries)


def test_a_flipped_bit_in_a_file_of_java_is_never_a_foreign_error(
    rng: np.random.Generator,
) -> None:
    paths = [path for path in manifest_files("java-1.3.1") if "manifest-list" not in path.name]

    for path in paths[:40]:
        data = path.read_bytes()
        for position in rng.integers(0, 8 * len(data), 10).tolist():
            assert outcome(flip(data, position))


def flip(data: bytes, position: int) -> bytes:
    flipped = bytearray(data)
    flipped[position // 8] ^= 1 << position % 8
    return bytes(flipped)


def outcome(data: bytes) -> str | list[ManifestEntry]:
    try:
        return table_to_entries(read_entries(data, path="some/manifest"))
    except PaimonError as error:
        return "error that names the file" if "some/manifest" in str(error) else str(error)


@pytest.mark.parametrize("compression", ["zstd", "null"])
def test_many_entries_are_the_same_bytes_column_by_column(
    compression: str, rng: np.random.Generator
) -> None:
    def maybe(value: Any) -> Any:
        return value if rng.random() < 0.7 else None

    def texts() -> tuple[str, ...]:
        return tuple(f"ä{number}" * int(rng.integers(9)) for number in range(rng.integers(3)))

    entries = [
        entry(
            number,
            file_size_bytes=int(rng.integers(-(2**62), 2**62)) >> int(rng.integers(60)),
            min_key=rng.bytes(int(rng.integers(40))),
            key_stats=SimpleStats(b"", rng.bytes(20), maybe((None, number, 2**40))),
            value_stats=SimpleStats(EMPTY_ROW, EMPTY_ROW, maybe(())),
            level=int(rng.integers(6)),
            extra_files=texts(),
            creation_time_millis=maybe(number),
            delete_row_count=maybe(0),
            embedded_file_index=maybe(rng.bytes(300)),
            file_source=maybe(1),
            value_stats_cols=maybe(texts()),
            external_path=maybe("s3://b/ä"),
            first_row_id=maybe(7),
            write_cols=maybe(texts()),
        )
        for number in range(1500)
    ]
    for some in (entries, entries[:200], entries[7:900]):
        table = entries_to_table(some)
        by_column = write_entries(table, compression=compression)
        assert by_column == write_entries(some, compression=compression)
        assert read_entries(by_column, path="m").equals(table)
    sliced = entries_to_table(entries).slice(100, 900)
    assert write_entries(sliced) == write_entries(entries[100:1000])
