from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab
from paimonlab.errors import CorruptDataError, SchemaError
from paimonlab.formats.parquet.cut import RowRanges, cut_ranges, ranges_of
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.formats.parquet.input import ParquetInput
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.thrift_compact import DamagedThriftError, Kind, decode, encode
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import Predicate, bind, col, columns, evaluate
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.storage.local import LocalFileIO
from tests.repetitions import times

FILE_IO = LocalFileIO()
TYPES = {
    "i": "INT",
    "l": "BIGINT",
    "f": "DOUBLE",
    "s": "STRING",
    "b": "BOOLEAN",
    "y": "BYTES",
    "d": "DATE",
    "t": "TIMESTAMP(6)",
    "m": "DECIMAL(12, 2)",
    "w": "DECIMAL(30, 2)",
    "n": "ARRAY<INT>",
}
FIELDS = [DataField(at, name, parse_type(text)) for at, (name, text) in enumerate(TYPES.items())]


def _rows(count: int, rng: np.random.Generator) -> pa.Table:
    """Make columns that are about sorted, so that pages differ, with nulls here and there."""
    base = np.sort(rng.integers(-500, 500, count)) + rng.integers(-20, 20, count)

    def values(convert: Any) -> list[Any]:
        share = rng.choice([0.0, 0.2, 1.0], p=[0.4, 0.5, 0.1])
        return [None if rng.random() < share else convert(int(one)) for one in base]

    made = {
        "i": values(int),
        "l": values(lambda one: one * 10**12),
        "f": values(lambda one: math.nan if one % 97 == 0 else one / 3),
        "s": values(lambda one: f"{one + 1000:05}é" * (1 + one % 3)),
        "b": values(lambda one: one > 0),
        "y": values(lambda one: (one + 1000).to_bytes(3, "big")),
        "d": values(lambda one: one),
        "t": values(lambda one: one * 10**9),
        "m": values(lambda one: Decimal(one) / 4),
        "w": values(lambda one: Decimal(one) * 10**20),
        "n": values(lambda one: [one] * (one % 4)),
    }
    schema = arrow_schema(FIELDS)
    return pa.table([pa.array(made[f.name], f.type) for f in schema], schema=schema)


def _write(path: Path, rows: pa.Table, rng: np.random.Generator) -> None:
    pq.write_table(
        rows,
        path,
        row_group_size=int(rng.integers(20, 400)),
        max_rows_per_page=int(rng.integers(5, 60)),
        write_batch_size=int(rng.integers(1, 20)),
        data_page_size=int(rng.choice([200, 1 << 20])),
        data_page_version=str(rng.choice(["1.0", "2.0"])),
        use_dictionary=bool(rng.random() < 0.5),
        compression=str(rng.choice(["none", "zstd", "snappy"])),
        write_page_index=bool(rng.random() < 0.9),
        write_page_checksum=True,
        store_schema=False,
        store_decimal_as_integer=bool(rng.random() < 0.5),
    )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[ParquetInput]:
    shared_footers.clear()
    with ParquetInput(FILE_IO, str(path)) as file:
        yield file


def _taken(rows: pa.Table, first_row: int, ranges: RowRanges) -> pa.Table:
    positions = [np.arange(start, end) + first_row for start, end in ranges.tolist()]
    return rows.take(np.concatenate([*positions, np.empty(0, np.int64)]))


def _equal(one: pa.Table, other: pa.Table) -> bool:
    return repr(one.to_pylist()) == repr(other.to_pylist())


def test_ranges_of_rows_are_what_slices_of_the_whole_file_are(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    for attempt in range(25):
        rows = _rows(int(rng.integers(1, 700)), rng)
        path = tmp_path / f"{attempt}.parquet"
        _write(path, rows, rng)
        with _opened(path) as file:
            for group in file.row_groups:
                starts = np.unique(np.append(rng.integers(0, group.row_count, 6), 0))
                wanted = rng.random(len(starts)) < 0.5
                ranges = ranges_of(starts, group.row_count, wanted)
                chosen = [FIELDS[at] for at in np.flatnonzero(rng.random(len(FIELDS)) < 0.5)]
                found = file.read_ranges(chosen, group, ranges)
                expected = _taken(rows, group.first_row, ranges).select([f.name for f in chosen])
                assert found.num_rows == expected.num_rows
                assert found.schema == arrow_schema(chosen)
                assert _equal(found, expected)


def _predicate(rng: np.random.Generator, rows: pa.Table) -> Predicate:
    name = str(rng.choice([name for name in TYPES if name != "n"]))
    value = rows[name][int(rng.integers(0, rows.num_rows))].as_py()
    column = col(name)
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return column.is_null() if rng.random() < 0.5 else column.is_not_null()
    options: list[Predicate] = [
        column == value,
        column != value,
        column < value,
        column <= value,
        column > value,
        column >= value,
        column.is_in([value]),
    ]
    return options[int(rng.integers(0, len(options)))]


def test_pages_that_are_left_out_hold_no_row_that_matches(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.formats.parquet.input._FEW_ROWS", 0)
    pruned = 0
    for attempt in range(40):
        rows = _rows(int(rng.integers(1, 700)), rng)
        path = tmp_path / f"{attempt}.parquet"
        _write(path, rows, rng)
        predicate = _predicate(rng, rows)
        if rng.random() < 0.5:
            other = _predicate(rng, rows)
            predicate = predicate & other if rng.random() < 0.5 else predicate | other
        bound = bind(predicate, FIELDS, "t")
        matches = evaluate(bound, rows).fill_null(False).to_numpy()
        with _opened(path) as file:
            for group in file.row_groups:
                rows_of = slice(group.first_row, group.first_row + group.row_count)
                keep = rng.random(group.row_count) < 0.02 if rng.random() < 0.5 else None
                ranges = file.wanted_rows(group, bound, FIELDS, keep)
                reached = np.zeros(group.row_count, np.bool_)
                for start, end in ranges.tolist():
                    reached[start:end] = True
                wanted = matches[rows_of] if keep is None else matches[rows_of] & keep
                assert reached[wanted].all(), (predicate, columns(bound))
                pruned += int((~reached).sum())
    assert pruned > 1000


@pytest.mark.parametrize(
    ("options", "page_rows"),
    [
        (ParquetOptions(), 20_000),
        (ParquetOptions(has_keys=True), 8_192),
        (ParquetOptions(has_keys=True, page_row_limit=100), 100),
        (ParquetOptions(page_row_limit=30_000), 30_000),
        (ParquetOptions(page_bytes=1 << 15), 4_096),
    ],
    ids=["append", "by key", "few", "many", "by bytes"],
)
def test_our_files_have_an_index_of_small_pages(
    options: ParquetOptions, page_rows: int, tmp_path: Path
) -> None:
    field = DataField(0, "k", parse_type("BIGINT"))
    path = tmp_path / "x.parquet"
    writer = ParquetWriter(FILE_IO, str(path), [field], options)
    writer.write(pa.table({"k": np.arange(100_001)}))
    writer.close()
    bound = bind(col("k") == 2 * page_rows, [field], "t")
    with _opened(path) as file:
        (group,) = file.row_groups
        ranges = file.wanted_rows(group, bound, [field], None)
        assert ranges.tolist() == [[2 * page_rows, 3 * page_rows]]


@pytest.mark.parametrize(
    ("definition", "page_rows"),
    [
        ({}, 20_000),
        ({"primary_keys": ["k"], "options": {"bucket": "1"}}, 8_192),
        ({"options": {"parquet.page.row.count.limit": "5000"}}, 5_000),
    ],
    ids=["append", "keys", "option"],
)
def test_tables_whose_rows_are_looked_up_have_smaller_pages(
    definition: dict[str, Any], page_rows: int, tmp_path: Path
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "BIGINT NOT NULL"}, **definition)
    table.write(pa.table({"k": np.arange(50_001)}))
    (path,) = Path(table.path).glob("bucket-0/*.parquet")

    with _opened(path) as file:
        starts, _, _ = file.blocks([DataField(0, "k", parse_type("BIGINT"))])

    assert starts.tolist() == [*range(0, 50_001, page_rows)]


@pytest.mark.parametrize("rows", ["0", "-1", "few"])
def test_a_page_has_a_row(rows: str) -> None:
    options = Options({"parquet.page.row.count.limit": rows})

    with pytest.raises(SchemaError, match=r"parquet\.page\.row\.count\.limit"):
        options.slice(ParquetOptions)


def test_damage_of_pages_and_indexes_is_named_or_harmless(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    rows = pa.table({"i": pa.array(np.arange(200), pa.int32())})
    path = tmp_path / "x.parquet"
    pq.write_table(
        rows, path, max_rows_per_page=20, write_batch_size=20, write_page_index=True,
        write_page_checksum=True, store_schema=False, use_dictionary=False, compression="none",
    )  # fmt: skip
    whole = path.read_bytes()
    ranges = np.array([[40, 60], [100, 101]])
    wrong = []
    for at in range(4, len(whole) - 8 - pq.read_metadata(path).serialized_size):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(0, 8))
        path.write_bytes(damaged)
        with contextlib.suppress(CorruptDataError, UnicodeDecodeError), _opened(path) as file:
            found = file.read_ranges(FIELDS[:1], file.row_groups[0], ranges)
            if found["i"].to_pylist() != [*range(40, 60), 100]:
                wrong.append(at)
    assert wrong == []


def test_ranges_are_cut_at_a_number_of_rows(rng: np.random.Generator) -> None:
    for _ in range(times(60)):
        starts = np.unique(np.append(rng.integers(0, 50, 8), 0))
        ranges = ranges_of(starts, 51, rng.random(len(starts)) < 0.6)
        most = int(rng.integers(1, 20))
        pieces = list(cut_ranges(ranges, most))
        rows = [
            row for piece in pieces for start, end in piece.tolist() for row in range(start, end)
        ]
        assert rows == [row for start, end in ranges.tolist() for row in range(start, end)]
        sizes = [int((piece[:, 1] - piece[:, 0]).sum()) for piece in pieces]
        assert all(size == most for size in sizes[:-1])


def test_what_is_encoded_is_decoded() -> None:
    inner = encode([(1, Kind.I64, -(2**40)), (30, Kind.BINARY, b"x" * 300)])
    data = encode(
        [
            (1, Kind.I32, 7),
            (2, Kind.LIST, (Kind.STRUCT, [inner] * 20)),
            (40, Kind.LIST, (Kind.I32, [1, -1])),
        ]
    )
    found = decode(data)
    assert found[1] == 7
    assert found[2] == [{1: -(2**40), 30: b"x" * 300}] * 20
    assert found[40] == [1, -1]
    assert found.end == len(data)


def test_noise_is_no_structure_or_a_structure(rng: np.random.Generator) -> None:
    for _ in range(times(500)):
        noise = rng.bytes(int(rng.integers(0, 60)))
        with contextlib.suppress(DamagedThriftError):
            assert decode(noise).end <= len(noise)


@pytest.mark.parametrize("size", [0, 5, 11])
def test_a_file_that_is_too_short_is_named(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1PAR1PAR1"[:size])
    with pytest.raises(CorruptDataError, match=r"x\.parquet"), _opened(path):
        pass
