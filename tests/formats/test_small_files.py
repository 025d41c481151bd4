from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimonlab.formats.parquet.cut_groups import GroupCutter
from paimonlab.formats.parquet.file_end import footer_of, with_end
from paimonlab.formats.parquet.file_shape import FileShape
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.small_files import EncodedFile, Slice, SmallFiles
from paimonlab.formats.parquet.thrift_compact import DamagedThriftError
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage.local import LocalFileIO

TYPES = {
    "i": "INT",
    "r": "BIGINT",
    "f": "DOUBLE",
    "s": "STRING",
    "b": "BOOLEAN",
    "t": "TIMESTAMP(6)",
    "m": "DECIMAL(12, 2)",
    "p": "DECIMAL(5, 1) NOT NULL",
    "w": "DECIMAL(30, 10)",
    "n": "ARRAY<INT>",
}
FIELDS = [DataField(at, name, parse_type(text)) for at, (name, text) in enumerate(TYPES.items())]
SHAPE = FileShape.of(FIELDS)


def _rows(count: int, rng: np.random.Generator) -> pa.Table:
    numbers = rng.integers(0, 1 << 40, count).tolist()
    made = {
        "i": [None if one % 7 == 0 else one % 1000 for one in numbers],
        "r": [one % 3 for one in numbers],
        "f": [one / 3 for one in numbers],
        "s": [f"{one % 50}é" * (one % 4) for one in numbers],
        "b": [one % 2 == 0 for one in numbers],
        "t": numbers,
        "m": [None if one % 5 == 0 else Decimal(one % 10**9) / 100 for one in numbers],
        "p": [Decimal(one % 10**5 - 50_000) / 10 for one in numbers],
        "w": [Decimal(one) / 8 for one in numbers],
        "n": [[one % 5] * (one % 3) for one in numbers],
    }
    return pa.table(made, schema=SHAPE.schema)


def _encoded(small: SmallFiles, table: pa.Table, size: int | None = None) -> EncodedFile:
    one = Slice(0, table.num_rows, table.nbytes if size is None else size)
    [batch] = small.batches([one])
    return next(iter(small.encoded(small.as_taken(table), batch)))


@pytest.mark.parametrize(
    "options",
    [
        ParquetOptions(),
        ParquetOptions(compression="snappy", page_bytes=1 << 14),
        ParquetOptions(own_compression="uncompressed", dictionary_of={"s": True, "r": False}),
        ParquetOptions(enable_dictionary=False),
    ],
    ids=["default", "snappy", "plain", "no dictionary"],
)
def test_files_are_those_that_the_writer_of_one_file_makes(
    options: ParquetOptions, tmp_path: Path, rng: np.random.Generator
) -> None:
    tables = [_rows(int(count), rng) for count in (1, 900, 1024, 5000, 3, 8191)]
    shape = FileShape.of(FIELDS, tables, options)
    small = SmallFiles(options, shape)

    taken = 0
    for number, table in enumerate(tables):
        path = str(tmp_path / f"{number}.parquet")
        writer = ParquetWriter(LocalFileIO(), path, FIELDS, options, shape=shape)
        writer.write(table)
        writer.close()
        if small.take(table.num_rows, table.nbytes):
            taken += 1
            encoded = _encoded(small, table)
            assert bytes(encoded.data) == Path(path).read_bytes()
            assert encoded.text_bounds == {}  # not where a column is nested

    assert taken >= 2


@pytest.mark.parametrize("with_long_texts", [False, True])
def test_files_of_one_writer_are_those_of_many(
    with_long_texts: bool, tmp_path: Path, rng: np.random.Generator
) -> None:
    counts = [int(one) for one in rng.integers(1, 3000, 40)]
    tables = [_rows(count, rng).drop_columns(["n"]) for count in counts]
    fields = [field for field in FIELDS if field.name != "n"]
    if with_long_texts:
        for number in range(0, 40, 3):
            texts = pa.array(
                [None if number % 2 else "x" * (100 + number)] * counts[number], pa.string()
            )
            tables[number] = tables[number].set_column(3, tables[number].schema.field(3), texts)
    shape = FileShape.of(fields, tables[:4])
    small = SmallFiles(ParquetOptions(), shape)
    rows = small.as_taken(pa.concat_tables(tables).combine_chunks())
    sizes = [table.nbytes for table in tables]
    assert all(map(small.take, counts, sizes))
    slices = [*map(Slice, [sum(counts[:at]) for at in range(40)], counts, sizes)]

    batches = [*small.batches(slices)]
    files = [
        (bytes(one.data), one.text_bounds)
        for batch in batches
        for one in small.encoded(rows, batch)
    ]

    assert 1 < len(batches) < 40
    assert [one for batch in batches for one in batch] == slices
    for number, (table, (data, bounds)) in enumerate(zip(tables, files, strict=True)):
        path = str(tmp_path / f"{number}.parquet")
        writer = ParquetWriter(LocalFileIO(), path, fields, ParquetOptions(), shape=shape)
        writer.write(table)
        writer.close()
        assert data == Path(path).read_bytes()
        texts = [one.encode() for one in table["s"].to_pylist() if one is not None]
        assert bounds == ({"s": (min(texts), max(texts))} if texts else {})


@pytest.mark.parametrize(
    ("options", "row_count", "codec"),
    [
        (ParquetOptions(), 5000, "UNCOMPRESSED"),
        (ParquetOptions(), 900, "ZSTD"),  # it has no dictionary
        (ParquetOptions(enable_dictionary=False), 5000, "ZSTD"),
        (ParquetOptions(compression="zstd"), 5000, "ZSTD"),
    ],
    ids=["dictionary", "few rows", "no dictionary", "named"],
)
def test_the_only_value_of_a_column_is_not_compressed(
    options: ParquetOptions, row_count: int, codec: str, tmp_path: Path
) -> None:
    fields = [DataField(0, "s", parse_type("STRING")), DataField(1, "p", parse_type("INT"))]
    texts = [f"text {one % 100}" for one in range(row_count)]
    table = pa.table({"s": texts, "p": pa.array([7] * row_count, pa.int32())})
    shape = FileShape.of(fields, [table], options, ["p"])
    path = tmp_path / "one.parquet"
    writer = ParquetWriter(LocalFileIO(), str(path), fields, options, shape=shape)
    writer.write(table)
    writer.close()

    small = SmallFiles(options, shape)
    named = shape.named(table)
    assert bytes(_encoded(small, named).data) == path.read_bytes()
    group = pq.read_metadata(path).row_group(0)
    assert [group.column(number).compression for number in range(2)] == ["ZSTD", codec]
    assert pq.read_table(path).equals(named)


def test_a_file_that_is_larger_than_it_seemed_is_encoded_all_the_same() -> None:
    fields = [DataField(0, "s", parse_type("STRING"))]
    shape = FileShape.of(fields, [pa.table({"s": ["a"]})])
    options = ParquetOptions(own_compression="uncompressed", enable_dictionary=False)
    table = pa.table({"s": [str(one) * 20 for one in range(4000)]}, schema=shape.schema)

    encoded = _encoded(SmallFiles(options, shape), table, 10)

    assert pq.read_table(pa.BufferReader(encoded.data)).equals(table)


def test_rows_of_several_pages_are_not_taken() -> None:
    fields = [DataField(0, "i", parse_type("INT"))]
    small = SmallFiles(ParquetOptions(), FileShape.of(fields, [pa.table({"i": [1]})]))

    assert small.take(8191, 1000)
    assert not small.take(8192, 1000)
    assert not small.take(10, 2 << 20)


@pytest.mark.parametrize(
    ("texts", "bounds"),
    [
        (["b", None, "a", "é", ""], ("", "é")),
        (["same"] * 3, ("same", "same")),
        ([None, None], None),
        (["z", "a" * 5000], None),
        (["a", "z" * 5000], None),
    ],
    ids=["some", "one value", "nulls", "a long smallest", "a long largest"],
)
@pytest.mark.parametrize("kind", ["STRING", "VARBINARY(9999)", "CHAR(5)"])
def test_a_file_says_the_bounds_of_its_texts_as_far_as_they_are_known(
    texts: list[str | None], bounds: tuple[str, str] | None, kind: str
) -> None:
    fields = [DataField(0, "i", parse_type("INT")), DataField(1, "s", parse_type(kind))]
    shape = FileShape.of(fields, [pa.table({"i": [1], "s": ["a"]})])
    table = pa.table({"i": [1] * len(texts), "s": texts}).cast(shape.schema)

    encoded = _encoded(SmallFiles(ParquetOptions(), shape), table)

    expected = {} if bounds is None else {"s": tuple(one.encode() for one in bounds)}
    assert encoded.text_bounds == expected


def test_a_file_with_more_than_pages_is_not_cut() -> None:
    file = pa.BufferOutputStream()
    pq.write_table(pa.table({"i": range(9)}), file, write_page_index=True, row_group_size=3)
    data = file.getvalue().to_pybytes()
    footer = footer_of(data)

    with pytest.raises(DamagedThriftError, match="more than pages"):
        GroupCutter().cut(footer, len(data) - len(with_end(footer)))
