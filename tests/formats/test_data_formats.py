"""Data files of every format: what is written comes back, and damage is found."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paimonlab.errors import CorruptDataError, PaimonError, SchemaError, UnsupportedError
from paimonlab.formats.data_format import format_of, open_input
from paimonlab.formats.data_output import DataFormats
from paimonlab.formats.orc.tail import Source, read_tail
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import bind, col
from paimonlab.spec.types.arrow import arrow_schema, to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import LocalFileIO
from tests.formats.test_parquet import fields_of, random_table
from tests.golden import RELEASES, golden
from tests.repetitions import times
from tests.spec.test_binary_row import ALL_TYPES, NESTED_TYPES

FILE_IO = LocalFileIO(durability="none")
FORMATS = ("parquet", "orc", "avro")
TYPES = [text for text in ALL_TYPES + NESTED_TYPES if "(9)" not in text]
"""What all formats hold."""
CODECS = [
    *(("parquet", codec) for codec in ("zstd", "snappy", "gzip", "lz4", "uncompressed")),
    *(("orc", codec) for codec in ("zstd", "snappy", "zlib", "lz4", "none")),
    *(("avro", codec) for codec in ("zstd", "zstandard", "snappy", "deflate", "bzip2", "xz")),
    ("avro", "null"),
]


def types_of(name: str) -> list[str]:
    """Types that files of a format hold at any value, and ORC at those of `in_orc`."""
    if name != "orc":
        return TYPES
    return ALL_TYPES + [text for text in NESTED_TYPES if "TIMESTAMP" not in text]


def in_orc(rows: pa.Table) -> pa.Table:
    """Take the fractions of seconds before 1970 away."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            column = rows.column(place)
            whole = pc.floor_temporal(column, unit="second")
            is_old = pc.less(column.cast(pa.int64()), 0)
            rows = rows.set_column(place, field, pc.if_else(is_old, whole, column))
    return rows


def write(
    folder: Path, table: pa.Table, fields: Sequence[DataField], options: dict[str, str]
) -> str:
    """Write a file in a few pieces; returns its path."""
    format_ = DataFormats.of(Options(options)).at_level(0)
    path = str(folder / f"data-0.{format_.extension}")
    writer = format_.open_output(FILE_IO, path, fields)
    for batch in table.to_batches(max_chunksize=max(1, table.num_rows // 3)):
        writer.write(batch)
    size = writer.close()
    assert size == Path(path).stat().st_size
    return path


def read(
    path: str, fields: Sequence[DataField], *, batch_rows: int = 1000, full: bool = True
) -> pa.Table:
    file = open_input(FILE_IO, path)
    try:
        batches = list(file.batches(fields, batch_rows=batch_rows))
    finally:
        file.close()
    for batch in batches:
        batch.validate(full=full)
    return pa.Table.from_batches(batches, arrow_schema(fields))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("not_null", [False, True])
def test_values_of_all_types_come_back(
    name: str, not_null: bool, tmp_path: Path, rng: np.random.Generator
) -> None:
    suffix = " NOT NULL" if not_null else ""
    fields = fields_of(*(text + suffix for text in types_of(name)))
    table = random_table(fields, 200, rng)
    table = in_orc(table) if name == "orc" else table

    path = write(tmp_path, table, fields, {"file.format": name})

    assert read(path, fields).equals(table)
    chosen = [fields[20], fields[3], fields[-1]]
    assert read(path, chosen, batch_rows=7).equals(table.select([one.name for one in chosen]))
    assert read(path, []).num_rows == table.num_rows


@pytest.mark.parametrize(("name", "codec"), CODECS)
def test_files_of_every_codec_come_back(
    name: str, codec: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("BIGINT NOT NULL", "STRING", "ARRAY<INT>", "DECIMAL(20, 2)")
    table = random_table(fields, 500, rng)

    path = write(tmp_path, table, fields, {"file.format": name, "file.compression": codec})

    assert read(path, fields).equals(table)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_rows_comes_back(name: str, tmp_path: Path) -> None:
    fields = fields_of("INT", "MAP<STRING, INT>")
    empty = pa.table([[], []], schema=arrow_schema(fields))

    path = write(tmp_path, empty, fields, {"file.format": name})

    assert read(path, fields).equals(empty)


@pytest.mark.parametrize("name", FORMATS)
def test_slices_are_written_as_what_they_show(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of(*types_of(name))
    table = random_table(fields, 200, rng).slice(33, 70)
    table = in_orc(table) if name == "orc" else table

    assert read(write(tmp_path, table, fields, {"file.format": name}), fields).equals(table)


@pytest.mark.parametrize("name", FORMATS)
def test_row_groups_together_are_the_file(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("BIGINT NOT NULL", "BYTES")
    rows = 70_000 if name == "parquet" else 200_000  # others have larger groups
    table = pa.table(
        [pa.array(np.arange(rows)), pa.array([rng.bytes(40) for _ in range(rows)], pa.binary())],
        schema=arrow_schema(fields),
    )
    path = write(tmp_path, table, fields, {"file.format": name, "file.block-size": "1 mb"})

    file = open_input(FILE_IO, path, expected_rows=rows)

    groups = file.row_groups
    assert len(groups) > 1
    assert sum(group.row_count for group in groups) == rows
    for group in (groups[0], groups[-1]):
        batches = list(file.batches(fields, batch_rows=1 << 20, row_groups=[group.index]))
        found = pa.Table.from_batches(batches)
        assert found.equals(table.slice(group.first_row, group.row_count))
    file.close()


def test_stripes_are_skipped_by_their_statistics(tmp_path: Path) -> None:
    fields = fields_of("BIGINT NOT NULL", "STRING", "DATE", "DECIMAL(9, 2)")
    numbers = pa.array(np.arange(300_000))
    texts = pa.array([f"{number:09}" * 4 for number in range(300_000)])
    decimals = numbers.cast(pa.decimal128(19, 0)).cast(pa.decimal128(9, 2))
    columns = [numbers, texts, numbers.cast(pa.int32()).cast(pa.date32()), decimals]
    table = pa.table(columns, schema=arrow_schema(fields))
    options = {"file.format": "orc", "file.block-size": "1 mb", "file.compression": "none"}
    path = write(tmp_path, table, fields, options)

    with_all = len(open_input(FILE_IO, path).row_groups)
    for where in (
        col("c0") == 299_999,
        col("c1") == "000299999" * 4,
        col("c2") > dt.date(1970, 1, 1) + dt.timedelta(299_990),
        col("c3") >= 299_998,
    ):
        file = open_input(FILE_IO, path)
        found = file.matching_row_groups(bind(where, fields, "db.t"), fields)
        assert with_all > 2
        assert [group.index for group in found] == [with_all - 1]
        file.close()


def test_an_avro_file_is_one_that_others_read(tmp_path: Path) -> None:
    fields = fields_of("INT NOT NULL", "STRING", "MAP<STRING, INT>", "MAP<INT, BOOLEAN>")
    rows = [
        {"c0": 1, "c1": "a", "c2": {"k": 1}, "c3": [{"key": 7, "value": None}]},
        {"c0": -1, "c1": None, "c2": None, "c3": []},
    ]
    columns = {
        "c0": [1, -1],
        "c1": ["a", None],
        "c2": [[("k", 1)], None],
        "c3": [[(7, None)], []],
    }
    path = write(tmp_path, pa.table(columns, arrow_schema(fields)), fields, {"file.format": "avro"})

    with Path(path).open("rb") as file:
        reader = fastavro.reader(file)
        found = list(reader)
        schema: Any = reader.writer_schema

    assert found == rows
    assert schema["name"] == "org.apache.paimon.avro.generated.record"
    assert schema["fields"][1] == {"name": "c1", "type": ["null", "string"], "default": None}


def test_long_texts_of_an_avro_file_are_those_that_others_read(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("STRING", "ARRAY<BYTES>")
    lengths = [0, 1, 9, 11, 127, 129, 70_000, *rng.integers(0, 2000, 40).tolist()]
    texts = ["é" * (length // 2) + "x" * (length % 2) for length in lengths]
    columns = {
        "c0": [*texts, None],
        "c1": [*([text.encode(), None, b"-"] for text in reversed(texts)), []],
    }
    path = write(tmp_path, pa.table(columns, arrow_schema(fields)), fields, {"file.format": "avro"})

    with Path(path).open("rb") as file:
        found: Any = list(fastavro.reader(file))

    assert [row["c0"] for row in found] == columns["c0"]
    assert [row["c1"] for row in found] == columns["c1"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_column_that_is_not_in_the_file_is_named(name: str, tmp_path: Path) -> None:
    fields = fields_of("INT", "STRING")
    table = pa.table([[1], ["a"]], schema=arrow_schema(fields))
    path = write(tmp_path, table, fields, {"file.format": name})

    with pytest.raises(CorruptDataError, match="'c2' is not in the file"):
        read(path, fields_of("INT", "STRING", "INT"))
    with pytest.raises(CorruptDataError, match="c1"):
        read(path, fields_of("INT", "ARRAY<INT>"))


@pytest.mark.parametrize(
    ("options", "types", "words"),
    [
        ({"file.format": "avro"}, ["TIMESTAMP(9)"], r"'avro' with column 'c0'.*TIMESTAMP\(9\)"),
        ({"file.format": "avro"}, ["ARRAY<TIME(6)>"], r"'avro' with column 'c0'.*TIME\(6\)"),
        ({"file.format": "avro"}, ["VARIANT"], "'avro' with column 'c0'.*VARIANT"),
        ({"file.format": "orc"}, ["ROW<v VARIANT>"], "'orc' with column 'c0'.*VARIANT"),
        ({"file.format": "csv"}, ["INT"], "file.format = 'csv'"),
        ({"file.format.per.level": "0:text"}, ["INT"], "file.format.per.level = 'text'"),
        ({"file.compression": "lzo", "file.format": "orc"}, ["INT"], "file.compression = 'lzo'"),
        ({"file.compression": "none"}, ["INT"], "file.compression = 'none'"),
        ({"file.format": "avro", "file.compression": "gzip"}, ["INT"], "file.compression"),
        ({"file.format": "orc", "orc.compress": "brotli"}, ["INT"], "orc.compress = 'brotli'"),
        ({"file.format": "orc", "file.compression.zstd-level": "3"}, ["INT"], "zstd-level = '3'"),
        ({"file.compression.per.level": "5:bzip2"}, ["INT"], "file.compression = 'bzip2'"),
    ],
)
def test_what_a_format_cannot_do_is_refused_before_anything_is_written(
    options: dict[str, str], types: list[str], words: str
) -> None:
    with pytest.raises(UnsupportedError, match=words):
        DataFormats.of(Options(options)).check(fields_of(*types))


def test_a_level_that_is_no_number_is_an_error() -> None:
    with pytest.raises(SchemaError, match=r"file.format.per.level"):
        DataFormats.of(Options({"file.format.per.level": "top:orc"}))


@pytest.mark.parametrize("type_", ["TIMESTAMP(3)", "ARRAY<TIMESTAMP(6)>", "TIMESTAMP_LTZ(9)"])
def test_orc_refuses_fractions_of_seconds_before_1970(type_: str, tmp_path: Path) -> None:
    (field,) = fields_of(type_)
    value = [-1] if field.type.__class__.__name__ == "ArrayType" else -1
    table = pa.table([pa.array([value, None], to_arrow(field.type))], names=["c0"])

    with pytest.raises(UnsupportedError, match="before 1970"):
        write(tmp_path, table, [field], {"file.format": "orc"})


def test_formats_are_chosen_by_level() -> None:
    options = {
        "file.format": "orc",
        "file.format.per.level": "0:avro,5:parquet",
        "file.compression": "snappy",
        "file.compression.per.level": "5:gzip",
        "changelog-file.format": "avro",
        "changelog-file.compression": "zstd",
    }
    formats = DataFormats.of(Options(options))

    chosen = [(one.name, one.options.compression) for one in map(formats.at_level, (0, 1, 5))]
    assert chosen == [("avro", "snappy"), ("orc", "snappy"), ("parquet", "gzip")]
    changelog = formats.of_changelog(5)
    assert (changelog.name, changelog.options.compression) == ("avro", "zstd")
    as_data = DataFormats.of(Options({"file.format.per.level": "0:avro"})).of_changelog(0)
    assert (as_data.name, as_data.options.compression) == ("avro", "zstd")


@pytest.mark.parametrize(
    ("compression", "format_", "extension"),
    [
        ("zstd", "parquet", "zst.parquet"),
        ("gzip", "parquet", "gz.parquet"),
        ("lz4_raw", "parquet", "lz4_raw.parquet"),
        ("none", "orc", "orc"),
        ("bzip2", "avro", "bz2.avro"),
    ],
)
def test_names_say_the_compression_as_java_does(
    compression: str, format_: str, extension: str
) -> None:
    options = {
        "file.format": format_,
        "file.compression": compression,
        "file.suffix.include.compression": "true",
    }

    found = DataFormats.of(Options(options)).at_level(0).extension

    assert found == extension
    assert format_of(f"data-1-0.{found}") == format_


@pytest.mark.parametrize("name", ["orc", "avro"])
def test_damage_is_an_error_or_gives_rows_of_the_types(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    fields = fields_of("INT NOT NULL", "STRING", "ARRAY<INT>", "TIMESTAMP(6)", "DECIMAL(9, 2)")
    table = in_orc(random_table(fields, 300, rng))
    path = write(tmp_path, table, fields, {"file.format": name})
    whole = Path(path).read_bytes()
    folder = tmp_path / "damaged"
    folder.mkdir()
    places = np.arange(len(whole))
    if name == "orc":  # What is in the streams of a stripe nobody can check.
        with Path(path).open("rb") as file:
            tail = read_tail(Source(pa.PythonFile(file), path))
        stripe = tail.stripes[0]
        streams = stripe.offset, stripe.offset + stripe.index_bytes + stripe.data_bytes
        places = np.concatenate([places[: streams[0]], places[streams[1] :]])
    for number in range(times(40)):
        damaged = bytearray(whole)
        for place in rng.choice(places, int(rng.integers(1, 4))):
            damaged[place] ^= 1 << int(rng.integers(8))
        if number % 5 == 0:
            damaged = damaged[: int(rng.integers(0, len(whole)))]
        (folder / f"{number}.{name}").write_bytes(damaged)

    # In a process of its own: a library that falls over must not take the tests with it.
    done = subprocess.run(
        [sys.executable, "-m", "tests.formats.test_data_formats", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr[-2000:]


def read_all_of(folder: Path) -> None:
    """Read files that may be damaged; anything but our errors ends the process."""
    fields = fields_of("INT NOT NULL", "STRING", "ARRAY<INT>", "TIMESTAMP(6)", "DECIMAL(9, 2)")
    for path in sorted(folder.iterdir()):
        try:
            read(str(path), fields, full=False)
        except PaimonError as error:
            assert path.name in str(error), error  # noqa: PT017


@pytest.mark.parametrize("archive", [*RELEASES, "java-0.9", "pypaimon-2.1", "pypaimon-rust-0.4"])
def test_every_file_is_readable_whoever_wrote_it(archive: str) -> None:
    paths = [
        path
        for name in ("orc", "avro")
        for path in sorted((golden(archive) / "wh").glob(f"*/*/**/bucket-*/*.{name}"))
    ]
    assert paths
    for path in paths:
        file = open_input(FILE_IO, str(path))
        assert file.num_rows > 0
        assert sum(group.row_count for group in file.row_groups) == file.num_rows
        assert list(file.batches([], batch_rows=10))
        file.close()


def test_a_file_of_another_format_than_its_name_says_is_an_error(tmp_path: Path) -> None:
    fields = fields_of("INT")
    path = write(tmp_path, pa.table([[1]], schema=arrow_schema(fields)), fields, {})
    for name in ("orc", "avro"):
        shutil.copy(path, tmp_path / f"wrong.{name}")
        with pytest.raises(CorruptDataError, match="wrong"):
            open_input(FILE_IO, str(tmp_path / f"wrong.{name}"))


if __name__ == "__main__":
    read_all_of(Path(sys.argv[1]))
