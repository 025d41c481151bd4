"""Aggregates that describe how numbers are spread: moments, lines through points, most frequent."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from paimonlab.spec.types.data_types import ArrayType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.value import Value, cast

HERE = "\x01"
"""Where ``FILTER`` and ``OVER`` of a call go; no text of a statement contains it."""
MOMENTS = ("skewness", "kurtosis")
LINES = (
    *("regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy"),
    *("regr_slope", "regr_intercept", "regr_r2"),
)
MODES = ("mode",)
TRIED = ("try_sum", "try_avg")
APPROXIMATE = ("percentile_approx", "approx_percentile")
NAMES = frozenset({*MOMENTS, *LINES, *MODES, *TRIED, *APPROXIMATE})
_MOST_EXACT = 4_999
"""Values of which Spark's sketch keeps every one, of whatever parts it was made."""
_LARGEST_EXACT = 2**53


def moment(name: str, value: Value) -> tuple[str, Kind] | None:
    """Translate ``skewness`` and ``kurtosis``, of all rows as in Spark."""
    if not is_number(value.kind):
        return None
    sql = cast(value, kinds.DOUBLE).text
    mean, power = f"avg({sql}){HERE}", 3 if name == "skewness" else 4
    listed = f"list({sql}){HERE}"
    centred = f"list_transform({listed}, lambda one: power(one - {mean}, {{}}))"
    second, other = (f"list_sum({centred.format(one)})" for one in (2, power))
    count = f"CAST(count({sql}){HERE} AS DOUBLE)"
    if name == "skewness":
        made = f"sqrt({count}) * {other} / sqrt({second} * {second} * {second})"
    else:
        made = f"{count} * {other} / ({second} * {second}) - 3.0::DOUBLE"
    # Of equal numbers the mean may be another one, by its last digit.
    same = f"min({sql}){HERE} = max({sql}){HERE} AND isfinite(min({sql}){HERE})"
    return f"(CASE WHEN {same} THEN NULL ELSE {made} END)", kinds.DOUBLE


def line(name: str, values: Sequence[Value]) -> tuple[str, Kind] | None:
    """Translate ``regr_…(y, x)``: of pairs of which both are known."""
    if not all(is_number(value.kind) for value in values):
        return None
    first, second = (cast(value, kinds.DOUBLE).text for value in values)
    if name == "regr_count":
        return f"CAST(regr_count({first}, {second}){HERE} AS BIGINT)", kinds.BIGINT
    found = f"{name}({first}, {second}){HERE}"
    if name in ("regr_slope", "regr_intercept", "regr_r2"):
        y = f"CASE WHEN {second} IS NOT NULL THEN {first} END"
        x = f"CASE WHEN {first} IS NOT NULL THEN {second} END"
        same = "min({0}){1} = max({0}){1} AND isfinite(min({0}){1})".format
        text = f"WHEN {same(x, HERE)} THEN NULL"
        if name == "regr_r2":
            text += f" WHEN {same(y, HERE)} THEN 1.0::DOUBLE"
        found = f"(CASE {text} ELSE {found} END)"
    return found, kinds.DOUBLE


def mode(values: Sequence[Value]) -> tuple[str, Kind] | None:
    """Translate ``mode``: the value that is most frequent; the least of several, if it says so."""
    value = values[0]
    takes_least = len(values) == 2 and values[1].literal is True
    if len(values) > 2 or (len(values) == 2 and not isinstance(values[1].literal, bool)):
        return None
    if value.kind in (kinds.DOUBLE, kinds.FLOAT, kinds.VOID) or not kinds.is_atomic(value.kind):
        return None
    counts = f"histogram({value.text}){HERE}"
    most = f"list_max(map_values({counts}))"
    place = f"list_position(map_values({counts}), {most})"
    text = f"list_extract(map_keys({counts}), {place})"
    if not takes_least:
        message = fails(f"{NOT_PROVEN}: mode() of values that are equally frequent")
        several = f"len(list_filter(map_values({counts}), lambda n: n = {most})) > 1"
        text = f"(CASE WHEN {several} THEN {message} ELSE {text} END)"
    return text, value.kind


def tried(name: str, value: Value) -> tuple[str, Kind] | None:
    """Translate ``try_sum`` and ``try_avg`` of what they do not give up on."""
    sql, kind = value.text, value.kind
    if name == "try_avg":
        if not (kinds.is_whole(kind) or kind == kinds.DOUBLE):
            return None
        return f"avg({cast(value, kinds.DOUBLE).text}){HERE}", kinds.DOUBLE
    if kind == kinds.DOUBLE:
        return f"CAST(sum({sql}){HERE} AS DOUBLE)", kinds.DOUBLE
    if not kinds.is_whole(kind):
        return None
    # A sum that is too large on the way is NULL, which depends on the order of rows.
    message = fails(f"{NOT_PROVEN}: try_sum() of numbers so large")
    total = f"sum(abs(CAST({sql} AS HUGEINT))){HERE}"
    text = (
        f"(CASE WHEN {total} > 9223372036854775807 THEN {message} "
        f"ELSE CAST(sum({sql}){HERE} AS BIGINT) END)"
    )
    return text, kinds.BIGINT


def approximate(name: str, values: Sequence[Value]) -> tuple[str, Kind] | None:
    """Translate ``percentile_approx`` where it is exact: of fewer than 5,000 values in a group."""
    value, *rest = values
    share = rest[0].literal if rest and rest[0].is_literal else None
    if not isinstance(share, float | Decimal | int) or not 0 <= share <= 1 or len(rest) > 1:
        return None
    if not (kinds.is_whole(value.kind) or value.kind in (kinds.DATE, kinds.DOUBLE)):
        return None
    sql, share = value.text, float(share)
    known = f"list_filter(list({sql}){HERE}, lambda one: one IS NOT NULL)"
    count = f"count({sql}){HERE}"
    place = f"greatest(CAST(ceil({share!r}::DOUBLE * {count}) AS BIGINT), 1)"
    if share <= 0.0001:
        place = "1"
    elif share >= 0.9999:
        place = count
    wrong = f"{count} > {_MOST_EXACT}"
    if value.kind == kinds.BIGINT:
        wrong += f" OR max(abs(CAST({sql} AS HUGEINT))){HERE} > {_LARGEST_EXACT}"
    if value.kind == kinds.DOUBLE:
        wrong += f" OR bool_or(isnan({sql}) OR {sql} = 0){HERE}"
    message = fails(f"{NOT_PROVEN}: {name}() of so many values")
    text = (
        f"(CASE WHEN {count} = 0 THEN NULL WHEN {wrong} THEN {message} "
        f"ELSE list_extract(list_sort({known}), {place}) END)"
    )
    return text, value.kind


def percentile(sql: str, share: float) -> str:
    """Write ``percentile`` of doubles: between two values each has its share, added in this order.

    DuckDB adds to the lower one, which differs by the last digit of one value in ten. Source:
    Spark's ``PercentileBase.getPercentile``.
    """
    known = f"list_sort(list_filter(list({sql}){HERE}, lambda one: one IS NOT NULL))"
    place = f"((len(all) - 1) * {share!r}::DOUBLE)"
    low, high = (f"all[CAST({end}({place}) AS BIGINT) + 1]" for end in ("floor", "ceil"))
    between = f"(ceil({place}) - {place}) * {low} + ({place} - floor({place})) * {high}"
    chosen = f"CASE WHEN {low} = {high} THEN {low} ELSE {between} END".replace("all", "known")
    return f"list_transform([{known}], lambda known: {chosen})[1]"


def percentiles(value: Value, shares: Sequence[Value]) -> tuple[str, Kind] | None:
    """Translate ``percentile`` of several shares that the statement has."""
    given = [one.literal if one.is_literal else None for one in shares]
    if not given or not is_number(value.kind):
        return None
    if not all(isinstance(one, float | Decimal | int) and 0 <= one <= 1 for one in given):
        return None
    sql = cast(value, kinds.DOUBLE).text
    parts = [percentile(sql, float(one)) for one in given]  # type: ignore[arg-type]
    text = f"(CASE WHEN count({sql}){HERE} = 0 THEN NULL ELSE [{', '.join(parts)}] END)"
    return text, ArrayType(kinds.DOUBLE)


def is_number(kind: Kind) -> bool:
    """Tell whether values are taken as doubles in both."""
    return kinds.is_whole(kind) or kinds.is_decimal(kind) or kind == kinds.DOUBLE
