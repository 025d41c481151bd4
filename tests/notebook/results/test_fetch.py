from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.notebook.results.spark_fetch import fetch

UTC = dt.UTC


def column(spark: SparkSession, expression: str) -> list[Any]:
    return fetch(spark.sql(expression), limit=None).table.column(0).to_pylist()


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT * FROM VALUES (9007199254740993), (NULL)", [9007199254740993, None]),
        ("SELECT * FROM VALUES (true), (NULL)", [True, None]),
        (
            "SELECT CAST('0.000000001' AS DECIMAL(38, 9))",
            [Decimal("0.000000001")],
        ),
        (
            "VALUES (timestamp'0001-01-01 00:00:00'), (timestamp'9999-12-31 23:59:59')",
            [dt.datetime(1, 1, 1, tzinfo=UTC), dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)],
        ),
        ("SELECT timestamp_ntz'9999-12-31 00:00:00'", [dt.datetime(9999, 12, 31)]),
        ("SELECT date'0001-01-01'", [dt.date(1, 1, 1)]),
        ("SELECT named_struct('a', 1) UNION ALL SELECT NULL", [{"a": 1}, None]),
        (
            "SELECT array(named_struct('a', 1), NULL) UNION ALL SELECT NULL",
            [[{"a": 1}, None], None],
        ),
        ("SELECT map('k', named_struct('a', 1))", [[("k", {"a": 1})]]),
        ("SELECT interval '1-2' year to month", ["INTERVAL '1-2' YEAR TO MONTH"]),
        ("SELECT interval '1 02:03:04' day to second", [dt.timedelta(1, 7384)]),
        ("""SELECT parse_json('{"a":1}')""", ['{"a":1}']),
        ("SELECT time'12:30:00'", [dt.time(12, 30)]),
        ("SELECT X'00ff'", [b"\x00\xff"]),
        ("SELECT NULL", [None]),
        ("SELECT array()", [[]]),
        ("SELECT '😀日'", ["😀日"]),
    ],
)
def test_values_arrive_as_they_are(spark: SparkSession, sql: str, values: list[Any]) -> None:
    assert column(spark, sql) == values


def test_nan_and_null_stay_apart(spark: SparkSession) -> None:
    nan, null = column(spark, "SELECT * FROM VALUES (double('NaN')), (NULL)")

    assert math.isnan(nan)
    assert null is None


def test_columns_of_one_name_keep_their_order(spark: SparkSession) -> None:
    fetched = fetch(spark.sql("SELECT 1 AS a, 'x' AS a, interval '1' month AS `a.b`"), limit=None)

    assert fetched.table.column_names == ["a", "a", "a.b"]
    assert [fetched.table.column(place).to_pylist() for place in range(2)] == [[1], ["x"]]
    assert fetched.types == ("int", "string", "interval month")


def test_one_row_more_is_asked_for_but_not_returned(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id FROM range(5) ORDER BY id DESC")

    assert fetch(rows, limit=4).table.column(0).to_pylist() == [4, 3, 2, 1]
    assert fetch(rows, limit=4).has_more_rows
    assert not fetch(rows, limit=5).has_more_rows
    assert not fetch(rows, limit=None).has_more_rows


def test_a_command_has_no_columns(spark: SparkSession) -> None:
    fetched = fetch(spark.sql("CREATE DATABASE IF NOT EXISTS scratch"), limit=None)

    assert fetched.table == pa.table({})
    assert fetched.types == ()
