# ruff: noqa: E501 - queries are read in one line
"""Conversions, and parts of texts at computed places, without Spark: what Spark answers."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over
from tests.spark.functions.rows import NESTED
from tests.spark.functions.test_numbers_and_texts import ROWS

pytestmark = pytest.mark.usefixtures("interpreted")

_RNG = random.Random(11)
FORMATS = (
    "999",
    "000",
    "S999",
    "999S",
    "MI999",
    "999MI",
    "9,999.99",
    "0G999D00",
    "$99.9",
    "S$0,000",
    "99,99,9",
    "S00000",
    "999999.99",
    ".99",
    "9.",
    "S9.",
    "9.MI",
    "0,999S",
    "9,0,9",
)
NUMBERS = (
    "0",
    "1",
    "-1",
    "12",
    "-12",
    "123",
    "1234",
    "-1234",
    "99999",
    "0.5",
    "-0.5",
    "1.25",
    "-12.50",
    "0.05",
    "1234.5",
    "CAST(NULL AS INT)",
    "100.00",
)
DOUBLES = pa.table(
    {
        "d": [
            *(float(f"{_RNG.randrange(10**n)}e{_RNG.randrange(-9, 3)}") for n in range(1, 15)),
            *(float(10**n) for n in range(-9, 18)),
            *(-123456789.0, 1234567.25, 0.001, 0.00099, 9999999.0, 1e7, 2.0**40, None),
        ]
    }
)


def test_casts(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT CAST(string(m) AS DECIMAL(9, 2)), CAST(string(m) AS DECIMAL(5, 1)), CAST('.5' AS DECIMAL(5, 0)), CAST(' 12 ' AS DECIMAL(5, 1)), CAST('-1.255' AS DECIMAL(5, 2)) FROM t",
            "SELECT CAST('12345' AS DECIMAL(3, 1))",
            "SELECT CAST('99.96' AS DECIMAL(3, 1))",
            "SELECT try_cast(v AS DECIMAL(9, 1)), try_cast('123' AS DECIMAL(3, 1)), try_cast('' AS DECIMAL(3, 1)) FROM t",
            "SELECT CAST(d AS DECIMAL(9, 3)), CAST(d AS DECIMAL(20, 12)), CAST(e AS DECIMAL(9, 3)), CAST(d / 1000000 AS DECIMAL(20, 14)), CAST(d / 1000000 AS DECIMAL(10, 4)), CAST(b AS DECIMAL(3, 1)), CAST(CAST(x AS DOUBLE) * 10000000000000 AS DECIMAL(38, 2)) FROM t",
            "SELECT CAST(1.5e20 AS DECIMAL(20, 2))",
            "SELECT CAST(m AS BOOLEAN), CAST(e AS BOOLEAN), CAST(string(b) AS BOOLEAN), CAST(' Yes ' AS BOOLEAN), CAST('N' AS BOOLEAN), try_cast('maybe' AS BOOLEAN), try_cast('' AS BOOLEAN) FROM t",
            "SELECT CAST(x * 100000 AS TIMESTAMP), timestamp(id), float(s), decimal(s), decimal('3'), CAST('2026-01-31 12:00:00' AS TIMESTAMP_NTZ), CAST(string(DATE '2026-01-01' + s) AS TIMESTAMP), to_timestamp('2026-01-31T12:00:00.5-03:30') FROM t",
            "SELECT CAST(timestamp_millis(x * 1001) AS BIGINT), CAST(timestamp_millis(-id) AS DOUBLE), CAST(timestamp_millis(-id) AS INT) FROM t",
            "SELECT unix_timestamp('2026-01-31 12:00:00'), unix_timestamp('31.01.2026', 'dd.MM.yyyy'), to_unix_timestamp('2026-01-31', 'yyyy-MM-dd')",
            "SELECT to_date('1/2/2026', 'M/d/yyyy'), to_date('31.12.2026', 'd.M.yyyy'), to_timestamp('2026-1-2 3:04', 'yyyy-M-d H:mm'), try_to_timestamp('13/40/2026', 'M/d/yyyy')",
            "SELECT to_number('454', '999'), to_number('12,454.8', '99,999.9'), to_number('$78.12', '$99.99'), to_number(NULL, '9')",
            "SELECT to_number('454', '000'), to_number('-12.5', 'S99.9'), to_number('+7', 'S9'), to_number('12-', '99MI'), to_number('1,234.5', '9G999D99'), to_number('7', '9,999'), to_number(',7', '9,999'), to_number('.5', '9.9'), to_number('5.', '9.9'), to_number('$1', 'S$9'), to_number('-0', 'MI9'), to_number('0,007', '0,999')",
            "SELECT try_to_number('1234', '999'), try_to_number('1x', '99'), try_to_number('12', '000'), try_to_number('1.23', '9.9'), try_to_number('1,2', '99')",
            *(
                f"SELECT to_char(x, '{one}'), to_char(m, '{one}'), to_char(s, '{one}'), to_char(id, '{one}') FROM t"
                for one in FORMATS
            ),
            *(
                f"SELECT {', '.join(f'to_char({number}, {one!r})' for number in NUMBERS)}"
                for one in FORMATS
            ),
            "SELECT to_char(DATE '2026-01-31', 'yyyy/MM'), to_varchar(timestamp_seconds(x), 'HH:mm') FROM t",
        )
        both.refused(
            "SELECT CAST('1e3' AS DECIMAL(5, 0))",
            "SELECT CAST('٣' AS DECIMAL(5, 0))",
            "SELECT to_char(12, '999PR')",
            "SELECT to_char(1.5D, '9.9')",
            "SELECT to_number(' 12', '99')",
        )


def test_doubles_are_written_as_by_java(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    with over(spark, catalog, DOUBLES, tmp_path) as both:
        both.same(
            "SELECT CAST(d AS STRING), CAST(-d AS STRING), 1e7, -1.5e-7, 12e9 FROM t",
            "SELECT to_json(struct(d AS `n m`, d > 1 AS b)) FROM t",
        )
        both.refused("SELECT CAST(1e23 AS STRING)", "SELECT CAST(1e5 / 3e-5 AS STRING)")


def test_places_and_lengths_are_computed(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT substring(v, s, s), substring(v, s), substring(v, -3, 2), substring(v, id % 4, 2), substring(v, -9, id % 12), substr(v, 2, -1) FROM t",
            "SELECT left(v, s), right(v, s), repeat(v, s), lpad(v, s, g), rpad(v, id % 7, v), lpad(v, 5, ''), rpad(v, s) FROM t",
            "SELECT replace(v, g, 'x'), replace(v, v), replace(v, '', 'y'), replace(v, substring(v, 1, 1), g), instr(v, g), instr(g, v), locate(v, g), instr(v, '') FROM t",
            "SELECT concat_ws('|', v, id, m, b, DATE '2026-01-31', TIMESTAMP '2026-01-31 12:00:00'), upper(timestamp_seconds(id)), length(TIMESTAMP_NTZ '2026-01-31 12:00:00.5') FROM t",
        )


def test_addresses(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    parts = ["PROTOCOL", "HOST", "PATH", "QUERY", "REF", "FILE", "AUTHORITY", "USERINFO"]
    every = ", ".join(f"parse_url(u, '{part}')" for part in parts)
    urls = [
        "http://a.com", "https://me:pw@Example.com:8080/a/b.html?x=1&y=%20z#top", "ftp://1.2.3.4/",
        "http://h/p?xx=2&x=3", None, "http://h.de?x=5", "http://h.de/a#r?x=1", "HTTP://me@h/?x",
        "http://a.com/p?", "http://a.com/p#",
    ]  # fmt: skip
    with over(spark, catalog, pa.table({"u": urls}), tmp_path) as both:
        both.same(
            f"SELECT {every} FROM t",
            "SELECT parse_url(u, 'QUERY', 'x'), parse_url(u, 'HOST', 'x'), try_parse_url(u, 'QUERY', 'y') FROM t",
            "SELECT url_decode(url_encode(u)), try_url_decode(u), url_decode('a+b%20%C3%A9%F0%9F%98%80%e2%82%ac') FROM t",
        )
        both.refused(
            "SELECT parse_url('no address', 'HOST')",
            "SELECT parse_url('http://a b.de', 'HOST')",
            "SELECT url_decode('%zz')",
            "SELECT url_decode('%C0%80')",
        )


def test_other_functions(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT acosh(s), asinh(x), asinh(e), atanh(s / 9), atanh(e), expm1(d), expm1(1e-10), log1p(d), log1p(e), log1p(x), log1p(1e-10), hypot(x, s), hypot(e, e), ceiling(d), ceiling(m) FROM t",
            "SELECT extract(SECOND FROM timestamp_millis(x)), date_part('YEAROFWEEK', DATE '2026-01-01' + id), extract(YEAROFWEEK FROM DATE '2024-12-30') FROM t",
            "SELECT sequence(DATE '2026-01-31', DATE '2026-06-15', INTERVAL 1 MONTH), sequence(DATE '2026-01-20' + s, DATE '2026-03-01', INTERVAL 2 WEEKS), sequence(DATE '2024-02-29', DATE '2030-01-01', INTERVAL 1 YEAR) FROM t",
            "SELECT sequence(DATE '2026-01-01', DATE '2026-01-10', INTERVAL 3 DAYS), sequence(TIMESTAMP_NTZ '2026-01-01 00:00:00', TIMESTAMP_NTZ '2026-01-01 03:30:00', INTERVAL 1 HOUR), sequence(timestamp_seconds(0), timestamp_seconds(id), INTERVAL 7 SECONDS) FROM t",
            "SELECT sequence(DATE '2026-02-01', DATE '2026-01-01', INTERVAL 1 MONTH)",
            "SELECT struct(id + 1 AS a, v), struct(s AS `b c`, struct(m AS x) AS y).y.x FROM t",
        )
    with over(spark, catalog, NESTED, tmp_path) as both:
        both.same(
            "SELECT map_zip_with(k, map('a', 5, 'q', id), (a, b, c) -> coalesce(b, 0) % 99 + coalesce(c, 100)) FROM t",
            "SELECT map_zip_with(m, m, (a, b, c) -> concat(b, c, a)), map_zip_with(k, k, (a, b, c) -> a) FROM t",
            "SELECT transform(n, x -> size(map_zip_with(k, k, (a, b, c) -> b))) FROM t",
        )
