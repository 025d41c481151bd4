"""Traps of the format: what a reader or writer of Paimon gets wrong first.

Each has a test with a name, here (``::name``) or beside its subject (``file::name``).

 1. Rows are serialised with a big-endian arity, then little-endian
    spec/test_binary_row.py::rows_hashes_and_buckets_are_those_of_java
    spec/test_binary_row.py::a_date_partition_is_serialised_as_java_does
 2. A null of a wide DECIMAL or TIMESTAMP keeps its room
    spec/test_binary_row.py::rows_hashes_and_buckets_are_those_of_java
    traps/test_peer_errors.py::keys_of_wide_nulls_lie_in_the_buckets_of_java
 3. Wide decimals have as few bytes as possible
    spec/test_binary_row.py::rows_hashes_and_buckets_are_those_of_java
 4. Partitions are equal if their bytes are
    commit/test_traps.py::partitions_are_equal_by_their_bytes
 5. Remainders of hashes; bucket keys with blanks
    spec/test_bucket.py::the_remainder_keeps_the_sign_of_the_hash_before_it_is_dropped
    spec/test_bucket.py::mod_is_the_remainder_that_is_never_negative
    spec/test_schema.py::the_bucket_key_is_split_without_trimming
 6. Folders of partitions have names nobody reads values from
    spec/test_partition.py::folders_are_named_as_java_names_them
    ::values_of_partitions_come_from_manifests_not_from_folders
 7. Blank texts share the folder of null
    ::blank_partitions_share_a_folder_and_are_not_null
 8. Null comes first in unions
    commit/test_traps.py::null_comes_first_in_every_union
 9. No list of statistics columns is not an empty one
    commit/test_traps.py::no_list_of_statistics_columns_is_not_an_empty_one
10. Two kinds of deletion vectors, measured in two ways
    formats/test_deletion_vectors.py::bytes_of_java_are_read_and_written
    golden/test_deletion_vectors.py::vectors_are_written_as_they_were_read
11. An index file of vectors with null for a list
    traps/test_peer_bugs.py::vectors_that_say_nothing_are_damage_not_an_absence
    commit/test_traps.py::an_index_file_without_vectors_keeps_its_empty_list
12. No deletes is a promise
    ::the_number_of_deletes_of_a_file_is_true
    read/test_splits.py::a_file_alone_is_read_without_its_deletes
    read/test_splits.py::an_unknown_number_of_deletes_is_looked_up
13. The changelog of the input has every row of it
    write/test_changelogs.py::every_row_that_came_is_in_the_changelog
14. Sequences follow live files only
    ::sequences_begin_at_nought_and_again_where_nothing_lives
    scan/test_sequences.py::deleted_files_do_not_count
15. INT96 has signed nanoseconds
    ::nanos_of_an_int96_are_signed
    formats/test_parquet.py::coarse_timestamps_in_int96_reach_all_years
16. Avro has instants and clocks the other way round
    ::avro_calls_instants_local_and_clocks_instants
17. ORC shifts instants
    ::orc_shifts_instants_by_the_zone_unless_told_not_to
18. TIME is 32 bits of milliseconds
    ::time_is_millis_in_32_bits_at_every_precision
19. Columns are found by id, those of a file by its own schema's names
    datafile/test_evolution.py::swapped_names_are_told_apart_by_id
    datafile/test_evolution.py::a_column_dropped_and_added_again_is_null_in_old_files
20. Nested fields are numbered before the field they are in
    spec/test_schema.py::nested_fields_are_numbered_after_the_fields_inside_them
21. A snapshot has the latest schema
    commit/test_traps.py::a_snapshot_has_the_latest_schema_not_that_of_the_writer
22. The hint of the latest snapshot may lag
    commit/test_traps.py::a_hint_that_lags_hides_nothing
    metadata/test_snapshots.py::the_latest_is_found_whatever_the_hint_says
23. Files are created at a local time
    ::files_were_created_at_a_local_time
24. Ranges of expiry
    maintenance/test_retention.py::case_file
    maintenance/test_snapshot_expiry.py::options_say_how_many_stay
    interop/test_upkeep.py::the_files_left_are_those_java_leaves
25. An upgraded file is deleted and added under one name
    commit/test_traps.py::a_file_that_was_moved_up_is_not_lost_by_merging_manifests
    commit/test_traps.py::identity_is_more_than_the_name
26. A rename overwrites
    commit/test_traps.py::publishing_never_replaces_the_snapshot_of_another
    storage/test_local.py::rename_never_overwrites
27. Manifests are shared
    commit/test_traps.py::a_manifest_may_belong_to_many_snapshots
    maintenance/test_rollback.py::later_snapshots_tags_and_files_go
28. Data of branches lies in the folder of the table
    table/upkeep/test_tags.py::files_that_a_branch_needs_stay
    maintenance/test_rollback.py::branches_keep_their_files
29. Range bitmaps count slices in a byte, 64 where there is nothing
    ::a_range_bitmap_without_values_has_64_slices_counted_in_one_byte
    formats/file_index/test_golden.py::indexes_of_java_are_what_ours_would_be
30. Bloom filters complement what is negative, and shift signs along
    formats/file_index/test_golden.py::indexes_of_java_are_what_ours_would_be
31. Global indexes: not built; handed on as they are
    commit/test_kinds.py::indexes_of_other_types_are_handed_on_but_not_rewritten
32. The next row id is handed on by commits without rows
    commit/test_traps.py::row_ids_are_handed_on_by_commits_without_rows
33. Numbers of buckets may be negative
    ::the_number_of_buckets_is_negative_where_it_is_not_fixed
"""

from __future__ import annotations

import datetime as dt
import struct
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from paimonlab.formats.file_index.range_bitmap import RangeBitmap
from paimonlab.formats.file_index.values import distinct, form_of
from paimonlab.spec.types.text import parse_type
from tests.formats.test_data_formats import read, write
from tests.formats.test_parquet import fields_of
from tests.small_tables import text_row
from tests.traps.tables import entries, ints, new_table, rows

MICROS = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)


@pytest.mark.parametrize(
    ("type_", "value", "folder"),
    [
        ("DATE", dt.date(2024, 1, 2), "19724"),
        ("TIMESTAMP(3)", dt.datetime(2024, 1, 2), "2024-01-02T00%3A00"),
        ("TIMESTAMP(6)", MICROS, "1969-12-31T23%3A59%3A59.999999"),
        ("TIME(3)", dt.time(1, 2, 3), "3723000"),
        ("DOUBLE", 1e10, "1.0E10"),
        ("DECIMAL(20, 2)", Decimal("-1.28"), "-1.28"),
        ("STRING", "a=b/c:%", "a%3Db%2Fc%3A%25"),
        ("STRING", "__DEFAULT_PARTITION__", "__DEFAULT_PARTITION__"),
    ],
)
def test_values_of_partitions_come_from_manifests_not_from_folders(
    type_: str, value: Any, folder: str, tmp_path: Path
) -> None:
    table = new_table(tmp_path, {"p": type_, "v": "INT"}, partitions=["p"])
    table.write(pa.table({"p": pa.array([value], table.arrow_schema.field("p").type), "v": [1]}))

    assert [path.name for path in Path(table.path).glob("p=*")] == [f"p={folder}"]
    assert rows(table) == [(value, 1)]


def test_blank_partitions_share_a_folder_and_are_not_null(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"p": "STRING", "v": "INT"}, partitions=["p"])
    texts = [None, "", "  ", "x"]
    table.write(pa.table({"p": texts, "v": [0, 1, 2, 3]}))

    folders = {path.name for path in Path(table.path).glob("p=*")}
    assert folders == {"p=__DEFAULT_PARTITION__", "p=x"}
    assert {entry["partition"] for entry in entries(table)} >= {text_row(""), text_row("  ")}
    assert sorted(rows(table), key=lambda row: row[1]) == list(zip(texts, range(4), strict=True))
    assert rows(table, where="p IS NULL") == [(None, 0)]

    table.drop_partitions([{"p": None}])

    assert sorted(rows(table), key=lambda row: row[1]) == [("", 1), ("  ", 2), ("x", 3)]


def test_the_number_of_deletes_of_a_file_is_true(tmp_path: Path) -> None:
    """Nought is a promise: readers, and compaction in Java, then look for no deletes."""
    table = new_table(tmp_path, {"k": "INT"}, keys=["k"], bucket="1")
    for kinds in (["+I", "+U", "+I"], ["-D", "-U", "+I"], ["-D", "-D", "-D"]):
        table.write(ints(k=[1, 2, 3]).append_column("kind", pa.array(kinds)), row_kinds="kind")

    assert [entry["delete_row_count"] for entry in entries(table)] == [0, 2, 3]
    assert rows(table) == []


def test_sequences_begin_at_nought_and_again_where_nothing_lives(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"k": "INT"}, keys=["k"], bucket="1")

    def ranges() -> list[tuple[int, int]]:
        return [(e["min_sequence_number"], e["max_sequence_number"]) for e in entries(table)]

    table.write(ints(k=[1, 2, 3]))
    table.write(ints(k=[1]))
    assert ranges() == [(0, 2), (3, 3)]
    table.truncate()
    table.write(ints(k=[7, 8]))
    assert ranges() == [(0, 1)]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize(
    "shape", ["{}", "ROW<a {}, b INT>", "ARRAY<{}>", "MAP<STRING, ROW<a ARRAY<{}>>>"]
)
def test_nanos_of_an_int96_are_signed(unit: str, shape: str, tmp_path: Path) -> None:
    """Java rounds days towards 1970: a time before it has fewer than no nanoseconds."""
    day_of_1970 = 2_440_588
    stored = [
        (0, -1_000_000),
        (0, 1_000_000),
        (-1, -86_399_999_000_000),
        (5, 0),
        (-90_000, -7_000_000),
    ]
    if unit != "ns":
        stored += [
            (-700_000, -1_000_000),
            (2_900_000, 86_399_999_000_000),
            (213_503, 83_709_551_000_000),
        ]
    path = tmp_path / "f.parquet"
    days = (
        pa.array([10**6 + number for number in range(len(stored))])
        .cast(pa.int32())
        .cast(pa.date32())
    )
    pq.write_table(
        pa.table({"c0": _shaped(shape, days.cast(pa.timestamp("us")))}),
        path,
        use_deprecated_int96_timestamps=True,
        compression="none",
        use_dictionary=False,
    )
    data = path.read_bytes()
    for number, (day, nanos) in enumerate(stored):
        old = struct.pack("<qi", 0, day_of_1970 + 10**6 + number)
        assert data.count(old) == 1
        data = data.replace(old, struct.pack("<qi", nanos, day_of_1970 + day))
    path.write_bytes(data)
    precision = {"ms": 3, "us": 6, "ns": 9}[unit]
    in_tick = {"ms": 10**6, "us": 10**3, "ns": 1}[unit]

    for root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        fields = fields_of(shape.format(f"{root}({precision})"))
        found = read(str(path), fields)["c0"].combine_chunks()
        assert found.null_count == 1
        wanted = [(day * 86_400 * 10**9 + nanos) // in_tick for day, nanos in stored]
        assert _innermost(found).cast(pa.int64()).to_pylist() == wanted


def _shaped(shape: str, column: pa.Array) -> pa.Array:
    """Put timestamps into ARRAY, MAP or ROW, each into a row of its own, and a null behind."""
    column = pa.concat_arrays([column, pa.nulls(1, column.type)])
    numbers = pa.array(range(len(column)), pa.int32())
    ends = pa.array([*range(len(column)), len(column) - 1], pa.int32())
    last = pa.array([False] * (len(column) - 1) + [True])
    lists = pa.ListArray.from_arrays(ends, column, mask=last)
    if shape.startswith("ROW"):
        return pa.StructArray.from_arrays([column, numbers], ["a", "b"], mask=last)
    if shape.startswith("ARRAY"):
        return lists
    if shape.startswith("MAP"):
        rows = pa.StructArray.from_arrays([lists], ["a"])
        texts = numbers.cast(pa.string())
        return pa.MapArray.from_arrays(ends, texts, rows, mask=last)
    return column


def _innermost(column: pa.Array) -> pa.Array:
    """Return the timestamps in the rows before the last."""
    while not pa.types.is_timestamp(column.type):
        if pa.types.is_struct(column.type):
            column = column.field("a")
        else:
            column = column.items if pa.types.is_map(column.type) else column.values
    return column.drop_null()


def test_avro_calls_instants_local_and_clocks_instants(tmp_path: Path) -> None:
    fields = fields_of("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)", "TIMESTAMP_LTZ(6)", "TIMESTAMP(6)")
    table = pa.table(
        {
            "c0": pa.array([1], pa.timestamp("ms", "UTC")),
            "c1": pa.array([2], pa.timestamp("ms")),
            "c2": pa.array([3], pa.timestamp("us", "UTC")),
            "c3": pa.array([4], pa.timestamp("us")),
        }
    )
    path = write(tmp_path, table, fields, {"file.format": "avro"})

    with Path(path).open("rb") as file:
        schema: Any = fastavro.reader(file).writer_schema

    assert [one["type"][1]["logicalType"] for one in schema["fields"]] == [
        "local-timestamp-millis", "timestamp-millis", "local-timestamp-micros", "timestamp-micros",
    ]  # fmt: skip
    assert read(path, fields).equals(table)


@pytest.mark.parametrize(("legacy", "hours"), [(None, -9), ("true", -9), ("false", 0)])
def test_orc_shifts_instants_by_the_zone_unless_told_not_to(
    legacy: str | None, hours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {} if legacy is None else {"orc_timestamp__ltz_legacy_type": legacy}
    table = new_table(tmp_path, {"t": "TIMESTAMP_LTZ(3)"}, file_format="orc", **options)
    noon = dt.datetime(2024, 1, 2, 12, tzinfo=dt.UTC)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        table.write(pa.table({"t": pa.array([noon], pa.timestamp("ms", "UTC"))}))
        (path,) = Path(table.path).glob("bucket-*/*.orc")
        (stored,) = orc.read_table(path)["t"].to_pylist()
        assert rows(table) == [(noon,)]
    finally:
        monkeypatch.undo()
        time.tzset()

    assert stored - noon == dt.timedelta(hours=hours)


@pytest.mark.parametrize("precision", [0, 3, 6, 9])
def test_time_is_millis_in_32_bits_at_every_precision(precision: int, tmp_path: Path) -> None:
    fields = fields_of(f"TIME({precision})")
    table = pa.table({"c0": pa.array([3_723_004], pa.time32("ms"))})

    path = write(tmp_path, table, fields, {"file.format": "parquet"})
    column = pq.ParquetFile(path).schema.column(0)
    assert column.physical_type == "INT32"
    assert "milliseconds" in str(column.logical_type)
    assert read(path, fields).equals(table)
    path = write(tmp_path, table, fields, {"file.format": "orc"})
    assert orc.read_table(path)["c0"].to_pylist() == [3_723_004]


def test_files_were_created_at_a_local_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path, {"v": "INT"})
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        table.write(ints(v=[1]))
    finally:
        monkeypatch.undo()
        time.tzset()

    (entry,) = entries(table)
    assert table.snapshot is not None
    behind = table.snapshot.time_millis + 9 * 3_600_000 - entry["creation_time_millis"]
    assert 0 <= behind < 60_000


def test_a_range_bitmap_without_values_has_64_slices_counted_in_one_byte() -> None:
    int_type = parse_type("INT")
    form = form_of(int_type, "range-bitmap")
    assert form is not None

    data = RangeBitmap.of(distinct(pa.chunked_array([pa.nulls(3, pa.int32())]), int_type)).encode(
        form
    )

    (head,) = struct.unpack_from(">i", data)
    dictionary = struct.unpack_from(">i", data, head)[0]
    slices = data[4 + head + dictionary :]
    _, version, count, rows_length, places_length = struct.unpack_from(">ibbii", slices)
    assert (version, count, places_length) == (1, 64, 64 * 8)
    assert rows_length > 0


@pytest.mark.parametrize(
    ("options", "keys", "total"),
    [
        ({}, [], -1),
        ({"bucket": "-1"}, ["k"], -1),
        ({"bucket": "-2"}, ["k"], -2),
        ({"bucket": "3"}, ["k"], 3),
    ],
    ids=["append", "dynamic", "postponed", "fixed"],
)
def test_the_number_of_buckets_is_negative_where_it_is_not_fixed(
    options: dict[str, str], keys: list[str], total: int, tmp_path: Path
) -> None:
    table = new_table(tmp_path, {"k": "INT"}, keys=keys, **options)
    table.write(ints(k=[1, 2, 3]))

    assert {entry["total_buckets"] for entry in entries(table)} == {total}
