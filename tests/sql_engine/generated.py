# ruff: noqa: E501 - parts of queries are read in one line
"""Queries made at random over two tables, for comparing answers."""

from __future__ import annotations

from tests.sql_engine.generated_values import Values
from tests.sql_engine.shapes import Shapes


class Queries(Values):
    """Makes queries."""

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
            f"{self._one('max', 'min')}({self._one('d', 'v', 'f')}) {over}",
            f"count(*) OVER ({part}ORDER BY {self._one('x', 's', 'm', 'd', 'v')} {self._one('', 'DESC ')}RANGE BETWEEN {self._rng.randint(0, 9)} PRECEDING AND {self._one('CURRENT ROW', '2 FOLLOWING', 'UNBOUNDED FOLLOWING')})",
            f"sum(x) OVER ({part}ORDER BY {self._one('ts', 'at')} RANGE BETWEEN INTERVAL {self._rng.randint(1, 99)} HOURS PRECEDING AND {self._one('CURRENT ROW', 'INTERVAL 5 HOURS FOLLOWING')})",
            f"count(*) OVER ({part}ORDER BY {self._one('day', 'ts')} RANGE BETWEEN INTERVAL {self._rng.randint(1, 9)} MONTHS PRECEDING AND CURRENT ROW)",
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
            f"SELECT {self._one('p', 'n', 'l', 'w')} AS q, {self.aggregate()} FROM {{t}} GROUP BY q",
            f"SELECT DISTINCT {self._one('p', 'struct(g, s)', 'w', 'array(x, s)')}, b FROM {{t}} WHERE {self.condition(0)}",
            f"SELECT id FROM {{t}} WHERE ({self._one('id, x', 's, id', 'x, s')}) {self._one('', 'NOT ')}IN (SELECT {self._one('uid, y', 'y, uid')} FROM {{u}}{self._one('', ' WHERE y > 0')})",
            f"SELECT id, {self._one('ts', 'at', 'day')} {self._one('+', '-')} {self._one('make_interval(s, 1, id)', 'make_dt_interval(s, id, 5, m)')} AS v FROM {{t}} WHERE {self.condition(0)}",
            f"SELECT g, b, {self.aggregate()} FROM {{t}} GROUP BY ALL ORDER BY ALL",
        )
