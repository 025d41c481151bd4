from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats.data_format import open_input
from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.statistics import row_group_stats
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import bind, col
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField, RowType
from paimonlab.spec.types.text import parse_type
from paimonlab.spec.variant.encode import parse_json
from paimonlab.storage import LocalFileIO
from tests.formats.parquet_files import read_batches, read_table
from tests.golden import RELEASES, golden
from tests.spec.random_columns import random_column
from tests.spec.test_binary_row import ALL_TYPES, NESTED_TYPES

FILE_IO = LocalFileIO(durability="none")


def fields_of(*types: str) -> list[DataField]:
    return [DataField(k, f"c{k}", parse_type(text)) for k, text in enumerate(types)]


def write(
    path: Path, table: pa.Table, fields: Sequence[DataField], **options: Any
) -> tuple[str, int]:
    writer = ParquetWriter(FILE_IO, str(path), fields, ParquetOptions(**options))
    writer.write(table)
    return str(path), writer.close()


def random_table(
    fields: list[DataField], rows: int, rng: np.random.Generator, *, for_orc: bool = False
) -> pa.Table:
    columns = [random_column(field.type, rows, rng, for_orc=for_orc) for field in fields]
    return pa.table(columns, schema=arrow_schema(fields))


WITHOUT_NANOS = [text for text in ALL_TYPES + NESTED_TYPES if "(9)" not in text]


@pytest.mark.parametrize("types", [WITHOUT_NANOS, ALL_TYPES + NESTED_TYPES])
def test_values_of_all_types_come_back(
    types: list[str], tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of(*types)
    table = random_table(fields, 300, rng)
    path, size = write(tmp_path / "f.parquet", table, fields)

    read = read_table(FILE_IO, path, fields)

    read.validate(full=True)
    assert size == Path(path).stat().st_size
    assert read.schema.equals(table.schema)
    for field in fields:
        assert read[field.name].equals(table[field.name]), field


def test_batches_hold_the_rows_of_the_table_in_order(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("BIGINT", "STRING", "TIMESTAMP(9)", "TIMESTAMP(3)", "ARRAY<INT>")
    table = random_table(fields, 1_000, rng)
    path, _ = write(tmp_path / "f.parquet", table, fields, block_size_bytes=2_000)
    chosen = [fields[3], fields[0]]

    batches = read_batches(FILE_IO, path, fields, batch_rows=64)
    projected = read_batches(FILE_IO, path, chosen, batch_rows=10_000)

    assert all(0 < batch.num_rows <= 64 for batch in batches)
    assert pa.Table.from_batches(batches).equals(table)
    assert pa.Table.from_batches(projected).equals(table.select(["c3", "c0"]))


def test_small_batches_are_gathered_into_full_row_groups(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("INT")
    table = random_table(fields, 300_000, rng)
    writer = ParquetWriter(FILE_IO, str(tmp_path / "f.parquet"), fields, ParquetOptions())

    for batch in table.to_batches(max_chunksize=999):
        writer.write(batch)
    writer.close()

    with ParquetInput(FILE_IO, str(tmp_path / "f.parquet")) as file:
        assert [group.row_count for group in file.row_groups] == [131_072, 131_072, 37_856]
        assert [group.first_row for group in file.row_groups] == [0, 131_072, 262_144]
    assert read_table(FILE_IO, str(tmp_path / "f.parquet"), fields).equals(table)


def test_no_rows_and_no_columns(tmp_path: Path) -> None:
    fields = fields_of("INT", "STRING")
    empty = arrow_schema(fields).empty_table()
    nothing, _ = write(tmp_path / "empty.parquet", empty, fields)
    three = pa.table({"c0": pa.array([1, 2, 3], pa.int32()), "c1": ["a", "b", "c"]})
    some, _ = write(tmp_path / "three.parquet", three, fields)

    assert read_table(FILE_IO, nothing, fields).equals(empty)
    assert read_batches(FILE_IO, nothing, fields, batch_rows=10) == []
    assert [b.num_rows for b in read_batches(FILE_IO, some, [], batch_rows=2)] == [2, 1]


def test_row_groups_are_pruned_by_their_statistics(tmp_path: Path) -> None:
    fields = fields_of("BIGINT", "STRING")
    rows = 5_000
    table = pa.table({"c0": range(rows), "c1": [f"v{k:05}" for k in range(rows)]})
    path, _ = write(tmp_path / "f.parquet", table, fields, block_size_bytes=20_000)

    with ParquetInput(FILE_IO, path) as file:
        near = bind((col("c0") >= 2_500) & (col("c0") < 2_510), fields, "t")
        matching = file.matching_row_groups(near, fields)
        none = file.matching_row_groups(bind(col("c1") > "w", fields, "t"), fields)
        wanted = [group.index for group in matching]
        read = pa.Table.from_batches(file.batches(fields, batch_rows=rows, row_groups=wanted))
        total = len(file.row_groups)

    assert none == ()
    assert total == 5
    assert len(matching) == 1
    assert read["c0"].to_pylist()[0] == matching[0].first_row
    assert read.num_rows == matching[0].row_count


@pytest.mark.parametrize("text", ALL_TYPES)
def test_statistics_of_row_groups_bound_their_rows(
    text: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of(text)
    column = random_table(fields, 900, rng)
    path, _ = write(tmp_path / "f.parquet", column, fields, block_size_bytes=80)

    metadata = pq.read_metadata(path)
    stats = row_group_stats(metadata, fields)

    if "(9)" in text:  # INT96 has no order
        assert stats == {} or stats["c0"].min.null_count == len(stats["c0"].min)
        return
    start = 0
    for group in range(metadata.num_row_groups):
        rows = column["c0"].slice(start, metadata.row_group(group).num_rows)
        start += len(rows)
        assert stats["c0"].null_count[group].as_py() == rows.null_count
        assert stats["c0"].row_count[group].as_py() == len(rows)
        low_high = pc.min_max(rows)
        assert stats["c0"].min[group].as_py() == low_high["min"].as_py()
        assert stats["c0"].max[group].as_py() == low_high["max"].as_py()
    assert metadata.num_row_groups > 1


def test_the_layout_of_a_file_is_that_of_java(tmp_path: Path) -> None:
    table = golden("java-1.3.1") / "wh/db.db/types_parquet"
    schema = TableSchema.from_json((table / "schema/schema-0").read_bytes(), path="schema-0")
    java = pq.ParquetFile(next((table / "bucket-0").glob("*.parquet"))).schema
    path, _ = write(tmp_path / "f.parquet", schema.arrow_schema.empty_table(), schema.fields)

    ours = pq.ParquetFile(path).schema

    assert layout(ours) == layout(java)


def layout(schema: pq.ParquetSchema) -> list[str]:
    lines = [line.strip() for line in str(schema).splitlines() if line.strip()]
    return [
        # The names of repeated groups and this old annotation mean nothing.
        line.replace("key_value (Map)", "key_value")
        for line in lines[2:]
    ]


MIXED_TIMESTAMPS = [
    *("TIMESTAMP(9)", "TIMESTAMP(3)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "INT"),
    *("ARRAY<TIMESTAMP(3)>", "MAP<TIMESTAMP(6), TIMESTAMP(9)>", "ROW<a TIMESTAMP(6), b INT>"),
]


def test_timestamps_of_all_units_stand_beside_each_other(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of(*MIXED_TIMESTAMPS)
    table = random_table(fields, 500, rng)

    path, size = write(tmp_path / "f.parquet", table, fields, block_size_bytes=4000)

    metadata = pq.read_metadata(path)
    storage = [metadata.schema.column(k).physical_type for k in range(metadata.num_columns)]
    assert storage == [
        *("INT96", "INT64", "INT64", "INT32", "INT64", "INT64", "INT96", "INT64", "INT32")
    ]
    assert Path(path).stat().st_size == size
    assert metadata.num_row_groups > 1
    assert read_table(FILE_IO, path, fields).equals(table)
    assert row_group_stats(metadata, fields)["c1"].min.null_count == 0


def test_key_and_system_columns_keep_their_ids(tmp_path: Path) -> None:
    fields = [
        DataField(1073741823 + 5, "_KEY_k", parse_type("INT NOT NULL")),
        DataField(2147483646, "_SEQUENCE_NUMBER", parse_type("BIGINT NOT NULL")),
    ]
    table = pa.table({"_KEY_k": pa.array([1], pa.int32()), "_SEQUENCE_NUMBER": [0]})
    path, _ = write(tmp_path / "f.parquet", table, fields)

    lines = layout(pq.ParquetFile(path).schema)

    assert lines[:2] == [
        "required int32 field_id=1073741828 _KEY_k;",
        "required int64 field_id=2147483646 _SEQUENCE_NUMBER;",
    ]


def test_only_repetitive_columns_have_a_dictionary(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("BIGINT", "STRING")
    table = pa.table({"c0": rng.permutation(10_000), "c1": ["a", "b"] * 5_000})

    def encodings(path: str) -> list[bool]:
        group = pq.read_metadata(path).row_group(0)
        return [group.column(k).has_dictionary_page for k in range(2)]

    sampled, _ = write(tmp_path / "f.parquet", table, fields)
    forbidden, _ = write(tmp_path / "g.parquet", table, fields, enable_dictionary=False)

    assert encodings(sampled) == [False, True]
    assert encodings(forbidden) == [False, False]


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("zstd", "ZSTD"),
        ("snappy", "SNAPPY"),
        ("gzip", "GZIP"),
        ("lz4", "LZ4"),
        ("uncompressed", "UNC"),
    ],
)
def test_compression_is_what_the_option_says(name: str, codec: str, tmp_path: Path) -> None:
    fields = fields_of("INT")
    table = pa.table({"c0": pa.array(range(10_000), pa.int32())})
    path, _ = write(tmp_path / "f.parquet", table, fields, compression=name)

    assert pq.read_metadata(path).row_group(0).column(0).compression.startswith(codec)
    assert read_table(FILE_IO, path, fields).equals(table)


def test_a_codec_parquet_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"file\.compression = 'lzo'"):
        ParquetWriter(
            FILE_IO, str(tmp_path / "f"), fields_of("INT"), ParquetOptions(compression="lzo")
        )
    assert not (tmp_path / "f").exists()


def test_a_flipped_bit_is_an_error_that_names_the_file(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("BIGINT", "STRING", "DOUBLE")
    table = random_table(fields, 2_000, rng)
    path, _ = write(tmp_path / "f.parquet", table, fields, block_size_bytes=20_000)
    data = Path(path).read_bytes()
    footer_bytes = int.from_bytes(data[-8:-4], "little") + 8
    damaged = tmp_path / "damaged.parquet"

    found = 0
    for position in rng.integers(0, 8 * (len(data) - footer_bytes), 150).tolist():
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        damaged.write_bytes(flipped)
        try:
            read = read_table(FILE_IO, str(damaged), fields)
        except CorruptDataError as error:
            found += str(damaged) in str(error)
        else:
            assert read.equals(table)  # the bit belongs to no value
    assert found > 100


def test_a_cut_file_is_an_error_that_names_it(tmp_path: Path, rng: np.random.Generator) -> None:
    fields = fields_of("BIGINT", "STRING")
    path, size = write(tmp_path / "f.parquet", random_table(fields, 500, rng), fields)
    data = Path(path).read_bytes()
    cut = tmp_path / "cut.parquet"

    for length in (0, 3, 12, size // 2, size - 9, size - 1):
        cut.write_bytes(data[:length])
        with pytest.raises(CorruptDataError, match=r"cut\.parquet: "):
            read_batches(FILE_IO, str(cut), fields, batch_rows=100)


def test_a_missing_file_another_row_count_a_missing_column_and_another_type(
    tmp_path: Path,
) -> None:
    fields = fields_of("BIGINT")
    path, _ = write(tmp_path / "f.parquet", pa.table({"c0": [2**40]}), fields)

    with pytest.raises(CorruptDataError, match="the file is missing"):
        open_input(FILE_IO, str(tmp_path / "none.parquet"))
    with pytest.raises(CorruptDataError, match="it has 1 rows, metadata says 2"):
        open_input(FILE_IO, path, expected_rows=2)
    with pytest.raises(CorruptDataError, match="column 'c1' is not in the file"):
        read_table(FILE_IO, path, fields_of("BIGINT", "INT"))
    with pytest.raises(CorruptDataError, match="column 'c0': "):
        read_table(FILE_IO, path, fields_of("INT"))


def write_foreign(path: Path, table: pa.Table, **options: Any) -> str:
    pq.write_table(table, path, **options)
    return str(path)


def test_coarse_timestamps_in_int96_reach_all_years(tmp_path: Path) -> None:
    texts = ["0001-01-01T00:00:00.000001", "1969-12-31T23:59:59.999999", "9999-12-31T23:59:59"]
    table = pa.table({"c0": pa.array(np.array(texts, "M8[us]")), "c1": [1, 2, 3]})
    path = write_foreign(tmp_path / "f", table, use_deprecated_int96_timestamps=True)
    fields = fields_of("TIMESTAMP(6)", "BIGINT")

    assert read_table(FILE_IO, path, fields).equals(table)


def test_nanos_arrow_cannot_hold_are_refused_not_wrapped(tmp_path: Path) -> None:
    table = pa.table({"c0": pa.array(np.array(["9999-12-31", "2000-01-01"], "M8[us]"))})
    path = write_foreign(tmp_path / "f", table, use_deprecated_int96_timestamps=True)

    with pytest.raises(UnsupportedError, match="outside the years 1677 to 2262 in column 'c0'"):
        read_table(FILE_IO, path, fields_of("TIMESTAMP(9)"))


def test_files_of_other_writers_are_brought_to_the_types_of_the_table(tmp_path: Path) -> None:
    table = pa.table(
        {
            "c0": pa.array([1, None], pa.int64()),
            "c1": pa.array([b"x", None], pa.binary()),
            "c2": pa.array([1_500, None], pa.int64()),
            "c3": pa.array([1_500, None], pa.timestamp("us")),
            "c4": pa.array(["a", "b"]).dictionary_encode(),
            "c5": pa.array([[("k", 1)], None], pa.map_(pa.large_string(), pa.int64())),
        }
    )
    path = write_foreign(tmp_path / "f", table)
    fields = fields_of(
        "TINYINT", "STRING", "TIMESTAMP(3)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "STRING",
        "MAP<STRING, INT>",
    )  # fmt: skip

    read = read_table(FILE_IO, path, fields)

    assert read.schema.equals(arrow_schema(fields))
    assert read["c2"].cast(pa.int64()).to_pylist() == [1_500, None]
    assert read["c3"].cast(pa.int64()).to_pylist() == [1_500, None]
    assert read.select(["c0", "c1", "c4", "c5"]).to_pylist() == [
        {"c0": 1, "c1": "x", "c4": "a", "c5": [("k", 1)]},
        {"c0": None, "c1": None, "c4": "b", "c5": None},
    ]


FAR = {"f_ts9"}  # holds the year 1600


@pytest.mark.parametrize("archive", [*RELEASES, "java-0.9"])
def test_every_parquet_file_of_java_is_readable(archive: str) -> None:
    read = 0
    for table in sorted((golden(archive) / "wh/db.db").iterdir()):
        schemas = table / "schema"
        if not (schemas / "schema-0").exists():
            continue
        known = {
            field.name: field
            for path in sorted(schemas.glob("schema-*"))
            for field in json_fields(path)
        }
        for path in sorted(table.glob("**/bucket-*/*.parquet")):
            names = pq.read_schema(path).names
            fields = [known[name] for name in names if name in known and name not in FAR]
            try:
                assert read_table(FILE_IO, str(path), fields).num_rows > 0
            except CorruptDataError:
                assert len(list(schemas.glob("schema-*"))) > 1, path  # a column was retyped
            read += 1
    assert read > 100


def json_fields(path: Path) -> tuple[DataField, ...]:
    assert json.loads(path.read_text())["version"] >= 2
    return TableSchema.from_json(path.read_bytes(), path=str(path)).fields


def test_every_nested_type_has_ids_on_its_elements() -> None:
    from paimonlab.formats.parquet.fields import file_schema  # noqa: PLC0415

    row = RowType((DataField(9, "x", parse_type("ARRAY<MAP<INT, ARRAY<INT>>>")),))
    [field] = file_schema([DataField(7, "r", row)])
    outer = field.type.field("x")
    element = outer.type.value_field
    value = element.type.item_field

    assert ids(field, outer) == [7, 9]
    assert ids(element) == [536870911 + 1024 * 9 + 1]
    assert ids(element.type.key_field, value) == [
        536870911 - 1024 * 9 - 2,
        536870911 + 1024 * 9 + 2,
    ]
    assert ids(value.type.value_field) == [536870911 + 1024 * 9 + 3]


def ids(*fields: pa.Field) -> list[int]:
    return [int(field.metadata[b"PARQUET:field_id"]) for field in fields]


def test_a_flipped_bit_in_the_header_of_a_page_never_changes_rows(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Checksums cover what is in a page, not its header."""
    fields = fields_of("BIGINT", "STRING")
    table = random_table(fields, 500, rng)
    path, _ = write(tmp_path / "f.parquet", table, fields, block_size_bytes=4_000)
    data = Path(path).read_bytes()
    start = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    damaged = tmp_path / "damaged.parquet"

    for bit in range(8 * 20):
        flipped = bytearray(data)
        flipped[start + bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(flipped)
        with contextlib.suppress(CorruptDataError):
            assert read_table(FILE_IO, str(damaged), fields).equals(table)
        with contextlib.suppress(CorruptDataError):
            batches = read_batches(FILE_IO, str(damaged), fields, batch_rows=100)
            assert pa.Table.from_batches(batches, table.schema).equals(table)


def test_options_of_java_steer_pages_dictionaries_and_compression(tmp_path: Path) -> None:
    fields = fields_of("INT", "INT", "STRING")
    count = 100_000
    columns = [pa.array([1] * count, pa.int32()), pa.array(range(count), pa.int32())]
    table = pa.table([*columns, ["x"] * count], schema=arrow_schema(fields))
    options = Options(
        {
            "parquet.enable.dictionary": "false",
            "parquet.enable.dictionary#c1": "true",
            "parquet.dictionary.page.size": "2000000",
            "parquet.compression": "gzip",
            "parquet.block.size": "400000",
            "parquet.page.size": "10000",
        }
    ).slice(ParquetOptions)
    path = str(tmp_path / "f.parquet")
    writer = ParquetWriter(FILE_IO, path, fields, options)
    writer.write(table)
    writer.close()

    metadata = pq.read_metadata(path)
    chunks = [metadata.row_group(0).column(number) for number in range(3)]

    assert [chunk.has_dictionary_page for chunk in chunks] == [False, True, False]
    assert {chunk.compression for chunk in chunks} == {"GZIP"}
    assert metadata.num_row_groups > 2
    assert read_table(FILE_IO, path, fields).equals(table)


def test_shredded_variants_are_read_whole_and_in_part(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = [DataField(0, "k", parse_type("INT")), DataField(1, "v", parse_type("VARIANT"))]
    part = pa.struct([("value", pa.binary()), ("typed_value", pa.int64())])
    kind = pa.struct(
        [
            pa.field("metadata", pa.binary(), nullable=False),
            ("value", pa.binary()),
            ("typed_value", pa.struct([pa.field("a", part, nullable=False)])),
        ]
    )
    texts = [
        None if rng.random() < 0.1 else f'{{"a":{rng.integers(10**9)}}}' for _ in range(20_000)
    ]
    shredded = [
        text
        and {"metadata": bytes([1, 0, 0]), "typed_value": {"a": {"typed_value": int(text[5:-1])}}}
        for text in texts
    ]
    table = pa.table({"k": pa.array(range(20_000), pa.int32()), "v": pa.array(shredded, kind)})
    path = str(tmp_path / "f.parquet")
    pq.write_table(table, path, row_group_size=9000, max_rows_per_page=100, write_page_index=True)
    expected = parse_json(texts)

    assert read_table(FILE_IO, path, fields)["v"].combine_chunks().equals(expected)
    batches = read_batches(FILE_IO, path, fields[1:], batch_rows=700)
    assert pa.Table.from_batches(batches)["v"].combine_chunks().equals(expected)
    with ParquetInput(FILE_IO, path) as file:
        where = bind(col("k") == 12_345, fields, "t")
        (group,) = file.matching_row_groups(where, fields)
        ranges = file.wanted_rows(group, where, fields, None)
        rows = file.read_ranges(fields, group, ranges)
        assert file.group_bytes(fields[1:], 0) > 9000
    assert 0 < rows.num_rows <= 100
    first = rows["k"][0].as_py()
    assert rows["v"].combine_chunks().equals(expected.slice(first, rows.num_rows))


def test_shredded_variants_that_are_damaged_or_inside_of_others_are_refused(
    tmp_path: Path,
) -> None:
    kind = pa.struct(
        [("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", pa.int8())]
    )
    nothing = {"metadata": bytes([1, 0, 0])}
    path = str(tmp_path / "f.parquet")
    arrays = pa.array([[nothing]], pa.list_(kind))
    pq.write_table(pa.table({"c0": pa.array([nothing], kind), "c1": arrays}), path)

    with pytest.raises(CorruptDataError, match=r"f.parquet.*'c0'.*a value is missing"):
        read_table(FILE_IO, path, fields_of("VARIANT"))
    with pytest.raises(UnsupportedError, match="shredded VARIANT"):
        read_table(FILE_IO, path, fields_of("VARIANT", "ARRAY<VARIANT>")[1:])


def test_columns_of_large_row_groups_only_are_decoded_in_parallel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    iterate = pq.ParquetFile.iter_batches

    def counted(*args: Any, use_threads: bool, **options: Any) -> Any:
        asked.append(use_threads)
        return iterate(*args, use_threads=use_threads, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    monkeypatch.setattr("paimonlab.formats.parquet.input._LARGE_GROUP_ROWS", 100)
    fields = [DataField(0, "a", parse_type("INT")), DataField(1, "b", parse_type("STRING"))]
    table = pa.table({"a": pa.array(range(250), pa.int32()), "b": [f"{n}" for n in range(250)]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=150)

    with ParquetInput(LocalFileIO(), str(tmp_path / "t.parquet")) as file:
        read = pa.Table.from_batches(file.batches(fields, batch_rows=40))

    assert asked == [True, False]
    assert read.equals(table)
