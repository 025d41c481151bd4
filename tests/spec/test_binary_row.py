from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.binary_row.rows import decode, encode, encode_one, hash_codes
from paimonlab.spec.buckets.bucket import default_bucket
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.java_values import java_rows, normal_rows
from tests.spec.random_columns import random_column

HEADER = "0000000000000000"
NULL_HEADER = "0001000000000000"

# types, values, bytes of the row without arity, hash, bucket of 1 000 003 (None: not recorded);
# what Java Paimon 0.9 writes.
GOLDEN = [
    (["INT"], [1], HEADER + "0100000000000000", 1465514398, 510003),
    (["INT"], [-7], HEADER + "f9ffffff00000000", 1485184587, 180132),
    (["BIGINT"], [-1], HEADER + "ffffffffffffffff", -821098432, 95969),
    (["DOUBLE"], [1.5], HEADER + "000000000000f83f", 1860889473, 883893),
    (["STRING"], ["abc"], HEADER + "6162630000000083", -101922419, 922116),
    (["STRING"], ["abcdefg"], HEADER + "6162636465666787", -1431907323, 903030),
    (["STRING"], ["abcdefgh"], HEADER + "08000000100000006162636465666768", -843760178, 757649),
    (["STRING"], [""], HEADER + "0000000000000080", 302122119, 121213),
    (["STRING"], [None], NULL_HEADER + "0000000000000000", -1748325344, 320100),
    (
        ["TIMESTAMP(3)"],
        [dt.datetime.fromisoformat("2024-01-02T03:04:05.678")],
        HEADER + "2edb20c88c010000",
        1606355323,
        350505,
    ),
    (
        ["TIMESTAMP(6)"],
        [dt.datetime.fromisoformat("2024-01-02T03:04:05.678901")],
        HEADER + "88bf0d00100000002edb20c88c010000",
        828821739,
        819255,
    ),
    (["DECIMAL(10,2)"], [Decimal("123.45")], HEADER + "3930000000000000", 767607022, 604721),
    (
        ["DECIMAL(20,2)"],
        [Decimal("123.45")],
        HEADER + "0200000010000000" + "3039" + "00" * 14,
        -118192725,
        192371,
    ),
    (
        ["DECIMAL(20,2)"],
        [Decimal("-123.45")],
        HEADER + "0200000010000000" + "cfc7" + "00" * 14,
        -605613085,
        611270,
    ),
    (
        ["DECIMAL(20,2)"],
        [Decimal("-1.28")],
        HEADER + "0100000010000000" + "80" + "00" * 15,
        1196242097,
        238509,
    ),
    (
        ["DECIMAL(20,2)"],
        [Decimal("-327.68")],
        HEADER + "0200000010000000" + "8000" + "00" * 14,
        -1316820663,
        816715,
    ),
    (
        ["DECIMAL(38,0)"],
        [Decimal(10**38 - 1)],
        HEADER + "1000000010000000" + "4b3b4ca85a86c47a098a223fffffffff",
        -1064641625,
        638433,
    ),
    (
        ["DECIMAL(20,2)"],
        [None],
        NULL_HEADER + "0000000010000000" + "00" * 16,
        -1380280760,
        276620,
    ),
    (["TIMESTAMP(6)"], [None], NULL_HEADER + "0000000010000000" + "00" * 8, -340882661, 881641),
    (
        ["INT", "STRING"],
        [1, "hello world"],
        HEADER + "01000000000000000b0000001800000068656c6c6f20776f726c640000000000",
        639486570,
        484653,
    ),
    (
        ["INT", "INT", "INT"],
        [None, 2, None],
        "0005000000000000" + HEADER + "0200000000000000" + HEADER,
        1371584887,
        580774,
    ),
]


@pytest.mark.parametrize(("types", "values", "row", "hash_code", "bucket"), GOLDEN)
def test_rows_hashes_and_buckets_are_those_of_java(
    types: list[str], values: list[object], row: str, hash_code: int, bucket: int
) -> None:
    fields = [parse_type(text) for text in types]
    columns = [
        pa.array([value], to_arrow(type_)) for value, type_ in zip(values, fields, strict=True)
    ]

    hashes = hash_codes(columns, fields)

    assert encode(columns, fields, prefix=False)[0].as_py().hex() == row
    assert encode(columns, fields)[0].as_py().hex() == len(types).to_bytes(4, "big").hex() + row
    assert hashes.tolist() == [hash_code]
    assert default_bucket(hashes, 1_000_003).tolist() == [bucket]


def test_a_date_partition_is_serialised_as_java_does() -> None:
    date = parse_type("DATE")

    row = encode_one([pa.scalar(dt.date(2024, 1, 2))], [date])

    assert row.hex() == "00000001" + HEADER + "0c4d000000000000"


def test_the_empty_row_is_twelve_zero_bytes() -> None:
    assert encode([], []).to_pylist() == [bytes(12)]


def test_no_rows_give_no_rows() -> None:
    types = [parse_type(text) for text in ("INT", "STRING", "DECIMAL(20,2)", "ARRAY<INT>")]
    columns = [pa.array([], to_arrow(type_)) for type_ in types]

    assert len(encode(columns, types)) == 0
    assert len(hash_codes(columns, types)) == 0


def test_rows_of_a_batch_do_not_depend_on_their_neighbours(rng: np.random.Generator) -> None:
    texts = ["INT", "STRING", "DECIMAL(30,3)", "TIMESTAMP(9)", "BYTES", "ARRAY<STRING>", "BOOLEAN"]
    types = [parse_type(text) for text in texts]
    rows = 300
    lengths = rng.integers(0, 30, rows)
    lengths[7] = 5_000  # far longer than the others
    columns = [
        pa.array(rng.integers(-100, 100, rows), pa.int32(), mask=rng.random(rows) < 0.2),
        pa.array(["é" * int(n) for n in lengths], mask=rng.random(rows) < 0.2),
        pa.array(
            [Decimal(f"{n}.{abs(n) % 1000:03}") for n in rng.integers(-(2**62), 2**62, rows)],
            pa.decimal128(30, 3),
            mask=rng.random(rows) < 0.2,
        ),
        pa.array(rng.integers(-(2**62), 2**62, rows), pa.timestamp("ns")),
        pa.array([rng.bytes(int(n)) for n in lengths], pa.binary()),
        pa.array([[None, "x" * int(n), "y"][: n % 4] for n in lengths], mask=lengths % 7 == 0),
        pa.array(rng.random(rows) < 0.5),
    ]

    together = encode(columns, types).to_pylist()
    hashes = hash_codes(columns, types)

    for row in range(rows):
        alone = [column.slice(row, 1) for column in columns]
        assert encode(alone, types)[0].as_py() == together[row]
        assert hash_codes(alone, types)[0] == hashes[row]


def test_columns_of_castable_arrow_types_give_the_same_rows() -> None:
    types = [parse_type("BIGINT"), parse_type("STRING"), parse_type("BYTES")]
    plain = [
        pa.array([1, None, 3], pa.int64()),
        pa.array(["a", "long enough", None]),
        pa.array([b"\0", None, b"12345678"], pa.binary()),
    ]
    others = [
        pa.chunked_array([[1], [None, 3]], pa.int16()),
        plain[1].cast(pa.large_string()).dictionary_encode(),
        plain[2].cast(pa.large_binary()),
    ]

    assert encode(others, types).equals(encode(plain, types))


def test_a_value_that_does_not_fit_its_type_is_refused() -> None:
    with pytest.raises(pa.ArrowInvalid, match="not in range"):
        encode([pa.array([2**40])], [parse_type("INT")])


ALL_TYPES = [
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
    *("DECIMAL(9, 2)", "DECIMAL(18, 18)", "DECIMAL(19, 0)", "DECIMAL(38, 10)"),
    *("CHAR(3)", "STRING", "BINARY(2)", "BYTES", "DATE", "TIME(3)"),
    *("TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)"),
    *("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    "TIMESTAMP(9) WITH LOCAL TIME ZONE",
]
NESTED_TYPES = [
    *("ARRAY<BOOLEAN>", "ARRAY<SMALLINT>", "ARRAY<STRING>", "ARRAY<DECIMAL(30, 2)>"),
    *("ARRAY<TIMESTAMP(6)>", "ARRAY<ARRAY<INT>>", "MAP<STRING, INT>", "MAP<INT, ARRAY<STRING>>"),
    *("MULTISET<STRING>", "ROW<a INT, b STRING>", "ROW<r ROW<x ARRAY<BYTES>>, d DECIMAL(20, 1)>"),
    "MAP<STRING, ROW<t TIMESTAMP(9), f FLOAT>>",
]


@pytest.mark.parametrize("text", ALL_TYPES + NESTED_TYPES)
def test_values_of_every_type_come_back(text: str, rng: np.random.Generator) -> None:
    data_type = parse_type(text)
    column = random_column(data_type, 200, rng)
    no_nulls = column.drop_null()

    assert decode(encode([column], [data_type]), [data_type])[0].equals(column)
    assert decode(encode([no_nulls], [data_type]), [data_type])[0].equals(no_nulls)


def test_rows_of_all_types_come_back(rng: np.random.Generator) -> None:
    types = [parse_type(text) for text in ALL_TYPES * 3 + NESTED_TYPES]
    columns = [random_column(type_, 50, rng) for type_ in types]

    decoded = decode(encode(columns, types), types)

    assert len(decoded) > 64  # more null bits than one word has
    for expected, actual in zip(columns, decoded, strict=True):
        actual.validate(full=True)
        assert actual.equals(expected)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_wanted_fields_are_those_of_all(count: int, rng: np.random.Generator) -> None:
    types = [parse_type(text) for text in ("INT", "STRING", "DECIMAL(20, 3)", "ARRAY<INT>")]
    rows = encode([random_column(data_type, count, rng) for data_type in types], types)

    for wanted in ([], [2], [3, 0]):
        found = decode(rows, types, wanted=wanted)

        every = decode(rows, types)
        assert [column.to_pylist() for column in found] == [
            every[position].to_pylist() for position in wanted
        ]


def test_slices_are_encoded_as_what_they_show(rng: np.random.Generator) -> None:
    types = [parse_type(text) for text in ALL_TYPES + NESTED_TYPES]
    columns = [random_column(type_, 40, rng) for type_ in types]

    whole = encode(columns, types).to_pylist()

    assert encode([c.slice(13, 9) for c in columns], types).to_pylist() == whole[13:22]


@pytest.mark.parametrize("count", [1, 2, 9, 60])
def test_few_rows_are_encoded_as_among_many(count: int, rng: np.random.Generator) -> None:
    """Columns of a type that have few values are encoded together."""
    types = [parse_type(text) for text in ALL_TYPES * 3 + NESTED_TYPES]
    columns = [random_column(type_, 100, rng) for type_ in types]

    whole = encode(columns, types).to_pylist()

    few = encode([column.slice(13, count) for column in columns], types)
    assert few.to_pylist() == whole[13 : 13 + count]


def test_a_null_row_is_a_row_of_nulls() -> None:
    types = [parse_type(text) for text in ("INT", "STRING", "MAP<INT, INT>", "ROW<a INT>")]
    row = encode([pa.nulls(1, to_arrow(type_)) for type_ in types], types)[0]

    columns = decode(pa.array([None, row.as_py(), None], pa.large_binary()), types)

    assert all(column.to_pylist() == [None] * 3 for column in columns)
    only_null = decode(pa.array([None], pa.binary()), types)
    assert all(column.to_pylist() == [None] for column in only_null)


def test_another_number_of_fields_is_an_error_that_names_the_file() -> None:
    row = encode([pa.array([1], pa.int32())], [parse_type("INT")])

    with pytest.raises(CorruptMetadataError, match=r"some/manifest: .* has 1 fields, expected 2"):
        decode(row, [parse_type("INT")] * 2, path="some/manifest")


@pytest.mark.parametrize("text", ALL_TYPES + NESTED_TYPES)
def test_damaged_rows_give_values_or_a_typed_error(text: str, rng: np.random.Generator) -> None:
    data_type = parse_type(text)
    rows = encode([random_column(data_type, 30, rng)], [data_type]).to_pylist()

    for row in rows:
        damaged = bytearray(row[: rng.integers(0, len(row)) if rng.random() < 0.2 else None])
        for position in rng.integers(0, 8 * len(damaged), 3) if damaged else ():
            damaged[position // 8] ^= 1 << position % 8
        try:
            decoded = decode(pa.array([bytes(damaged)]), [data_type])[0]
        except CorruptMetadataError:
            continue
        decoded.validate()


def test_a_timestamp_that_arrow_cannot_hold_is_an_error_or_unknown() -> None:
    micros = parse_type("TIMESTAMP(6)")
    nanos = parse_type("TIMESTAMP(9)")
    year_1600_and_null = pa.array([-11_676_096_000_000_000, None], pa.timestamp("us"))
    rows = encode([year_1600_and_null], [micros])

    assert decode(rows, [nanos], is_lenient=True)[0].null_count == 2
    with pytest.raises(CorruptMetadataError, match="timestamp"):
        decode(rows, [nanos])


RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "java_binary_rows.jsonl").read_text().splitlines()
]
"""Random rows of all types and what Java Paimon 1.3.1 makes of them."""


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["bytes"][:24] + str(case["hash"]))
def test_random_rows_are_encoded_decoded_and_hashed_as_java_does(case: dict[str, Any]) -> None:
    types = [parse_type(text) for text in case["types"]]
    fields = [DataField(k, f"c{k}", type_) for k, type_ in enumerate(types)]
    serialised = len(types).to_bytes(4, "big") + bytes.fromhex(case["bytes"])

    columns = decode(pa.array([serialised]), types)
    hashes = hash_codes(columns, types)

    table = pa.table(columns, names=[field.name for field in fields])
    assert java_rows(table, fields) == normal_rows([case["row"]], fields)
    assert encode(columns, types, prefix=False)[0].as_py().hex() == case["bytes"]
    assert hashes.tolist() == [case["hash"]]
    assert default_bucket(hashes, 1_000_003).tolist() == [case["bucket"]]
