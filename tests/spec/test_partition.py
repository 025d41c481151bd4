from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.spec.partitions.folders import (
    PartitionOptions,
    bucket_path,
    escape,
    partition_path,
    partition_paths,
    unescape,
)
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from paimonlab.spec.value_text import java_float_text

OLD_NAMES = PartitionOptions()
NEW_NAMES = PartitionOptions(legacy_name=False)


def name(type_text: str, value: Any, options: PartitionOptions = OLD_NAMES) -> str:
    """Return what the folder of one value is called, without the key."""
    data_type = parse_type(type_text)
    (path,) = partition_paths(["k"], [pa.array([value], to_arrow(data_type))], [data_type], options)
    assert path.startswith("k=")
    assert path.endswith("/")
    return path[2:-1]


# From tables that Java 0.9 and 1.3.1 wrote.
@pytest.mark.parametrize(
    ("type_text", "value", "folder"),
    [
        ("DATE", 19724, "19724"),
        ("INT", -7, "-7"),
        ("BIGINT", 2**63 - 1, "9223372036854775807"),
        ("BOOLEAN", True, "true"),
        ("STRING", "a b+&é", "a b+&é"),
        ("STRING", "a/b=c:d%", "a%2Fb%3Dc%3Ad%25"),
        ("STRING", None, "__DEFAULT_PARTITION__"),
        ("STRING", "", "__DEFAULT_PARTITION__"),
        ("STRING", " \t", "__DEFAULT_PARTITION__"),
        ("STRING", "\xa0", "\xa0"),
        ("DOUBLE", 1e10, "1.0E10"),
        ("FLOAT", 0.1, "0.1"),
        ("TIME(3)", 3_723_004, "3723004"),
        ("TIMESTAMP(3)", 1_704_153_600_000, "2024-01-02T00%3A00"),
        ("TIMESTAMP(6)", 1_704_157_323_000_000, "2024-01-02T01%3A02%3A03"),
        ("TIMESTAMP(9)", 1_704_157_323_000_100_000, "2024-01-02T01%3A02%3A03.000100"),
        ("TIMESTAMP(3)", -1, "1969-12-31T23%3A59%3A59.999"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", 1_704_153_600_000, "2024-01-02T00%3A00"),
    ],
)
def test_folders_are_named_as_java_names_them(type_text: str, value: Any, folder: str) -> None:
    assert name(type_text, value) == folder


@pytest.mark.parametrize(
    ("type_text", "value", "folder"),
    [
        ("DATE", 19724, "2024-01-02"),
        ("TIME(0)", 3_723_004, "01%3A02%3A03"),
        ("TIME(3)", 3_723_004, "01%3A02%3A03.004"),
        ("TIME(3)", 3_723_000, "01%3A02%3A03.0"),
        ("TIMESTAMP(0)", 1_704_153_600_000, "2024-01-02 00%3A00%3A00"),
        ("TIMESTAMP(3)", 1_704_153_600_000, "2024-01-02 00%3A00%3A00.000"),
        ("TIMESTAMP(6)", 1_704_157_323_120_000, "2024-01-02 01%3A02%3A03.120000"),
        ("BYTES", b"a", "a"),
    ],
)
def test_folders_have_readable_names_if_asked_for(type_text: str, value: Any, folder: str) -> None:
    assert name(type_text, value, NEW_NAMES) == folder


def test_decimals_keep_their_scale() -> None:
    value = pa.scalar("123.40").cast(pa.decimal128(20, 2))

    assert name("DECIMAL(20, 2)", value.as_py()) == "123.40"
    assert name("DECIMAL(38, 20)", pa.scalar("0").cast(pa.decimal128(38, 20)).as_py()) == (
        "0.00000000000000000000"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.001), "0.001"),
        (np.float64(0.00099), "9.9E-4"),
        (np.float64(9_999_999.0), "9999999.0"),
        (np.float64(12_345_678.9), "1.23456789E7"),
        (np.float32(16_777_216), "1.6777216E7"),
        (np.float64("nan"), "NaN"),
        (np.float64("-inf"), "-Infinity"),
    ],
)
def test_floats_are_printed_as_java_prints_them(value: np.floating[Any], text: str) -> None:
    assert java_float_text(value) == text


@given(st.text())
def test_what_is_escaped_can_be_read_again(text: str) -> None:
    escaped = escape(text)

    assert unescape(escaped) == text
    assert not set(escaped) & set("/\\:\x00\n")


def test_a_broken_escape_stays() -> None:
    assert unescape("100%2") == "100%2"


def test_keys_are_escaped_too() -> None:
    assert partition_path(["a/b", "c"], ["1", None], "none") == "a%2Fb=1/c=none/"


def test_a_table_without_partition_keys_has_one_folder() -> None:
    assert partition_paths([], [], [], PartitionOptions()) == [""]
    assert partition_path([], []) == ""


def test_buckets_lie_in_partitions() -> None:
    assert bucket_path("", 3) == "bucket-3"
    assert bucket_path("dt=1/", -2) == "dt=1/bucket-postpone"
