# ruff: noqa: E501 - parts of queries are read in one line
"""Queries made at random over a table of values at the edges of their types."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

E = {
    "id": "INT",
    "a": "DATE",
    "b": "DATE",
    "t": "TIMESTAMP(6)",
    "u": "TIMESTAMP(6)",
    "at": "TIMESTAMP_LTZ(6)",
    "till": "TIMESTAMP_LTZ(6)",
    "x": "DOUBLE",
    "y": "DOUBLE",
    "f": "FLOAT",
    "n": "INT",
    "big": "BIGINT",
    "i": "TINYINT",
    "p": "DECIMAL(38, 18)",
    "q": "DECIMAL(5, 2)",
    "c": "STRING",
    "k": "STRING",
    "o": "BOOLEAN",
}
_DAYS = [
    date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 4), date(1582, 10, 15), date(1600, 2, 29),
    date(1900, 2, 28), date(2000, 2, 29), date(2024, 2, 29), date(1969, 12, 31), date(1970, 1, 1),
    date(2026, 3, 29), date(2025, 12, 29), date(2021, 1, 3), date(2020, 12, 31), date(1999, 1, 31),
]  # fmt: skip
_MOMENTS = [
    datetime(1, 1, 2), datetime(9999, 12, 30, 23, 59, 59, 999999), datetime(1582, 10, 10, 1, 2, 3),
    datetime(1883, 11, 18, 12, 3, 58), datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(1970, 1, 1), datetime(2024, 2, 29, 12, 30), datetime(2026, 3, 29, 1, 30),
    datetime(2026, 3, 29, 0, 59, 59), datetime(2026, 10, 25, 0, 30), datetime(2026, 10, 25, 1, 30),
    datetime(2026, 3, 8, 7, 30), datetime(2026, 11, 1, 5, 30), datetime(2000, 12, 31, 23, 0, 0, 1),
]  # fmt: skip
_DOUBLES = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.5, -1.5, 1e300, 5e-324, 2.5, 1e16, 0.1, 123456.789, -2.5, 9007199254740993.0]  # fmt: skip
_FLOATS = [float("nan"), float("inf"), -0.0, 0.0, 0.1, -1.25, 16777216.0]
_INTS = [2**31 - 1, -(2**31), 0, 1, -1, 7, 2, -7, 1000]
_LONGS = [2**63 - 1, -(2**63), 0, 1, -1, 2**53 + 1, 10**18, -7]
_BYTES = [127, -128, 0, 1, -1, 100]
_WIDE = [
    "99999999999999999999.999999999999999999",
    "-99999999999999999999.999999999999999999",
    "0.000000000000000001",
    "0",
    "1.5",
    "-0.5",
    "12345678901234567890.5",
]
_SMALL = ["999.99", "-999.99", "0.01", "0.00", "-0.05", "0.5", "100", "2.50"]
_TEXTS = [
    "", " ", "a", "A", "ab", "aB c", "\u00e9", "e\u0301", "\u00df", "\u0130", "\u0131", "\U0001f600", "a\U0001f600b", "\u4e2d\u6587", "\u200b",
    "a%b", "a_b", "a\\b", "100%", "tab\there", "line\nfeed", "it's", "x.y.z", "a,b,,c", "  pad  ", "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\uff21", "aaa", "abab", "$1", "(a)", "[b]", "\u00a0a\u00a0",
]  # fmt: skip
_WORDS = [
    "1", " 1 ", "1.0", "abc", "", "1e2", "+5", "-0", "0x10", "Infinity", "NaN", "2147483648", "12 3", "1_000", "2024-02-29",
    "2023-02-29", "2024-2-9", "true", " TRUE ", "f", "yes", ".5", "5.", "1.5D", "9223372036854775808", "-128", "99.999", "2024-02-29 12:30:00", "2024-02-29T12:30:00Z", "1970-01-01 25:00:00", "0001-01-01", "10000-01-01", "\uff11", "1\n",
]  # fmt: skip


def edges(rng: random.Random, count: int = 70) -> pa.Table:
    """Make the rows; a sixth of the values is NULL."""

    def some(
        values: list[object], make: Callable[[object], object] = lambda one: one
    ) -> list[object]:
        return [None if rng.random() < 0.16 else make(rng.choice(values)) for _ in range(count)]

    def texts(values: list[str]) -> list[object]:
        return [
            values[n] if n < len(values) else (None if rng.random() < 0.3 else rng.choice(values))
            for n in range(count)
        ]

    days, moments = list[object](_DAYS), list[object](_MOMENTS)
    zoned = list[object](one.replace(tzinfo=UTC) for one in _MOMENTS)
    return pa.table(
        {
            "id": pa.array(range(count), pa.int32()),
            "a": pa.array(some(days), pa.date32()),
            "b": pa.array(some(days), pa.date32()),
            "t": pa.array(some(moments), pa.timestamp("us")),
            "u": pa.array(some(moments), pa.timestamp("us")),
            "at": pa.array(some(zoned), pa.timestamp("us", "UTC")),
            "till": pa.array(some(zoned), pa.timestamp("us", "UTC")),
            "x": pa.array(some(list[object](_DOUBLES)), pa.float64()),
            "y": pa.array(some(list[object](_DOUBLES)), pa.float64()),
            "f": pa.array(some(list[object](_FLOATS)), pa.float32()),
            "n": pa.array(some(list[object](_INTS)), pa.int32()),
            "big": pa.array(some(list[object](_LONGS)), pa.int64()),
            "i": pa.array(some(list[object](_BYTES)), pa.int8()),
            "p": pa.array(some(list[object](map(Decimal, _WIDE))), pa.decimal128(38, 18)),
            "q": pa.array(some(list[object](map(Decimal, _SMALL))), pa.decimal128(5, 2)),
            "c": pa.array(texts(_TEXTS), pa.string()),
            "k": pa.array(texts(_WORDS), pa.string()),
            "o": pa.array(some([True, False]), pa.bool_()),
        }
    )


class EdgeQueries:
    """Makes queries over ``{e}``."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def query(self) -> str:
        """Return one."""
        makers = [
            *(self._floats, self._dates, self._dates, self._texts, self._texts, self._casts),
            *(self._numbers, self._numbers, self._groups, self._lengths, self._sets),
        ]
        return self._rng.choice(makers)()

    def _one(self, *texts: str) -> str:
        return self._rng.choice(texts)

    def _row(self) -> str:
        """Return a condition that few rows have: an error of one is not that of another."""
        return self._one(
            f" WHERE id = {self._rng.randint(0, 69)}",
            f" WHERE id BETWEEN {(n := self._rng.randint(0, 66))} AND {n + 3}",
        )

    def _listed(self, make: Callable[[], str], most: int = 3) -> str:
        return ", ".join(make() for _ in range(self._rng.randint(1, most)))

    def _floats(self) -> str:
        z = self._one(
            "x",
            "y",
            "f",
            "x",
            "-x",
            "x * 0.0D",
            "abs(x)",
            "coalesce(x, y)",
            "CASE WHEN o THEN x ELSE 0.0D END",
        )
        sign = self._one("=", "<", "<=", ">", ">=", "<>", "<=>")
        return self._one(
            f"SELECT {z} AS z, count(*), min(id) FROM {{e}} GROUP BY {self._one('1', z)}",
            f"SELECT DISTINCT {z} AS z FROM {{e}}",
            f"SELECT CAST(z AS STRING) FROM (SELECT DISTINCT {self._one('x', 'y')} AS z FROM {{e}} WHERE x = 0 OR x <> x OR y < 10)",
            f"SELECT v.id, w.id FROM {{e}} v JOIN {{e}} w ON v.x {self._one('=', '<=>')} w.y",
            f"SELECT v.id, count(w.id) FROM {{e}} v LEFT JOIN {{e}} w ON v.x {sign} w.y GROUP BY v.id",
            f"SELECT id, x FROM {{e}} ORDER BY {z}{self._one('', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST')}, id",
            f"SELECT min({z}), max({z}), count({z}), count(DISTINCT {z}) FROM {{e}}",
            f"SELECT o, min({z}), max({z}), max_by(id, {z}) IS NULL FROM {{e}} GROUP BY o",
            f"SELECT id, x {sign} y, f {sign} f, x {sign} 0.0D, x {sign} CAST('NaN' AS DOUBLE) FROM {{e}}",
            f"SELECT id, greatest(x, y), least(x, y), nullif(x, y), x BETWEEN y AND 10, x IN (0.0D, 1.5D{self._one('', ', NULL')}) FROM {{e}}",
            f"SELECT x FROM {{e}} {self._one('INTERSECT', 'EXCEPT', 'UNION', 'EXCEPT ALL', 'INTERSECT ALL')} SELECT y FROM {{e}}",
            f"SELECT id, {self._one('rank', 'dense_rank', 'cume_dist')}() OVER (ORDER BY {z}{self._one('', ', id')}) FROM {{e}}",
            f"SELECT id, count(*) OVER (PARTITION BY {self._one('x', 'y', 'f', 'id % 3', 'id / 2')}) FROM {{e}}",
            "SELECT id, array_contains(array(x), y), array_distinct(array(x, y, 0.0D)), array_max(array(x, y)), array_min(array(x, y)), sort_array(array(x, y, 0.0D)), array_position(array(x, y), 0.0D) FROM {e}",
            f"SELECT sum({z}), avg({z}) FROM {{e}} WHERE x < 1e17 AND y < 1e17",
            f"SELECT id, {self._one('floor', 'ceil', 'sign', 'abs', 'sqrt', 'isnan', 'exp', 'ln', 'round')}({self._one('x', 'y')}) FROM {{e}}{self._row()}",
            f"SELECT id, CAST({self._one('x', 'f')} AS {self._one('INT', 'BIGINT', 'STRING', 'DECIMAL(10, 2)', 'TINYINT', 'FLOAT', 'DOUBLE', 'BOOLEAN')}) FROM {{e}}{self._row()}",
            f"SELECT id, try_cast(x AS {self._one('INT', 'DECIMAL(10, 2)', 'STRING')}) FROM {{e}}{self._row()}",
            f"SELECT percentile(x, 0.5), median(y), percentile(n, {self._one('0.25', '0', '1')}) FROM {{e}} WHERE x IS NOT NULL",
            "SELECT stddev(x), variance(y), corr(x, y) FROM {e} WHERE x < 1e10 AND y < 1e10 AND x > -1e10 AND y > -1e10",
            f"SELECT id, x {self._one('+', '-', '*', '/', '%')} {self._one('y', 'n', '0', '2')} FROM {{e}}{self._row()}",
            "SELECT * FROM (SELECT o, x, id FROM {e}) PIVOT (count(id) FOR x IN (0.0D, 1.5D))",
            "SELECT id, hash(x), hash(f), xxhash64(x, y) FROM {e}",
        )

    def _date(self) -> str:
        n = self._rng.randint(-40, 40)
        unit = self._one("YEAR", "QUARTER", "MONTH", "WEEK")
        return self._one(
            "a", "b", f"date_add(a, {n})", f"date_sub(b, {n})", f"add_months(a, {n})", "last_day(a)", f"trunc(a, '{unit}')", "CAST(t AS DATE)", "CAST(at AS DATE)",
            f"next_day(b, '{self._one('MO', 'SUN', 'thu')}')", f"a {self._one('+', '-')} INTERVAL {abs(n)} {self._one('DAYS', 'MONTHS', 'YEARS', 'WEEKS')}", "to_date(t)", f"make_date({self._one('2024', '1900', 'year(a)')}, 2, {self._one('28', '29')})",
        )  # fmt: skip

    def _dates(self) -> str:
        d, unit = (
            self._date(),
            self._one("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"),
        )
        m = self._one(
            "t",
            "u",
            "at",
            "till",
            "CAST(a AS TIMESTAMP)",
            f"date_trunc('{unit}', {self._one('t', 'at', 'a')})",
            f"{self._one('t', 'at')} {self._one('+', '-')} INTERVAL {self._rng.randint(0, 50)} {self._one('HOURS', 'DAYS', 'MONTHS', 'MINUTES', 'YEARS')}",
        )
        return self._one(
            f"SELECT id, {d} FROM {{e}}{self._row()}",
            f"SELECT id, {m} AS m FROM {{e}}{self._row()}",
            f"SELECT id, {self._listed(lambda: self._one('year', 'month', 'day', 'quarter', 'dayofyear', 'weekofyear', 'dayofweek', 'weekday', 'last_day', 'unix_date', 'dayname') + '(' + self._one('a', 'b') + ')')} FROM {{e}}",
            f"SELECT id, extract({self._one('YEAROFWEEK', 'WEEK', 'DOW', 'DOY', 'QUARTER', 'MONTH')} FROM {self._one('a', 't', 'at')}) FROM {{e}}",
            f"SELECT id, {self._listed(lambda: self._one('hour', 'minute', 'second', 'year', 'dayofweek', 'weekofyear') + '(' + self._one('t', 'at', 'till') + ')')} FROM {{e}}",
            f"SELECT id, datediff({d}, b), months_between({self._one('a', 't', 'at')}, {self._one('b', 'u', 'till')}) FROM {{e}}{self._row()}",
            f"SELECT id, datediff({self._one('DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'HOUR')}, a, b) FROM {{e}}",
            f"SELECT id, {d} {self._one('=', '<', '>=', '<=>')} {self._one('b', 't', 'at', repr('2024-02-29'))} FROM {{e}}{self._row()}",
            f"SELECT {self._one('a', 'year(a)', 'trunc(a, ' + repr('MM') + ')', 'date_trunc(' + repr('WEEK') + ', t)')} AS z, count(*), min(b), max(t) FROM {{e}} GROUP BY 1",
            f"SELECT id, a FROM {{e}} ORDER BY {self._one('a', 'b DESC', 't', 'at')}, id",
            f"SELECT id, unix_timestamp({self._one('t', 'at', 'a')}), CAST({self._one('t', 'at', 'a')} AS STRING) FROM {{e}}{self._row()}",
            f"SELECT id, date_format({self._one('a', 't', 'at')}, '{self._one('yyyy-MM-dd', 'yyyyMMdd', 'dd.MM.yy', 'HH:mm:ss', 'EEEE', 'MMM d')}') FROM {{e}}{self._row()}",
            f"SELECT id, sequence(a, a + INTERVAL {self._rng.randint(1, 9)} DAYS, INTERVAL {self._rng.randint(1, 3)} {self._one('DAY', 'DAYS')}) FROM {{e}}{self._row()}",
            f"SELECT id, timestampadd({self._one('DAY', 'HOUR', 'MONTH', 'YEAR', 'SECOND')}, {self._rng.randint(-30, 30)}, {self._one('t', 'at')}) FROM {{e}}{self._row()}",
            f"SELECT id, from_utc_timestamp(at, '{self._one('Europe/Berlin', 'America/New_York', 'Asia/Kolkata')}'), to_utc_timestamp(at, 'Europe/Berlin') FROM {{e}}{self._row()}",
            "SELECT v.id, w.id FROM {e} v JOIN {e} w ON v.a = w.b AND v.t < w.u",
            f"SELECT id, lag({self._one('a', 't')}) OVER (ORDER BY {self._one('a', 't')}, id), count(*) OVER (ORDER BY a RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM {{e}}",
            f"SELECT id, CAST(at AS {self._one('BIGINT', 'DOUBLE', 'TIMESTAMP_NTZ', 'DATE')}), CAST(t AS TIMESTAMP) FROM {{e}}{self._row()}",
            f"SELECT id, convert_timezone('{self._one('UTC', 'Europe/Berlin')}', 'America/New_York', t) FROM {{e}}{self._row()}",
        )

    def _lengths(self) -> str:
        apart = self._one("t - u", "at - till", "a - b", "at - a", "b - at", "t - u", "at - till")
        n = self._rng.choice([-3, 2, 3, 7])
        lit = self._one(
            "INTERVAL 1 DAY",
            "INTERVAL '1 02:03:04.5' DAY TO SECOND",
            "INTERVAL 90 MINUTES",
            "INTERVAL '-5' HOUR",
            "INTERVAL '2:03' HOUR TO MINUTE",
            "INTERVAL 2 WEEKS",
            "INTERVAL 1.5 SECONDS",
        )
        sign = self._one("+", "-")
        return self._one(
            f"SELECT id, {apart} FROM {{e}}",
            f"SELECT id, {apart} AS z FROM {{e}} WHERE ({apart}) {self._one('>', '<', '=', '<=>')} {lit}",
            f"SELECT id, ({apart}) {sign} {lit}, {lit}, -{lit} FROM {{e}}{self._row()}",
            f"SELECT id, {self._one('t', 'at', 'a')} {sign} {lit} FROM {{e}}{self._row()}",
            f"SELECT id, {lit} + {self._one('t', 'at', 'a')} FROM {{e}}{self._row()}",
            f"SELECT id, {self._one('t', 'at', 'a')} {sign} ({apart}) FROM {{e}}{self._row()}",
            f"SELECT id, ({apart}) * {n}, {n} * ({apart}) FROM {{e}} WHERE year(a) > 1000 AND year(b) > 1000 AND year(t) BETWEEN 1900 AND 2100 AND year(u) BETWEEN 1900 AND 2100",
            f"SELECT id, ({apart}) / {n} FROM {{e}}",
            f"SELECT id, ({apart}) * n, ({apart}) / n FROM {{e}}{self._row()}",
            f"SELECT id, extract({self._one('DAY', 'HOUR', 'MINUTE', 'SECOND')} FROM {self._one('t - u', 'at - till')}) FROM {{e}}",
            f"SELECT o, min({apart}), max({apart}), count({apart}), count(DISTINCT {apart}) FROM {{e}} GROUP BY o",
            f"SELECT o, sum({apart}), avg({apart}) FROM {{e}} WHERE year(a) > 1000 AND year(b) > 1000 AND year(t) BETWEEN 1900 AND 2100 GROUP BY o",
            f"SELECT {apart} AS z, count(*) FROM {{e}} GROUP BY 1{self._one('', ' ORDER BY 1', ' HAVING count(*) > 1')}",
            f"SELECT DISTINCT coalesce({apart}, {lit}) AS z FROM {{e}}",
            f"SELECT id, CASE WHEN o THEN {apart} ELSE {lit} END, nullif({apart}, {lit}), if(o, {lit}, NULL) FROM {{e}}",
            f"SELECT id, {apart} AS z FROM {{e}} ORDER BY z{self._one('', ' DESC')}, id",
            f"SELECT id, {apart} BETWEEN {lit} AND INTERVAL 900 DAYS, ({apart}) IN ({lit}, NULL) FROM {{e}}",
            f"SELECT id, lag({apart}) OVER (ORDER BY id), max({apart}) OVER (PARTITION BY o) FROM {{e}}",
            f"SELECT {apart} FROM {{e}} {self._one('UNION', 'EXCEPT', 'INTERSECT')} SELECT {lit}",
            f"WITH z AS (SELECT id, {apart} AS d FROM {{e}}) SELECT v.id, w.id FROM z v JOIN z w ON v.d = w.d AND v.id < w.id",
            f"SELECT typeof({apart}), typeof({lit}), typeof({lit} + {lit}), typeof(({apart}) / 2) FROM {{e}} WHERE id < 2".replace(
                f"{lit} + {lit}", f"({lit}) + ({lit})"
            ),
        )

    def _word(self) -> str:
        n = self._rng.randint(-3, 5)
        part = self._one("a", "b", "", " ", "aa", "\U0001f600", "%", ".", "\u00e9")
        p = repr(part)
        return self._one(
            f"{self._one('upper', 'lower', 'initcap', 'reverse', 'length', 'char_length', 'octet_length', 'bit_length', 'ascii', 'hex', 'trim', 'ltrim', 'rtrim', 'soundex', 'md5', 'crc32')}(c)",
            f"{self._one('left', 'right', 'repeat')}(c, {n})",
            f"substring(c, {n}{self._one('', ', 2', ', -1', ', 100')})",
            f"substring(c, {self._one('n', 'i', '0')}, {self._one('1', 'i')})",
            f"{self._one('lpad', 'rpad')}(c, {n + 3}{self._one('', ', ' + p)})",
            f"{self._one('instr', 'contains', 'startswith', 'endswith')}(c, {p})",
            f"locate({p}, c)",
            f"replace(c, {p}, {self._one(repr('-'), repr(''), 'k')})",
            f"translate(c, '{self._one('ab', 'a%', '')}', '{self._one('x', 'xy', '')}')",
            f"split(c, '{self._one(',', '[.]', '', 'a', '%')}'{self._one('', ', 2', ', -1', ', 0')})",
            f"split_part(c, '{self._one(',', '.', 'a')}', {self._one('1', '2', '-1')})",
            f"substring_index(c, '{self._one(',', '.', 'a')}', {self._one('1', '2', '-1', '0')})",
            f"regexp_replace(c, '{self._one('[a-c]', '.', 'a*', '^', '$', 'b|$', '(a)(b)', '[^a]', '_')}', '{self._one('', 'x', '-')}')",
            f"regexp_extract(c, '{self._one('([a-z])(.)', '(.*)', 'a+', '^(.)')}', {self._one('0', '1')})",
            f"regexp_count(c, '{self._one('a', '.', 'a*')}')",
            f"regexp_instr(c, '{self._one('a', '[bc]', '.')}')",
            f"c RLIKE '{self._one('a', '^a', 'b$', '.', '[%_]', '^$', 'a.b', '^.$')}'",
            f"c LIKE '{self._one('a%', '%a', '_', '__', '%', '', 'a!%b', '%!_%', 'a__', '% %')}'{self._one('', ' ESCAPE ' + repr('!'))}",
            f"c LIKE {self._one('c', 'k', repr('a') + ' || ' + repr('%'))}",
            f"c ILIKE '{self._one('A%', 'AB%', '%B')}'",
            f"c LIKE 'a\\\\{self._one('%', '_', '')}b'",
            f"c {self._one('=', '<', '>', '<=', '<>', '<=>')} {self._one('k', p, repr('ab'))}",
            f"c || {self._one('k', 'n', 'q', 'a', 'o', p)}",
            f"concat_ws('{self._one(',', '')}', c, k, n)",
            f"overlay(c PLACING 'zz' FROM {self._one('1', '2')})" if self._rng.random() < 0.2 else "trim(BOTH 'a ' FROM c)",
            f"{self._one('greatest', 'least')}(c, k)",
            "levenshtein(c, k)",
            f"format_string('%s|%s', c, {self._one('k', 'n')})",
            "base64(c)", "encode(c, 'UTF-8')", "find_in_set(c, 'a,ab,')", "chr(ascii(c))", "nvl(c, k)", "mask(c)", "url_encode(c)", "str_to_map(c)", "btrim(c)", "space(2) || c", "array_join(split(c, ''), '-')", "c IN ('a', NULL, '')", "c NOT IN ('a', 'ab')", "to_json(struct(c))", "sha2(c, 256)", "elt(2, c, k)", "luhn_check(k)", "position('b', c)",
        )  # fmt: skip

    def _texts(self) -> str:
        return self._one(
            f"SELECT id, {self._word()} FROM {{e}}{self._row()}",
            f"SELECT id, {self._word()} FROM {{e}} WHERE id < {self._rng.randint(5, 40)}",
            f"SELECT id, {self._word()} FROM {{e}} WHERE c NOT RLIKE '[^a-zA-Z ,.%_]'",
            f"SELECT id, {self._word()}, {self._word()} FROM {{e}} WHERE length(c) < 3 AND ascii(c) < 128",
            f"SELECT {self._one('c', 'left(c, 1)', 'length(c)', 'trim(c)')} AS z, count(*), min(k), max(c) FROM {{e}} GROUP BY 1",
            f"SELECT id FROM {{e}} ORDER BY c{self._one('', ' DESC')}, k, id",
            f"SELECT DISTINCT {self._one('c', 'trim(c)', 'c || k', 'substring(c, 1, 1)')} FROM {{e}}",
            "SELECT v.id, w.id FROM {e} v JOIN {e} w ON v.c = w.k OR v.c = w.c AND v.id < w.id",
            "SELECT o, listagg(c, '|') WITHIN GROUP (ORDER BY c, id), count(DISTINCT c), min(c), max(c) FROM {e} GROUP BY o",
            f"SELECT id, e2 FROM {{e}} LATERAL VIEW {self._one('', 'OUTER ')}explode(split(c, '{self._one(',', 'a', '')}')) z AS e2",
            f"SELECT id FROM {{e}} WHERE c {self._one('IN', 'NOT IN')} (SELECT k FROM {{e}}{self._one('', ' WHERE k IS NOT NULL')})",
        )

    def _casts(self) -> str:
        cast = self._one("CAST", "try_cast")
        kind = self._one(
            "INT",
            "BIGINT",
            "TINYINT",
            "SMALLINT",
            "DOUBLE",
            "FLOAT",
            "DECIMAL(5, 2)",
            "DECIMAL(20, 0)",
            "DATE",
            "TIMESTAMP",
            "TIMESTAMP_NTZ",
            "BOOLEAN",
            "STRING",
            "BINARY",
        )
        source = self._one("k", "k", "k", "c", "n", "big", "i", "p", "q", "o", "a", "t", "at", "x")
        return self._one(
            f"SELECT id, {cast}({source} AS {kind}) FROM {{e}}{self._row()}",
            f"SELECT id, {cast}({source} AS {kind}) AS z FROM {{e}} WHERE id = {self._rng.randint(0, 36)}",
            f"SELECT id, {cast}(k AS {kind}) AS z FROM {{e}} WHERE id = {self._rng.randint(0, 36)}",
            f"SELECT id, k {self._one('=', '<', '>')} {self._one('1', 'n', 'q', '1.5', 'a', 'o')} FROM {{e}}{self._row()}",
            f"SELECT id, to_date(k), to_timestamp(k) FROM {{e}}{self._row()}",
            f"SELECT id, {self._one('try_to_date(k, ' + repr('yyyy-MM-dd') + ')', 'to_date(k, ' + repr('yyyy-MM-dd') + ')', 'try_to_timestamp(k)', 'int(k)', 'double(k)', 'boolean(k)', 'try_to_number(k, ' + repr('999') + ')')} FROM {{e}}{self._row()}",
            f"SELECT id, {self._one('k + 1', 'k * 2', 'k || 1', 'abs(k)', 'round(k)', 'k / 2', '-k', 'k % 2', 'year(k)', 'date_add(k, 1)', 'hour(k)')} FROM {{e}}{self._row()}",
        )

    def _number(self, depth: int = 1) -> str:
        plain = self._one(
            "n",
            "big",
            "i",
            "p",
            "q",
            "1",
            "-1",
            "0",
            "2.5",
            "100",
            "0.01",
            "1e0",
            "2147483647",
            "9223372036854775807",
            "CAST(i AS SMALLINT)",
        )
        if not depth:
            return plain
        left, right = self._number(depth - 1), self._number(depth - 1)
        return self._one(
            plain, f"({left} {self._one('+', '-', '*', '/', '%')} {right})", f"({left} {self._one('+', '-', '*')} {right})", f"({left} div {right})", f"abs({left})", f"(- {left})", f"mod({left}, {right})", f"pmod({left}, {right})",
            f"round({left}, {self._rng.randint(-3, 3)})", f"bround({left}, {self._rng.randint(-2, 3)})", f"{self._one('floor', 'ceil', 'sign', 'bin', 'hex', 'factorial')}({left})",
            f"CAST({left} AS {self._one('INT', 'BIGINT', 'TINYINT', 'DECIMAL(5, 2)', 'DECIMAL(38, 0)', 'DECIMAL(38, 18)', 'DOUBLE', 'FLOAT', 'STRING', 'BOOLEAN')})",
            f"try_cast({left} AS {self._one('INT', 'TINYINT', 'DECIMAL(5, 2)')})", f"{self._one('try_add', 'try_subtract', 'try_multiply', 'try_divide')}({left}, {right})",
            f"{self._one('greatest', 'least', 'coalesce', 'nullif')}({left}, {right})", f"({left} {self._one('&', '|', '^')} {right})", f"shift{self._one('left', 'right')}({self._one('n', 'big')}, {self._rng.randint(-1, 70)})",
            f"{self._one('power', 'pow')}({left}, 2)", f"(CASE WHEN o THEN {left} ELSE {right} END)", f"conv({self._one('n', 'big', 'i')}, 10, {self._one('2', '16', '36', '-10')})", f"bit_count({left})", f"width_bucket({left}, 0, 10, 5)", f"format_number({left}, 2)",
        )  # fmt: skip

    def _numbers(self) -> str:
        sign = self._one("=", "<", "<=", ">", ">=", "<>", "<=>")
        return self._one(
            f"SELECT id, {self._number(2)} AS z FROM {{e}}{self._row()}",
            f"SELECT id, {self._number(1)} AS z FROM {{e}}{self._row()}",
            f"SELECT id, {self._number(1)}, {self._number(1)} FROM {{e}}{self._row()}",
            f"SELECT id, {self._number(1)} {sign} {self._number(1)} FROM {{e}}{self._row()}",
            f"SELECT o, {self._one('sum', 'avg', 'min', 'max', 'try_sum', 'count', 'try_avg')}({self._one('n', 'i', 'q', 'p', 'big', 'q * q', 'n * 2L')}) FROM {{e}} GROUP BY o",
            f"SELECT id, {self._one('sum', 'avg', 'max')}({self._one('n', 'i', 'q')}) OVER ({self._one('', 'PARTITION BY o ')}ORDER BY id{self._one('', ' ROWS 2 PRECEDING')}) FROM {{e}}",
            f"SELECT {self._number(1)} AS z, count(*) FROM {{e}}{self._row()} GROUP BY 1",
            f"SELECT id, {self._number(0)} IN ({self._number(0)}, {self._number(0)}, NULL), {self._number(0)} BETWEEN {self._number(0)} AND {self._number(0)} FROM {{e}}",
            f"SELECT id FROM {{e}} WHERE {self._number(0)} {sign} {self._number(0)}",
            f"SELECT v.id, w.id FROM {{e}} v JOIN {{e}} w ON v.{self._one('n', 'big', 'i', 'q', 'p')} {self._one('=', '<=>')} w.{self._one('n', 'big', 'i', 'q', 'p')} AND v.id < 20",
        )

    def _groups(self) -> str:
        keys = self._rng.sample(
            [
                "o",
                "a",
                "x",
                "q",
                "length(c)",
                "year(a)",
                "n % 2",
                "i",
                "left(c, 1)",
                "x > 0",
                "trunc(a, 'YEAR')",
            ],
            3,
        )
        p, q, r = keys
        value = self._one(
            "count(*)",
            "sum(i)",
            "max(c)",
            "min(a)",
            "avg(q)",
            "count(DISTINCT k)",
            "sum(n)",
            "max(x)",
            "bool_or(o)",
            "any_value(1)",
        )
        sets = self._one(
            f"ROLLUP({p}, {q}, {r})", f"CUBE({p}, {q})", f"GROUPING SETS (({p}, {q}), ({p}), ({p}), ())", f"GROUPING SETS (({p}), ({q}), ({r}))", f"{p}, ROLLUP({q}, {r})", f"ROLLUP({p}), CUBE({q})", f"CUBE(({p}, {q}), {r})", f"GROUPING SETS (ROLLUP({p}, {q}), CUBE({r}))",
        )  # fmt: skip
        listed = [one for one in keys if one in sets]
        marks = self._one(
            "",
            f", grouping({listed[0]})",
            ", grouping_id()",
            f", grouping_id({', '.join(listed[:2])})",
        )
        having = self._one(
            "", "", f" HAVING grouping({listed[0]}) = {self._one('0', '1')}", " HAVING count(*) > 2"
        )
        return self._one(
            f"SELECT {', '.join(listed)}{marks}, {value} FROM {{e}} GROUP BY {sets}{having}",
            f"SELECT {', '.join(listed)}{marks}, {value} FROM {{e}} WHERE id < 0 GROUP BY {sets}",
            f"SELECT {', '.join(listed)}, {value}, rank() OVER (ORDER BY count(*) DESC) FROM {{e}} GROUP BY {sets}",
            f"SELECT count(*), {p} AS z FROM {{e}} GROUP BY z HAVING z IS NOT NULL",
            f"SELECT * FROM (SELECT o, i, q FROM {{e}}) PIVOT ({self._one('sum(q)', 'count(*)', 'max(q) AS m, count(q) AS n', 'avg(q)')} FOR i IN ({self._one('1, -1, 0', '127 AS hi, -128 AS lo', '1, NULL')}))",
            "SELECT * FROM (SELECT id, o, c FROM {e} WHERE id < 30) PIVOT (max(c) FOR o IN (true AS yes, false AS no)) ORDER BY id",
            "SELECT id, w, z FROM (SELECT id, n, CAST(i AS INT) AS j FROM {e}) UNPIVOT "
            + self._one("", "INCLUDE NULLS ")
            + "(z FOR w IN (n, j))",
            f"SELECT id, {p} AS z, row_number() OVER (PARTITION BY {q} ORDER BY id) AS r FROM {{e}} QUALIFY r {self._one('= 1', '<= 2', '> 3')}",
            f"SELECT o, count(*) FILTER (WHERE {self._one('x > 0', 'c LIKE ' + repr('a%'), 'n IS NULL')}), percentile(q, 0.5), percentile_approx(i, 0.5), median(n) FROM {{e}} GROUP BY o",
            f"SELECT {p}, {value} FROM {{e}} GROUP BY ALL",
            f"SELECT id FROM {{e}} v WHERE {self._one('EXISTS', 'NOT EXISTS')} (SELECT 1 FROM {{e}} w WHERE w.{self._one('x = v.y', 'a = v.b', 'n <=> v.i', 'k = v.c', 'q > v.q')} AND w.id <> v.id)",
            f"SELECT id, (SELECT {self._one('max(w.a)', 'count(*)', 'sum(w.i)', 'min(w.x)')} FROM {{e}} w WHERE w.{self._one('o = v.o', 'i = v.i', 'a = v.b', 'x = v.y')}) FROM {{e}} v",
            f"SELECT id FROM {{e}} WHERE {self._one('n', 'x', 'a', 'c', 'q')} {self._one('IN', 'NOT IN')} (SELECT {self._one('n', 'i', 'y', 'b', 'k', 'q')} FROM {{e}}{self._one('', ' WHERE id < 5', ' WHERE id < 0')})",
            f"SELECT id, z FROM {{e}} LATERAL VIEW {self._one('', 'OUTER ')}{self._one('explode(array(n, i, NULL))', 'explode(array_distinct(array(x, y)))', 'explode(split(k, ' + repr('-') + '))', 'explode(sequence(0, i % 3))', 'explode(filter(array(n, i), e -> e > 0))')} q AS z",
            f"SELECT mode(o), {self._one('first_value', 'last_value')}(x) OVER (ORDER BY id) FROM {{e}} WHERE id < 0"
            if self._rng.random() < 0.1
            else "SELECT count(DISTINCT x), count(DISTINCT f), count(DISTINCT a, x) FROM {e}",
            f"SELECT v.id, w.id FROM {{e}} v {self._one('LEFT', 'FULL', 'RIGHT')} JOIN {{e}} w ON v.{self._one('x = w.y', 'a = w.b', 'q = w.i', 'n = w.big')} AND {self._one('v.o', 'w.id < 10', 'v.id > w.id')} WHERE {self._one('v.id IS NULL', 'w.id IS NULL', 'coalesce(v.id, 0) < 20')}",
        )

    def _sets(self) -> str:
        sides = self._rng.sample(
            [
                "SELECT x FROM {e}",
                "SELECT n FROM {e}",
                "SELECT q FROM {e}",
                "SELECT i FROM {e}",
                "SELECT big FROM {e}",
                "SELECT CAST(q AS DECIMAL(30, 10)) FROM {e}",
                "SELECT 1.5",
                "SELECT NULL",
                "SELECT y FROM {e} WHERE o",
            ],
            2,
        )
        others = self._rng.sample(
            [
                "SELECT a FROM {e}",
                "SELECT t FROM {e}",
                "SELECT at FROM {e}",
                "SELECT b FROM {e} WHERE o",
                "SELECT NULL",
                "SELECT CAST(b AS TIMESTAMP) FROM {e}",
            ],
            2,
        )
        word = self._one("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
        return f" {word} ".join(sides if self._rng.random() < 0.5 else others)
