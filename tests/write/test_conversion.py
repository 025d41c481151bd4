from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest

from paimonlab.errors import DataError
from paimonlab.spec.types.text import parse_type
from paimonlab.write.conversion import convert

NESTED = "ROW<a INT, b ARRAY<STRING>>"


@pytest.mark.parametrize(
    ("target", "given", "expected"),
    [
        ("BIGINT", pa.array([1, None], pa.int8()), [1, None]),
        ("TINYINT", pa.array([127, -128], pa.int64()), [127, -128]),
        ("INT", pa.array([7], pa.uint64()), [7]),
        ("DOUBLE", pa.array([1.5], pa.float32()), [1.5]),
        ("FLOAT", pa.array([0.5, float("inf"), None], pa.float64()), [0.5, float("inf"), None]),
        ("DOUBLE", pa.array([3], pa.int64()), [3.0]),
        ("STRING", pa.array(["x", None], pa.large_string()), ["x", None]),
        ("STRING", pa.array(["x", "x"]).dictionary_encode(), ["x", "x"]),
        ("STRING", pa.array(["x"], pa.string_view()), ["x"]),
        ("CHAR(2)", pa.array(["é", "ab"]), ["é", "ab"]),
        ("BYTES", pa.array([b"abc"], pa.binary(3)), [b"abc"]),
        ("DECIMAL(12, 2)", pa.array([Decimal("1.5")], pa.decimal128(5, 1)), [Decimal("1.50")]),
        ("DECIMAL(5, 2)", pa.array([-999, 7, None]), [Decimal("-999.00"), Decimal("7.00"), None]),
        ("DECIMAL(38, 0)", pa.array([2**64 - 1], pa.uint64()), [Decimal(2**64 - 1)]),
        ("DATE", pa.array([date(2026, 1, 1)], pa.date64()), [date(2026, 1, 1)]),
        ("DATE", pa.array([datetime(2026, 1, 1), None]), [date(2026, 1, 1), None]),
        ("DATE", pa.array([datetime(1969, 12, 31)], pa.timestamp("s")), [date(1969, 12, 31)]),
        ("DATE", pa.array([0], pa.timestamp("ms", "UTC")), [date(1970, 1, 1)]),
        (
            "DATE",
            pa.array([-3600], pa.timestamp("s", "Europe/Berlin")),  # midnight in Berlin
            [date(1970, 1, 1)],
        ),
        ("ARRAY<DATE>", pa.array([[datetime(2026, 1, 1)], None]), [[date(2026, 1, 1)], None]),
        ("TIME(3)", pa.array([time(1, 2, 3, 4000)], pa.time64("us")), [time(1, 2, 3, 4000)]),
        (
            "TIMESTAMP(3)",
            pa.array([datetime(2026, 1, 1)], pa.timestamp("s")),
            [datetime(2026, 1, 1)],
        ),
        ("INT", pa.nulls(2), [None, None]),
        ("ARRAY<BIGINT>", pa.array([[1], None, []], pa.large_list(pa.int32())), [[1], None, []]),
        (
            "MAP<STRING, BIGINT>",
            pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32())),
            [[("a", 1)], None],
        ),
        (
            "MULTISET<STRING>",
            pa.array([[("a", 2)]], pa.map_(pa.string(), pa.int32())),
            [[("a", 2)]],
        ),
        (NESTED, pa.array([{"b": ["x"], "a": 1}, None]), [{"a": 1, "b": ["x"]}, None]),
        (NESTED, pa.array([{"b": ["x"]}]), [{"a": None, "b": ["x"]}]),
    ],
)
def test_what_fits_exactly_is_taken(target: str, given: pa.Array, expected: list[object]) -> None:
    assert convert(given, parse_type(target), "c").to_pylist() == expected


@pytest.mark.parametrize(
    ("target", "given", "message"),
    [
        ("INT", pa.array([2**31]), "does not fit INT"),
        ("INT", pa.array([1.0]), "cast it to int32 first"),
        ("INT", pa.array(["1"]), "cast it to int32 first"),
        ("FLOAT", pa.array([0.1]), "not exactly a FLOAT"),
        ("DOUBLE", pa.array([2**53 + 1]), "does not fit DOUBLE"),
        ("BIGINT", pa.array([2**63], pa.uint64()), "does not fit BIGINT"),
        ("VARCHAR(2)", pa.array(["abc"]), "3 characters"),
        ("BINARY(2)", pa.array([b"abc"]), "3 bytes"),
        ("DECIMAL(4, 1)", pa.array([Decimal("1.25")]), "does not fit DECIMAL"),
        ("DECIMAL(3, 1)", pa.array([Decimal("123.0")]), "does not fit DECIMAL"),
        ("DECIMAL(3, 1)", pa.array([7, 100]), "does not fit DECIMAL"),
        ("DECIMAL(3, 1)", pa.array([7.0]), "cast it to decimal128(3, 1) first"),
        (
            "DATE",
            pa.array([datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 1)]),
            "a value is 2026",
        ),
        ("DATE", pa.array([datetime(1969, 12, 31, 23, 59)]), "a value is 1969-12-31 23:59"),
        ("DATE", pa.array([0], pa.timestamp("ns", "Europe/Berlin")), "a value is 1970-01-01 01:00"),
        ("DATE", pa.array([1], pa.timestamp("ns")), "not at midnight"),
        (
            "DATE",
            pa.array([568_971_820_800, 568_971_824_405], pa.timestamp("s")),
            "a value is 20000-01-01 01:00:05, which is not at midnight",
        ),
        (
            "TIMESTAMP(1)",
            pa.array([None, 568_971_824_405_010], pa.timestamp("ms")),
            "cannot hold 20000-01-01 01:00:05.010",
        ),
        ("DATE", pa.array(["2026-01-01"]), "cast it to date32"),
        ("DATE", pa.array([date(2026, 1, 1)], pa.date64()).view(pa.int64()), "cast it to date32"),
        (
            "ARRAY<DATE>",
            pa.array([[], [datetime(2026, 1, 1, 1)]]),
            "c.element' is DATE, but a value",
        ),
        ("TIMESTAMP(0)", pa.array([datetime(2026, 1, 1, 0, 0, 0, 1)]), "does not fit TIMESTAMP"),
        ("TIMESTAMP(4)", pa.array([datetime(2026, 1, 1, 0, 0, 0, 1)]), "cannot hold"),
        ("TIMESTAMP(6)", pa.array([0], pa.timestamp("us", "UTC")), "cast it to timestamp"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", pa.array([0], pa.timestamp("us")), "cast it to"),
        ("INT NOT NULL", pa.array([1, None]), "1 of 2 values are null"),
        ("ARRAY<INT NOT NULL>", pa.array([[1, None]]), "c.element"),
        ("ROW<a INT NOT NULL>", pa.array([{"a": None}]), "c.a"),
        ("ROW<a INT>", pa.array([{"a": 1, "z": 2}]), "no field 'z'"),
        ("MAP<STRING, INT>", pa.array([[1]]), "is not a map"),
    ],
)
def test_what_would_lose_something_is_refused(target: str, given: pa.Array, message: str) -> None:
    with pytest.raises(DataError, match=r"'?c") as caught:
        convert(given, parse_type(target), "c")
    assert message in str(caught.value)


def test_slices_of_nested_arrays_keep_their_values() -> None:
    lists = pa.array([[1], [2, 3], None, [4]])
    maps = pa.array([[("a", 1)], [("b", 2)], None], pa.map_(pa.string(), pa.int64()))
    rows = pa.array([{"a": [1]}, {"a": [2]}, None])

    assert convert(lists.slice(1), parse_type("ARRAY<INT>"), "c").to_pylist() == [[2, 3], None, [4]]
    assert convert(maps.slice(1), parse_type("MAP<STRING, INT>"), "c").to_pylist() == [
        [("b", 2)],
        None,
    ]
    assert convert(rows.slice(1), parse_type("ROW<a ARRAY<INT>>"), "c").to_pylist() == [
        {"a": [2]},
        None,
    ]


def test_a_null_row_may_have_null_children_that_are_not_null() -> None:
    rows = pa.array([{"a": 1}, None])

    converted = convert(rows, parse_type("ROW<a INT NOT NULL>"), "c")

    assert converted.to_pylist() == [{"a": 1}, None]
