# ruff: noqa: E501 - queries are read in one line
"""Functions of times where the clock is not that of UTC: what Spark answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.functions.comparing import over

pytestmark = pytest.mark.usefixtures("interpreted")

_CHANGES = {
    "Europe/Berlin": (datetime(2026, 3, 29, 1), datetime(2026, 10, 25, 1)),
    "Australia/Lord_Howe": (datetime(2026, 4, 4, 15), datetime(2026, 10, 3, 15, 30)),
    "Pacific/Apia": (datetime(2011, 12, 30, 10), datetime(2026, 1, 1, 11)),
}
"""When clocks are put forward or back, in UTC: by half an hour on Lord Howe; Apia left out a day."""
QUERIES = (
    "SELECT {parts_at} FROM t",
    "SELECT dayofweek(at), weekday(at), hour(at), minute(at), second(at), extract(DOW FROM at), date_part('HOUR', at), last_day(at) FROM t",
    "SELECT date_trunc('second', at), date_trunc('minute', at), date_trunc('hour', at), date_trunc('day', at), date_trunc('week', at), date_trunc('month', at), date_trunc('quarter', at), date_trunc('year', at) FROM t",
    "SELECT date_trunc('hour', ts), date_trunc('day', ts), date_trunc('day', day), trunc(at, 'MM'), trunc(ts, 'week') FROM t",
    "SELECT date_format(at, 'yyyy-MM-dd HH:mm:ss'), date_format(at, 'EEE d MMM, hh a'), date_format(ts, 'HH:mm'), date_format(day, 'yyyy-MM-dd HH') FROM t",
    "SELECT CAST(at AS STRING), CAST(at AS DATE), CAST(at AS TIMESTAMP_NTZ), CAST(ts AS STRING), CAST(day AS STRING) FROM t",
    "SELECT CAST(ts AS TIMESTAMP), CAST(day AS TIMESTAMP), to_timestamp(ts), to_timestamp(day), to_timestamp(at) FROM t",
    "SELECT to_date(at), date(at), to_date(ts) FROM t",
    "SELECT to_timestamp(CAST(ts AS STRING)), to_timestamp(CAST(day AS STRING)), to_timestamp(date_format(ts, 'dd.MM.yyyy HH:mm'), 'dd.MM.yyyy HH:mm') FROM t",
    "SELECT try_to_timestamp(CAST(ts AS STRING)), try_to_timestamp(date_format(ts, 'yyyy/MM/dd'), 'yyyy/MM/dd'), to_timestamp_ntz(CAST(ts AS STRING)), to_timestamp_ltz(CAST(ts AS STRING)) FROM t",
    "SELECT unix_timestamp(at), unix_timestamp(day), to_unix_timestamp(at), unix_seconds(at), unix_millis(at), unix_micros(at), unix_date(day) FROM t",
    "SELECT unix_timestamp(ts) FROM t",
    "SELECT from_unixtime(n), from_unixtime(n, 'yyyy-MM-dd HH'), timestamp_seconds(n), timestamp_millis(n), timestamp_micros(n) FROM t",
    "SELECT make_timestamp(2026, 3, id + 1, 2, 30, 15.5), make_timestamp_ntz(2026, 3, 29, 2, 30, 0), make_timestamp_ltz(2026, 10, 25, 2, 30, id), try_make_timestamp(2026, 3, 8, 2, 30, 0) FROM t WHERE id < 20",
    "SELECT from_utc_timestamp(at, 'Asia/Tokyo'), to_utc_timestamp(at, 'Asia/Tokyo'), from_utc_timestamp(at, 'America/New_York'), to_utc_timestamp(at, 'America/New_York') FROM t",
    "SELECT convert_timezone('Europe/Berlin', 'America/New_York', ts), convert_timezone('Asia/Kolkata', ts), current_timezone() FROM t",
    "SELECT at + INTERVAL 1 HOUR, at + INTERVAL 1 DAY, at - INTERVAL 1 MONTH, at + INTERVAL 2 YEARS, at - INTERVAL 90 MINUTES, ts + INTERVAL 1 DAY, day + INTERVAL 1 DAY FROM t",
    "SELECT day + INTERVAL 3 HOURS, dateadd(HOUR, 5, at), dateadd(DAY, 1, at), dateadd(MONTH, 1, at), timestampadd(MINUTE, 30, at) FROM t",
    "SELECT datediff(at, day), datediff(DAY, ts, at), datediff(HOUR, ts, at), datediff(WEEK, day, at), timestampdiff(MINUTE, at, ts) FROM t",
    "SELECT months_between(at, ts), months_between(at, day), months_between(day, ts), add_months(at, 1), date_add(at, 1), date_sub(ts, 1), next_day(at, 'MON'), dayname(at), monthname(at), last_day(ts) FROM t",
    "SELECT at = ts, at < ts, at >= day, at BETWEEN day AND ts, at > '2026-03-29 02:30:00', at = TIMESTAMP '2026-10-25 02:30:00', greatest(at, CAST(ts AS TIMESTAMP)) FROM t",
    "SELECT coalesce(at, CAST(ts AS TIMESTAMP)), if(id % 2 = 0, at, CAST(day AS TIMESTAMP)), nullif(at, CAST(ts AS TIMESTAMP)) FROM t",
    "SELECT CAST(at AS DATE) d, count(*), min(at), max(at) FROM t GROUP BY CAST(at AS DATE)",
    "SELECT sequence(day, date_add(day, 2)) FROM t",
    "SELECT window(at, '1 hour'), count(*) FROM t GROUP BY window(at, '1 hour')",
    "SELECT window(ts, '1 day', '12 hours', '1 hour'), count(*) FROM t GROUP BY 1",
    "SELECT id, max(at) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM t",
    "SELECT id, count(*) OVER (ORDER BY at RANGE BETWEEN INTERVAL 90 MINUTES PRECEDING AND CURRENT ROW), at + make_dt_interval(1, 3, 0, 0.5), day + make_dt_interval(0, 26), at - make_interval(0, 1, 0, 1, 2), ts + make_interval(0, 0, 0, 1) FROM t",
    "SELECT concat(day, '!'), hash(at), hash(ts), xxhash64(at, day) FROM t",
    "SELECT TIMESTAMP '2026-03-29 02:30:00', TIMESTAMP '2026-10-25 02:30:00', TIMESTAMP_NTZ '2026-03-29 02:30:00', TIMESTAMP_LTZ '2011-12-30 12:00:00', DATE '2026-03-29'",
    "SELECT id FROM t WHERE at >= '2026-03-29' AND at < '2026-10-26' OR year(at) = 2011",
    "SELECT to_json(struct(day, at, ts)) FROM t",
    "SELECT concat(at, '!'), concat_ws('|', day, ts, at), length(at), upper(ts), CAST(at AS BIGINT), CAST(n AS TIMESTAMP), timestamp(ts), CAST(CAST(ts AS STRING) AS TIMESTAMP), CAST(CAST(ts AS STRING) AS TIMESTAMP_NTZ) FROM t",
    "SELECT from_utc_timestamp(ts, 'Asia/Tokyo'), to_utc_timestamp(day, 'Asia/Tokyo'), unix_timestamp(date_format(ts, 'yyyy-MM-dd HH:mm'), 'yyyy-MM-dd HH:mm'), to_timestamp('2026-03-29T02:30:00Z'), CAST('2026-03-29 02:30:00+05:30' AS TIMESTAMP), extract(SECOND FROM ts), to_char(at, 'yyyy-MM-dd HH') FROM t",
    "SELECT array(at), named_struct('a', at, 'd', CAST(at AS DATE)), map('a', at) FROM t",
    "SELECT at + INTERVAL 24 HOURS, at + INTERVAL 25 HOURS, at - INTERVAL 1 WEEK, dateadd(HOUR, 49, at), dateadd(YEAR, -1, at), dateadd(DAY, 1, day), dateadd(HOUR, 3, day), dateadd(HOUR, 26, ts) FROM t",
    "SELECT at IN (ts, day), coalesce(at, ts), coalesce(day, at), array(at, ts), CASE WHEN id = 3 THEN day ELSE at END FROM t",
    "SELECT ts FROM t UNION ALL SELECT at FROM t",
    "SELECT a.id FROM t a JOIN t b ON a.at = b.ts AND a.day <= b.at",
)
"""Every function of times, and what else shows what a clock says."""
_PARTS = ["year", "month", "day", "quarter", "dayofyear", "weekofyear", "dayofmonth"]


def rows(zone: str) -> pa.Table:
    """Return times around changes of the clocks, of long ago, of the epoch, and none."""
    times: list[datetime | None] = [
        change + timedelta(minutes=15 * n, microseconds=n)
        for change in _CHANGES[zone]
        for n in range(-7, 8)
    ]
    times += [change + timedelta(days=n) for change in _CHANGES[zone] for n in (-1, 1)]
    times += [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), None]
    return pa.table(
        {
            "id": pa.array(range(len(times)), pa.int32()),
            "n": pa.array([t and int(t.replace(tzinfo=UTC).timestamp()) for t in times]),
            "ts": pa.array(times, pa.timestamp("us")),
            "at": pa.array([t and t.replace(tzinfo=UTC) for t in times], pa.timestamp("us", "UTC")),
            "day": pa.array([t and date(t.year, t.month, t.day) for t in times]),
        }
    )


@pytest.fixture(params=sorted(_CHANGES))
def zone(
    request: pytest.FixtureRequest, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Let the clocks of this process and of Spark's session be elsewhere."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    monkeypatch.undo()
    time.tzset()


def test_clocks_elsewhere_show_what_they_show_in_spark(
    zone: str, spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    parts = ", ".join(f"{part}(at), {part}(ts)" for part in _PARTS)
    with over(spark, catalog, rows(zone), tmp_path) as both:
        both.same(*(query.replace("{parts_at}", parts) for query in QUERIES))
