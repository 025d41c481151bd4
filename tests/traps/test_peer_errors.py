"""What pypaimon 2.1 does otherwise than Java, and loses by it.

Each has a test with a name, here (``::name``) or beside its subject (``file::name``). That tables
it wrote are read as Java reads them is tested by ``golden/test_rows.py``.

 1. The bucket function is ignored
    ::writers_obey_the_bucket_function
    spec/test_bucket.py::hive_hashes_are_those_java_computes
    interop/test_layouts.py::buckets_by_remainder_are_the_same
 2. Wide nulls are not padded
    ::keys_of_wide_nulls_lie_in_the_buckets_of_java
    ::partitions_of_wide_nulls_have_the_bytes_of_java
 3. Decimals of -128 have a byte too many
    spec/test_binary_row.py::rows_hashes_and_buckets_are_those_of_java
 4. Deletes of a file are said to be none
    ::deletes_out_of_a_column_are_counted
    traps/test_format_traps.py::the_number_of_deletes_of_a_file_is_true
 5. The changelog has merged rows
    write/test_changelogs.py::every_row_that_came_is_in_the_changelog
 6. Files of an append bucket have no order
    ::files_of_an_append_bucket_have_ranges_one_behind_the_other
    scan/test_plan.py::files_of_an_append_bucket_stay_in_the_order_they_were_written
 7. Vectors of 64 bits are not read; empty lists become null
    formats/test_deletion_vectors.py::with_64_bits_positions_may_be_beyond_four_billion
    formats/test_deletion_vectors.py::bytes_of_java_are_read_and_written
    commit/test_traps.py::an_index_file_without_vectors_keeps_its_empty_list
 8. Snapshots have the writer's schema and no statistics; manifests are never merged
    commit/test_traps.py::a_snapshot_has_the_latest_schema_not_that_of_the_writer
    commit/test_committer.py::statistics_stay_with_their_schema_and_properties_with_their_snapshot
    commit/test_committer.py::small_manifests_are_merged_and_nothing_is_lost
    commit/test_committer.py::a_full_rewrite_drops_all_deletions
    interop/test_metadata.py::our_snapshot_has_the_fields_of_javas
 9. Fields that old manifests lack are wanted
    ::manifests_of_old_versions_lack_fields
10. Manifests are merged by names, without order
    commit/test_traps.py::merging_manifests_minds_the_order
    scan/test_entries.py::the_same_change_twice_in_a_row_is_corruption
11. Bounds are written in one mode only
    ::truncated_bounds_are_written_unless_told_otherwise
    spec/test_stats.py::modes_keep_more_or_less
    spec/test_stats.py::nested_columns_have_no_statistics
12. Types are lost: MULTISET, instants, nanoseconds, times; defaults are ignored
    ::multisets_are_counted_maps
    ::instants_without_a_precision_stay_instants
    ::keys_keep_nanoseconds
    spec/test_arrow_types.py::a_type_goes_to_arrow_and_back
    write/test_rows.py::a_missing_column_takes_its_default
13. Avro without maps and null elements; names of files and changelogs are fixed
    ::elements_may_be_null_in_every_format
    formats/test_data_formats.py::an_avro_file_is_one_that_others_read
    formats/test_data_formats.py::names_say_the_compression_as_java_does
    write/test_changelogs.py::changelog_files_of_a_write_that_failed_are_deleted
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from paimonlab.formats.manifests.manifest import read_entries, write_entries
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.types.text import format_type, parse_type
from tests.formats.test_data_formats import read, write
from tests.formats.test_parquet import fields_of
from tests.small_tables import entry
from tests.traps.tables import entries, ints, new_table, rows


def test_writers_obey_the_bucket_function(tmp_path: Path) -> None:
    table = new_table(
        tmp_path, {"k": "INT"}, bucket="5", bucket__key="k", bucket__function_type="mod"
    )
    table.write(ints(k=[-7, 0, 8, 13]))

    def bucket(key: int) -> set[int]:
        return {split.bucket for split in table.scan(where=f"k = {key}").plan().splits}

    assert {entry["bucket"]: entry["row_count"] for entry in entries(table)} == {3: 3, 0: 1}
    assert bucket(-7) == bucket(8) == {3}
    assert rows(table, where="k = -7") == [(-7,)]


def test_keys_of_wide_nulls_lie_in_the_buckets_of_java(tmp_path: Path) -> None:
    """Nulls are padded before they are hashed: 881641 and 276620 of 1 000 003, not 320100."""
    for number, (type_, bucket) in enumerate(
        [("TIMESTAMP(6)", 881641), ("DECIMAL(20, 2)", 276620)]
    ):
        table = new_table(
            tmp_path / str(number), {"k": type_, "v": "INT"}, bucket="1000003", bucket__key="k"
        )
        null = pa.nulls(1, table.arrow_schema.field("k").type)
        table.write(pa.table({"k": null, "v": pa.array([1], pa.int32())}))

        assert [entry["bucket"] for entry in entries(table)] == [bucket]


def test_partitions_of_wide_nulls_have_the_bytes_of_java(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"p": "TIMESTAMP(6)", "v": "INT"}, partitions=["p"])
    table.write(pa.table({"p": pa.nulls(1, pa.timestamp("us")), "v": pa.array([1], pa.int32())}))

    (one,) = entries(table)
    padded = "00000001" + "0001000000000000" + "0000000010000000" + "00" * 8
    assert one["partition"].hex() == padded


def test_deletes_out_of_a_column_are_counted(tmp_path: Path) -> None:
    table = new_table(
        tmp_path, {"k": "INT", "op": "STRING"}, keys=["k"], bucket="1", rowkind_field="op"
    )
    table.write(pa.table({"k": pa.array([1, 2, 3], pa.int32()), "op": ["+I", "-D", "-U"]}))

    assert [entry["delete_row_count"] for entry in entries(table)] == [2]
    assert rows(table) == [(1, "+I")]


def test_files_of_an_append_bucket_have_ranges_one_behind_the_other(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"k": "INT"}, bucket="1", bucket__key="k")
    for keys in ([3, 2, 1], [6], [5, 4]):
        table.write(ints(k=keys))

    ranges = [(e["min_sequence_number"], e["max_sequence_number"]) for e in entries(table)]
    assert ranges == [(0, 2), (3, 3), (4, 5)]
    (split,) = table.scan().plan().splits
    assert [file.row_count for file in split.files] == [3, 1, 2]


@pytest.mark.parametrize(
    ("missing", "column"),
    [
        ("_CREATION_TIME", "creation_time_millis"),
        ("_DELETE_ROW_COUNT", "delete_row_count"),
        ("_EMBEDDED_FILE_INDEX", "embedded_file_index"),
        ("_FILE_SOURCE", "file_source"),
        ("_VALUE_STATS_COLS", "value_stats_cols"),
        ("_EXTERNAL_PATH", "external_path"),
        ("_FIRST_ROW_ID", "first_row_id"),
        ("_WRITE_COLS", "write_cols"),
    ],
)
def test_manifests_of_old_versions_lack_fields(missing: str, column: str) -> None:
    """Unknown is not nought: an old file says nothing of its deletes."""
    reader: Any = fastavro.reader(io.BytesIO(write_entries([entry("a")])))
    records = list(reader)
    schema: Any = reader.writer_schema
    file = next(one for one in schema["fields"] if one["name"] == "_FILE")
    file["type"]["fields"] = [one for one in file["type"]["fields"] if one["name"] != missing]
    for record in records:
        del record["_FILE"][missing]
    data = io.BytesIO()
    fastavro.writer(data, fastavro.parse_schema(schema), records)

    found = read_entries(data.getvalue(), path="m")

    assert found["file_name"].to_pylist() == ["a"]
    assert found[column].to_pylist() == [None]


def test_truncated_bounds_are_written_unless_told_otherwise(tmp_path: Path) -> None:
    columns = {"t": "STRING", "n": "ARRAY<INT>", "i": "INT"}
    for mode, low, counts in [
        (None, "a" * 16, [0, None, 1]),
        ("full", "a" * 20, [0, None, 1]),
        ("counts", None, [0, None, 1]),
    ]:
        options = {} if mode is None else {"metadata_stats__mode": mode}
        table = new_table(tmp_path / str(mode), columns, **options)
        table.write(
            pa.table(
                {
                    "t": ["a" * 20, "b"],
                    "n": pa.array([[1], []], pa.list_(pa.int32())),
                    "i": pa.array([None, 7], pa.int32()),
                }
            )
        )

        (one,) = entries(table)
        names = one["value_stats_cols"] or list(columns)
        types = [parse_type(columns[name]) for name in names]
        bounds = decode(
            pa.array([one["value_stats_min_values"]], pa.large_binary()), types, path="m"
        )
        found = dict(zip(names, (column.to_pylist()[0] for column in bounds), strict=True))
        assert found["t"] == low
        wanted = dict(zip(columns, counts, strict=True))
        assert one["value_stats_null_counts"] == [wanted[name] for name in names]
    table = new_table(tmp_path / "none", columns, metadata_stats__mode="none")
    table.write(
        pa.table({"t": ["x"], "n": pa.nulls(1, pa.list_(pa.int32())), "i": pa.nulls(1, pa.int32())})
    )
    assert [entry["value_stats_cols"] for entry in entries(table)] == [[]]


def test_keys_keep_nanoseconds(tmp_path: Path) -> None:
    nanos = [1_700_000_000_123_456_789, 1_700_000_000_123_456_788]
    table = new_table(tmp_path, {"k": "TIMESTAMP(9)", "v": "INT"}, keys=["k"], bucket="1")
    table.write(
        pa.table({"k": pa.array(nanos, pa.timestamp("ns")), "v": pa.array([1, 2], pa.int32())})
    )

    found = table.scan().to_arrow()
    assert sorted(found["k"].cast(pa.int64()).to_pylist()) == sorted(nanos)
    (one,) = entries(table)
    (low,) = decode(
        pa.array([one["min_key"]], pa.large_binary()), [parse_type("TIMESTAMP(9)")], path="m"
    )
    (high,) = decode(
        pa.array([one["max_key"]], pa.large_binary()), [parse_type("TIMESTAMP(9)")], path="m"
    )
    assert [low.cast(pa.int64())[0].as_py(), high.cast(pa.int64())[0].as_py()] == sorted(nanos)


def test_instants_without_a_precision_stay_instants() -> None:
    for text in ("TIMESTAMP WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ"):
        assert format_type(parse_type(text)) == "TIMESTAMP(6) WITH LOCAL TIME ZONE"


@pytest.mark.parametrize("name", ["parquet", "orc", "avro"])
def test_elements_may_be_null_in_every_format(name: str, tmp_path: Path) -> None:
    fields = fields_of("ARRAY<INT>", "MAP<STRING, INT>", "ROW<a INT>")
    table = pa.table(
        {
            "c0": pa.array([[1, None], [], None], pa.list_(pa.int32())),
            "c1": pa.array([[("k", None)], [], None], pa.map_(pa.string(), pa.int32())),
            "c2": pa.array([{"a": None}, {"a": 1}, None], pa.struct([("a", pa.int32())])),
        }
    )
    path = write(tmp_path, table, fields, {"file.format": name})

    assert [column.to_pylist() for column in read(path, fields).columns] == [
        column.to_pylist() for column in table.columns
    ]


def test_multisets_are_counted_maps(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"m": "MULTISET<STRING>"})
    table.write(
        pa.table({"m": pa.array([[("a", 2), ("b", 1)], []], table.arrow_schema.field("m").type)})
    )

    assert rows(table) == [([("a", 2), ("b", 1)],), ([],)]
