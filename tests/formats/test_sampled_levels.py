"""Columns of Parquet files that are compressed otherwise than the options say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimonlab.formats.data_output import DataFormats
from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.sampled_levels import sampled_levels
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage.local import LocalFileIO

FILE_IO = LocalFileIO(durability="none")
TYPES = {
    "id": "BIGINT NOT NULL",
    "noise": "DOUBLE",
    "holes": "DOUBLE",
    "time": "TIMESTAMP(9)",
    "flag": "BOOLEAN",
    "amount": "DECIMAL(12, 2)",
    "hash": "BYTES",
    "text": "STRING",
}
FIELDS = [DataField(k, name, parse_type(text)) for k, (name, text) in enumerate(TYPES.items())]
NOISY = {"noise", "holes", "time", "hash"}


def rows(count: int, rng: np.random.Generator) -> pa.Table:
    noise = rng.random(count)
    times = rng.integers(0, 2**62, count)
    return pa.table(
        {
            "id": np.arange(count),
            "noise": noise,
            "holes": pa.array(noise, mask=rng.random(count) < 0.3),
            "time": pa.array(times).cast(pa.timestamp("ns")),
            "flag": noise < 0.5,
            "amount": pa.array(np.arange(count))
            .cast(pa.decimal128(20, 0))
            .cast(pa.decimal128(12, 2)),
            "hash": [rng.bytes(64) for _ in range(count)],
            "text": [f"number {number % 5000}" for number in range(count)],
        }
    )


def codecs(path: Path) -> list[dict[str, str]]:
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    return [
        {(one := group.column(k)).path_in_schema: one.compression for k in range(len(TYPES))}
        for group in groups
    ]


def write(path: Path, table: pa.Table, *, threads: int = 1, **options: Any) -> Path:
    writer = ParquetWriter(FILE_IO, str(path), FIELDS, ParquetOptions(**options), threads=threads)
    writer.write(table)
    writer.close()
    return path


@pytest.mark.parametrize("threads", [1, 2])
def test_what_zstd_hardly_shrinks_is_stored_as_it_is_and_comes_back(
    tmp_path: Path, rng: np.random.Generator, threads: int
) -> None:
    table = rows(40_000, rng)

    path = write(tmp_path / "f.parquet", table, threads=threads, block_size_bytes=2 << 20)

    groups = codecs(path)
    assert len(groups) > 1
    for of_group in groups:
        assert {name for name, codec in of_group.items() if codec == "UNCOMPRESSED"} == NOISY
        assert {of_group[name] for name in set(TYPES) - NOISY} == {"ZSTD"}
    with ParquetInput(FILE_IO, str(path)) as file:
        read = pa.Table.from_batches(list(file.batches(FIELDS, batch_rows=3000)))
        some = file.read_ranges(FIELDS, file.row_groups[1], np.array([[5, 9], [700, 2000]]))
    start = file.row_groups[1].first_row
    for name in TYPES:
        assert (
            read[name].combine_chunks().equals(table[name].cast(read[name].type).combine_chunks())
        )
        wanted = pa.concat_tables([table.slice(start + 5, 4), table.slice(start + 700, 1300)])
        assert some[name].to_pylist() == wanted[name].cast(some[name].type).to_pylist()


@pytest.mark.parametrize("options", [{"compression": "zstd"}, {"own_compression": "gzip"}])
def test_a_codec_that_an_option_names_compresses_all_columns(
    tmp_path: Path, rng: np.random.Generator, options: dict[str, Any]
) -> None:
    path = write(tmp_path / "f.parquet", rows(20_000, rng), **options)

    (name,) = options.values()
    assert set(codecs(path)[0].values()) == {name.upper()}


def test_few_rows_are_compressed(tmp_path: Path, rng: np.random.Generator) -> None:
    path = write(tmp_path / "f.parquet", rows(8000, rng))

    assert set(codecs(path)[0].values()) == {"ZSTD"}


def test_columns_that_shrink_anywhere_in_the_sample_are_compressed(
    rng: np.random.Generator,
) -> None:
    noise = rng.random(30_000)
    half = np.where(np.arange(30_000) < 15_000, noise, 1.0)

    both = pa.table({"a": noise, "b": half})
    assert sampled_levels(both, ParquetOptions(zstd_level=1), ()) == {"a": None}
    assert sampled_levels(both, ParquetOptions(zstd_level=1), ("a",)) == {}
    nested = pa.table({"a": noise, "b": [[1]] * 30_000})
    assert sampled_levels(nested, ParquetOptions(), ()) == {}


def test_numbers_that_become_no_larger_by_it_are_compressed_in_less_time(
    rng: np.random.Generator,
) -> None:
    count = 40_000
    numbers = rng.integers(0, 10**6, count)
    both = pa.py_buffer(np.stack([numbers, np.zeros(count, np.int64)], axis=1))
    columns = pa.table(
        {
            "number": numbers,
            "amount": pa.Array.from_buffers(pa.decimal128(12, 2), count, [None, both]),
            "wide": rng.integers(0, 2**40, count),
            "few": rng.zipf(1.5, count) % 10**6,
            "text": [f"number {number}" for number in rng.integers(0, 10**6, count)],
        }
    )

    levels = sampled_levels(columns, ParquetOptions(), ())

    assert levels == {"number": -2, "amount": -2}
    assert sampled_levels(columns.slice(0, 8000), ParquetOptions(), ()) == {}
    page = numbers[:20_000].tobytes()
    usual, faster = (pa.Codec("zstd", level).compress(page).size for level in (1, -2))
    assert faster <= usual


@pytest.mark.parametrize(
    "option", ["file.compression.zstd-level", "parquet.compression.codec.zstd.level"]
)
def test_a_level_that_an_option_names_is_that_of_all_columns_it_shrinks(
    option: str, rng: np.random.Generator
) -> None:
    columns = pa.table({"number": rng.integers(0, 10**6, 9000), "noise": rng.random(9000)})
    parquet = DataFormats.of(Options({option: "1"})).at_level(0).options

    assert isinstance(parquet, ParquetOptions)
    assert sampled_levels(columns, parquet, ()) == {"noise": None}
    assert sampled_levels(columns, ParquetOptions(), ()) == {"noise": None, "number": -2}


@pytest.mark.parametrize(
    ("options", "all_columns"),
    [
        ({}, False),
        ({"file.compression": "zstd"}, True),
        ({"file.compression.per.level": "0:zstd"}, True),
        ({"parquet.compression": "zstd"}, True),
    ],
)
def test_options_of_tables_name_the_codec_of_all_columns(
    options: dict[str, str], *, all_columns: bool
) -> None:
    parquet = DataFormats.of(Options(options)).at_level(0).options

    assert isinstance(parquet, ParquetOptions)
    assert parquet.codec == "zstd"
    assert parquet.names_codec is all_columns
