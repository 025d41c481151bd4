# ruff: noqa: E501 - queries are read in one line
"""Functions of times without Spark: what Spark answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over
from tests.spark.functions.rows import OF_TIMES

pytestmark = pytest.mark.usefixtures("interpreted")


def test_times_are_made_and_counted_as_by_spark(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    with over(spark, catalog, OF_TIMES, tmp_path) as both:
        both.same(
            "SELECT timestamp_seconds(n), timestamp_millis(n), timestamp_micros(n) FROM t",
            "SELECT unix_seconds(at), unix_millis(at), unix_micros(at) FROM t",
            "SELECT date_from_unix_date(id * 1000 - 5000), unix_date(day) FROM t",
            (
                "SELECT make_timestamp(2026, 2, 28, id, 59, 30), make_timestamp_ntz(2024, 2, 29, 1, "
                "2, 3.456789), make_timestamp_ltz(1969, 1, 1, 0, 0, 0), make_timestamp(2026, id + 1, "
                "1, 0, 0, CAST(NULL AS INT)) FROM t WHERE id < 12"
            ),
            (
                "SELECT try_make_timestamp(2026, id, 30, 1, 2, 3), try_make_timestamp_ntz(2026, 1, id "
                "* 3, 24 - id, 0, 59.999999), try_make_timestamp_ltz(2026, 4, 31, 0, 0, 0) FROM t"
            ),
            (
                "SELECT to_timestamp(date_format(ts, 'dd.MM.yyyy HH:mm'), 'dd.MM.yyyy HH:mm'), "
                "try_to_timestamp(concat('2026-02-', 20 + id), 'yyyy-MM-dd'), "
                "try_to_timestamp('2026-02-03T04:05:06', \"yyyy-MM-dd'T'HH:mm:ss\"), "
                "try_to_timestamp('none', 'yyyy-MM-dd'), try_to_timestamp('', 'yyyy/MM/dd'), "
                "try_to_timestamp(g, 'yyyy/MM/dd'), try_to_date('31/02/2026', 'dd/MM/yyyy'), "
                "try_to_date('28/02/2026', 'dd/MM/yyyy'), to_timestamp_ntz('2026-01-02 03:04:05'), "
                "to_timestamp_ltz('2026-01-02', 'yyyy-MM-dd') FROM t"
            ),
            (
                "SELECT from_utc_timestamp(at, 'Asia/Tokyo'), from_utc_timestamp(at, "
                "'Europe/Berlin'), convert_timezone('Europe/Berlin', 'America/New_York', ts), "
                "convert_timezone('Asia/Kolkata', ts) FROM t WHERE year(at) > 1950"
            ),
            "SELECT to_utc_timestamp(at, 'Asia/Tokyo'), to_utc_timestamp(at, 'Europe/Berlin') FROM t "
            "WHERE year(at) > 1950",
            (
                "SELECT to_utc_timestamp(timestamp_seconds(1774742400 + 900 * id), 'Europe/Berlin'), "
                "to_utc_timestamp(timestamp_seconds(1792886400 + 900 * id), 'Europe/Berlin') FROM t"
            ),
            (
                "SELECT date_format(at, 'hh:mm:ss a'), date_format(ts, 'h.m.s.SSS'), date_format(ts, "
                "'SSSSSS'), date_format(day, 'D DDD') FROM t"
            ),
            "SELECT current_timezone(), localtimestamp() > TIMESTAMP_NTZ '2026-01-01 00:00:00' FROM t",
        )
        both.refused(
            "SELECT make_timestamp(2026, 2, 30, 0, 0, 0)",
            "SELECT timestamp_seconds(9223372036854775807)",
            "SELECT to_timestamp('2026-1-2', 'yyyy-MM-dd')",
            "SELECT try_to_timestamp('2026-1-2', 'yyyy-MM-dd')",
            "SELECT to_timestamp('12:00', 'HH:mm')",
            "SELECT from_utc_timestamp(at, 'EST') FROM t",
        )
