"""Expressions of updates have the values, types and errors that Spark gives them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_type

from paimonlab.errors import PaimonError
from paimonlab.write.expressions.sql import parse_expression

pytestmark = pytest.mark.usefixtures("interpreted")

ROWS = pa.record_batch(
    {
        "t": pa.array([1, -7, None, 100, 0], pa.int8()),
        "i": pa.array([3, None, 2147483647, -8, 0], pa.int32()),
        "l": pa.array([10, 4, None, 2**60, -3], pa.int64()),
        "f": pa.array([0.5, None, float("nan"), -1.25, 3.0], pa.float32()),
        "d": pa.array([1.5, -2.25, float("nan"), None, 0.0], pa.float64()),
        "m": pa.array(
            [Decimal(x) if x else None for x in ("1.25", "-3.05", None, "99.99", "0.00")],
            pa.decimal128(12, 2),
        ),
        "w": pa.array(
            [Decimal("1.1"), None, Decimal("-7.0"), Decimal("3.3"), Decimal("2.5")],
            pa.decimal128(38, 10),
        ),
        "s": pa.array(["abc", None, "Straße", " 12 ", ""], pa.string()),
        "b": pa.array([True, False, None, True, False]),
        "day": pa.array(
            [
                dt.date(2024, 2, 29),
                None,
                dt.date(1969, 12, 31),
                dt.date(2000, 1, 1),
                dt.date(1, 1, 1),
            ]
        ),
    }
)

SAME = [
    "year(day)",
    "month(day)",
    "day(day)",
    "dayofmonth(day)",
    "length(s)",
    "char_length(s)",
    "length(i)",
    "trim(s)",
    "ltrim(s)",
    "rtrim(s)",
    "trim(LEADING FROM s)",
    "trim(TRAILING FROM s)",
    "substring(s, 2)",
    "substring(s, 2, 3)",
    "substring(s, 0, 2)",
    "substring(s, -3, 2)",
    "substring(s, -3, 5)",
    "substring(s, -10, 5)",
    "substring(s, -2)",
    "substr(s, 1, 0)",
    "substring(s, 1, -1)",
    "substring(l, 1, 2)",
    "abs(t)",
    "abs(l)",
    "abs(f)",
    "abs(d)",
    "abs(m)",
    "s ILIKE 'STRA%'",
    "s ILIKE '%B_'",
    "lower(s) = 'abc'",
    "t - t",
    "t + i",
    "l - t",
    "i - 1",
    "t * 2",
    "i / 2",
    "l / 4",
    "t % 3",
    "l % 4",
    "-d % 2",
    "f + t",
    "f * 2",
    "f + f",
    "d + l",
    "d * 1.1",
    "m + 1",
    "m * 1.1",
    "m * m",
    "m / 3",
    "m / m2",
    "m - w",
    "w * 1.5",
    "w / 7",
    "w + w",
    "l * 1.5",
    "i * 1.05",
    "t / 3.0",
    "1.5",
    "-1.5e0",
    "2147483648",
    "-2147483648",
    "0.00",
    "NULL",
    "'a' || 'b'",
    "s || i",
    "concat(s, '-', t, '-', m)",
    "concat(d, '/', f)",
    "concat(b, day)",
    "upper(s)",
    "lower(s)",
    "coalesce(i, t, 7)",
    "coalesce(m, 0)",
    "coalesce(s, 'none')",
    "CASE WHEN i > 0 THEN 'up' WHEN i < 0 THEN 'down' END",
    "CASE WHEN i > 0 THEN i ELSE l END",
    "CASE t WHEN 1 THEN 1.5 WHEN 100 THEN 2 ELSE 0 END",
    "CASE WHEN l = 0 THEN 0 ELSE 100 / l END",
    "CASE WHEN i = 0 THEN 0 ELSE 1 / i END",
    "IF(b, s, upper(s))",
    "nullif(t, 1)",
    "ifnull(i, 0)",
    "nvl(s, 'x')",
    "CASE WHEN d = d THEN 1 ELSE 0 END",
    "CASE WHEN d > 1 THEN 1 ELSE 0 END",
    "CASE WHEN f < d THEN 1 ELSE 0 END",
    "CASE WHEN d <=> f THEN 1 ELSE 0 END",
    "b AND i > 0",
    "b OR i > 0",
    "NOT b",
    "i BETWEEN 0 AND 5",
    "i IN (0, 3, NULL)",
    "s LIKE 'a%'",
    "s IS NULL",
    "s IS NOT NULL AND b IS TRUE",
    "m > w",
    "t = l",
    "CAST(t AS BIGINT)",
    "CAST(m AS INT)",
    "CAST(m AS DECIMAL(5, 1))",
    "CAST(i AS STRING)",
    "CAST(m AS STRING)",
    "CAST(d AS STRING)",
    "CAST('12' AS INT) + i % 10",
    "CAST(' 1.25 ' AS DECIMAL(4, 1))",
    "CAST('2024-02-29' AS DATE)",
    "CAST(day AS STRING)",
    "CAST(b AS INT)",
    "CAST(i AS BOOLEAN)",
    "CAST(0.5e0 AS DECIMAL(3, 0))",
    "DATE '2024-01-01'",
    "day > DATE '2000-01-01'",
]
ERRORS = [
    "i + i",
    "i + 1",
    "t * t",
    "i * 2147483647",
    "l * l",
    "1 / i",
    "i % 0",
    "m / 0",
    "CAST(s AS INT)",
    "CAST(i AS TINYINT)",
    "CAST(d AS INT)",
    "CAST(m AS DECIMAL(3, 2))",
    "CAST('x' AS DATE)",
    "CAST('1e400' AS DECIMAL(5, 1))",
]


def rows_with_divisors() -> pa.RecordBatch:
    divisors = pa.array(
        [Decimal("0.03"), Decimal("7.00"), Decimal("1.00"), None, Decimal("-2.50")],
        pa.decimal128(12, 2),
    )
    return ROWS.append_column("m2", divisors)


@pytest.fixture(scope="module", autouse=True)
def view(spark: SparkSession) -> None:
    rows = pa.Table.from_batches([rows_with_divisors()])
    spark.createDataFrame(rows).coalesce(1).createOrReplaceTempView("expressions")


@pytest.fixture(scope="module")
def sparks(spark: SparkSession) -> dict[str, tuple[pa.DataType, list[str]]]:
    """Return the type and the values of each expression in Spark: all are asked in one query."""
    named = ", ".join(f"{text} AS x{place}" for place, text in enumerate(SAME))
    asked = spark.sql(f"SELECT {named} FROM expressions")
    types = [to_arrow_type(field.dataType) for field in asked.schema]
    columns = asked.toArrow().columns
    return {
        text: (type_, shown(column))
        for text, type_, column in zip(SAME, types, columns, strict=True)
    }


@pytest.mark.parametrize("text", SAME)
def test_a_value_is_what_spark_makes_of_it(
    text: str, sparks: dict[str, tuple[pa.DataType, list[str]]]
) -> None:
    rows = rows_with_divisors()

    ours = parse_expression(text, rows.schema, "db.t")

    assert (ours.type, shown(ours.evaluate(rows))) == sparks[text]


@pytest.mark.parametrize("text", ERRORS)
def test_what_is_an_error_in_spark_is_one_here(text: str, spark: SparkSession) -> None:
    rows = rows_with_divisors()
    with pytest.raises(PySparkException):
        spark.sql(f"SELECT {text} AS x FROM expressions").collect()

    with pytest.raises(PaimonError):
        parse_expression(text, rows.schema, "db.t").evaluate(rows)


def shown(values: Any) -> list[str]:
    return [repr(value) for value in values.to_pylist()]
