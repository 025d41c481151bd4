"""Queries made at random over two tables, for comparing answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
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
}
U = {"uid": "INT", "h": "STRING", "y": "INT", "e": "DATE"}
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
        )

    def anything(self, depth: int = 2) -> str:
        """Return a value of any type."""
        return self._rng.choice([self.number, self.number, self.text, self.day, self.condition])(
            depth
        )

    def _projection(self) -> str:
        count = self._rng.randint(1, 4)
        columns = ", ".join(self._aliased(self.anything()) for _ in range(count))
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
        )
