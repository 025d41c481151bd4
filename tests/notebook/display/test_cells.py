from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.notebook.display.cells import NULL, cells


def shown(values: list[Any], kind: pa.DataType) -> list[str]:
    return [cell.text for cell in cells(pa.chunked_array([values], kind))]


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        (pa.int64(), [2**53 + 1, -1], ["9007199254740993", "-1"]),
        (pa.bool_(), [True, False], ["true", "false"]),
        (pa.float64(), [0.1, float("nan"), -float("inf")], ["0.1", "NaN", "-Infinity"]),
        (pa.float32(), [0.1, float("nan")], ["0.1", "NaN"]),
        (pa.decimal128(38, 9), [Decimal("1E-9"), Decimal(7)], ["0.000000001", "7.000000000"]),
        (pa.string(), ["a", "", "NULL", " b", "'c'"], ["a", "''", "'NULL'", "' b'", "''c''"]),
        (pa.string(), ["a\nb\u202ec\x00"], ["a\\nb\\u202ec\\x00"]),
        (pa.binary(), [b"\x00\xff", b""], ["0x00ff", "0x"]),
        (pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31)], ["0001-01-01", "9999-12-31"]),
        (pa.timestamp("us"), [dt.datetime(2013, 1, 1, 5, 0, 0, 500)], ["2013-01-01 05:00:00.0005"]),
        (pa.timestamp("us", "UTC"), [0], ["1970-01-01 00:00:00"]),
        (pa.time64("us"), [dt.time(12, 30)], ["12:30:00"]),
        (pa.duration("us"), [dt.timedelta(days=-1, seconds=-1)], ["-1 0:00:01"]),
        (pa.list_(pa.string()), [["a", None, ""], []], ["['a', NULL, '']", "[]"]),
        (
            pa.struct({"x": pa.int8(), "y": pa.float64()}),
            [{"x": 1, "y": None}],
            ["{x: 1, y: NULL}"],
        ),
        (pa.map_(pa.string(), pa.int8()), [[("k", 1), ("l", None)]], ["{'k' -> 1, 'l' -> NULL}"]),
    ],
)
def test_values_are_written_without_losing_anything(
    kind: pa.DataType, values: list[Any], texts: list[str]
) -> None:
    assert shown(values, kind) == texts


def test_null_is_no_text() -> None:
    assert cells(pa.chunked_array([[None, "NULL"]], pa.string()))[0] is NULL
    assert not NULL.is_value
    assert cells(pa.chunked_array([[None]], pa.null())) == [NULL]


def test_points_in_time_that_python_has_not_are_shown() -> None:
    year_one_micros = -62_135_596_800_000_000

    column = [year_one_micros - 1, None, 400_000 * 365 * 86_400 * 1_000_000 // 2]

    assert shown(column, pa.timestamp("us", "UTC")) == [
        "0000-12-31 23:59:59.999999",
        "NULL",
        "201837-03-19 00:00:00.000000",
    ]
    assert shown([[column[0]]], pa.list_(pa.timestamp("us"))) == [
        "(contains a date before year 1 or after 9999)"
    ]


def test_long_binaries_say_how_long_they_are() -> None:
    assert shown([b"a" * 2000], pa.binary())[0].endswith("6161… 2,000 bytes")
