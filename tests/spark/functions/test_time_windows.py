# ruff: noqa: E501 - queries are read in one line
"""``window()`` without Spark: what Spark answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over
from tests.spark.functions.rows import OF_TIMES

pytestmark = pytest.mark.usefixtures("interpreted")


def test_windows_are_those_of_spark(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    with over(spark, catalog, OF_TIMES, tmp_path) as both:
        both.same(
            "SELECT window(ts, '5 minutes'), count(*), sum(id) FROM t GROUP BY window(ts, '5 minutes')",
            "SELECT g, window.start, window.end, max(id) FROM t GROUP BY g, window(at, '1 hour')",
            "SELECT window(at, '10 minutes', '3 minutes') w, count(*) n FROM t GROUP BY 1",
            (
                "SELECT window(ts, '10 minutes', '5 minutes') AS w, min(id) FROM t WHERE id > 2 OR "
                "g = 'a' GROUP BY w HAVING count(*) > 1 ORDER BY w.start LIMIT 99"
            ),
            "SELECT window(ts, '1 day', '1 day', '2 hours').start AS s, count(*) FROM t GROUP BY ALL",
            "SELECT id, window(at, '7 seconds', '2 seconds', '1 second') FROM t",
            "SELECT *, window(ts, '1 week') FROM t",
            "SELECT date_format(window.start, 'HH:mm') AS h, count(*) FROM t "
            "GROUP BY window(ts, '1 hour 30 minutes')",
            "SELECT s, count(*) FROM (SELECT window(ts, '1 HOUR').start AS s FROM t) GROUP BY s",
            "SELECT window(day, '12 hours'), count(*) FROM t GROUP BY window(day, '12 hours')",
            "SELECT window(ts, '1 minute', '1 minute', '-20 seconds'), first(id) FROM t "
            "WHERE id = 3 GROUP BY window(ts, '1 minute', '1 minute', '-20 seconds')",
            "SELECT window(ts, '3 hours').start, window.end, count(*) FROM t GROUP BY window(ts, '3 hours')",
            "SELECT count(*) OVER w FROM t WINDOW w AS (ORDER BY id)",
        )
        both.refused(
            "SELECT window(ts, '1 month') FROM t",
            "SELECT window(ts, '5 minutes', '6 minutes') FROM t",
            "SELECT window(ts, '5 minutes'), window(ts, '6 minutes') FROM t",
            "SELECT id FROM t WHERE window(ts, '5 minutes').start > ts",
            "SELECT session_window(ts, '5 minutes'), count(*) FROM t GROUP BY session_window(ts, '5 minutes')",
            "SELECT window(g, '5 minutes') FROM t",
        )
