# ruff: noqa: E501 - parts of queries are read in one line
"""Shapes of queries made at random: joins, queries in queries, windows, sets of groups, WITH."""

from __future__ import annotations

import random
from typing import Protocol

_ROWS = ("PRECEDING", "FOLLOWING")
_U = "uid, h, y, e"


class Expressions(Protocol):
    """Makes expressions over the columns of ``{t}``."""

    def number(self, depth: int = 2) -> str: ...
    def text(self, depth: int = 2) -> str: ...
    def day(self, depth: int = 1) -> str: ...
    def condition(self, depth: int = 2) -> str: ...
    def anything(self, depth: int = 2) -> str: ...
    def aggregate(self) -> str: ...


class Shapes:
    """Makes queries of which the expressions are made elsewhere.

    Parameters
    ----------
    rng
        Draws.
    of
        Makes expressions.
    """

    def __init__(self, rng: random.Random, of: Expressions) -> None:
        self._rng = rng
        self._of = of

    def query(self) -> str:
        """Return one over ``{t}`` and ``{u}``."""
        makers = [
            self._joins,
            self._joins,
            self._subqueries,
            self._subqueries,
            self._windows,
            self._windows,
            self._sets,
            self._groups,
            self._groups,
            self._with,
            self._with,
            self._rows,
            self._exploded,
            self._ordered,
        ]
        return self._rng.choice(makers)()

    def _one(self, *texts: str) -> str:
        return self._rng.choice(texts)

    def _some(self, *texts: str, least: int = 1) -> str:
        count = self._rng.randint(least, len(texts))
        return ", ".join(self._rng.sample(texts, count))

    def _maybe(self, text: str, share: float = 0.5) -> str:
        return text if self._rng.random() < share else ""

    def _joins(self) -> str:
        kind = self._one("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN", "CROSS JOIN")
        other = self._one("JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "FULL JOIN")
        first = self._one("t.id = u.uid", "t.x = u.y", "t.g = u.h", "t.day = u.e", "t.s = u.y")
        more = self._one(
            "",
            " AND t.x > u.y",
            " AND u.y IN (1, 2, 3)",
            " AND t.b",
            " OR t.id = u.y",
            " AND upper(t.g) = upper(u.h)",
            " AND t.m > u.uid",
            " AND t.day < u.e",
            " AND coalesce(u.y, 0) <> 3",
        )
        on = "" if kind == "CROSS JOIN" else f" ON {first}{more}"
        right = self._one(
            "{u} u",
            "(SELECT * FROM {u} WHERE y IS NOT NULL) u",
            "(SELECT uid, max(h) AS h, sum(y) AS y, min(e) AS e FROM {u} GROUP BY uid) u",
        )
        kinds = self._rng.random()
        where = self._maybe(
            " WHERE "
            + self._one(
                "u.y IS NULL",
                "t.id < 20 AND (u.h IS NULL OR u.h <> t.g)",
                "t.x + coalesce(u.y, 0) > 3",
                "u.uid IS NOT NULL AND t.b",
                "t.day > u.e",
                "coalesce(t.g, u.h) LIKE '%a%'",
                "t.id % 3 = 1",
            )
        )
        columns = self._some(
            "t.id", "u.uid", "t.g", "u.h", "t.x + u.y AS total", "coalesce(u.h, t.g) AS c",
            "t.m * u.y", "datediff(u.e, t.day)", "t.b AND u.y > 0", "u.e", "t.o.a", "t.w",
        )  # fmt: skip
        if kinds < 0.2:
            using = self._one("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN")
            both = "(SELECT id, y, h FROM (SELECT uid AS id, y, h FROM {u}))"
            return f"SELECT {self._one('*', 'id, y, g', 't.id, u.y', 'id, u.id, t.id')} FROM (SELECT id, g, x FROM {{t}}) t {using} {both} u USING (id)"
        if kinds < 0.3:
            return (
                f"SELECT a.id, b.id AS other, a.g FROM {{t}} a {self._one('JOIN', 'LEFT JOIN')} {{t}} b "
                f"ON a.g = b.g AND a.id {self._one('<', '<>', '<=')} b.id{self._maybe(' WHERE a.id < 15')}"
            )
        if kinds < 0.45:
            rest = "" if "SEMI" in other or "ANTI" in other else ", v.uid AS second, v.y * 2"
            return (
                f"SELECT t.id, u.h{rest} FROM {{t}} t {kind} {right}{on} "
                f"{other} {{u}} v ON v.uid = t.id + 1{self._maybe(' AND v.y > 0')}{self._maybe(' WHERE t.id < 30')}"
            )
        if kinds < 0.6:
            return (
                f"SELECT {self._one('t.g', 'u.h', 't.b')} AS k, count(*), {self._one('sum(u.y)', 'max(t.x)', 'count(DISTINCT u.uid)', 'sum(t.m)')} "
                f"FROM {{t}} t {kind} {right}{on}{where} GROUP BY {self._one('1', 'k')}"
            )
        return f"SELECT {columns} FROM {{t}} t {kind} {right}{on}{where}"

    def _subqueries(self) -> str:
        sign = self._one("=", "<>", "<", ">=")
        inner = self._one(
            f"SELECT {self._one('min', 'max', 'sum', 'count')}(y) FROM {{u}} WHERE uid = t.id",
            f"SELECT avg(y) FROM {{u}} WHERE h {self._one('=', '<=>')} t.g",
            "SELECT count(*) FROM {u} WHERE uid < t.id",
            "SELECT max(e) FROM {u} WHERE uid = t.id AND y > 0",
            "SELECT h FROM {u} WHERE uid = t.id ORDER BY h, y LIMIT 1",
            "SELECT coalesce(sum(y), 0) + 1 FROM {u} WHERE uid = t.id",
            "SELECT max(x) FROM {t} q WHERE q.g = t.g AND q.id <> t.id",
        )
        exists = self._one("EXISTS", "NOT EXISTS")
        return self._one(
            f"SELECT id, ({inner}) AS q FROM {{t}} t{self._maybe(' WHERE id < 25')}",
            f"SELECT id FROM {{t}} t WHERE x {sign} (SELECT {self._one('min', 'max', 'avg')}(y) FROM {{u}}{self._maybe(' WHERE uid = t.id')})",
            f"SELECT id, g FROM {{t}} t WHERE {exists} (SELECT 1 FROM {{u}} u WHERE u.uid = t.id{self._maybe(' AND u.y < t.x')}{self._maybe(' AND u.h IS NOT NULL')})",
            f"SELECT id FROM {{t}} t WHERE {exists} (SELECT * FROM {{u}} WHERE h = t.g) {self._one('AND', 'OR')} id < 9",
            f"SELECT count(*), sum(x) FROM {{t}} WHERE g {self._one('IN', 'NOT IN')} (SELECT h FROM {{u}}{self._maybe(' WHERE h IS NOT NULL')})",
            f"SELECT id FROM {{t}} WHERE x IN (SELECT y FROM {{u}} WHERE uid {self._one('>', '<')} {{t}}.id)".replace(
                "{t}.id", "30"
            ),
            "SELECT q.g, q.n, (SELECT count(*) FROM {u} WHERE h = q.g) AS c FROM (SELECT g, count(*) AS n FROM {t} GROUP BY g) q",
            f"SELECT g, sum(x) FROM {{t}} GROUP BY g HAVING sum(x) > (SELECT {self._one('avg', 'max', 'min')}(y) FROM {{u}})",
            f"SELECT * FROM (SELECT id, g, {self._of.number(1)} AS a FROM {{t}}) p WHERE a = (SELECT max(a) FROM (SELECT {self._of.number(1)} AS a FROM {{t}}) r)",
            f"SELECT id, CASE WHEN {exists} (SELECT 1 FROM {{u}} WHERE uid = id) THEN 'y' ELSE 'n' END FROM {{t}}",
            "SELECT id, x - (SELECT avg(x) FROM {t}), x > (SELECT max(y) FROM {u}) FROM {t}",
            "SELECT id FROM {t} WHERE (x, g) IN (SELECT y, h FROM {u})",
            "SELECT id, x IN (SELECT y FROM {u} WHERE y IS NOT NULL) FROM {t} WHERE x IS NOT NULL",
            f"SELECT u.uid, (SELECT count(*) FROM {{t}} WHERE id = u.uid AND {self._one('x > 0', 'b', 'g IS NOT NULL')}) FROM {{u}} u",
        )

    def _frame(self) -> str:
        n = self._rng.randint(1, 3)
        return self._one(
            "",
            "",
            f" ROWS BETWEEN {n} PRECEDING AND {n - 1} FOLLOWING",
            f" ROWS BETWEEN {n} FOLLOWING AND {n + 2} FOLLOWING",
            f" ROWS BETWEEN UNBOUNDED PRECEDING AND {n} PRECEDING",
            " ROWS UNBOUNDED PRECEDING",
            f" ROWS {n} PRECEDING",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            " RANGE UNBOUNDED PRECEDING",
        )

    def _window(self, part: str) -> str:
        order = self._one("id", "id DESC", "s, id", "x NULLS LAST, id", "day DESC, id", "m, id")
        plain = f"({part}ORDER BY {order})"
        over = f"({part}ORDER BY {order}{self._frame()})"
        ties = f"({part}ORDER BY {self._one('s', 'b', 'g', 'year(day)', 'x DESC')})"
        whole = f"({part.strip()})"
        n = self._rng.randint(1, 20)
        return self._one(
            f"{self._one('rank', 'dense_rank', 'percent_rank', 'cume_dist')}() OVER {ties}",
            f"{self._one('count', 'max', 'min', 'sum', 'avg')}({self._one('x', 's', 'm', 'i', 'dec', 'd')}) OVER {ties}",
            f"{self._one('sum', 'avg', 'count')}(x) FILTER (WHERE {self._one('b', 'x > 0', 'g IS NULL')}) OVER {over}",
            f"{self._one('count', 'min', 'max')}({self._one('g', 'day', 'z', 'm', 'b', '*')}) OVER {over}".replace(
                "min(*)", "min(g)"
            ).replace("max(*)", "max(g)"),
            f"{self._one('lag', 'lead')}({self._one('x', 'g', 'day', 'm', 'w', 'b')}, {self._rng.randint(0, 3)}) OVER {plain}",
            f"{self._one('lag', 'lead')}({self._one('s, 1, -1', 'g, 2, ' + repr('none'), 'id, 1, 0')}) OVER {plain}",
            f"x - {self._one('lag', 'lead')}(x) OVER {plain}",
            f"sum(x) OVER {whole} - x",
            f"round(m / sum(m) OVER {whole}, 3)"
            if self._rng.random() < 0.3
            else f"m - avg(m) OVER {whole}",
            f"{self._one('first_value', 'last_value', 'nth_value')}({self._one('x', 'g', 'day')}".replace(
                "nth_value(x", "nth_value(x, 2"
            )
            .replace("nth_value(g", "nth_value(g, 2")
            .replace("nth_value(day", "nth_value(day, 2")
            + f") OVER {over}",
            f"sum(s) OVER ({part}ORDER BY x RANGE BETWEEN {n} PRECEDING AND {self._one('CURRENT ROW', '5 FOLLOWING')})",
            f"count(*) OVER ({part}ORDER BY id RANGE BETWEEN {n} PRECEDING AND {n} FOLLOWING)",
            f"{self._one('stddev', 'var_pop', 'bool_or')}({self._one('x', 's')}) OVER {over}".replace(
                "bool_or(x)", "bool_or(b)"
            ).replace("bool_or(s)", "bool_or(b)"),
            f"row_number() OVER ({part}ORDER BY {order}) % 2 = 0",
            f"coalesce(lag(g) OVER {plain}, 'first')",
            f"CASE WHEN row_number() OVER {plain} = 1 THEN 'top' ELSE g END",
            f"collect_list(s) OVER ({part}ORDER BY id{self._one('', ' ROWS 1 PRECEDING')})",
            f"ntile({self._rng.randint(2, 7)}) OVER {plain}",
            f"max(day) OVER {over}",
            f"sum(sum_of) OVER {whole}".replace("sum_of", "i"),
        )

    def _windows(self) -> str:
        part = self._one(
            "",
            "PARTITION BY g ",
            "PARTITION BY s ",
            "PARTITION BY b, s ",
            "PARTITION BY g, year(day) ",
        )
        chance = self._rng.random()
        where = self._maybe(f" WHERE {self._of.condition(1)}")
        if chance < 0.2:
            return (
                f"SELECT g, sum(x) AS t, {self._one('rank() OVER (ORDER BY sum(x) DESC, g)', 'sum(sum(x)) OVER (ORDER BY g)', 'sum(count(*)) OVER ()', 'lag(sum(x)) OVER (ORDER BY g)', 'max(count(*)) OVER ()')} "
                f"FROM {{t}}{where} GROUP BY g"
            )
        if chance < 0.35:
            return f"SELECT id, sum(x) OVER w, {self._one('row_number() OVER w', 'max(s) OVER w', 'lag(g) OVER w')} FROM {{t}}{where} WINDOW w AS ({part}ORDER BY id)"
        if chance < 0.5:
            best = self._one("r = 1", "r <= 2", "r > 3")
            return f"SELECT id, g, r FROM (SELECT id, g, {self._one('row_number', 'rank', 'dense_rank')}() OVER ({part}ORDER BY {self._one('x', 'm DESC', 'day')}, id) AS r FROM {{t}}{where}) q WHERE {best}"
        if chance < 0.6:
            return f"SELECT DISTINCT g, {self._one('count(*)', 'max(x)', 'min(day)')} OVER (PARTITION BY g) FROM {{t}}{where}"
        calls = ", ".join(
            self._window(part) + self._maybe(f" AS w{n}") for n in range(self._rng.randint(1, 3))
        )
        return f"SELECT id, {calls} FROM {{t}}{where}"

    def _sets(self) -> str:
        words = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
        sides = [
            self._one(
                "SELECT g, x FROM {t}",
                "SELECT h, y FROM {u}",
                "SELECT g, m FROM {t} WHERE id < 20",
                "SELECT h, uid FROM {u}",
                "SELECT upper(g), s FROM {t}",
                "SELECT NULL, 1",
                "SELECT 'a', NULL",
                "SELECT g, i FROM {t} WHERE b",
                "SELECT h, CAST(y AS DOUBLE) FROM {u}",
                "SELECT g, dec FROM {t}",
                "VALUES ('a', 1), ('b', 2)",
                "SELECT g, count(*) FROM {t} GROUP BY g",
                "(SELECT g, x FROM {t} ORDER BY id LIMIT 5)",
            )
            for _ in range(self._rng.randint(2, 4))
        ]
        text = sides[0]
        for side in sides[1:]:
            text += f" {self._one(*words)} {side}"
        chance = self._rng.random()
        if chance < 0.3:
            return f"SELECT count(*), {self._one('max(b)', 'count(DISTINCT a)', 'sum(b)')} FROM ({text}) AS q(a, b)"
        if chance < 0.5:
            return f"SELECT * FROM ({text}) AS q(a, b) WHERE {self._one('b > 0', 'a IS NOT NULL', 'a LIKE ' + repr('%a%'))}"
        return text + self._one("", " ORDER BY 1, 2", " ORDER BY 2 NULLS LAST, 1 DESC")

    def _groups(self) -> str:
        of = self._of
        keys = self._rng.sample(
            ["g", "s", "b", "month(day)", "x % 4", "i > 0", "d", "v", "substring(g, 1, 1)", "dec < 0",
             "coalesce(g, 'none')", "o.a", "date_trunc('MONTH', day)", "CASE WHEN x > 0 THEN 'p' ELSE 'n' END",
             "length(z)", "to_date(ts)", "date_format(day, 'yyyy-MM')"],
            self._rng.randint(1, 3),
        )  # fmt: skip
        values = [of.aggregate() + self._maybe(f" AS v{n}") for n in range(self._rng.randint(1, 3))]
        named = [f"{key} AS k{n}" for n, key in enumerate(keys)]
        where = self._maybe(f" WHERE {of.condition(1)}", 0.3)
        having = self._maybe(
            f" HAVING {self._one('count(*) > 1', 'sum(x) > 0', 'max(m) < 500 OR min(s) = -3', 'count(DISTINCT g) > 1', 'min(day) > DATE ' + repr('2000-02-01'), 'avg(d) IS NOT NULL')}",
            0.3,
        )
        order = self._maybe(f" ORDER BY {', '.join(str(n + 1) for n in range(len(keys)))}", 0.2)
        chance = self._rng.random()
        aliases = ", ".join(f"k{n}" for n in range(len(keys)))
        if chance < 0.3:
            return f"SELECT {', '.join(named + values)} FROM {{t}}{where} GROUP BY {aliases}{having}{order}"
        if chance < 0.5:
            which = self._one("ROLLUP", "CUBE")
            group = f"GROUP BY {which}({', '.join(keys)})"
            if len(keys) > 1:
                group = self._one(
                    group,
                    f"GROUP BY {keys[0]}, {which}({', '.join(keys[1:])})",
                    f"GROUP BY {', '.join(keys)} WITH {which}",
                    f"GROUP BY GROUPING SETS (({', '.join(keys)}), {keys[0]}, ())",
                    f"GROUP BY GROUPING SETS (({keys[0]}), ({keys[1]}))",
                )
            marks = self._maybe(f", grouping({keys[0]}){self._maybe(', grouping_id()', 0.2)}")
            return f"SELECT {', '.join(keys)}{marks}, {', '.join(values)} FROM {{t}}{where} {group}{having}"
        if chance < 0.65:
            return f"SELECT {', '.join(named + values)} FROM {{t}}{where} GROUP BY ALL{having}"
        if chance < 0.8:
            return f"SELECT {', '.join(values)} FROM {{t}}{where}{having}"
        if chance < 0.9:
            inner = f"SELECT {', '.join(named)}, {of.aggregate()} AS a, count(*) AS n FROM {{t}}{where} GROUP BY {', '.join(keys)}"
            return (
                f"SELECT {self._one('max(n), min(a)', 'n, count(*)', 'sum(n)', 'k0, n * 2')} FROM ({inner}) q".replace(
                    "n, count(*) FROM", "n, count(*) AS c FROM"
                )
                + self._maybe(" GROUP BY n", 0.0)
            )
        return f"SELECT DISTINCT {', '.join(keys)} FROM {{t}}{where}"

    def _with(self) -> str:
        of = self._of
        return self._one(
            f"WITH a AS (SELECT id, g, x FROM {{t}} WHERE {of.condition(1)}), b AS (SELECT g, count(*) AS n, max(x) AS top FROM a GROUP BY g) "
            + self._one(
                "SELECT a.id, b.n FROM a JOIN b ON a.g = b.g",
                "SELECT a.id FROM a LEFT JOIN b ON a.g <=> b.g AND a.x = b.top WHERE b.n IS NULL",
                "SELECT * FROM b UNION ALL SELECT g, id, x FROM a",
                "SELECT count(*) FROM a WHERE x > (SELECT avg(top) FROM b)",
                "SELECT b.g, (SELECT count(*) FROM a WHERE a.g = b.g) FROM b",
            ),
            f"WITH q AS (SELECT id, {of.number(1)} AS n, {of.text(1)} AS w FROM {{t}}) SELECT n, count(*), min(w) FROM q GROUP BY n",
            "WITH q(a, b) AS (SELECT g, sum(x) FROM {t} GROUP BY g) SELECT a, b, rank() OVER (ORDER BY b DESC, a) FROM q",
            "WITH q AS (WITH r AS (SELECT id, x FROM {t} WHERE b) SELECT id, x + 1 AS y FROM r) SELECT q.y, u.h FROM q JOIN {u} u ON q.id = u.uid",
            "WITH q AS (SELECT * FROM {u} WHERE y > 0), r AS (SELECT * FROM q WHERE h IS NOT NULL) SELECT r.uid, q.uid FROM r, q WHERE r.y = q.y",
            "WITH m AS (SELECT date_trunc('MONTH', day) AS mo, sum(m) AS s FROM {t} WHERE day IS NOT NULL GROUP BY 1) SELECT mo, s, sum(s) OVER (ORDER BY mo), s - lag(s) OVER (ORDER BY mo) FROM m",
            "WITH t AS (SELECT 1 AS id, 'x' AS g) SELECT t.id, u.h FROM t JOIN {u} u ON u.uid >= t.id",
            f"SELECT * FROM (WITH q AS (SELECT g, {of.aggregate()} AS v FROM {{t}} GROUP BY g) SELECT * FROM q) z WHERE g IS NOT NULL",
        )

    def _rows(self) -> str:
        return self._one(
            "SELECT * FROM VALUES (1, 'a', 2.5), (2, NULL, 3), (NULL, 'c', 4.25) AS v(a, b, c) WHERE a IS NOT NULL OR c > 4",
            f"SELECT v.a, t.g FROM VALUES (1), (5), ({self._rng.randint(0, 60)}) AS v(a) LEFT JOIN {{t}} t ON t.id = v.a",
            f"SELECT {self._of.number(1)} AS a, {self._of.text(1)} AS b, {self._of.day(1)} AS c FROM {{t}} WHERE {self._of.condition(1)}",
            "SELECT 1 AS a, 'x' AS b, NULL AS c, DATE '2000-01-01', true, 1.50, 2e0, -3",
            f"SELECT r.id, count(t.id) FROM range({self._rng.randint(1, 9)}) r LEFT JOIN {{t}} t ON t.s = r.id GROUP BY r.id",
            "SELECT a + b AS c, c * 2 AS d FROM (SELECT id AS a, s AS b FROM {t})",
            f"SELECT id, x AS y, y + 1 AS z1 FROM {{t}} WHERE {self._of.condition(0)}",
            "SELECT count(*), count(x), sum(x), avg(x), min(g), max(g) FROM {t} WHERE id < 0",
            "SELECT t.*, u.y FROM (SELECT id, g FROM {t}) t JOIN {u} u ON t.id = u.uid",
            f"SELECT id, o, l FROM {{t}} WHERE {self._of.condition(1)}",
            "SELECT sum(x) FROM {t} WHERE false",
            "SELECT g, sum(x) FROM {t} WHERE false GROUP BY g",
        )

    def _exploded(self) -> str:
        return self._one(
            f"SELECT id, e FROM {{t}} LATERAL VIEW {self._maybe('OUTER ')}explode({self._one('w', 'n', 'map_values(k)', 'split(z, repr)', 'array(x, s)', 'filter(n, a -> a > 0)', 'sequence(1, abs(s))')}) q AS e{self._maybe(' WHERE e IS NOT NULL')}".replace(
                "repr", "','"
            ),
            f"SELECT id, a, c FROM {{t}} LATERAL VIEW {self._maybe('OUTER ')}posexplode({self._one('w', 'n')}) q AS a, c",
            "SELECT id, q.a, q.c FROM {t} LATERAL VIEW explode(k) q AS a, c",
            f"SELECT e, count(*), sum(x) FROM {{t}} LATERAL VIEW explode({self._one('w', 'n')}) q AS e GROUP BY e",
            "SELECT id, e.c, e.q FROM {t} LATERAL VIEW explode(l) q AS e",
            "SELECT id, explode(n) AS e FROM {t} WHERE id < 30",
            "SELECT e, e2 FROM {t} LATERAL VIEW explode(w) a AS e LATERAL VIEW explode(n) a2 AS e2",
            f"SELECT id, u.y FROM {{t}} t, LATERAL (SELECT {self._one('max(y)', 'count(*)', 'sum(y)')} AS y FROM {{u}} WHERE uid = t.id) u",
            "SELECT id, c, q FROM {t} LATERAL VIEW inline(l) x AS c, q",
            "SELECT * FROM (SELECT s, b, x FROM {t}) PIVOT (sum(x) FOR b IN (true, false))",
            f"SELECT * FROM (SELECT g, s, m FROM {{t}}) PIVOT ({self._one('sum(m)', 'max(m) AS hi, min(m) AS lo')} FOR s IN (-1, 0, 1))",
            "SELECT id, c, v FROM (SELECT id, i, s FROM {t}) UNPIVOT (v FOR c IN (i AS first, s AS second))",
            "SELECT id, size(w), (SELECT count(*) FROM (SELECT explode(w)) q) FROM {t}".replace(
                ", (SELECT count(*) FROM (SELECT explode(w)) q)", ""
            ),
        )

    def _ordered(self) -> str:
        key = self._one(
            "g",
            "x",
            "day",
            "m DESC",
            "z",
            "b",
            "d DESC NULLS LAST",
            "v",
            "s NULLS LAST",
            "dec",
            "at",
            "length(g)",
            "-x",
            "upper(g)",
        )
        end = self._one(
            "",
            f" LIMIT {self._rng.randint(0, 20)}",
            f" LIMIT {self._rng.randint(1, 9)} OFFSET {self._rng.randint(0, 9)}",
            " OFFSET 50",
        )
        columns = self._one(
            "id", "id, g, x", f"id, {self._of.anything(1)} AS a", "id, g AS x2, x AS g2", "*"
        )
        if columns == "*":
            columns = "* EXCEPT (w, n, k, km, l, o, p)"
        return f"SELECT {columns} FROM {{t}}{self._maybe(' WHERE ' + self._of.condition(1))} ORDER BY {key}, id{end}"
