# ruff: noqa: E501 - parts of queries are read in one line
"""Queries made at random over two tables, for comparing answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

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
        )

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
        )

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
        )

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

    def _aggregate(self) -> str:
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
        )

    def _grouped(self) -> str:
        keys = self._rng.sample(
            ["g", "s", "b", "year(day)", "x % 3", "upper(g)", "day > '2001-01-01'"], 2
        )
        keys = keys[: self._rng.randint(0, 2)]
        values = [self._aggregate() for _ in range(self._rng.randint(1, 3))]
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
            f"WITH q AS (SELECT g, {self._aggregate()} AS v, count(*) AS n FROM {{t}} GROUP BY g) "
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
            f"SELECT g, b, {self._aggregate()} FROM {{t}} GROUP BY ALL ORDER BY ALL",
        )
