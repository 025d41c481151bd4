"""Aggregate and window functions: which there are, and what DuckDB computes for each."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from paimonlab.spec.types.data_types import ArrayType, AtomicType
from paimonlab.sql_engine import decimals, interval_sums, kinds, statistics
from paimonlab.sql_engine.kinds import Kind, duck_type, shape, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast
from paimonlab.sql_engine.words import written

_SHARES_OF_ORDER = ("percentile_cont", "percentile_disc")
_NUMBERED = {"row_number": kinds.INT, "rank": kinds.INT, "dense_rank": kinds.INT}
_SHARES = ("percent_rank", "cume_dist")
_IN_CAPITALS = ("rank", "dense_rank", "percent_rank")
_ENDS = {"first_value": "first_value", "last_value": "last_value"}
_SPREADS = {
    "stddev": "stddev_samp",
    "stddev_samp": "stddev_samp",
    "std": "stddev_samp",
    "variance": "var_samp",
    "var_samp": "var_samp",
    "stddev_pop": "stddev_pop",
    "var_pop": "var_pop",
}
_PAIRED = {"corr": "corr", "covar_samp": "covar_samp", "covar_pop": "covar_pop"}
_CHOSEN = {"max_by": "arg_max_null", "min_by": "arg_min_null"}
_FIRST = {"first": "first", "last": "last", "any_value": "first"}
_BITS = ("bit_and", "bit_or", "bit_xor")
_LISTS = ("collect_list", "array_agg", "collect_set")
JOINING = ("listagg", "string_agg")
"""Functions that join texts of a group."""
AGGREGATES = frozenset(
    {"count", "sum", "avg", "mean", "min", "max", "count_if", "bool_and", "every", "bool_or"}
    | {
        "any",
        "some",
        "median",
        "percentile",
        *_SPREADS,
        *_PAIRED,
        *_CHOSEN,
        *_FIRST,
        *_LISTS,
        *JOINING,
        *_BITS,
    }
    | statistics.NAMES
)
"""Functions of groups, which also take OVER."""
WINDOWS = frozenset({*_NUMBERED, *_SHARES, "ntile", "lag", "lead", "nth_value"} | _ENDS.keys())
"""Functions that need OVER."""
HERE = statistics.HERE
"""Where ``FILTER`` and ``OVER`` of a call go; no text of a statement contains it."""


class Aggregate(Struct, frozen=True):
    """An aggregate whose rows are not chosen yet.

    ``pattern`` has `HERE` wherever ``FILTER`` and ``OVER`` of each of its calls go.
    """

    pattern: str
    kind: Kind
    name: str
    step: int | None = None
    """How many rows later the value is that ``lead`` and ``lag`` give."""

    def over(self, suffix: str, name_suffix: str) -> Value:
        """Put ``FILTER (…)`` and ``OVER (…)`` after each call."""
        return Value(self.pattern.replace(HERE, suffix), self.kind, self.name + name_suffix)


def aggregate(name: str, values: Sequence[Value], *, distinct: bool, star: bool) -> Aggregate:
    """Translate a call of an aggregate function.

    Parameters
    ----------
    name
        In small letters.
    values
        Its arguments.
    distinct
        Whether equal values count once.
    star
        Whether it is ``count(*)``.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    types = "*" if star else ", ".join(spark_type(value.kind) for value in values)
    which = "DISTINCT " if distinct else ""
    shown = "collect_list" if name == "array_agg" else name
    called = f"{shown}({which}{', '.join(value.name for value in values)})"
    if star and name == "count" and not distinct:
        return Aggregate(f"count(*){HERE}", kinds.BIGINT, "count(1)")
    if name in JOINING:
        return joined_texts(name, values, (), distinct=distinct)
    found = None
    if all(kinds.is_atomic(value.kind) for value in values):
        if len(values) == 1:
            found = _translated(name, values[0], which)
        elif len(values) > 1:
            found = _of_several(name, values, which)
    elif len(values) == 1 and isinstance(values[0].kind, kinds.IntervalType):
        found = interval_sums.aggregated(name, values[0], which, HERE)
    if name == "percentile" and len(values) == 2 and values[1].parts and not distinct:
        found = statistics.percentiles(values[0], values[1].parts)
    if found is None:
        raise NotTranslatedError(f"{name}({which}{types})", name, written(name))
    pattern, kind = found
    return Aggregate(pattern, kind, _called(name, called, values))


def _called(name: str, called: str, values: Sequence[Value]) -> str:
    """Name a call as Spark does, with what it takes if nothing is said."""
    if name == "percentile":
        return f"{called[:-1]}, 1)"
    if name in statistics.APPROXIMATE:
        return f"{called[:-1]}, 10000)"
    if name in statistics.MODES and len(values) == 2:
        shown = f"{name}({values[0].name})"
        return (
            f"{name}() WITHIN GROUP (ORDER BY {values[0].name} DESC)"
            if values[1].literal
            else shown
        )
    return called


def _of_several(name: str, values: Sequence[Value], which: str) -> tuple[str, Kind] | None:
    if name == "count":
        known = " AND ".join(f"{value.text} IS NOT NULL" for value in values)
        row = f"row({', '.join(value.text for value in values)})" if which else "1"
        return f"count({which}CASE WHEN {known} THEN {row} END){HERE}", kinds.BIGINT
    if which or len(values) != 2:
        return None
    if name in statistics.NAMES:
        return _described(name, values)
    first, second = values
    if name in _CHOSEN and kinds.VOID not in (first.kind, second.kind):
        return f"{_CHOSEN[name]}({first.text}, {second.text}){HERE}", first.kind
    if name in _PAIRED and all(map(_is_like_double, values)):
        sides = [cast(value, kinds.DOUBLE).text for value in values]
        found = f"{_PAIRED[name]}({', '.join(sides)}){HERE}"
        return _correlation(sides, found) if name == "corr" else found, kinds.DOUBLE
    if name == "percentile" and second.is_literal:
        return _percentile(first, float(second.literal))
    return None


def _described(name: str, values: Sequence[Value]) -> tuple[str, Kind] | None:
    """Translate what describes how values are spread."""
    if name in statistics.MODES:
        return statistics.mode(values)
    if name in statistics.APPROXIMATE:
        return statistics.approximate(name, values)
    if name in statistics.LINES and len(values) == 2:
        return statistics.line(name, values)
    if len(values) != 1:
        return None
    if name in statistics.TRIED:
        return statistics.tried(name, values[0])
    return statistics.moment(name, values[0]) if name in statistics.MOMENTS else None


def _is_like_double(value: Value) -> bool:
    return statistics.is_number(value.kind)


def _correlation(sides: list[str], found: str) -> str:
    """Make NULL of what Spark does not divide by: all values of a side are the same number."""
    pairs = zip(sides, reversed(sides), strict=True)
    paired = [f"CASE WHEN {other} IS NOT NULL THEN {one} END" for one, other in pairs]
    ends = [(f"min({one}){HERE}", f"max({one}){HERE}") for one in paired]
    same = " OR ".join(f"{low} = {high}" for low, high in ends)
    finite = " AND ".join(f"isfinite({low}) AND isfinite({high})" for low, high in ends)
    return f"CASE WHEN ({same}) AND {finite} THEN NULL ELSE {found} END"


def _percentile(value: Value, share: float) -> tuple[str, Kind] | None:
    if not _is_like_double(value) or not 0 <= share <= 1:
        return None
    return statistics.percentile(cast(value, kinds.DOUBLE).text, share), kinds.DOUBLE


def _translated(name: str, value: Value, which: str) -> tuple[str, Kind] | None:
    sql, kind = value.text, value.kind
    if name == "count":
        return f"count({which}{sql}){HERE}", kinds.BIGINT
    if name in ("min", "max") and kind != kinds.BOOLEAN:
        return f"{name}({sql}){HERE}", kind
    if name in _FIRST or name in _LISTS:
        return None if which else _of_order(name, sql, kind)
    if name in statistics.NAMES:
        return None if which else _described(name, [value])
    if name == "median":
        return None if which else _percentile(value, 0.5)
    if name in ("count_if", "bool_and", "every", "bool_or", "any", "some"):
        return None if which else _truths(name, sql, kind)
    return _of_number(name, value, which) if kinds.is_numeric(kind) else None


def _of_number(name: str, value: Value, which: str) -> tuple[str, Kind] | None:
    sql, kind = value.text, value.kind
    if name in _BITS:
        is_whole = kinds.is_whole(kind) and not which
        return (f"{name}({sql}){HERE}", kind) if is_whole else None
    if name == "sum":
        return _sum(sql, kind, which)
    if name in ("avg", "mean"):
        return _mean(value, sql, which)
    if name in _SPREADS and not which:
        return f"{_SPREADS[name]}({cast(value, kinds.DOUBLE).text}){HERE}", kinds.DOUBLE
    return None


def _of_order(name: str, sql: str, kind: Kind) -> tuple[str, Kind] | None:
    """Translate what depends on the order of rows, as it does in Spark."""
    if kind == kinds.VOID:
        return None
    if name in _FIRST:
        return f"{_FIRST[name]}({sql}){HERE}", kind
    if not isinstance(kind, AtomicType) or (name == "collect_set" and kind == kinds.DOUBLE):
        return None
    listed = f"list({sql}){HERE}"
    if name == "collect_set":
        one = f"CAST({sql} AS {duck_type(kind)})"  # a text alone is not taken for an order
        listed = f"list(DISTINCT {one} ORDER BY {one}){HERE}"
    known = f"list_filter({listed}, lambda x: x IS NOT NULL)"
    return f"coalesce({known}, [])", ArrayType(kind)


def _truths(name: str, sql: str, kind: Kind) -> tuple[str, Kind] | None:
    if kind != kinds.BOOLEAN:
        return None
    if name == "count_if":
        return f"count(CASE WHEN {sql} THEN 1 END){HERE}", kinds.BIGINT
    duck = "bool_and" if name in ("bool_and", "every") else "bool_or"
    return f"{duck}({sql}){HERE}", kinds.BOOLEAN


def _sum(sql: str, kind: Kind, which: str) -> tuple[str, Kind] | None:
    if kinds.is_whole(kind):
        return f"CAST(sum({which}{sql}){HERE} AS BIGINT)", kinds.BIGINT
    if kinds.is_decimal(kind):
        digits, scale = shape(kind)
        total = kinds.decimal(min(digits + 10, kinds.MOST_DIGITS), scale)
        return f"CAST(sum({which}{sql}){HERE} AS {duck_type(total)})", total
    return f"CAST(sum({which}CAST({sql} AS DOUBLE)){HERE} AS DOUBLE)", kinds.DOUBLE


def _mean(value: Value, sql: str, which: str) -> tuple[str, Kind] | None:
    if not kinds.is_decimal(value.kind):
        inner = cast(value, kinds.DOUBLE).text
        return f"avg({which}{inner}){HERE}", kinds.DOUBLE
    digits, scale = shape(value.kind)
    count = f"CAST(count({which}{sql}){HERE} AS HUGEINT)"
    made = decimals.mean(f"sum({which}{sql}){HERE}", count, digits, scale)
    if made is None:
        return None
    exact, (precision, places) = made
    kind = kinds.decimal(precision, places)
    return f"(CASE WHEN {count} = 0 THEN NULL ELSE {exact} END)", kind


def within_group(
    name: str,
    given: Sequence[Value],
    value: Value,
    *,
    is_down: bool,
    distinct: bool = False,
) -> Aggregate:
    """Translate an aggregate of rows in an order.

    Parameters
    ----------
    name
        In small letters.
    given
        Its arguments.
    value
        By which the rows are ordered.
    is_down
        Whether the largest is first.
    distinct
        Whether equal values count once.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    names = ", ".join(one.name for one in given)
    if name in _SHARES_OF_ORDER and not distinct and len(given) == 1 and given[0].is_literal:
        share = float(given[0].literal)
        order = f"{value.name} DESC" if is_down else value.name
        called = f"{name}({names}) WITHIN GROUP (ORDER BY {order})"
        if name == "percentile_disc":
            is_number = kinds.is_whole(value.kind) or value.kind == kinds.DOUBLE
            if is_number and 0 <= share <= 1 and not is_down:
                text = f"quantile_disc({cast(value, kinds.DOUBLE).text}, {share!r}){HERE}"
                return Aggregate(text, kinds.DOUBLE, called)
        else:
            found = _percentile(value, float(1 - Decimal(str(share))) if is_down else share)
            if found is not None:
                return Aggregate(*found, called)
    raise NotTranslatedError(f"{name}() of such rows", name)


def joined_texts(
    name: str, values: Sequence[Value], orders: Sequence[tuple[str, str]], *, distinct: bool
) -> Aggregate:
    """Translate ``listagg(text, ',')``, with ``WITHIN GROUP (ORDER BY …)`` or without.

    Parameters
    ----------
    name
        In small letters; Spark forgets it where there is an order.
    values
        The text, and what is between two of them; nothing if that is left out.
    orders
        Terms of the order in DuckDB's SQL, and as Spark shows them.
    distinct
        Whether equal texts count once; only with an order by the text alone, or with none.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these values.
    """
    between = values[1] if len(values) == 2 else Value("''", kinds.STRING, "NULL", "")
    is_text = 1 <= len(values) <= 2 and values[0].kind == kinds.STRING
    if not is_text or between.kind != kinds.STRING or not isinstance(between.literal, str):
        raise NotTranslatedError("listagg() of such values", JOINING[0], written(JOINING[0]))
    by_text = [text.rsplit(" ", 3)[0] for text, _ in orders]
    if distinct and by_text not in ([], [values[0].text]):
        raise NotTranslatedError("listagg(DISTINCT …) in another order", "DISTINCT")
    which = "DISTINCT " * distinct
    called = f"({which}{values[0].name}, {between.name})"
    by, shown_name = "", name
    if orders:
        by, shown_name = f" ORDER BY {', '.join(text for text, _ in orders)}", JOINING[0]
        called += f" WITHIN GROUP (ORDER BY {', '.join(shown for _, shown in orders)})"
    text = f"string_agg({which}{values[0].text}, {between.text}{by}){HERE}"
    return Aggregate(text, kinds.STRING, f"{shown_name}{called}")


def window(name: str, values: Sequence[Value]) -> Aggregate:
    """Translate a call of a function that needs OVER.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    shown = name.upper() if name in _IN_CAPITALS else name
    called = f"{shown}({', '.join(value.name for value in values)})"
    if name in _NUMBERED and not values:
        return Aggregate(f"CAST({name}(){HERE} AS INTEGER)", _NUMBERED[name], called)
    if name in _SHARES and not values:
        return Aggregate(f"{name}(){HERE}", kinds.DOUBLE, called)
    if name == "ntile" and len(values) == 1 and _is_count(values[0]) and values[0].literal > 0:
        return Aggregate(f"CAST(ntile({values[0].text}){HERE} AS INTEGER)", kinds.INT, called)
    if name in ("first_value", "last_value") and len(values) == 1:
        return Aggregate(f"{name}({values[0].text}){HERE}", values[0].kind, called)
    if name == "nth_value" and len(values) == 2 and _is_count(values[1]) and values[1].literal:
        return Aggregate(
            f"nth_value({values[0].text}, {values[1].text}){HERE}", values[0].kind, called
        )
    if name in ("lag", "lead") and 1 <= len(values) <= 3:
        return _shifted(name, values)
    types = ", ".join(spark_type(value.kind) for value in values)
    raise NotTranslatedError(f"{name}({types})", name, written(name))


def _shifted(name: str, values: Sequence[Value]) -> Aggregate:
    step = values[1] if len(values) > 1 else Value("1", kinds.INT, "1", 1)
    default = values[2] if len(values) > 2 else Value("NULL", kinds.VOID, "NULL", None)
    kind = values[0].kind
    is_converted = _takes_type(default, kind)
    if not _is_count(step) or not (default.kind in (kind, kinds.VOID) or is_converted):
        raise NotTranslatedError(f"{name}() with such arguments", name)
    called = f"{name}({values[0].name}, {step.name}, {default.name})"
    if is_converted:
        default = cast(default, kind)
    given = "" if default.kind == kinds.VOID else f", {default.text}"
    text = f"{name}({values[0].text}, {step.text}{given}){HERE}"
    offset = step.literal if name == "lead" else -step.literal
    return Aggregate(text, values[0].kind, called, offset)


def _takes_type(default: Value, kind: Kind) -> bool:
    """Tell whether a number that is written takes a type; a column might not fit into it."""
    if not default.is_literal or not kinds.is_numeric(kind):
        return False
    has_places = kinds.is_decimal(kind) or kind == kinds.DOUBLE
    return kinds.is_whole(default.kind) or (has_places and kinds.is_decimal(default.kind))


def _is_count(value: Value) -> bool:
    return value.is_literal and type(value.literal) is int and value.literal >= 0
