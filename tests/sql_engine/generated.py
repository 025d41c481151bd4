# ruff: noqa: E501 - parts of queries are read in one line
"""Queries made at random over two tables, for comparing answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from tests.sql_engine.shapes import Shapes

T = {
    "id": "INT",
    "g": "STRING",
    "x": "BIGINT",
    "s": "SMALLINT",
    "d": "DOUBLE",
    "m": "DECIMAL(10, 2)",
    "day": "DATE",
    "ts": "TIMESTAMP(6)",
    "b": "BOOLEAN",
    "at": "TIMESTAMP_LTZ(6)",
    "w": "ARRAY<STRING>",
    "n": "ARRAY<INT>",
    "k": "MAP<STRING, INT>",
    "p": "ROW<c STRING, q INT>",
    "j": "STRING",
    "i": "TINYINT",
    "f": "FLOAT",
    "big": "BIGINT",
    "dec": "DECIMAL(20, 4)",
    "wide": "DECIMAL(38, 10)",
    "v": "DOUBLE",
    "z": "STRING",
    "o": "ROW<a INT, b ROW<c DOUBLE, d DATE>>",
    "l": "ARRAY<ROW<c STRING, q INT>>",
    "km": "MAP<INT, DOUBLE>",
}
U = {"uid": "INT", "h": "STRING", "y": "INT", "e": "DATE"}
_JSON = [
    '{"a": 1, "b": {"c": "x"}, "d": [1, "y"]}',
    '{"a": "text", "b": null}',
    '{"b": {"c": true}}',
    '{"a": 2.5, "d": []}',
    "no json",
    "[1, 2]",
]
_HOSTILE = [
    "it's", 'say "x"', "back\\slash", "two\nlines", "tab\there", "100%", "a_b", "\U0001f600",
    "e\u0301", "ß", "ǅ", "İ", "  ", "-7", "1e3", "2000-02-30", "2000-02-29", "NaN", "true", "NULL",
    "x" * 300, "`q`", "${v}", ":p", "?", "--", "/* */", "\u200b", "A,B,,C", "0x1F",
]  # fmt: skip
_DOUBLES = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.5, 1e300, -1e-300, 2.0, 1 / 3]
_LARGE = [2**63 - 1, -(2**63), 2**53 + 1, -(2**31), 10**12, 7, 0, -1]
_TEXTS = ["", "a", "A", "ab", "a%b", "b_c", " x ", "zebra", "Zürich", "\u4e2d", "10", "é"]


def tables(rng: random.Random, count: int = 60) -> tuple[pa.Table, pa.Table]:
    """Make rows of both tables; a fifth of the values is NULL."""

    def some(make: Callable[[], object]) -> list[object]:
        return [None if rng.random() < 0.2 else make() for _ in range(count)]

    first = date(1999, 12, 25)
    t = pa.table(
        {
            "id": pa.array(list(range(count)), pa.int32()),
            "g": pa.array(some(lambda: rng.choice(_TEXTS))),
            "x": pa.array(some(lambda: rng.randint(-50, 50)), pa.int64()),
            "s": pa.array(some(lambda: rng.randint(-3, 3)), pa.int16()),
            "d": pa.array(
                some(lambda: rng.choice([0.0, -0.0, 1.5, -2.675, 1e6, 3.25, 0.125, 7.0, -1e-3]))
            ),
            "m": pa.array(
                some(lambda: Decimal(rng.randint(-99999, 99999)) / 100), pa.decimal128(10, 2)
            ),
            "day": pa.array(some(lambda: first + timedelta(rng.randint(0, 900))), pa.date32()),
            "ts": pa.array(
                some(lambda: datetime(2000, 2, 28) + timedelta(seconds=rng.randint(0, 10**7) / 4)),
                pa.timestamp("us"),
            ),
            "b": pa.array(some(lambda: rng.random() < 0.5), pa.bool_()),
            "at": pa.array(
                some(
                    lambda: (
                        datetime(2000, 2, 28, tzinfo=UTC)
                        + timedelta(seconds=rng.randint(0, 10**7) / 4)
                    )
                ),
                pa.timestamp("us", "UTC"),
            ),
            "w": pa.array(some(lambda: rng.choices(["a", "b", "cd", None], k=rng.randint(0, 3)))),
            "n": pa.array(
                some(lambda: rng.choices([1, 2, -3, None], k=rng.randint(0, 3))),
                pa.list_(pa.int32()),
            ),
            "k": pa.array(
                some(lambda: [(one, rng.randint(0, 9)) for one in "ab"[: rng.randint(0, 2)]]),
                pa.map_(pa.string(), pa.int32()),
            ),
            "p": pa.array(
                some(lambda: {"c": rng.choice(["a", None]), "q": rng.randint(-5, 5)}),
                pa.struct([("c", pa.string()), ("q", pa.int32())]),
            ),
            "j": pa.array(some(lambda: rng.choice(_JSON)), pa.string()),
            "i": pa.array(some(lambda: rng.randint(-128, 127)), pa.int8()),
            "f": pa.array(some(lambda: rng.choice([0.5, -1.25, 3.0, 0.1, -0.0])), pa.float32()),
            "big": pa.array(some(lambda: rng.choice(_LARGE)), pa.int64()),
            "dec": pa.array(
                some(lambda: Decimal(rng.randint(-(10**9), 10**9)).scaleb(-4)),
                pa.decimal128(20, 4),
            ),
            "wide": pa.array(
                some(lambda: Decimal(rng.randint(-(10**20), 10**20)).scaleb(-10)),
                pa.decimal128(38, 10),
            ),
            "v": pa.array(some(lambda: rng.choice(_DOUBLES)), pa.float64()),
            "z": pa.array(some(lambda: rng.choice(_HOSTILE)), pa.string()),
            "o": pa.array(
                some(
                    lambda: {
                        "a": rng.choice([None, 1, 2]),
                        "b": rng.choice([None, {"c": 0.5, "d": first}, {"c": None, "d": None}]),
                    }
                ),
                pa.struct(
                    [
                        ("a", pa.int32()),
                        ("b", pa.struct([("c", pa.float64()), ("d", pa.date32())])),
                    ]
                ),
            ),
            "l": pa.array(
                some(
                    lambda: [
                        {"c": rng.choice(["a", None]), "q": rng.randint(0, 3)}
                        for _ in range(rng.randint(0, 2))
                    ]
                ),
                pa.list_(pa.struct([("c", pa.string()), ("q", pa.int32())])),
            ),
            "km": pa.array(
                some(lambda: [(n, rng.choice([None, 0.5])) for n in range(rng.randint(0, 3))]),
                pa.map_(pa.int32(), pa.float64()),
            ),
        }
    )
    u = pa.table(
        {
            "uid": pa.array([rng.randint(0, count) for _ in range(count // 2)], pa.int32()),
            "h": pa.array([rng.choice([*_TEXTS, None]) for _ in range(count // 2)]),
            "y": pa.array(
                [rng.choice([None, *range(-9, 9)]) for _ in range(count // 2)], pa.int32()
            ),
            "e": pa.array(
                [first + timedelta(rng.randint(0, 900)) for _ in range(count // 2)], pa.date32()
            ),
        }
    )
    return t, u


class Queries:
    """Makes queries."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def query(self) -> str:
        """Return one over ``{t}`` and ``{u}``, which have the names of the tables."""
        makers = [
            *[Shapes(self._rng, self).query] * 6,
            self._projection,
            self._projection,
            self._grouped,
            self._grouped,
            self._joined,
            self._windowed,
            self._set,
            self._with,
            self._nested,
        ]
        return self._rng.choice(makers)()

    def _one(self, *texts: str) -> str:
        return self._rng.choice(texts)

    def number(self, depth: int = 2) -> str:
        """Return a number."""
        rng = self._rng
        if depth == 0 or rng.random() < 0.3:
            return self._one("id", "x", "s", "d", "m", "1", "-3", "2.5", "0", "10", "1e2", "0.05")
        below = depth - 1
        a, b = self.number(below), self.number(below)
        whole, other = self.whole(below), self.whole(below)
        return self._one(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({self._one('x', 'm', 's', '3')} * {self._one('id', 's', '2', '1.5')})",
            f"({whole} / {other})",
            f"({whole} % {self._one('3', '7', '-4', 'id')})",
            f"({whole} div {self._one('2', '-3', 's')})",
            f"abs({a})",
            f"(-{self._one('x', 'm', 'd', 's')})",
            f"round({self._one('m', 'd', 'd * 1.5e0')}, {rng.randint(0, 3)})",
            f"round({self._one('m', 'd', 'x')})",
            f"floor({self._one('m', 'd', 'x')})",
            f"ceil({self._one('m', 'd', 'x')})",
            f"coalesce({self._one('x', 's')}, {whole})",
            f"nullif({whole}, {other})",
            f"greatest({a}, {b})",
            f"least({a}, {b})",
            f"CASE WHEN {self.condition(below)} THEN {a} ELSE {b} END",
            f"if({self.condition(below)}, {whole}, {other})",
            f"CAST({self._one('m', 'd', 'x', 's', 'b')} AS INT)",
            f"CAST({self._one('x', 's', 'm')} AS DECIMAL(12, 1))",
            f"CAST({self._one('x', 's', 'm', 'id')} AS DOUBLE)",
            f"length({self.text(below)})",
            f"{self._one('year', 'month', 'day', 'quarter')}({self._one('day', 'ts')})",
            f"{self._one('dayofweek', 'weekday')}(day)",
            f"{self._one('hour', 'minute', 'second')}(ts)",
            f"datediff(day, {self.day(below)})",
            f"instr({self.text(below)}, 'b')",
            f"locate('a', {self.text(below)})",
            f"sqrt({self._one('x', 'd', 'id')})",
            f"sign({self._one('x', 'd')})",
            f"mod({whole}, 5)",
            f"({a} / nullif({self._one('m', 's', 'm * 2', 'm * m', '7')}, 0))",
            f"({self._one('m * m', 'm * m * m', '100.00')} * {self._one('m', 'm * m', 's', '0.01')})",
            f"(m * {self._one('d', '2.5e0', 'x')})",
            f"pmod({whole}, {self._one('3', '-4', '7')})",
            f"({whole} {self._one('&', '|', '^')} {self._one('x', '6', 's')})",
            f"try_divide({whole}, {other})",
            f"try_add({whole}, {other})",
            f"zeroifnull({self._one('x', 's')})",
            f"decode(g, 'a', {whole}, 'b', 2{self._one('', ', 3')})",
            f"round({self._one('x', 'm', 'id')}, -{rng.randint(1, 3)})",
            f"bit_count({whole})",
            f"regexp_count(g, '{self._one('a', '[ab]', 'b|e')}')",
            f"{self._one('ascii', 'octet_length', 'bit_length')}(g)",
            f"try_cast({self.text(below)} AS {self._one('INT', 'BIGINT', 'DOUBLE')})",
            f"extract({self._one('YEAR', 'WEEK', 'DOW', 'DOY', 'MONTH')} FROM {self._one('day', 'ts', 'at')})",
            f"{self._one('hour', 'minute', 'year', 'dayofweek', 'second')}(at)",
            f"unix_timestamp({self._one('at', 'ts', 'day')})",
            f"datediff({self._one('DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR')}, day, {self.day(below)})",
            f"months_between(day, {self.day(below)})",
            "p.q",
            "k['a']",
            "element_at(k, 'b')",
            f"{self._one('size', 'array_max', 'array_min')}(n)",
            f"array_position(w, {self._one(repr('a'), 'g')})",
            "size(array_distinct(w))",
            "aggregate(n, 0, (acc, e) -> acc + e)",
            f"size(filter(n, e -> e > {self._one('0', 'id - 20', '1')}))",
            "CAST(get_json_object(j, '$.a') AS DOUBLE)" if rng.random() < 0.3 else "p.q + 1",
            f"'{rng.randint(0, 9)}' {self._one('+', '*')} {whole}",
            *self._more_numbers(below),
        )

    def _more_numbers(self, below: int) -> list[str]:
        """Return other numbers: of rarer types, functions and shapes."""
        a, whole, many = self.number(below), self.whole(below), self._rng.randint(0, 5)
        wide = self._one("dec", "wide", "dec", "CAST(x AS DECIMAL(30, 2))")
        return [
            self._one("i", "dec", "wide", "v", "big", "f", "o.a", "o.b.c", "km[1]", "size(l)"),
            f"CASE {whole} WHEN {many} THEN {a} WHEN 1 THEN id{self._one('', ' ELSE 7')} END",
            f"CASE WHEN {self.condition(below)} THEN 1 WHEN {self.condition(0)} THEN 2.5 END",
            f"({wide} {self._one('+', '-')} {self._one('m', 'dec', 'x', '1.5', 'i')})",
            f"({wide} * {self._one('m', 's', '0.5', 'i')})",
            f"({wide} / {self._one('nullif(m, 0)', '3', 'nullif(s, 0)', '0.07')})",
            f"round({wide}, {many})",
            f"{self._one('floor', 'ceil', 'abs', '-')}({self._one('dec', 'wide', 'v', 'i', 'f')})",
            f"CAST({self._one('dec', 'wide', 'i', 'big', 'f')} AS {self._one('DOUBLE', 'DECIMAL(38, 2)', 'BIGINT', 'INT')})",
            f"try_cast({self._one('big', 'dec', 'v', 'z', 'x')} AS {self._one('INT', 'DECIMAL(9, 1)', 'TINYINT', 'DOUBLE')})",
            f"{self._one('try_subtract', 'try_multiply')}({self._one('big', 'x', 'i')}, {whole})",
            f"{self._one('ifnull', 'nvl', 'coalesce')}({self._one('m', 'dec', 'd')}, {self._one('x', '0', '1.5')})",
            f"nvl2({self._one('g', 'x', 'b')}, {whole}, {a})",
            f"{self._one('dayofyear', 'weekofyear', 'unix_date', 'dayofmonth')}(day)",
            f"date_part('{self._one('year', 'MONTH', 'doy')}', {self._one('day', 'ts')})",
            f"{self._one('exp', 'cos', 'atan', 'cbrt', 'degrees', 'log10', 'ln', 'log2')}({self._one('s', 'i', 'x')})",
            f"{self._one('power', 'pow', 'atan2')}({self._one('s', 'i')}, {self._one('2', '0.5e0', 's')})",
            f"position('{self._one('a', 'b')}' IN {self._one('g', 'z')})",
            f"{self._one('size', 'cardinality')}({self._one('k', 'w', 'l', 'km', 'split(z, repr)')})".replace(
                "repr", "','"
            ),
            f"{self._one('char_length', 'octet_length', 'ascii')}(z)",
            f"length({self._one('x', 'm', 'day', 'b', 'dec')})",
            f"instr({self._one('x', 'day')}, '{self._one('1', '-')}')",
            f"try_element_at({self._one('n, 1', 'n, -1', 'km, 1')})",
            f"get(n, {self._one('0', '1', '-1')})",
            f"aggregate(n, {self._one('0', 'id')}, (acc, e) -> acc + coalesce(e, 0))",
            f"aggregate(n, 0, (acc, e) -> greatest(acc, e){self._one('', ', acc -> acc * 2')})",
            f"size(array_remove(n, {self._one('1', 's')}))",
            f"shift{self._one('left', 'right')}({whole}, {many})",
            f"~{self._one('x', 'i', 'id')}",
            f"width_bucket({self._one('x', 's')}, 0, 10, 5)",
            f"levenshtein(g, '{self._one('ab', 'zebra')}')",
            f"bround({self._one('m', 'd', 'dec')}, 1)",
            f"CAST({self._one('b', 's > 0')} AS {self._one('INT', 'DOUBLE', 'TINYINT')})",
            "(SELECT max(y) FROM {u})",
            "(SELECT count(*) FROM {u} WHERE uid = id)",
            f"datediff(last_day(day), {self.day(below)})",
            f"hash({self._one('x', 'g', 'id')})",
            f"crc32({self._one('g', 'z')})",
            f"element_at(array(x, s), {self._one('1', '2', '-1')})",
            f"array(s, i)[{self._one('0', '1')}]",
            f"{whole} {self._one('+', '-', '*')} {self._one('i', 's')}",
            "l[0].q" if self._rng.random() < 0.05 else "size(l)",
            f"json_array_length({self._one('j', repr('[1, 2]'))})",
            f"find_in_set(g, '{self._one('a,b', 'ab,,a')}')",
            f"nullif({self._one('d', 'm', 'v')}, {self._one('0', '1.5')})",
        ]

    def whole(self, depth: int) -> str:
        """Return an integer."""
        if depth == 0 or self._rng.random() < 0.6:
            return self._one("id", "x", "s", "4", "-7")
        return self._one(f"({self.whole(depth - 1)} + {self.whole(0)})", "length(g)", "year(day)")

    def text(self, depth: int = 2) -> str:
        """Return a text."""
        if depth == 0 or self._rng.random() < 0.4:
            return self._one("g", "'a'", "'Ab c'", "''")
        inner = self.text(depth - 1)
        return self._one(
            f"upper({inner})",
            f"lower({inner})",
            f"trim({inner})",
            f"ltrim({inner})",
            f"rtrim({inner})",
            f"concat({inner}, '-', g)",
            f"({inner} || g)",
            f"concat_ws('/', {inner}, g, 'z')",
            f"substring({inner}, {self._rng.randint(0, 3)}, {self._rng.randint(0, 4)})",
            f"substr({inner}, 2)",
            f"lpad({inner}, 5, '*')",
            f"rpad({inner}, 4)",
            f"replace({inner}, 'a', 'xy')",
            f"coalesce({inner}, 'none')",
            f"CAST({self._one('x', 'm', 'day', 'ts', 'b', 's')} AS STRING)",
            f"CASE WHEN {self.condition(0)} THEN {inner} END",
            f"nvl({inner}, 'n')",
            f"initcap({inner})",
            f"reverse({inner})",
            f"substring({inner}, -{self._rng.randint(1, 4)}{self._one('', ', 2')})",
            f"substring_index({inner}, '{self._one('a', ' ', 'b_')}', {self._one('1', '2')})",
            f"split_part({inner}, 'a', {self._one('1', '2', '-1')})",
            f"translate({inner}, 'ab', '{self._one('xy', 'x')}')",
            f"overlay({inner}, 'XX', {self._rng.randint(1, 4)})",
            f"trim({self._one('BOTH', 'LEADING', 'TRAILING')} 'a' FROM {inner})",
            f"{self._one('sha1', 'md5', 'hex', 'base64')}({inner})",
            f"format_number({self._one('x', 's', 'm')}, {self._one('2', '3')})",
            f"date_format({self._one('day', 'ts', 'at')}, '{self._one('yyyy-MM', 'dd.MM.yy', 'EEE')}')",
            f"CAST({self._one('at', 'd')} AS STRING)",
            f"get_json_object(j, '$.{self._one('a', 'b.c', 'd[1]', 'b', 'd', 'a.x')}')",
            f"regexp_replace({inner}, '[ab]+', '{self._one('', 'x')}')",
            f"regexp_extract({inner}, '([a-z])(.)', {self._one('0', '1', '2')})",
            "p.c",
            "element_at(map_keys(k), 1)" if self._rng.random() < 0.2 else "concat_ws('-', w, g)",
            f"array_join({self._one('w', 'transform(w, e -> upper(e))', 'array_distinct(w)')}, '/')",
            f"array_join(array_{self._one('union', 'except', 'intersect')}(w, array('a', 'z')), '/')",
            f"from_unixtime({self._one('x', 'id * 100000')})",
            *self._more_texts(inner),
        )

    def _more_texts(self, inner: str) -> list[str]:
        """Return other texts."""
        many = self._rng.randint(0, 4)
        return [
            "z",
            f"{self._one('upper', 'lower', 'trim', 'reverse', 'initcap', 'md5', 'hex')}(z)",
            f"{self._one('left', 'right', 'repeat')}({inner}, {many})",
            f"concat({self._one('x', 'm', 'day', 'b', 'i')}, {inner})",
            f"CAST({self._one('dec', 'wide', 'i', 'v', 'f', 'big', 'day', 'b')} AS STRING)",
            f"split({self._one('g', 'z')}, '{self._one('a', ',', '_')}')[0]",
            f"substr({inner} FROM {self._rng.randint(1, 3)} FOR {many})",
            f"CASE {inner} WHEN 'a' THEN 'one' WHEN '' THEN g ELSE {self._one('z', 'NULL')} END",
            f"if({self.condition(0)}, {inner}, 'no')",
            f"nullif({inner}, '{self._one('a', '', 'ab')}')",
            f"{self._one('greatest', 'least')}({inner}, g)",
            f"coalesce(NULL, {inner})",
            f"nvl2({self._one('x', 'g')}, {inner}, 'z')",
            f"format_string('%s-%d', g, {self._one('x', 's', 'id')})",
            f"printf('%s|%s', {inner}, g)",
            f"date_format({self._one('day', 'ts')}, '{self._one('yyyyMMdd', 'yyyy-MM-dd HH:mm', 'MMM d', 'D', 'Q', 'e')}')",
            f"date_format(ts, '{self._one('HH:mm:ss', 'yyyy', 'hh:mm a', 'SSS')}')",
            f"{self._one('dayname', 'monthname')}(day)",
            f"concat_ws({self._one(repr(','), repr(''), repr(' - '))}, {inner}, CAST(x AS STRING), w)",
            f"array_join({self._one('w', 'sort_array(w)', 'array_compact(w)')}, '-'{self._one('', ', repr')})".replace(
                "repr", "'?'"
            ),
            f"regexp_extract(z, '{self._one('([a-z]+)', '(.)(.)', '[0-9]')}', {self._one('0', '1')})",
            f"regexp_replace(z, '{self._one('[^a-z]', ' ', 'x+')}', '{self._one('', '-')}')",
            f"{self._one('ltrim', 'rtrim', 'btrim')}({self._one('z', 'g')})",
            f"rpad(z, {many + 3}, 'ab')",
            f"elt({self._one('1', '2')}, {inner}, g)",
            f"soundex({self._one('g', 'z')})",
            f"o.b.d || {inner}",
            f"sha2({inner}, 256)",
            f"conv({self._one('x', 'id')}, 10, 16)",
            f"bin({self._one('x', 'id')})",
            f"to_char({self._one('m', 'x')}, '{self._one('999999.99', 'S00000')}')",
            f"CAST(at AS STRING) || {inner}",
            f"replace(z, '{self._one('a', ',', ' ')}')",
            f"lpad({self._one('x', 's', 'id')}, 4, '0')",
            f"concat(left({inner}, 1), lower(substr(g, 2)))",
            f"{self._one('left', 'right', 'repeat')}({self._one('day', 'x', 'm', 'b')}, {many})",
            f"substring({self._one('x', 'day', 'dec')}, 1, {many})",
            f"{self._one('upper', 'trim', 'lower', 'reverse', 'initcap')}({self._one('x', 'day', 'm', 'b')})",
            f"replace({self._one('x', 'm', 'day')}, '1', 'one')",
            f"split({self._one('m', 'day')}, '{self._one('-', '0')}')[0]",
            f"rpad({self._one('x', 'i')}, 6, '.')",
            f"ucase({inner})",
        ]

    def day(self, depth: int = 1) -> str:
        """Return a date."""
        if depth == 0 or self._rng.random() < 0.4:
            return self._one("day", "DATE '2000-02-29'", "day")
        return self._one(
            f"date_add(day, {self._rng.randint(-40, 40)})",
            "date_sub(day, s)",
            f"add_months(day, {self._rng.randint(-14, 14)})",
            "last_day(day)",
            f"trunc(day, '{self._one('MM', 'YEAR', 'quarter', 'week')}')",
            "CAST(ts AS DATE)",
            "to_date(ts)",
            "to_date(at)",
            f"next_day(day, '{self._one('MON', 'Su', 'friday')}')",
            f"make_date(year(day), {self._rng.randint(1, 12)}, 28)",
            f"(day {self._one('+', '-')} INTERVAL {self._rng.randint(1, 40)} {self._one('DAYS', 'MONTH', 'YEARS', 'WEEKS')})",
            f"trunc(at, '{self._one('MM', 'year')}')",
            "to_date(date_format(day, 'dd.MM.yyyy'), 'dd.MM.yyyy')",
            f"date_from_unix_date({self._one('id', 'x')})",
            "o.b.d",
            f"{self._one('greatest', 'least', 'coalesce')}(day, {self._one('o.b.d', 'CAST(ts AS DATE)')})",
            f"CASE WHEN {self.condition(0)} THEN day ELSE last_day(day) END",
            f"to_date({self._one('CAST(day AS STRING)', repr('2000-02-29'), 'CAST(ts AS STRING)')})",
            f"try_cast({self._one('g', 'z')} AS DATE)",
            f"nullif(day, DATE '{self._one('2000-01-01', '2001-05-05')}')",
            f"date_trunc('{self._one('MONTH', 'YEAR', 'QUARTER')}', day)::DATE",
            f"day {self._one('+', '-')} {self._one('1', 's', 'i')}",
            f"date_add(day, {self._one('s', 'id', 'i')})",
            f"CAST({self._one('at', 'ts')} AS DATE)",
        )

    def moment(self) -> str:
        """Return a timestamp."""
        many = self._rng.randint(1, 90)
        return self._one(
            "at",
            f"date_trunc('{self._one('HOUR', 'day', 'MONTH', 'week', 'minute')}', {self._one('at', 'ts', 'day')})",
            f"at {self._one('+', '-')} INTERVAL {many} {self._one('HOURS', 'MINUTE', 'DAYS', 'MONTHS')}",
            f"ts {self._one('+', '-')} INTERVAL {many} {self._one('HOURS', 'SECOND', 'DAYS', 'YEARS')}",
            f"dateadd({self._one('DAY', 'MONTH', 'HOUR', 'YEAR')}, s, {self._one('day', 'ts', 'at')})",
            "to_timestamp(day)",
            "CAST(ts AS TIMESTAMP)",
            "to_timestamp('2000-03-01 10:20:30')",
            "ts",
            "TIMESTAMP '2000-04-01 00:00:00'",
            "TIMESTAMP_NTZ '2000-04-01 00:00:00'",
            f"{self._one('greatest', 'least')}(ts, TIMESTAMP_NTZ '2000-04-01 12:00:00')",
            f"timestamp_seconds({self._one('id', 'x')})",
            f"to_timestamp({self._one('CAST(ts AS STRING)', 'CAST(day AS STRING)')})",
            f"date_trunc('{self._one('second', 'quarter', 'year')}', {self._one('at', 'ts')})",
            f"CASE WHEN {self.condition(0)} THEN at END",
            f"coalesce({self._one('at', 'CAST(ts AS TIMESTAMP)')}, CAST(day AS TIMESTAMP))",
            f"CAST({self._one('ts', 'at')} AS {self._one('TIMESTAMP_NTZ', 'TIMESTAMP', 'DATE')})",
            "make_timestamp(2000, 1, 2, 3, 4, 5.5)",
        )

    def nested(self) -> str:
        """Return an array, a map or a struct."""
        return self._one(
            *("w", "n", "k", "p", "map_keys(k)", "map_values(k)", "array_distinct(n)"),
            *("array(x, s)", "array(g, 'q')", "slice(w, 1, 2)", "concat(w, array('z'))"),
            *("transform(n, e -> e + id)", "filter(w, e -> e <> 'a')", "array_compact(w)"),
            *("sequence(s, id)", "sequence(1, id, 3)", "sequence(day, date_add(day, s))"),
            *("sort_array(n)", "array_append(w, g)", "array_union(n, array(1))"),
            "sequence(DATE '2000-01-30', DATE '2000-02-03', INTERVAL 1 DAY)",
            *("o", "l", "km", "o.b", "l.q", "l.c", "array(m, x)", "array(d, 1)", "array(NULL, s)"),
            *("struct(id, g)", "named_struct('a', x, 'b', g)", "map('a', x)", "array()"),
            *("map(g, 1, 'zz', 2)", "split(z, ',')", "array_remove(n, 1)", "array_repeat(g, 2)"),
            *("arrays_zip(n, w)", "map_from_arrays(array('a'), array(x))", "array_sort(n)"),
            *("zip_with(n, n, (a, b) -> a + b)", "map_filter(k, (a, b) -> b > 3)"),
            *(
                "transform_values(k, (a, b) -> b + 1)",
                "map_entries(k)",
                "map_concat(k, map('z', 0))",
            ),
            *(
                "transform(l, e -> e.q)",
                "filter(l, e -> e.c IS NULL)",
                "array_except(w, array('a'))",
            ),
            *(
                "transform(n, (e, i) -> e * i)",
                "array_prepend(w, g)",
                "reverse(n)",
                "array(array(s))",
            ),
            *("flatten(array(n, array(s)))", "if(b, n, array(0))"),
            *("CASE WHEN b THEN w END", "coalesce(n, array(1))", "str_to_map('a:1,b:2', ',', ':')"),
        )

    def condition(self, depth: int = 2) -> str:
        """Return a condition."""
        if depth == 0:
            return self._one(
                "b", "x > 0", "g = 'a'", "day >= '2000-06-01'", "id < 30", "m <> 0", "g IS NULL"
            )
        below = depth - 1
        sign = self._one("=", "<>", "<", "<=", ">", ">=", "<=>", "!=")
        return self._one(
            f"({self.condition(below)} AND {self.condition(below)})",
            f"({self.condition(below)} OR {self.condition(below)})",
            f"NOT ({self.condition(below)})",
            f"{self.number(below)} {sign} {self.number(below)}",
            f"{self.text(below)} {sign} {self.text(below)}",
            f"day {sign} {self.day(below)}",
            f"ts {self._one('>', '<=')} '2000-04-01 12:00:00'",
            f"g LIKE '{self._one('a%', '%b%', '_', 'a_b', '%e', 'a!%b')}'",
            "g NOT LIKE 'a%'",
            f"x IN ({self._rng.randint(-9, 9)}, 3, {self._one('7', 'NULL')})",
            f"id BETWEEN {self._rng.randint(0, 30)} AND 45",
            f"{self._one('x', 'g', 'd', 'b')} IS {self._one('NULL', 'NOT NULL')}",
            f"b IS {self._one('TRUE', 'FALSE', 'NOT TRUE')}",
            "g IS DISTINCT FROM 'a'",
            f"startswith({self.text(below)}, 'a')",
            f"contains({self.text(below)}, 'b')",
            "endswith(g, 'b')",
            "x IN (SELECT y FROM {u})",
            "x NOT IN (SELECT uid FROM {u})",
            "EXISTS (SELECT 1 FROM {u} WHERE uid = id)",
            "x > (SELECT avg(y) FROM {u})",
            f"g ILIKE '{self._one('A%', '%B%', 'z_b%')}'",
            f"g LIKE {self._one('ANY', 'ALL')} ('a%', '%b%')",
            f"x {self._one('=', '<', '>=')} '{self._rng.randint(-9, 9)}'",
            f"{self._one('m', 'd')} > '{self._one('1', '2.5', '-3')}'",
            f"at {self._one('<', '>=')} {self._one(repr('2000-04-01'), 'ts', repr('2000-03-01 10:00:00'))}",
            f"{self._one('exists', 'forall')}(n, e -> e > {self._one('0', '-1')})",
            "array_contains(w, 'a')",
            "map_contains_key(k, 'a')",
            f"p.q {sign} {self._one('0', 's')}",
            "p.c = 'a'",
            f"g RLIKE '{self._one('^a', 'b$', '[0-9]', 'a.b')}'",
            f"get_json_object(j, '$.a') = '{self._one('1', 'text')}'",
            "id NOT IN (SELECT uid FROM {u} WHERE y > 0)",
            "NOT (x IN (SELECT y FROM {u} WHERE y IS NOT NULL))",
            *self._more_conditions(below, sign),
        )

    def _more_conditions(self, below: int, sign: str) -> list[str]:
        """Return other conditions."""
        return [
            f"b {self._one('=', '<>', '<=>')} ({self.condition(below)})",
            f"(b AND NULL) {self._one('IS NULL', 'IS NOT TRUE')}",
            f"{self._one('v', 'd')} {sign} {self._one('v', '0.0', 'd', '1.5e0')}",
            f"{self._one('isnan(v)', 'v = v', 'v IS NULL', 'isnull(v)', 'isnotnull(x)')}",
            f"{self._one('dec', 'wide', 'm')} {sign} {self._one('dec', 'm', '0', '12.5', 'x')}",
            f"{self._one('big', 'i', 'x')} {sign} {self._one('big', '0', '9223372036854775807', 'i')}",
            f"z {sign} {self._one('g', repr('a'), repr('100%'))}",
            f"z LIKE '{self._one('%a%', '__%', '100!%', '%')}' {self._one('', 'ESCAPE ' + repr('!'))}",
            f"z {self._one('LIKE', 'NOT LIKE')} '{self._one('a_b', '100%', '%1%')}'",
            f"g NOT {self._one('ILIKE', 'LIKE')} 'A%'",
            f"g NOT LIKE {self._one('ANY', 'ALL')} ('a%', '%b')",
            f"g NOT RLIKE '{self._one('a', 'z.*a', '^$')}'",
            f"g {self._one('IN', 'NOT IN')} ('a', 'ab', {self._one('NULL', repr(''), 'z')})",
            f"day {self._one('IN', 'NOT IN')} (DATE '2000-02-29', {self._one('NULL', 'o.b.d', repr('2000-03-01'))})",
            f"m {self._one('', 'NOT ')}BETWEEN {self._one('-100', '0', 's')} AND {self._one('500.5', 'x', 'dec')}",
            f"g BETWEEN 'a' AND {self._one(repr('b'), 'z')}",
            f"day BETWEEN '2000-01-01' AND {self._one(repr('2000-12-31'), 'CAST(ts AS DATE)')}",
            f"day {sign} '{self._one('2000-02-29', '2001-01-01')}'",
            f"ts {sign} {self._one('day', 'TIMESTAMP_NTZ ' + repr('2000-03-03 00:00:00'), 'at')}",
            f"at {sign} TIMESTAMP '2000-04-01 00:00:00'",
            f"year(day) = {self._one('2000', '2001')} AND month(day) {sign} 6",
            f"coalesce({self.condition(below)}, {self._one('true', 'false')})",
            f"if({self.condition(0)}, {self.condition(below)}, b)",
            f"CASE WHEN {self.condition(0)} THEN {self.condition(below)} ELSE x > 0 END",
            f"CASE s WHEN 0 THEN b WHEN 1 THEN x > {self._one('0', '5')} END",
            f"arrays_overlap(w, {self._one('array(' + repr('a') + ')', 'w')})",
            f"array_contains(n, {self._one('1', 's', 'x')})",
            f"exists(l, e -> e.q > {self._one('0', '1', 's')})",
            f"size(w) {sign} {self._one('1', '2', 'size(n)')}",
            f"k['a'] {sign} {self._one('k[' + repr('b') + ']', '4')}",
            f"(x, g) {self._one('=', 'IN')} {self._one('(1, ' + repr('a') + ')', '((1, ' + repr('a') + '), (2, g))')}",
            f"NOT EXISTS (SELECT 1 FROM {{u}} WHERE uid = id AND y {sign} {self._one('s', '0', 'x')})",
            "EXISTS (SELECT 1 FROM {u} q WHERE q.h = g AND q.uid <> id)",
            "(x, id) IN (SELECT y, uid FROM {u})",
            f"x {sign} (SELECT {self._one('min', 'max')}(y) FROM {{u}} WHERE uid {self._one('=', '<')} id)",
            f"g IN (SELECT h FROM {{u}} WHERE {self._one('y > 0', 'h IS NOT NULL', 'e > DATE ' + repr('2000-06-01'))})",
            "g NOT IN (SELECT h FROM {u} WHERE h IS NOT NULL)",
            f"id {sign} ALL (SELECT uid FROM {{u}})" if self._rng.random() < 0.02 else "id >= 5",
            f"{self._one('b', 'x > 3')} IS {self._one('', 'NOT ')}{self._one('TRUE', 'FALSE', 'UNKNOWN')}",
            f"x IS NOT DISTINCT FROM {self._one('s', 'NULL', '3')}",
            f"i % 2 {sign} 1",
            f"nullif(x, {self._one('3', 's')}) IS NULL",
            f"{self._one('true', 'false', 'NULL')} {self._one('AND', 'OR')} {self.condition(below)}",
            f"{self._one('bool', 'x')} = 1".replace("bool", "CAST(b AS INT)"),
            f"length(z) {sign} {self._one('3', 'length(g)')}",
            f"{self._one('x', 'day', 'id')} LIKE '{self._one('1%', '%0', '2000-%')}'",
            f"startswith({self._one('x', 'day', 'm')}, '{self._one('1', '2000', '-')}')",
        ]

    def anything(self, depth: int = 2) -> str:
        """Return a value of any type."""
        if self._rng.random() < 0.15:
            return self.moment()
        return self._rng.choice([self.number, self.number, self.text, self.day, self.condition])(
            depth
        )

    def _projection(self) -> str:
        count = self._rng.randint(1, 4)
        columns = ", ".join(self._aliased(self.anything()) for _ in range(count))
        if self._rng.random() < 0.15:
            return f"SELECT {columns}, {self.nested()} FROM {{t}} WHERE {self.condition()}"
        end = self._one("", "", " LIMIT 100")
        order = " ORDER BY id" + self._one("", " DESC", " DESC NULLS LAST") if end else ""
        if "DISTINCT" not in columns and self._rng.random() < 0.2:
            return f"SELECT DISTINCT {columns} FROM {{t}}"
        return f"SELECT {columns} FROM {{t}} WHERE {self.condition()}{order}{end}"

    def _aliased(self, text: str) -> str:
        return text if self._rng.random() < 0.5 else f"{text} AS a{self._rng.randint(0, 999)}"

    def aggregate(self) -> str:
        """Return an aggregate."""
        number = self._one("x", "s", "id", "d", "m", self.number(1))
        return self._one(
            "count(*)",
            f"count({self.anything(1)})",
            f"count(DISTINCT {self._one('g', 's', 'x', 'day')})",
            f"sum({number})",
            f"avg({number})",
            "avg(m)",
            "sum(m)",
            "sum(DISTINCT s)",
            f"min({self.anything(1)})" if self._rng.random() < 0.5 else "min(g)",
            f"max({self._one('g', 'day', 'ts', 'm', 'd', 'x')})",
            f"sum({number}) FILTER (WHERE {self.condition(0)})",
            f"count_if({self.condition(1)})",
            "bool_or(b)",
            "every(b)",
            "stddev(x)",
            "var_pop(d)",
            f"avg({self._one('m * m', 'm * 2', 'm * m * m')})",
            f"{self._one('sum', 'avg')}(m * (1 - m) * (1 + m))",
            f"median({self._one('x', 'd', 's')})",
            f"percentile({self._one('x', 'd')}, {self._one('0.25', '0.9')})",
            f"percentile_cont(0.{self._rng.randint(1, 9)}) WITHIN GROUP (ORDER BY {self._one('x', 'd DESC', 's')})",
            f"percentile_disc(0.{self._rng.randint(1, 9)}) WITHIN GROUP (ORDER BY {self._one('x', 's')})",
            f"listagg(g, ',') WITHIN GROUP (ORDER BY g{self._one('', ' DESC')})",
            f"{self._one('max_by', 'min_by')}({self._one('g', 'x', 'day')}, id)",
            f"max({self._one('at', 'p.q', 'p.c')})",
            "sort_array(collect_set(g))",
            "count(DISTINCT g, b)",
            f"sum(m) / {self._one('count(*)', 'sum(s * s + 1)', 'sum(m * m + 1)')}",
            f"{self._one('sum', 'avg', 'min', 'max')}({self._one('dec', 'wide', 'i', 'v', 'f')})",
            f"{self._one('sum', 'avg', 'count')}(DISTINCT {self._one('m', 'i', 'x')})",
            f"count({self._one('w', 'k', 'o', 'l', 'v')})",
            f"{self._one('min', 'max')}({self._one('z', 'big', 'b', 'at', 'o.b.d')})",
            f"count(*) FILTER (WHERE {self.condition(1)})",
            f"{self._one('avg', 'max')}({number}) FILTER (WHERE {self.condition(0)})",
            f"count(DISTINCT {self._one('z', 'v', 'dec', 'o.a', 'year(day)')})",
            f"sum(CASE WHEN {self.condition(1)} THEN {self._one('1', 'x', 'm')} ELSE 0 END)",
            f"sum(if({self.condition(0)}, 1, 0))",
            f"coalesce(sum({number}), 0)",
            f"round(avg({self._one('x', 'm', 'd', 'dec')}), {self._rng.randint(0, 3)})",
            f"{self._one('stddev', 'stddev_pop', 'variance', 'var_samp')}({self._one('x', 's', 'm', 'i')})",
            f"{self._one('corr', 'covar_pop', 'covar_samp')}(x, {self._one('s', 'id')})",
            f"{self._one('max_by', 'min_by')}({self._one('z', 'm', 'd')}, {self._one('id', 'id * 2')})",
            f"max({self._one('day', 'ts')}) - {self._one('INTERVAL 1 DAY', 'min(day)')}",
            f"size(collect_set({self._one('s', 'g', 'day')}))",
            f"sort_array(collect_list({self._one('x', 'g', 's')}))",
            f"array_join(sort_array(collect_set(g)), '{self._one(',', '')}')",
            f"{self._one('bit_and', 'bit_or', 'bit_xor')}({self._one('x', 's', 'i')})",
            f"{self._one('skewness', 'kurtosis')}(x)",
            f"approx_count_distinct({self._one('g', 's')})",
            f"mode({self._one('b', 's')})" if self._rng.random() < 0.1 else "count(1)",
            "bool_and(x IS NOT NULL)",
            "any_value(1)",
            f"count({self._one('x, g', 's, m', '1, x')})",
            f"percentile({self._one('x', 's')}, array(0.25, 0.5))",
            f"percentile_approx({self._one('x', 's')}, 0.5)",
            "try_sum(big)",
            f"regr_{self._one('slope', 'count', 'r2')}(x, s)",
        )

    def _grouped(self) -> str:
        keys = self._rng.sample(
            ["g", "s", "b", "year(day)", "x % 3", "upper(g)", "day > '2001-01-01'"], 2
        )
        keys = keys[: self._rng.randint(0, 2)]
        values = [self.aggregate() for _ in range(self._rng.randint(1, 3))]
        if keys and self._rng.random() < 0.3:
            values.append(f"{self._one('max(x) - min(x)', 'sum(s) + 1', 'count(*) * 2')}")
        columns = ", ".join([*keys, *(self._aliased(value) for value in values)])
        group = ""
        if keys:
            group = " GROUP BY " + self._one(
                ", ".join(keys), ", ".join(map(str, range(1, len(keys) + 1)))
            )
            if self._rng.random() < 0.25:
                which = self._one("ROLLUP", "CUBE")
                group = f" GROUP BY {which}({', '.join(keys)})"
                if len(keys) == 2 and self._rng.random() < 0.3:
                    group = f" GROUP BY GROUPING SETS (({keys[0]}, {keys[1]}), ({keys[1]}), ())"
                columns += f", grouping({keys[0]})"
        having = f" HAVING count(*) > {self._rng.randint(0, 3)}" if self._rng.random() < 0.3 else ""
        where = f" WHERE {self.condition(1)}" if self._rng.random() < 0.5 else ""
        return f"SELECT {columns} FROM {{t}}{where}{group}{having}"

    def _joined(self) -> str:
        kind = self._one(
            "JOIN",
            "LEFT JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
            "LEFT SEMI JOIN",
            "LEFT ANTI JOIN",
            "INNER JOIN",
        )
        on = self._one(
            "id = uid", "id = uid AND y > 0", "g = h AND id < uid", "x = y", "s = y AND g <=> h"
        )
        columns = self._one("id, g", f"id, {self.anything(1)}", "g, x + 1")
        if "SEMI" not in kind and "ANTI" not in kind:
            columns += self._one(", y", ", uid, h", ", coalesce(h, g)", "")
        where = f" WHERE {self.condition(1)}" if self._rng.random() < 0.5 else ""
        return f"SELECT {columns} FROM {{t}} a {kind} {{u}} b ON {on}{where}".replace(
            " b ON", " bb ON"
        )

    def _windowed(self) -> str:
        order = self._one("id", "id DESC", "day, id", "g DESC NULLS LAST, id", "x, id DESC")
        part = self._one("", "PARTITION BY g ", "PARTITION BY s, b ", "PARTITION BY year(day) ")
        frame = self._one(
            "",
            "",
            " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        )
        over = f"OVER ({part}ORDER BY {order}{frame})"
        plain = f"OVER ({part}ORDER BY {order})"
        call = self._one(
            f"row_number() {plain}",
            f"rank() {plain}",
            f"dense_rank() {plain}",
            f"ntile(3) {plain}",
            f"percent_rank() {plain}",
            f"lag(x) {plain}",
            f"lead(g, 2) {plain}",
            f"lag(x, 1, 0L) {plain}".replace("0L", "CAST(0 AS BIGINT)"),
            f"first_value(x) {over}",
            f"last_value(g) {over}",
            f"sum(x) {over}",
            f"count(*) {over}",
            f"avg(s) {over}",
            f"max(day) {over}",
            f"sum(m) OVER ({part.strip()})",
            f"{self._one('last_value', 'first_value', 'lag', 'lead')}(x) IGNORE NULLS {plain}",
            f"nth_value(g, 2) {over}",
            f"{self._one('last', 'first')}(g, true) {over}",
            f"sum(x) OVER ({part}ORDER BY day RANGE BETWEEN INTERVAL 30 DAYS PRECEDING AND CURRENT ROW)",
            f"count(*) OVER ({part}ORDER BY ts RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND INTERVAL 1 DAY FOLLOWING)",
            f"avg(m) {over}",
        )
        if self._rng.random() < 0.15:
            return (
                f"SELECT id, g FROM {{t}} WHERE {self.condition(1)} "
                f"QUALIFY row_number() {plain} {self._one('= 1', '< 3')}"
            )
        return f"SELECT id, {self._aliased(call)} FROM {{t}} WHERE {self.condition(1)}"

    def _set(self) -> str:
        word = self._one("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "MINUS")
        left = self._one(
            "SELECT g, x FROM {t}", "SELECT upper(g) k, s FROM {t}", "SELECT g, m FROM {t}"
        )
        right = self._one(
            "SELECT h, y FROM {u}", "SELECT h, uid FROM {u} WHERE y > 0", "SELECT 'a', 1"
        )
        end = self._one("", " ORDER BY 1, 2", " ORDER BY 2 DESC, 1 LIMIT 7")
        return f"{left} {word} {right}{end}"

    def _with(self) -> str:
        return (
            f"WITH q AS (SELECT g, {self.aggregate()} AS v, count(*) AS n FROM {{t}} GROUP BY g) "
            + self._one(
                "SELECT * FROM q WHERE n > 2",
                "SELECT q.g, t2.id FROM q JOIN {t} t2 ON q.g = t2.g WHERE t2.id < 20",
                "SELECT a.g, b.g FROM q a CROSS JOIN q b WHERE a.n < b.n",
                "SELECT max(n), min(g) FROM q",
            )
        )

    def _nested(self) -> str:
        columns = f"id, {self.number(1)} AS v, {self.text(1)} AS w"
        inner = f"SELECT {columns} FROM {{t}} WHERE {self.condition(1)}"
        return self._one(
            f"SELECT w, count(*), sum(v) FROM ({inner}) GROUP BY w",
            f"SELECT q.v + 1, q.id FROM ({inner}) AS q WHERE q.w IS NOT NULL",
            f"SELECT *, v > 0 AS p FROM ({inner}) q ORDER BY id LIMIT 9",
            "SELECT id, (SELECT max(y) FROM {u} WHERE uid = id) AS m2 FROM {t}",
            f"SELECT id, e FROM {{t}} LATERAL VIEW {self._one('', 'OUTER ')}explode({self._one('w', 'n', 'map_keys(k)')}) q AS e",
            f"SELECT id, h FROM {{t}}, LATERAL (SELECT h FROM {{u}} WHERE uid = id ORDER BY h, y LIMIT 1) q WHERE {self.condition(0)}",
            "SELECT * EXCEPT (at, w, n, k, p, j) FROM {t} ORDER BY id LIMIT 9",
            f"SELECT * FROM (SELECT g, s, {self._one('x', 'm', 'day')} AS v FROM {{t}}) "
            f"PIVOT ({self._one('max(v)', 'count(v) AS c, min(v) AS l')} FOR s IN (0, 1 AS one, -2))",
            "SELECT * FROM (SELECT id, x, s FROM {t}) UNPIVOT (v FOR c IN (x, s))",
            f"SELECT r.id, t2.g FROM range({self._rng.randint(3, 30)}) r LEFT JOIN {{t}} t2 USING (id)",
            f"SELECT g, b, {self.aggregate()} FROM {{t}} GROUP BY ALL ORDER BY ALL",
        )
