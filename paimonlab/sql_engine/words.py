"""How functions are written, and those of other databases in the words of Spark's SQL."""

from __future__ import annotations

ELSEWHERE = {
    "iif": "if(condition, a, b)",
    "isnull": "coalesce(a, b), or a IS NULL",
    "getdate": "current_timestamp() or current_date()",
    "sysdate": "current_timestamp() or current_date()",
    "today": "current_date()",
    "str_to_date": "to_date(text, 'yyyy-MM-dd')",
    "to_datetime": "to_timestamp(text)",
    "strftime": "date_format(time, 'yyyy-MM-dd')",
    "strptime": "to_timestamp(text), or to_date(text, 'yyyy-MM-dd')",
    "group_concat": "listagg(text, ',') WITHIN GROUP (ORDER BY text)",
    "listagg": "listagg(text, ',') WITHIN GROUP (ORDER BY text)",
    "string_agg": "listagg(text, ',') WITHIN GROUP (ORDER BY text)",
    "string_split": "split(text, ',')",
    "rand": "TABLESAMPLE (10 ROWS) after a table for some rows, or ORDER BY xxhash64(id)",
    "random": "TABLESAMPLE (10 ROWS) after a table for some rows, or ORDER BY xxhash64(id)",
    "strpos": "instr(text, part)",
    "datesub": "date_sub(day, 7)",
    "convert": "CAST(value AS type)",
    "toyear": "year(day)",
    "tomonth": "month(day)",
    "sumif": "sum(a) FILTER (WHERE condition)",
    "countif": "count_if(condition)",
    "countdistinct": "count(DISTINCT a)",
    "count_distinct": "count(DISTINCT a)",
    "approx_distinct": "count(DISTINCT a), which is exact",
    "approx_count_distinct": "count(DISTINCT a), which is exact",
    "arbitrary": "any_value(a)",
    "array_length": "size(array)",
    "list_aggregate": "aggregate(array, start, (total, one) -> total + one)",
    "list": "collect_list(a)",
    "unnest": "explode(array)",
    "generate_series": "sequence(first, last)",
    "json_extract": "get_json_object(text, '$.name')",
    "json_value": "get_json_object(text, '$.name')",
    "json_extract_string": "get_json_object(text, '$.name')",
    "regexp_matches": "regexp_like(text, pattern)",
    "epoch": "unix_timestamp(time)",
    "date_parse": "to_timestamp(text)",
    "safe_divide": "try_divide(a, b)",
    "div0": "try_divide(a, b)",
    "truncate": "floor(a), or trunc(day, 'MM')",
    "rownum": "row_number() OVER (ORDER BY a)",
    "quantile": "percentile(a, 0.5)",
    "quantile_cont": "percentile(a, 0.5)",
    "stdev": "stddev(a)",
    "nz": "coalesce(a, 0)",
    "make_ym_interval": "n * INTERVAL 1 MONTH, added to a day or time",
    "make_interval": "make_dt_interval(days, hours), or day + make_interval(years, months)",
    "session_window": "window(time, '5 minutes') for spans of one length",
}
"""By name in small letters: what is written instead."""

USES = {
    "substring": "substring(text, begin, length)",
    "substr": "substr(text, begin, length)",
    "left": "left(text, length)",
    "right": "right(text, length)",
    "lpad": "lpad(text, length, '0')",
    "rpad": "rpad(text, length, ' ')",
    "replace": "replace(text, 'old', 'new')",
    "split": "split(text, ',')",
    "split_part": "split_part(text, ',', 1)",
    "instr": "instr(text, 'part')",
    "locate": "locate('part', text)",
    "concat_ws": "concat_ws('-', text, text)",
    "trim": "trim(text)",
    "upper": "upper(text)",
    "lower": "lower(text)",
    "length": "length(text)",
    "round": "round(number, 2)",
    "floor": "floor(number)",
    "ceil": "ceil(number)",
    "abs": "abs(number)",
    "power": "power(number, 2)",
    "mod": "mod(integer, 7)",
    "year": "year(day)",
    "month": "month(day)",
    "day": "day(day)",
    "hour": "hour(time)",
    "to_date": "to_date(text, 'dd.MM.yyyy')",
    "to_timestamp": "to_timestamp('2026-01-31 12:00:00')",
    "to_char": "date_format(time, 'yyyy-MM-dd'), or format_number(number, 2)",
    "to_varchar": "CAST(value AS STRING), or date_format(time, 'yyyy-MM-dd')",
    "date_format": "date_format(time, 'yyyy-MM-dd HH:mm')",
    "date_trunc": "date_trunc('MONTH', time)",
    "trunc": "trunc(day, 'MM')",
    "date_add": "date_add(day, 7)",
    "date_sub": "date_sub(day, 7)",
    "datediff": "datediff(end, begin), or datediff(MONTH, begin, end)",
    "add_months": "add_months(day, 1)",
    "last_day": "last_day(day)",
    "coalesce": "coalesce(a, b, 0)",
    "nullif": "nullif(a, b)",
    "nvl": "nvl(a, b)",
    "regexp_replace": "regexp_replace(text, '[0-9]+', '')",
    "regexp_extract": "regexp_extract(text, '([a-z]+)', 1)",
    "get_json_object": "get_json_object(text, '$.name')",
    "from_json": "from_json(text, 'id BIGINT, tags ARRAY<STRING>')",
    "json_tuple": "LATERAL VIEW json_tuple(text, 'id', 'name') t AS id, name",
    "hash": "hash(a, b)",
    "xxhash64": "xxhash64(a, b)",
    "array_contains": "array_contains(array, value)",
    "element_at": "element_at(array, 1), or element_at(map, 'key')",
    "size": "size(array)",
    "sum": "sum(number), or sum(CAST(a AS DOUBLE))",
    "avg": "avg(number), or avg(CAST(a AS DOUBLE))",
    "min": "min(a)",
    "max": "max(a)",
    "count": "count(*), or count(DISTINCT a)",
    "median": "median(number)",
    "stddev": "stddev(number)",
    "percentile": "percentile(number, 0.5)",
    "percentile_approx": "percentile(a, 0.5), which is exact",
    "approx_percentile": "percentile(a, 0.5), which is exact",
    "mode": "mode(a), or mode(a, true) for the least of several",
    "row_number": "row_number() OVER (PARTITION BY a ORDER BY b)",
    "rank": "rank() OVER (ORDER BY a DESC)",
    "dense_rank": "dense_rank() OVER (ORDER BY a DESC)",
    "ntile": "ntile(4) OVER (ORDER BY a)",
    "lag": "lag(a, 1) OVER (ORDER BY b)",
    "lead": "lead(a, 1) OVER (ORDER BY b)",
    "first_value": "first_value(a) OVER (ORDER BY b)",
    "last_value": "last_value(a) OVER (ORDER BY b)",
    "window": "window(time, '5 minutes')",
}
"""By name in small letters: an example."""


STATEMENTS = {
    "USE": "Write the database before each table: db.t",
    "ANALYZE": (
        "Write catalog.table('db.t').maintenance.analyze() in Python, or in a shell "
        "paimonlab analyze db.t"
    ),
    "COPY": "Write COPY INTO db.t FROM '/csv' FILE_FORMAT = (TYPE = CSV)",
    "COPY TO": "Write COPY INTO '/csv' FROM db.t FILE_FORMAT = (TYPE = CSV)",
}
"""By first word, of COPY by its direction too: what does what the statement is for."""


PARTS = {
    "TABLESAMPLE": "Write TABLESAMPLE (10 ROWS) for some rows, or WHERE id % 100 < 10 for a part",
    "REPLACE": "Write DROP TABLE IF EXISTS db.t; CREATE TABLE db.t AS SELECT …",
}
"""By the part of a statement that is refused: what is written instead."""


def written(name: str) -> str:
    """Say how a function is written; empty if that is not known."""
    if name in ELSEWHERE:
        return f"Write {ELSEWHERE[name]}"
    return f"Write {USES[name]}" if name in USES else ""
