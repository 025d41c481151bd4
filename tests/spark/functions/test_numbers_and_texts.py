# ruff: noqa: E501 - queries are read in one line
"""Statistics, functions of bits, numbers and texts without Spark: what Spark answers."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over

pytestmark = pytest.mark.usefixtures("interpreted")

_COUNT = 60
_RNG = random.Random(7)
_TEXTS = ["Ab-1 zZ", "", "é", None, "a'b\\c", "x~*%/ +", "0042", "\U0001f600a1", "abcabc"]
ROWS = pa.table(
    {
        "id": pa.array(range(_COUNT), pa.int32()),
        "g": [("p", "q", "r", "one", "none")[min(n % 7, 3)] if n < 50 else "none" for n in range(_COUNT)],
        "i": pa.array([_RNG.choice((-128, 127, -1, 0, 5)) for _ in range(_COUNT)], pa.int8()),
        "s": pa.array([None if n % 5 == 4 else _RNG.randrange(-9, 9) for n in range(_COUNT)], pa.int32()),
        "x": pa.array([None if n >= 50 else n * n * (-1) ** n for n in range(_COUNT)], pa.int64()),
        "big": pa.array([(-1) ** n * (2**62 + n) for n in range(_COUNT)], pa.int64()),
        "d": [None if n >= 50 else _RNG.uniform(-2, 7) for n in range(_COUNT)],
        "e": [(1.5, float("nan"), float("inf"), -0.0, None, -3.0)[n % 6] for n in range(_COUNT)],
        "m": pa.array([Decimal(_RNG.randrange(-9999, 9999)) / 100 for _ in range(_COUNT)], pa.decimal128(9, 2)),
        "v": [_TEXTS[n % len(_TEXTS)] for n in range(_COUNT)],
        "b": [None if n % 4 == 3 else n % 2 == 0 for n in range(_COUNT)],
    }
)  # fmt: skip


def test_statistics(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT g, skewness(x), kurtosis(x), skewness(d), kurtosis(m) FROM t GROUP BY g",
            "SELECT skewness(e), kurtosis(e) FROM t WHERE id % 6 IN (0, 5) AND id <> 0",
            "SELECT skewness(e), kurtosis(e) FROM t",
            "SELECT skewness(x), kurtosis(d) FROM t WHERE id < 0",
            "SELECT kurtosis(5), skewness(0.1), skewness(CAST(NULL AS INT)) FROM t",
            (
                "SELECT g, regr_count(x, s), regr_avgx(x, s), regr_avgy(x, s), regr_sxx(x, s), "
                "regr_syy(x, s), regr_sxy(x, s) FROM t GROUP BY g"
            ),
            "SELECT g, regr_slope(x, s), regr_intercept(d, s), regr_r2(m, x) FROM t GROUP BY g",
            (
                "SELECT s, regr_slope(1, s), regr_r2(1, s), regr_r2(s, 1), regr_slope(s, x), regr_r2(7, "
                "x), regr_intercept(3, x) FROM t GROUP BY s"
            ),
            "SELECT regr_count(x, s), regr_sxx(x, s), regr_slope(x, s), regr_avgx(x, s) FROM t WHERE id < 0",
            "SELECT g, mode(g), mode(s, true), mode(v, true), mode(m, true), mode(b, true) FROM t GROUP BY g",
            "SELECT mode(i) FROM VALUES (1), (2), (2), (NULL) AS q(i)",
            "SELECT g, try_sum(s), try_avg(s), try_sum(d), try_avg(d), try_sum(i) FROM t GROUP BY g",
            "SELECT percentile(x, array(0.25, 0.5, 1)), percentile(d, array(0.1))[0] FROM t GROUP BY g",
            (
                "SELECT g, percentile_approx(x, 0.5), approx_percentile(d, 0.9), percentile_approx(s, "
                "0.0), percentile_approx(i, 1.0), percentile_approx(DATE '2026-01-01' + s, 0.3) "
                "FROM t GROUP BY g"
            ),
            "SELECT id, skewness(d) OVER (PARTITION BY g), regr_slope(x, s) OVER (ORDER BY id) FROM t",
            "SELECT regr_sxy(x, s) FILTER (WHERE id < 30), kurtosis(x) FILTER (WHERE g = 'p') FROM t",
        )
        both.refused(
            "SELECT mode(i) FROM VALUES (1), (2) AS q(i)",
            "SELECT try_sum(big) FROM t",
            "SELECT percentile_approx(big, 0.5) FROM t",
            "SELECT percentile_approx(id, 0.5) FROM range(6000) AS q(id)",
            "SELECT mode(d) FROM t",
        )


def test_numbers(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT shiftleft(s, 3), shiftleft(i, 30), shiftleft(big, 2), shiftleft(big, 30) FROM t",
            "SELECT shiftright(big, 2), shiftrightunsigned(s, 3), shiftrightunsigned(big, 1), shiftrightunsigned(s, 0) FROM t",
            "SELECT bit_get(s, 31), getbit(big, 62), bit_get(i, 7), bit_get(s, 0) FROM t",
            "SELECT asin(s / 9.0), acos(s), asin(d), sinh(s), cosh(d), tanh(x), cot(d), sec(s), csc(d) FROM t",
            "SELECT nanvl(e, 7), nanvl(e, d), negative(s), negative(m), positive(d), try_mod(x, s), try_mod(5, 0) FROM t",
            "SELECT negative(CAST(-2147483648 AS INT))",
        )
        both.refused("SELECT shiftleft(s, id) FROM t", "SELECT bit_get(s, 32) FROM t")


def test_texts(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, ROWS, tmp_path) as both:
        both.same(
            "SELECT character_length(v), len(v), len(m), position('a', v), url_encode(v), quote(v) FROM t",
            "SELECT mask(v), mask(v, 'Q'), mask(v, 'Q', NULL), mask(v, NULL, 'q', 'd'), mask(g, NULL, NULL, NULL) "
            "FROM t WHERE octet_length(v) = length(v)",
            "SELECT unhex(hex(v)), unhex('4a4B'), encode(v, 'UTF-8') FROM t",
            "SELECT regexp_instr(v, '[0-9]+'), regexp_instr(v, 'bc|z'), regexp_count(s, '[0-9]') FROM t "
            "WHERE id % 9 <> 7",
        )
        both.refused(
            "SELECT mask('é')",
            "SELECT unhex('abc')",
            "SELECT regexp_instr('\U0001f600a', 'a')",
            "SELECT mask('a', 'x', 'x', 'x', '-')",
        )
