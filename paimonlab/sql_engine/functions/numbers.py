"""Functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.sql_engine import arithmetic, decimals, kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions.mathematics import logarithm
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    constant,
    expect,
    named,
    one_of,
)
from paimonlab.sql_engine.kinds import Kind, duck_type, shape
from paimonlab.sql_engine.value import Value, cast

_MOST_ROUNDED = 15
_MOST_CUT = 9
"""Digits before the point that are rounded away at most."""


def _abs(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_numeric)
    text = f"abs({values[0].text})"
    if kinds.is_decimal(values[0].kind):
        text = decimals.signed(values[0], text)
    return Value(text, values[0].kind, named("abs", values))


def _whole_number(shown: str, duck: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, kinds.is_numeric)
        value, called = values[0], named(shown, values)
        if kinds.is_whole(value.kind):
            return Value(cast(value, kinds.BIGINT).text, kinds.BIGINT, called)
        kind: Kind = kinds.BIGINT
        if kinds.is_decimal(value.kind):
            digits, scale = shape(value.kind)
            kind = kinds.decimal(max(digits - scale + 1, 1), 0)
        elif value.kind != kinds.DOUBLE:
            raise WrongUseError
        return Value(f"CAST({duck}({value.text}) AS {duck_type(kind)})", kind, called)

    return translate


def _places_of(values: Sequence[Value], name: str) -> tuple[Value, int, str]:
    """Return what is rounded, to how many places, and how the call is shown."""
    if len(values) == 2:
        constant(values[1], int, least=-_MOST_CUT)
    elif len(values) != 1:
        raise WrongUseError
    expect(values, kinds.is_numeric, *[kinds.is_whole] * (len(values) - 1))
    value = values[0]
    places = values[1].literal if len(values) == 2 else 0
    called = named(name, [value, Value("", kinds.INT, str(places))])
    return value, places, called


def _round(values: Sequence[Value]) -> Value:
    value, places, called = _places_of(values, "round")
    if places < 0:
        return _rounded_before_point(value, -places, called)
    if kinds.is_whole(value.kind):
        return Value(value.text, value.kind, called)
    if kinds.is_decimal(value.kind):
        digits, scale = shape(value.kind)
        kept = min(places, scale)  # and a digit more before the point, for 9.99 becomes 10
        kind = kinds.decimal(min(digits - scale + kept + 1, kinds.MOST_DIGITS), kept)
        return Value(f"CAST({value.text} AS {duck_type(kind)})", kind, called)
    if value.kind != kinds.DOUBLE or places > _MOST_ROUNDED:
        raise WrongUseError
    # Spark rounds the decimal digits that the number is written with.
    sql = value.text
    message = fails(f"{NOT_PROVEN}: round() of numbers so large or small")
    rounded = f"CAST(CAST(CAST({sql} AS VARCHAR) AS DECIMAL(38,{places})) AS DOUBLE)"
    text = (
        f"(CASE WHEN NOT isfinite({sql}) OR abs({sql}) >= 9007199254740992 THEN {sql} "
        f"WHEN {sql} = 0 THEN 0::DOUBLE "
        f"WHEN abs({sql}) >= 0.0001 AND abs({sql}) < 1e15 THEN {rounded} ELSE {message} END)"
    )
    return Value(text, kinds.DOUBLE, called)


def _rounded_before_point(value: Value, places: int, called: str) -> Value:
    """Round to tens, hundreds …, halves away from zero."""
    digits, scale = (19, 0) if kinds.is_whole(value.kind) else (0, 0)
    kind: Kind = value.kind
    whole = f"CAST({value.text} AS HUGEINT)"
    if kinds.is_decimal(value.kind):
        digits, scale = shape(value.kind)
        if digits > decimals.WHOLE_DIGITS:
            raise WrongUseError
        kind = kinds.decimal(max(digits - scale + 1, places + 1), 0)
        whole = f"CAST({decimals.units(value.text, digits, scale)} AS HUGEINT)"
    if not digits:
        raise WrongUseError
    size = 10 ** (scale + places)
    text = f"sign({whole}) * ((2 * abs({whole}) + {size}) // {2 * size}) * {10**places}"
    return Value(f"CAST(CAST({text} AS HUGEINT) AS {duck_type(kind)})", kind, called)


def _rounded_to_even(values: Sequence[Value]) -> Value:
    """``bround``: halves go to the even digit; of whole numbers and decimals."""
    value, places, called = _places_of(values, "bround")
    kind: Kind = value.kind
    units, scale = f"CAST({value.text} AS HUGEINT)", 0
    if kinds.is_decimal(kind):
        digits, scale = shape(kind)
        if digits + scale >= kinds.MOST_DIGITS or places < 0:
            raise WrongUseError
        kept = min(places, scale)
        kind = kinds.decimal(min(digits - scale + kept + 1, kinds.MOST_DIGITS), kept)
        units = f"CAST({decimals.units(value.text, digits, scale)} AS HUGEINT)"
    elif not kinds.is_whole(kind):
        raise WrongUseError
    if places >= scale:
        return Value(f"CAST({value.text} AS {duck_type(kind)})", kind, called)
    size = 10 ** (scale - places)
    whole, rest = f"(abs({units}) // {size})", f"(abs({units}) % {size})"
    is_up = f"2 * {rest} > {size} OR (2 * {rest} = {size} AND {whole} % 2 = 1)"
    rounded = f"sign({units}) * ({whole} + CASE WHEN {is_up} THEN 1 ELSE 0 END)"
    if places < 0:
        text = f"CAST(CAST({rounded} * {10**-places} AS HUGEINT) AS {duck_type(kind)})"
    else:
        text = decimals.decimal_of(f"CAST({rounded} AS HUGEINT)", *shape(kind))
    return Value(text, kind, called)


def _bucket(values: Sequence[Value]) -> Value:
    """``width_bucket``: which of so many ranges of one width a number is in."""
    expect(values, kinds.is_numeric, kinds.is_numeric, kinds.is_numeric, kinds.is_whole)
    if any(value.kind == kinds.FLOAT for value in values):
        raise WrongUseError
    value, first, last = (cast(one, kinds.DOUBLE).text for one in values[:3])
    count = cast(values[3], kinds.BIGINT).text
    low, high = f"least({first}, {last})", f"greatest({first}, {last})"
    up = f"CAST(trunc({count}::DOUBLE * ({value} - {low}) / ({high} - {low})) AS BIGINT) + 1"
    down = f"CAST(trunc({count}::DOUBLE * ({high} - {value}) / ({high} - {low})) AS BIGINT) + 1"
    text = (
        f"(CASE WHEN {value} IS NULL OR {first} IS NULL OR {last} IS NULL OR {count} IS NULL "
        f"OR {count} <= 0 OR {count} = 9223372036854775807 OR isnan({value}) OR {first} = {last} "
        f"OR NOT isfinite({first}) OR NOT isfinite({last}) THEN NULL "
        f"WHEN {first} < {last} THEN (CASE WHEN {value} < {low} THEN 0 "
        f"WHEN {value} >= {high} THEN {count} + 1 ELSE {up} END) "
        f"ELSE (CASE WHEN {value} > {high} THEN 0 "
        f"WHEN {value} <= {low} THEN {count} + 1 ELSE {down} END) END)"
    )
    return Value(text, kinds.BIGINT, named("width_bucket", values))


def _sqrt(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_numeric)
    sql = cast(values[0], kinds.DOUBLE).text
    text = f"(CASE WHEN {sql} < 0 THEN 'nan'::DOUBLE ELSE sqrt({sql}) END)"
    return Value(text, kinds.DOUBLE, named("SQRT", values))


def _mod(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_numeric, kinds.is_numeric)
    return arithmetic.remainder(values[0], values[1], name=named("mod", values))


def _isnan(values: Sequence[Value]) -> Value:
    expect(values, one_of(kinds.DOUBLE, kinds.FLOAT))
    text = f"coalesce(isnan({values[0].text}), false)"
    return Value(text, kinds.BOOLEAN, named("isnan", values))


def _sign(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, one_of(*kinds.WHOLE, kinds.DOUBLE))
        sql = cast(values[0], kinds.DOUBLE).text
        text = (
            f"(CASE WHEN {sql} = 0 OR isnan({sql}) THEN {sql} ELSE CAST(sign({sql}) AS DOUBLE) END)"
        )
        return Value(text, kinds.DOUBLE, named(name, values))

    return translate


def _is_binary(kind: Kind) -> bool:
    return kinds.is_whole(kind) or kind == kinds.DOUBLE


def _power(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, _is_binary, _is_binary)
        sides = [cast(value, kinds.DOUBLE).text for value in values]
        return Value(f"power({', '.join(sides)})", kinds.DOUBLE, named(name, values))

    return translate


def _logarithm(name: str, duck: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, _is_binary)
        sql = cast(values[0], kinds.DOUBLE).text
        text = f"(CASE WHEN {sql} <= 0 THEN NULL ELSE {duck}({sql}) END)"
        return Value(text, kinds.DOUBLE, name.format(values[0].name))

    return translate


def _exp(values: Sequence[Value]) -> Value:
    expect(values, _is_binary)
    return Value(f"exp({cast(values[0], kinds.DOUBLE).text})", kinds.DOUBLE, named("EXP", values))


def _pi(values: Sequence[Value]) -> Value:
    expect(values)
    return Value("pi()", kinds.DOUBLE, "PI()")


NUMBERS: dict[str, Translate] = {
    "abs": _abs,
    "ceil": _whole_number("CEIL", "ceil"),
    "ceiling": _whole_number("ceiling", "ceil"),
    "floor": _whole_number("FLOOR", "floor"),
    "round": _round,
    "bround": _rounded_to_even,
    "width_bucket": _bucket,
    "sqrt": _sqrt,
    "mod": _mod,
    "sign": _sign("sign"),
    "signum": _sign("SIGNUM"),
    "isnan": _isnan,
    "power": _power("POWER"),
    "pow": _power("pow"),
    "exp": _exp,
    "ln": _logarithm("ln({})", "ln"),
    "log": logarithm(_logarithm("LOG(E(), {})", "ln")),
    "log10": _logarithm("LOG10({})", "log10"),
    "log2": _logarithm("LOG2({})", "log2"),
    "pi": _pi,
}
"""By name in small letters."""
