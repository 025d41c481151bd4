"""Expressions of a statement to DuckDB's SQL, each with the type that Spark gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError
from paimonlab.sql_engine import (
    aggregates,
    arithmetic,
    casts,
    conditions,
    functions,
    kinds,
    nested,
    time_windows,
    windows,
    zones,
)
from paimonlab.sql_engine.aggregates import AGGREGATES, WINDOWS, Aggregate
from paimonlab.sql_engine.failures import MAY_FAIL
from paimonlab.sql_engine.functions import (
    days,
    intervals,
    lists,
    made_lengths,
    mathematics,
    months,
    moves,
    structs,
    texts,
    units,
)
from paimonlab.sql_engine.functions.hashes import HASHES
from paimonlab.sql_engine.functions.signatures import WrongUseError
from paimonlab.sql_engine.given import Given, number, python_value
from paimonlab.sql_engine.kinds import Kind, duck_type, spark_type
from paimonlab.sql_engine.protocols import Queries
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Scope
from paimonlab.sql_engine.stars import has_merged, is_star, starred
from paimonlab.sql_engine.tree import TIME_LITERAL, check_parts
from paimonlab.sql_engine.value import Value, quoted, read_text, together
from paimonlab.sql_engine.words import written

_TIME_PARTS = {
    **{name: name for name in ("year", "month", "day", "quarter", "hour", "minute")},
    "week": "weekofyear",
    "dow": "dayofweek",
    "dayofweek": "dayofweek",
    "doy": "dayofyear",
}
_INSTEAD: dict[type[exp.Expression], str] = {
    exp.Array: "Names are written in backquotes: `name`; an array is array(1, 2)",
    exp.Tuple: "Compare each value: a = 1 AND b = 2",
    exp.Star: "* is written alone, or in count(*), hash(*), struct(*) of a select list",
}
"""What to write instead."""
_TIMES = (kinds.DATE, kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)
_TIME_HINT = "Times are written TIMESTAMP '2026-01-31 12:00:00'"
_WITHOUT_PARENTHESES = frozenset({"current_date", "current_timestamp"})
_COMPARED: dict[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
}
_FILTERS = ("WHERE", "HAVING", "ON")
_COMPUTED: dict[type[exp.Expression], Callable[[Value, Value], Value]] = {
    exp.Mul: arithmetic.multiply,
    exp.Div: arithmetic.divide,
    exp.IntDiv: arithmetic.divide_whole,
    exp.Mod: arithmetic.remainder,
}
_OF_INTERVALS: dict[type[exp.Expression], Callable[[Value, Value], Value]] = {
    exp.Mul: intervals.multiplied,
    exp.Div: intervals.divided,
}
"""What is computed of lengths of time."""
_SPAN_HINT = "Write INTERVAL '3 04' DAY TO HOUR instead of INTERVAL 3 DAYS 4 HOURS"


class Translator(Struct):
    """Translates the expressions of one query.

    Parameters
    ----------
    scope
        What names mean.
    given
        Values of parameters.
    query
        Translates queries within expressions.
    """

    scope: Scope
    given: Given
    query: Queries
    aliases: dict[str, Value] = field(default_factory=dict)
    """Columns of the select list that later ones may refer to, by name in small letters."""
    windows: Mapping[str, exp.Expression] = field(default_factory=dict)
    """Named windows."""
    has_aggregates: bool = False
    """Whether an aggregate of the query's own rows was translated."""
    has_windows: bool = False
    members: Sequence[exp.Expression] = ()
    """``IN (SELECT …)`` that may be NULL where Spark has FALSE: both leave the row out."""
    variables: Mapping[str, Value] = field(default_factory=dict)
    """Parameters of the functions around an expression, by name in small letters."""
    allows: str = "all"
    """Which functions of several rows are allowed: all, aggregates, none."""
    takes_stars: bool = False
    """Whether ``*`` may be among the arguments of a function: in a select list alone."""

    def value(self, node: exp.Expression) -> Value:
        """Translate an expression.

        Raises
        ------
        NotTranslatedError
            If it is not proven to give what Spark gives.
        """
        kind = type(node)
        if kind in _COMPARED:
            check_parts(node, "this", "expression")
            return arithmetic.compare(_COMPARED[kind], *self.sides(node))
        if kind in _COMPUTED:
            check_parts(node, "this", "expression", "typed", "safe")
            sides = self.sides(node)
            if any(map(intervals.is_interval, sides)) and kind in _OF_INTERVALS:
                return _OF_INTERVALS[kind](*sides)
            return _COMPUTED[kind](*sides)
        translate = _TRANSLATED.get(kind)
        if translate is None:
            if isinstance(node, exp.Aliases):
                called = node.this.name if isinstance(node.this, exp.Anonymous) else node.this.key
                raise NotTranslatedError(f"{called}() AS (a, b)", called)
            raise NotTranslatedError(node.key.upper(), node.key, _INSTEAD.get(kind, ""))
        return translate(self, node)

    def truth(self, node: exp.Expression, what: str) -> Value:
        """Translate a condition."""
        value = self.value(node)
        if what in _FILTERS and value.kind == kinds.VOID:
            raise NotTranslatedError(f"{what} of NULL", what)  # an error of Spark's
        return arithmetic.truth(value, what)

    def sides(self, node: exp.Expression) -> tuple[Value, Value]:
        """Translate what is on both sides of an operator."""
        return self.value(node.this), self.value(node.expression)

    def column(self, node: exp.Column) -> Value:
        """Translate a name."""
        if isinstance(node.this, exp.Star):
            raise NotTranslatedError("* within an expression", "*")
        parts = [part.name for part in node.parts]
        *path, name = parts
        if not path and name.lower() in self.aliases:
            own = any(
                column.name.lower() == name.lower()
                for relation in self.scope.relations
                for column in relation.columns
            )
            if not own:
                return self.aliases[name.lower()]
        try:
            return self.scope.find(path, name)
        except ColumnNotFoundError:
            found = nested.path(self, parts) if path else None
            if found is not None:
                return found
            if path and parts[0].lower() in self.aliases and self.allows != "none":
                value = self.aliases[parts[0].lower()]
                for part in parts[1:]:
                    value = nested.field(value, part)
                return value
            if not path and name.lower() in _WITHOUT_PARENTHESES:
                return functions.call(name.lower(), [])
            raise

    def literal(self, node: exp.Literal) -> Value:
        """Translate a number or a text."""
        if node.is_string:
            return Value(quoted(node.name), kinds.STRING, node.name, node.name)
        return number(node.name)

    def paren(self, node: exp.Paren) -> Value:
        """Translate what is in parentheses."""
        return self.value(node.this)

    def negated(self, node: exp.Neg) -> Value:
        """Translate a sign."""
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return number("-" + node.this.name)
        value = self.value(node.this)
        return (
            intervals.negated(value) if intervals.is_interval(value) else arithmetic.negate(value)
        )

    def interval(self, node: exp.Interval) -> Value:
        """Translate a length of time that is written."""
        check_parts(node, "this", "unit")
        return intervals.literal(node)

    def sum(self, node: exp.Add | exp.Sub) -> Value:
        """Translate ``+`` and ``-``, of numbers, dates, times and lengths of time."""
        check_parts(node, "this", "expression", "typed", "safe")
        sign = "+" if isinstance(node, exp.Add) else "-"
        moved = self._moved_by_unit(sign, node.this, node.expression)
        if moved is not None:
            return moved
        left, right = self.sides(node)
        if intervals.is_interval(left) or intervals.is_interval(right):
            return intervals.added(sign, left, right)
        between = intervals.apart(left, right) if sign == "-" else None
        if between is not None:
            return between
        if left.kind in _TIMES and right.kind in _TIMES:
            what = f"{spark_type(left.kind)} {sign} {spark_type(right.kind)}"
            raise NotTranslatedError(what, sign, arithmetic.APART_HINT if sign == "-" else "")
        if left.kind == kinds.DATE:
            return moves.by_days(sign, left, right)
        return arithmetic.add(sign, left, right)

    def _moved_by_unit(
        self, sign: str, first: exp.Expression, second: exp.Expression
    ) -> Value | None:
        """Translate a time moved by ``INTERVAL n unit``; None if it is something else."""
        if made_lengths.is_of_all(second):
            return self._moved_by_all(sign, first, second)
        if sign == "+" and made_lengths.is_of_all(first):
            return self._moved_by_all(sign, second, first)
        latest = first.expression if isinstance(first, exp.Add | exp.Sub) else first
        if isinstance(second, exp.Interval) or months.is_length(second):
            if isinstance(latest, exp.Interval):
                raise NotTranslatedError("two INTERVAL side by side", "INTERVAL", _SPAN_HINT)
            time, interval = first, second
        elif sign == "+" and (isinstance(first, exp.Interval) or months.is_length(first)):
            time, interval = second, first
        else:
            return None
        value = self.value(time)
        if not isinstance(interval, exp.Interval) or not moves.is_of_one_unit(interval):
            if months.is_length(interval):
                return months.moved(sign, value, months.length_of(interval, self.value))
            return None
        is_moved = not intervals.is_interval(value)
        return moves.by_interval(sign, value, interval) if is_moved else None

    def _moved_by_all(self, sign: str, time: exp.Expression, length: exp.Expression) -> Value:
        """Translate a time moved by ``make_interval(…)``."""
        while isinstance(length, exp.Paren):
            length = length.this
        parts = [self.value(part) for part in length.expressions]
        return made_lengths.moved(sign, self.value(time), parts)

    def element(self, node: exp.Bracket) -> Value:
        """Translate ``a[i]``."""
        check_parts(node, "this", "expressions")
        if len(node.expressions) != 1:
            raise NotTranslatedError("[] with several indexes", "[")
        return lists.element(self.value(node.this), self.value(node.expressions[0]))

    def pattern(self, node: exp.RegexpLike) -> Value:
        """Translate RLIKE."""
        check_parts(node, "this", "expression")
        return functions.call("rlike", self.sides(node))

    def bits(self, node: exp.BitwiseAnd | exp.BitwiseOr | exp.BitwiseXor) -> Value:
        """Translate ``&``, ``|`` and ``^``."""
        check_parts(node, "this", "expression")
        sign = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^"}[type(node)]
        try:
            return mathematics.bits(sign, *self.sides(node))
        except WrongUseError:
            raise NotTranslatedError(f"{sign} of other values than integers", sign) from None

    def inverted_bits(self, node: exp.BitwiseNot) -> Value:
        """Translate ``~``."""
        value = self.value(node.this)
        if not kinds.is_whole(value.kind):
            raise NotTranslatedError(f"~ of {spark_type(value.kind)}", "~")
        return Value(f"(~{value.text})", value.kind, f"~{value.name}")

    def trimmed(self, node: exp.Trim) -> Value:
        """Translate ``trim(BOTH 'x' FROM …)``."""
        check_parts(node, "this", "expression", "position")
        what = node.args.get("expression")
        where = str(node.args.get("position") or "").upper()
        if what is None and not where:
            return functions.call("trim", [self.value(node.this)])
        return texts.trimmed(where, self.value(node.this), what and self.value(what))

    def part(self, node: exp.Substring) -> Value:
        """Translate ``substring(… FROM … FOR …)``."""
        check_parts(node, "this", "start", "length")
        given = [node.args.get(name) for name in ("this", "start", "length")]
        return functions.call("substring", [self.value(one) for one in given if one is not None])

    def transformed(self, node: exp.Transform) -> Value:
        """Translate ``transform(…)``."""
        return nested.higher(self, "transform", [node.this, node.expression])

    def joined_texts(self, node: exp.DPipe) -> Value:
        """Translate ``||``."""
        check_parts(node, "this", "expression", "safe")
        return functions.call("concat", self.sides(node))

    def case(self, node: exp.Case) -> Value:
        """Translate CASE."""
        checked = None if node.this is None else self.value(node.this)
        conditions, results = [], []
        for branch in node.args["ifs"]:
            if checked is None:
                conditions.append(self.truth(branch.this, "CASE"))
            else:
                conditions.append(arithmetic.compare("=", checked, self.value(branch.this)))
            results.append(self.value(branch.args["true"]))
        default = node.args.get("default")
        last = Value("NULL", kinds.VOID, "NULL", None) if default is None else self.value(default)
        same = together([*results, last], "CASE")
        pairs = list(zip(conditions, same[:-1], strict=True))
        cases = " ".join(f"WHEN {when.text} THEN {then.text}" for when, then in pairs)
        names = " ".join(
            f"WHEN {when.name} THEN {then.name}"
            for when, then in zip(conditions, results, strict=True)
        )
        end = "" if default is None else f" ELSE {last.name}"
        text = f"(CASE {cases} ELSE {same[-1].text} END)"
        return Value(text, same[0].kind, f"CASE {names}{end} END")

    def choice(self, node: exp.If) -> Value:
        """Translate ``if(…)``."""
        condition = self.truth(node.this, "if")
        if node.args.get("false") is None:
            raise NotTranslatedError("if() without a third argument", "if")
        results = [self.value(node.args["true"]), self.value(node.args["false"])]
        first, second = together(results, "if")
        text = f"(CASE WHEN {condition.text} THEN {first.text} ELSE {second.text} END)"
        name = f"(IF({condition.name}, {results[0].name}, {results[1].name}))"
        return Value(text, first.kind, name)

    def cast(self, node: exp.Cast) -> Value:
        """Translate CAST."""
        check_parts(node, "this", "to")
        value, kind = self.value(node.this), casts.type_of(node.args["to"])
        if not node.meta.get(TIME_LITERAL):
            return casts.convert(value, kind)
        read = read_text(value, kind)
        if read is None:
            raise NotTranslatedError("such a time", "TIMESTAMP", _TIME_HINT)
        shown = str(value.literal).replace("T", " ")
        if kind == kinds.TIMESTAMP:
            shown = str(zones.clock(read.literal))
        shown = f"{shown} 00:00:00" if len(shown) == len("2026-01-31") else shown
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
        return replace(read, name=f"{spark_type(kind)} '{shown}'")

    def tried_cast(self, node: exp.TryCast) -> Value:
        """Translate TRY_CAST."""
        check_parts(node, "this", "to", "safe")
        return casts.tried(self.value(node.this), casts.type_of(node.args["to"]))

    def extract(self, node: exp.Extract) -> Value:
        """Translate ``extract(… FROM …)``."""
        name = node.name.lower()
        value = self.value(node.expression)
        found = self._time_part(name, value)
        return Value(found.text, found.kind, f"extract({node.name} FROM {value.name})")

    def _time_part(self, name: str, value: Value) -> Value:
        if intervals.is_interval(value):
            return intervals.part(name, value)
        if name in ("second", "yearofweek"):
            return days.part(name, value)
        if name not in _TIME_PARTS:
            raise NotTranslatedError(f"extract({name.upper()})", "extract")
        return functions.call(_TIME_PARTS[name], [value])

    def parameter(self, node: exp.Placeholder) -> Value:
        """Translate ``:name`` and ``?``."""
        return python_value(self.given.take(node.name if node.this else ""))

    def call(self, node: exp.Anonymous) -> Value:
        """Translate a call of a function."""
        name = str(node.this).lower()
        if name in AGGREGATES:
            return self.aggregate(node).over("", "")
        if name in WINDOWS:
            raise NotTranslatedError(f"{name}() without OVER", name, written(name))
        if name == time_windows.NAME:
            return time_windows.found(self.scope, node)
        if name == "struct" and any(isinstance(one, exp.Alias) for one in node.expressions):
            return self._aliased_struct(node.expressions)
        special = self._special(name, node.expressions)
        if special is not None:
            return special
        if name not in functions.FUNCTIONS:
            raise NotTranslatedError(f"{name}()", name, functions.meant(name))
        if any(map(is_star, node.expressions)):
            if has_merged(node.expressions, self.scope) and name not in HASHES:
                raise NotTranslatedError(f"{name}(*) beside USING", name)
            return functions.call(name, self._expanded(node.expressions))
        return functions.call(name, [self.value(part) for part in node.expressions])

    def _expanded(self, parts: Sequence[exp.Expression]) -> list[Value]:
        """Translate arguments, and each column that ``*`` stands for."""
        values: list[Value] = []
        for part in parts:
            if not is_star(part):
                values.append(self.value(part))
                continue
            if not self.takes_stars or self.variables:
                raise NotTranslatedError("* among arguments here", "*", "Write the columns")
            values += starred(part, self.scope)
        return values

    def _special(self, name: str, parts: Sequence[exp.Expression]) -> Value | None:
        """Translate a call whose arguments are more than values; None if it is another one."""
        first = parts[0] if parts else None
        if name in nested.HIGHER and any(isinstance(one, exp.Lambda) for one in parts[1:]):
            return nested.higher(self, name, parts)
        if name in units.DIFFERENCES | units.SUMS and len(parts) == 3:
            if not isinstance(first, exp.Column) or len(first.parts) != 1:
                raise NotTranslatedError(f"{name}() of such a unit", name)
            values = self.value(parts[1]), self.value(parts[2])
            return (units.difference if name in units.DIFFERENCES else units.added)(
                first.name, *values
            )
        if name == "sequence" and len(parts) == 3 and isinstance(parts[2], exp.Interval):
            return self._steps(parts)
        if name in ("date_part", "datepart") and len(parts) == 2 and isinstance(first, exp.Column):
            unit = first.name.upper()
            raise NotTranslatedError(f"{name}() of a column", name, f"Write {name}('{unit}', …)")
        if name in ("date_part", "datepart") and len(parts) == 2 and isinstance(first, exp.Literal):
            value = self.value(parts[1])
            found = self._time_part(first.name.lower(), value)
            return Value(found.text, found.kind, f"{name}({first.name}, {value.name})")
        if name == "position" and isinstance(first, exp.In) and len(parts) == 1:
            check_parts(first, "this", "field")
            return functions.call(
                "locate", [self.value(first.this), self.value(first.args["field"])]
            )
        if name in casts.CALLED and len(parts) == 1:
            value = self.value(parts[0])
            return replace(casts.convert(value, casts.CALLED[name]), name=value.name)
        if name in ("grouping", "grouping_id") and parts:
            return self._grouping(name, parts)
        return None

    def _aliased_struct(self, parts: Sequence[exp.Expression]) -> Value:
        """Translate ``struct(a + 1 AS b, c)``."""
        named = [
            (one.this, one.alias) if isinstance(one, exp.Alias) else (one, "") for one in parts
        ]
        if any(is_star(one) for one, _ in named):
            raise NotTranslatedError("* beside names in struct()", "struct")
        values = [self.value(one) for one, _ in named]
        if any(map(intervals.is_interval, values)):
            raise NotTranslatedError("struct() of INTERVAL", "struct")
        try:
            return structs.aliased_struct(values, [alias for _, alias in named])
        except WrongUseError:
            raise NotTranslatedError("such a struct()", "struct") from None

    def _steps(self, parts: Sequence[Any]) -> Value:
        """Translate ``sequence(first, last, INTERVAL 1 MONTH)``."""
        count, unit = moves.parts(parts[2])
        first, last = self.value(parts[0]), self.value(parts[1])
        return moves.sequence(first, last, count, unit)

    def _grouping(self, name: str, parts: Sequence[exp.Expression]) -> Value:
        """Translate ``grouping(…)``: which keys of a row's group are all values."""
        if self.allows == "none" or (name == "grouping" and len(parts) != 1):
            raise NotTranslatedError(f"{name}() here", name)
        self.has_aggregates = True
        values = [self.value(one) for one in parts]
        kind = kinds.TINYINT if name == "grouping" else kinds.BIGINT
        text = f"CAST(grouping({', '.join(one.text for one in values)}) AS {duck_type(kind)})"
        return Value(text, kind, f"{name}({', '.join(one.name for one in values)})")

    def within_group(self, node: exp.WithinGroup) -> Value:
        """Translate ``… WITHIN GROUP (ORDER BY …)``."""
        check_parts(node, "this", "expression")
        order = node.expression.expressions
        name = str(node.this.this).lower() if isinstance(node.this, exp.Anonymous) else ""
        if not name or (len(order) != 1 and name not in aggregates.JOINING):
            raise NotTranslatedError("such a WITHIN GROUP", "WITHIN")
        if self.allows == "none":
            raise NotTranslatedError(f"{name}() here", name)
        self.has_aggregates = True
        parts, distinct = list(node.this.expressions), False
        if parts and isinstance(parts[0], exp.Distinct):
            distinct, parts = True, [*parts[0].expressions, *parts[1:]]
        given = [self.value(one) for one in parts]
        if name in aggregates.JOINING:
            orders = [self.ordered(one) for one in order]
            return aggregates.joined_texts(name, given, orders, distinct=distinct).over("", "")
        check_parts(order[0], "this", "desc", "nulls_first")
        value, is_down = self.value(order[0].this), bool(order[0].args.get("desc"))
        return aggregates.within_group(name, given, value, is_down=is_down, distinct=distinct).over(
            "", ""
        )

    def aggregate(self, node: exp.Anonymous, *, is_window: bool = False) -> Aggregate:
        """Translate an aggregate whose rows are not chosen yet."""
        name = str(node.this).lower()
        if self.allows == "none" or (self.allows == "window" and not is_window):
            hint = "Conditions on groups are written after GROUP BY: HAVING count(*) > 1"
            raise NotTranslatedError(f"{name}() here", name, hint)
        if not is_window:
            self.has_aggregates = True
        parts, distinct = list(node.expressions), False
        if parts and isinstance(parts[0], exp.Distinct):
            distinct, parts = True, parts[0].expressions
        if not distinct and len(parts) == 1 and isinstance(parts[0], exp.Star):
            check_parts(parts[0])
            return aggregates.aggregate(name, [], distinct=distinct, star=True)
        is_counted = distinct and name == "count"
        values = self._expanded(parts) if is_counted else [self.value(part) for part in parts]
        return aggregates.aggregate(name, values, distinct=distinct, star=False)

    def filtered(self, node: exp.Filter) -> Value:
        """Translate an aggregate with FILTER."""
        return self.filtered_call(node).over("", "")

    def filtered_call(self, node: exp.Filter, *, is_window: bool = False) -> Aggregate:
        """Translate an aggregate with FILTER, to which OVER may be added."""
        if not isinstance(node.this, exp.Anonymous):
            raise NotTranslatedError("FILTER", "FILTER")
        found = self.aggregate(node.this, is_window=is_window)
        if MAY_FAIL in found.pattern:  # DuckDB computes it for the rows left out as well
            raise NotTranslatedError("FILTER of what may fail", "FILTER")
        condition = self.truth(node.expression.this, "FILTER")
        suffix = f" FILTER (WHERE {condition.text}){aggregates.HERE}"
        return Aggregate(
            found.pattern.replace(aggregates.HERE, suffix),
            found.kind,
            f"{found.name} FILTER (WHERE {condition.name})",
        )

    def ordered(self, node: exp.Expression) -> tuple[str, str]:
        """Translate a term of ORDER BY; nulls are the least unless it says otherwise."""
        assert isinstance(node, exp.Ordered), "ORDER BY has terms"
        check_parts(node, "this", "desc", "nulls_first")
        value = self.value(node.this)
        if not kinds.is_comparable(value.kind):
            raise NotTranslatedError(f"ORDER BY {spark_type(value.kind)}", "ORDER")
        return ordering(node, value.text), ordering(node, value.name)

    def exists(self, node: exp.Exists) -> Value:
        """Translate EXISTS."""
        inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
        text, _, asked = self._within(inner)
        return Value(f"EXISTS ({text})", kinds.BOOLEAN, f"exists({asked})")

    def one_value(self, node: exp.Subquery) -> Value:
        """Translate a query that is a value."""
        check_parts(node, "this")
        text, types, asked = self._within(node.this)
        if len(types) != 1:
            raise NotTranslatedError("a query of several columns as a value", "SELECT")
        return Value(f"({text})", types[0], f"scalarsubquery({asked})")

    def _within(self, node: exp.Expression) -> tuple[str, Sequence[Kind], str]:
        """Translate a query, and name the columns around it that it refers to."""
        self.scope.asked_within.clear()
        text, types = self.query(node, self.scope)
        return text, types, ", ".join(self.scope.asked_within)

    def day(self, node: exp.DateStrToDate) -> Value:
        """Translate ``DATE '2026-01-31'``."""
        text = self.value(node.this)
        found = read_text(text, kinds.DATE)
        if found is None:
            raise NotTranslatedError("such a date", "DATE", "Dates are written DATE '2026-01-31'")
        return Value(found.text, kinds.DATE, f"DATE '{text.literal}'", found.literal)

    def null(self, _node: exp.Null) -> Value:
        """Translate NULL."""
        return Value("NULL", kinds.VOID, "NULL", None)

    def boolean(self, node: exp.Boolean) -> Value:
        """Translate TRUE and FALSE."""
        word = "true" if node.this else "false"
        return Value(word, kinds.BOOLEAN, word, bool(node.this))


_TRANSLATED: dict[type[exp.Expression], Callable[[Translator, Any], Value]] = {
    exp.Column: Translator.column,
    exp.Literal: Translator.literal,
    exp.Paren: Translator.paren,
    exp.Neg: Translator.negated,
    exp.Not: conditions.inverted,
    exp.NEQ: conditions.unequal,
    exp.NullSafeNEQ: conditions.distinct_from,
    exp.And: conditions.joined,
    exp.Or: conditions.joined,
    exp.Is: conditions.tested,
    exp.Between: conditions.between,
    exp.In: conditions.member,
    exp.Like: conditions.like,
    exp.DPipe: Translator.joined_texts,
    exp.Case: Translator.case,
    exp.If: Translator.choice,
    exp.Cast: Translator.cast,
    exp.TryCast: Translator.tried_cast,
    exp.Add: Translator.sum,
    exp.Sub: Translator.sum,
    exp.Bracket: Translator.element,
    exp.Dot: nested.dotted,
    exp.Identifier: nested.variable,
    exp.Transform: Translator.transformed,
    exp.BitwiseAnd: Translator.bits,
    exp.BitwiseOr: Translator.bits,
    exp.BitwiseXor: Translator.bits,
    exp.BitwiseNot: Translator.inverted_bits,
    exp.Trim: Translator.trimmed,
    exp.Substring: Translator.part,
    exp.WithinGroup: Translator.within_group,
    exp.ILike: conditions.like,
    exp.RegexpLike: Translator.pattern,
    exp.Extract: Translator.extract,
    exp.DateStrToDate: Translator.day,
    exp.Interval: Translator.interval,
    exp.Placeholder: Translator.parameter,
    exp.Anonymous: Translator.call,
    exp.Filter: Translator.filtered,
    exp.Window: windows.over,
    exp.Exists: Translator.exists,
    exp.Subquery: Translator.one_value,
    exp.Null: Translator.null,
    exp.Boolean: Translator.boolean,
}
"""The closed list of what expressions are made of, beside operators and functions."""


def ordering(node: exp.Expression, what: str) -> str:
    """Write a term of ORDER BY with everything said."""
    is_down = bool(node.args.get("desc"))
    first = node.args.get("nulls_first")
    first = (not is_down) if first is None else bool(first)
    way, nulls = ("DESC" if is_down else "ASC"), ("FIRST" if first else "LAST")
    return f"{what} {way} NULLS {nulls}"
