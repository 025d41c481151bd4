"""ORC, Avro and Parquet data files of one, read, compacted and mixed by the other."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from tests.formats.test_data_formats import in_orc
from tests.interop.pair import SIDES, Pair, Side, random_rows
from tests.interop.test_evolution import CHANGES, COLUMNS, write_some
from tests.interop.test_types import DECIMALS, NESTED, PRIMITIVES
from tests.java_values import unordered

pytestmark = pytest.mark.interop

EVERYTHING = {**PRIMITIVES, **DECIMALS, **NESTED, "f_row_map": "ROW<m MAP<INT, ROW<a BYTES>>>"}


def columns_of(name: str) -> dict[str, str]:
    """Columns that files of a format can hold, an INT key in front."""
    columns = dict(EVERYTHING)
    if name == "orc":
        columns["f_deep"] = columns["f_deep"].replace("TIMESTAMP(3)", "DATE")
    if name == "avro":
        too_fine = {f"f_{kind}{digits}" for kind in ("ts", "ltz") for digits in (7, 8, 9)}
        columns = {
            column: text for column, text in columns.items() if column not in too_fine | {"f_time9"}
        }
    return {"id": "INT NOT NULL", **columns}


def some_rows(name: str, rng: np.random.Generator) -> pa.Table:
    rows = random_rows(columns_of(name), 60, rng)
    rows = in_orc(rows) if name == "orc" else rows
    return rows.set_column(0, rows.field(0), pa.array(range(60), pa.int32()))


def suffixes(pair: Pair, table: str) -> set[str]:
    folder = Path(pair.open(table).path)
    return {path.name.partition(".")[2] for path in folder.glob("bucket-*/data-*")}


@pytest.mark.parametrize("writer", SIDES)
@pytest.mark.parametrize("name", ["orc", "avro"])
def test_an_append_table_keeps_every_value(
    pair: Pair, name: str, writer: Side, rng: np.random.Generator
) -> None:
    pair.create(writer, "db.t", columns_of(name), options={"file.format": name})
    rows = some_rows(name, rng)

    pair.write(writer, "db.t", rows)

    assert suffixes(pair, "db.t") == {name}
    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("writer", SIDES)
@pytest.mark.parametrize("name", ["parquet", "orc", "avro"])
def test_a_primary_key_table_keeps_every_value_without_key_copies(
    pair: Pair, name: str, writer: Side, rng: np.random.Generator
) -> None:
    options = {
        "file.format": name,
        "bucket": "2",
        "data-file.thin-mode": "true",
        "file.suffix.include.compression": "true",
    }
    pair.create(writer, "db.t", columns_of(name), pk=["id"], options=options)
    rows = some_rows(name, rng)

    pair.write(writer, "db.t", rows.slice(0, 40))
    pair.write(writer, "db.t", rows.slice(20))

    assert suffixes(pair, "db.t") == {f"zst.{name}"}
    pair.assert_same("db.t", rows)
    pair.java("compact", table="db.t")
    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("codec", ["zlib", "snappy", "lz4", "none"])
def test_java_reads_every_codec_of_orc(pair: Pair, codec: str, rng: np.random.Generator) -> None:
    check_codec(pair, "orc", codec, rng)


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "bzip2", "zstandard"])
def test_java_reads_every_codec_of_avro(pair: Pair, codec: str, rng: np.random.Generator) -> None:
    check_codec(pair, "avro", codec, rng)


def check_codec(pair: Pair, name: str, codec: str, rng: np.random.Generator) -> None:
    columns = {"id": "INT", "s": "STRING", "a": "ARRAY<BIGINT>"}
    options = {"file.format": name, "file.compression": codec}
    pair.create("us", "db.t", columns, options=options)
    rows = random_rows(columns, 3000, rng)

    pair.write("us", "db.t", rows)

    pair.assert_same("db.t", rows)


def test_levels_have_formats_of_their_own(pair: Pair, rng: np.random.Generator) -> None:
    options = {
        "bucket": "1",
        "file.format.per.level": "0:avro,5:orc",
        "file.compression.per.level": "0:snappy,5:zlib",
        "metadata.stats-mode.per.level": "0:none",
    }
    columns = {"k": "INT NOT NULL", "v": "STRING", "m": "MAP<INT, STRING>"}
    pair.create("us", "db.t", columns, pk=["k"], options=options)
    for _ in range(3):
        rows = random_rows(columns, 30, rng)
        keys = pa.array(rng.integers(0, 40, 30), pa.int32())
        pair.write("us", "db.t", rows.set_column(0, rows.field(0), keys))
        pair.assert_same("db.t")
    assert suffixes(pair, "db.t") == {"avro"}

    pair.java("compact", table="db.t")

    pair.assert_same("db.t")
    assert suffixes(pair, "db.t") == {"avro", "orc"}


SHAPES: Mapping[str, list[str]] = {"append": [], "keyed": ["k"]}


@pytest.mark.parametrize("name", ["orc", "avro"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_old_files_are_read_through_new_schemas(
    pair: Pair, shape: list[str], name: str, rng: np.random.Generator
) -> None:
    options = {"file.format": name, **({"bucket": "2"} if shape else {})}
    pair.create("us", "db.t", COLUMNS, pk=shape, options=options)
    write_some(pair, "us", rng)

    for turn, (ours, javas) in enumerate(CHANGES):
        pair.alter(SIDES[turn % 2], "db.t", ours, javas)
        write_some(pair, SIDES[turn % 2], rng)
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")


@pytest.mark.parametrize("writer", SIDES)
@pytest.mark.parametrize("pk", [[], ["k"]], ids=["append", "keyed"])
def test_variants_keep_their_bytes(pair: Pair, pk: list[str], writer: Side) -> None:
    columns = {"k": "INT NOT NULL", "v": "VARIANT", "a": "ARRAY<VARIANT>"}
    pair.create("us", "db.t", columns, pk=pk, options={"bucket": "1"} if pk else {})
    texts = ['{"a": [1, 2.5, "x"], "b": {"c": null}}', "null", None, "[]", '"text"', "1e300"]
    variants = pl.parse_json(texts)
    arrays = pa.ListArray.from_arrays(pa.array([0, 2, 3, 3, 4, 5, 6], pa.int32()), variants)
    rows = pa.table({"k": pa.array(range(6), pa.int32()), "v": variants, "a": arrays})

    pair.write(writer, "db.t", rows)

    pair.assert_same("db.t", rows)
    javas = [row[1] and row[1]["json"] for row in pair.java.rows("db.t")]
    ours = pl.to_json(pair.open("db.t").scan(["v"]).to_arrow()["v"]).to_pylist()
    assert unordered(ours) == unordered(javas)


@pytest.mark.parametrize("options", [{"bucket": "-1"}, {"bucket": "1"}, {"bucket": "4"}])
def test_java_reads_columns_that_are_compressed_less_or_not_at_all(
    pair: Pair, options: dict[str, str], rng: np.random.Generator
) -> None:
    columns = {"id": "INT NOT NULL", "noise": "DOUBLE", "hash": "BYTES", "text": "STRING"}
    columns |= {"number": "BIGINT", "amount": "DECIMAL(12, 2)"}  # zstd takes another level
    pk = [] if options["bucket"] == "-1" else ["id"]
    pair.create("us", "db.t", columns, pk=pk, options=options)
    count = 9000  # each of four files has fewer than tell by themselves
    rows = pa.table(
        {
            "id": pa.array(range(count), pa.int32()),
            "noise": pa.array(rng.random(count), mask=rng.random(count) < 0.1),
            "hash": [rng.bytes(40) for _ in range(count)],
            "text": [f"text {number}" for number in range(count)],
            "number": rng.integers(0, 10**6, count),
            "amount": [Decimal(one).scaleb(-2) for one in rng.integers(0, 10**6, count).tolist()],
        }
    )

    pair.write("us", "db.t", rows)

    paths = list(Path(pair.open("db.t").path).glob("bucket-*/data-*"))
    assert len(paths) == abs(int(options["bucket"]))
    for path in paths:
        group = pq.read_metadata(path).row_group(0)
        codecs = [group.column(number).compression for number in range(group.num_columns)]
        assert "UNCOMPRESSED" in codecs
        assert "ZSTD" in codecs
    pair.assert_same("db.t", rows)
