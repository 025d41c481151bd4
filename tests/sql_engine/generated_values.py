# ruff: noqa: E501 - parts of queries are read in one line
"""Values and conditions made at random over the first of the two tables."""

from __future__ import annotations

import random


class Values:
    """Makes expressions."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

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
            f"({self._one('d', 'm', 'v', 'f', 'dec')} % {self._one('3', '2.5D', '-4', '(id + 1)')})",
            f"pmod({self._one('d', 'm', 'x')}, {self._one('3', '2.5', '-4')})",
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
            f"hash({self._one('x', 'g', 'id')}, xxhash64(z, m))",
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
