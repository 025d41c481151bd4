from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.binary_row.murmur import hash_ragged, hash_words
from paimonlab.spec.buckets.bucket import BucketFunction, bucket_ids, default_bucket
from paimonlab.spec.buckets.hive_hash import hive_hashes
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type


def test_the_remainder_keeps_the_sign_of_the_hash_before_it_is_dropped() -> None:
    words = pa.array([0, 0, 0xFFFFFFF9, 0], pa.uint32()).to_numpy().reshape(1, 4)

    assert default_bucket(hash_words(words), 5).tolist() == [2]


@pytest.mark.parametrize("total", [1, 2, 3, 64, 1000, 1_000_003, 2**31 - 1])
def test_the_remainder_is_that_of_java_at_the_ends_of_32_bits(total: int) -> None:
    hashes = [-(2**31), -(2**31) + 1, -total, -7, -1, 0, 1, total, 2**31 - 1]

    found = default_bucket(np.array(hashes, np.int32), total)

    assert found.dtype == np.int32
    assert found.tolist() == [abs(int(math.fmod(code, total))) for code in hashes]


@pytest.mark.parametrize("rows", [[[0, 0, 1, 0]], [[0, 0, 1, 0], [0, 0, 1, 0]], [[0, 0], [2, 0]]])
def test_rows_with_the_same_beginning_have_the_hash_of_each(rows: list[list[int]]) -> None:
    words = np.array(rows, np.uint32)

    width = words.shape[1]
    starts = np.arange(len(rows)) * width
    ragged = hash_ragged(words.ravel(), starts, np.full(len(rows), width))
    assert hash_words(words).tolist() == ragged.tolist()


def test_bucket_ids_follow_the_order_of_the_bucket_key() -> None:
    batch = pa.table({"b": ["hello world"], "other": [9], "a": pa.array([1], pa.int32())})
    a = DataField(0, "a", parse_type("INT"))
    b = DataField(1, "b", parse_type("STRING"))

    assert bucket_ids(batch, [a, b], 1_000_003).tolist() == [484653]
    assert bucket_ids(batch, [b, a], 1_000_003).tolist() != [484653]


@pytest.mark.parametrize("function", BucketFunction)
def test_no_buckets_at_all_is_an_error(function: BucketFunction) -> None:
    a = DataField(0, "a", parse_type("INT"))

    with pytest.raises(ValueError, match="at least 1, got 0"):
        bucket_ids(pa.table({"a": pa.array([1], pa.int32())}), [a], 0, function)


@pytest.mark.parametrize("text", ["INT", "BIGINT"])
def test_mod_is_the_remainder_that_is_never_negative(text: str) -> None:
    field = DataField(0, "k", parse_type(text))
    batch = pa.table({"k": pa.array([-7, -3, 0, 8, None], to_arrow(field.type))}).slice(1)

    found = bucket_ids(batch, [field], 3, BucketFunction.MOD)

    assert found.tolist() == [0, 0, 2, 0]


# Made with java.math.BigDecimal, Float, Double and Long of JDK 17.
HIVE: list[tuple[str, Any, int]] = [
    ("DECIMAL(38, 2)", "0", 0),
    ("DECIMAL(9, 2)", "1.50", 466),
    ("DECIMAL(9, 2)", "-1.50", -464),
    ("DECIMAL(38, 8)", "123456789012345678901234567890.12345678", -880932659),
    ("DECIMAL(38, 0)", "-99999999999999999999999999999999999999", 427198386),
    ("DECIMAL(10, 4)", "100", 3100),
    ("DECIMAL(20, 0)", "9223372036854775807", 2147482656),
    ("DECIMAL(20, 0)", "-9223372036854775808", -2147483648),
    ("DECIMAL(20, 10)", "0.0000000001", 41),
    ("DECIMAL(30, 5)", "18446744073709551616.10", 297942),
    ("BIGINT", -5, 4),
    ("BIGINT", 1 << 40, 256),
    ("INT", -5, -5),
    ("SMALLINT", -5, -5),
    ("BOOLEAN", True, 1),
    ("DATE", 19_000, 19_000),
    ("FLOAT", 1.5, 1069547520),
    ("FLOAT", float("nan"), 2143289344),
    ("FLOAT", -0.0, 0),
    ("DOUBLE", -2.25, -1073610752),
    ("DOUBLE", float("nan"), 2146959360),
    ("STRING", "grüße, мир", 1913504188),
    ("STRING", "", 0),
    ("STRING", None, 0),
    ("BYTES", b"hello", 99162322),
]


@pytest.mark.parametrize(("text", "value", "expected"), HIVE, ids=str)
def test_hive_hashes_are_those_java_computes(text: str, value: Any, expected: int) -> None:
    data_type = parse_type(text)
    if text.startswith("DECIMAL"):
        value = Decimal(value)
    column = pa.array([None, value, value], to_arrow(data_type)).slice(1)

    assert hive_hashes([column], [data_type]).tolist() == [expected, expected]


def test_columns_of_a_hive_bucket_key_are_combined() -> None:
    fields = [DataField(0, "a", parse_type("INT")), DataField(1, "b", parse_type("STRING"))]
    batch = pa.table({"b": ["hello", ""], "a": pa.array([-7, None], pa.int32())})

    assert bucket_ids(batch, fields, 1000, BucketFunction.HIVE).tolist() == [
        ((31 * -7 + 99162322) & 0x7FFFFFFF) % 1000,
        0,
    ]


def test_hive_takes_no_timestamps() -> None:
    with pytest.raises(UnsupportedError, match="a bucket key of type TIMESTAMP"):
        hive_hashes([pa.array([0], pa.timestamp("us"))], [parse_type("TIMESTAMP(6)")])


@pytest.mark.parametrize(
    ("function", "columns"),
    [("mod", {"k": "STRING"}), ("mod", {"k": "INT", "l": "INT"}), ("hive", {"k": "TIMESTAMP"})],
)
def test_a_function_that_does_not_fit_the_bucket_key_is_refused(
    function: str, columns: dict[str, str]
) -> None:
    options = {"bucket": "2", "bucket-key": ",".join(columns), "bucket-function.type": function}

    with pytest.raises(SchemaError, match=f"'bucket-function.type' = '{function}'"):
        new_table_schema(Schema(columns, options=options), time_millis=0)
