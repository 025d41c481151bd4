# ruff: noqa: E501 - queries are read in one line
"""Functions that take a function without Spark: what Spark answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over
from tests.spark.functions.rows import NESTED

pytestmark = pytest.mark.usefixtures("interpreted")


def test_functions_of_arrays_and_maps(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    with over(spark, catalog, NESTED, tmp_path) as both:
        both.same(
            "SELECT transform(w, (x, i) -> concat(x, ' v1 ', i)), filter(n, (x, i) -> i > 0) FROM t",
            "SELECT filter(w, (x, i) -> x IS NULL OR i = id), transform(n, (v0, v1) -> v0 / 2 + v1) FROM t",
            "SELECT zip_with(n, w, (a, b) -> concat(a, b)), zip_with(w, n, (b, a) -> coalesce(b, a || '')) FROM t",
            "SELECT zip_with(n, transform(n, y -> y % 7), (a, b) -> a > b) FROM t",
            "SELECT map_filter(k, (a, b) -> b > 1), map_filter(m, (a, b) -> b <> '' AND a > id) FROM t",
            "SELECT transform_values(k, (a, b) -> concat(a, b)), transform_values(m, (a, b) -> a + 1) FROM t",
            "SELECT transform_keys(k, (a, b) -> concat(a, '-', id)), transform_keys(m, (a, b) -> a % 2) FROM t WHERE id < 3",
            "SELECT transform_keys(map('a', 1, 'b', 2), (a, b) -> 'x')",
            "SELECT transform_keys(map('a', 1), (a, b) -> CAST(NULL AS STRING))",
            (
                "SELECT aggregate(w, 0, (t, x) -> t + length(x)), aggregate(w, '', (t, x) -> t || "
                "coalesce(x, '-')), reduce(n, CAST(0 AS BIGINT), (t, x) -> t + x, t -> t * 10), "
                "aggregate(n, 0, (t, x) -> x, t -> concat('last ', t)) FROM t WHERE id < 5"
            ),
            "SELECT aggregate(n, 1, (t, x) -> t + x) FROM t",
            "SELECT aggregate(n, true, (t, x) -> t AND x > 0), exists(n, x -> x > 3), forall(w, x -> x <> '') FROM t",
            "SELECT map_from_entries(map_entries(k)), map_from_entries(arrays_zip(n, w)) FROM t WHERE id < 0",
            "SELECT l[0].w, named_struct('a', id).a, o.b, element_at(l, 1).w FROM (SELECT id, arrays_zip(w) AS l, named_struct('b', 1) AS o FROM t WHERE id = 1)",
            "SELECT transform(n, x -> transform(w, (y, j) -> x + j)[0]) FROM t WHERE size(w) > 0",
        )
        both.refused(
            "SELECT zip_with(n, w, (a, b) -> NULL) FROM t",
            "SELECT map_filter(k, a -> true) FROM t",
            "SELECT aggregate(n, NULL, (t, x) -> x) FROM t",
        )
