"""Operators on numbers and truth values, with Spark's types, errors and scales."""

from __future__ import annotations

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import Kind, duck_type, shape, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, together

NOT_PROVEN = "not proven without Spark"
"""What DuckDB raises for values whose result may differ from Spark's begins with this."""
DIVIDED = "DIVIDE_BY_ZERO: a number is divided by zero; use NULLIF for the divisor"

_LEAST_SCALE = 6
_WHOLE_DIGITS = 18
_HUGE = 36
"""Digits of whole numbers that can be computed with, doubled once."""


def fails(message: str) -> str:
    """Return SQL that raises an error when it is evaluated."""
    return f"error('{message}')"


def add(sign: str, left: Value, right: Value) -> Value:
    """Add or subtract."""
    name = f"({left.name} {sign} {right.name})"
    return _computed(sign, *_numbers(sign, left, right), name)


def multiply(left: Value, right: Value) -> Value:
    """Multiply."""
    return _computed("*", *_numbers("*", left, right), f"({left.name} * {right.name})")


def divide(left: Value, right: Value) -> Value:
    """Divide, always into a fraction."""
    name = f"({left.name} / {right.name})"
    _check_numbers("/", left, right)
    if _is_exact(left, right):
        return _divided_exactly(left, right, name)
    above, below = cast(left, kinds.DOUBLE), cast(right, kinds.DOUBLE)
    _check_exact("/", left, right)
    is_wrong = _is_divided_by_zero(above.text, below.text)
    text = f"(CASE WHEN {is_wrong} THEN {fails(DIVIDED)} ELSE {above.text} / {below.text} END)"
    return Value(text, kinds.DOUBLE, name)


def _divided_exactly(left: Value, right: Value, name: str) -> Value:
    """Divide decimals: in whole numbers of the last digit, halves away from zero."""
    (left_digits, left_scale), (right_digits, right_scale) = map(decimal_shape, (left, right))
    scale = max(_LEAST_SCALE, left_scale + right_digits + 1)
    precision = left_digits - left_scale + right_scale + scale
    shift = scale - left_scale + right_scale
    most = max(left_digits, right_digits)
    if most > _WHOLE_DIGITS or left_digits + shift > _HUGE or precision + scale > kinds.MOST_DIGITS:
        raise NotTranslatedError("/ of decimals with so many digits", "/")
    above = f"({units(left.text, left_digits, left_scale)}::HUGEINT * {2 * 10**shift}::HUGEINT)"
    below = f"({units(right.text, right_digits, right_scale)}::HUGEINT)"
    quotient = f"((abs({above}) + abs({below})) // (2 * abs({below})))"
    text = decimal_of(f"sign({above}) * sign({below}) * {quotient}", precision, scale)
    is_wrong = _is_divided_by_zero(above, below)
    text = f"(CASE WHEN {is_wrong} THEN {fails(DIVIDED)} ELSE {text} END)"
    return Value(text, kinds.decimal(precision, scale), name)


def units(text: str, digits: int, scale: int) -> str:
    """Write a decimal as a whole number of its last digit, of at most 18 digits."""
    unit = f"CAST({10**scale} AS DECIMAL({scale + 1},0))"
    return f"CAST(CAST({text} AS DECIMAL({digits},{scale})) * {unit} AS BIGINT)"


def decimal_of(whole: str, precision: int, scale: int) -> str:
    """Write a whole number of the last digit as a decimal; both sizes together at most 38."""
    step = f"CAST('{10**-scale:.{scale}f}' AS DECIMAL({scale},{scale}))"
    return f"CAST(CAST({whole} AS DECIMAL({precision},0)) * {step} AS DECIMAL({precision},{scale}))"


def _is_divided_by_zero(above: str, below: str) -> str:
    """Write the condition of the error: NULL divided by zero is NULL."""
    return f"{below} = 0 AND {above} IS NOT NULL"


def divide_whole(left: Value, right: Value) -> Value:
    """``div``: the whole part of a quotient, cut off towards zero."""
    _check_numbers("div", left, right)
    if not (kinds.is_whole(left.kind) and kinds.is_whole(right.kind)):
        raise NotTranslatedError("div of other numbers than integers", "div")
    above, below = cast(left, kinds.BIGINT).text, cast(right, kinds.BIGINT).text
    # DuckDB's // rounds down; the remainder has the sign of the dividend in both.
    text = (
        f"(CASE WHEN {_is_divided_by_zero(above, below)} THEN {fails(DIVIDED)} "
        f"ELSE ({above} - {above} % {below}) // {below} END)"
    )
    return Value(text, kinds.BIGINT, f"({left.name} div {right.name})")


def remainder(left: Value, right: Value, *, name: str = "") -> Value:
    """``%``: has the sign of the dividend."""
    _check_numbers("%", left, right)
    kind = kinds.common(left.kind, right.kind)
    if kind is None or kind in (kinds.FLOAT, kinds.DOUBLE) or kinds.is_decimal(kind):
        raise NotTranslatedError("% of other numbers than integers", "%")
    above, below = cast(left, kind).text, cast(right, kind).text
    is_wrong = _is_divided_by_zero(above, below)
    text = f"(CASE WHEN {is_wrong} THEN {fails(DIVIDED)} ELSE {above} % {below} END)"
    called = name or f"({left.name} % {right.name})"
    return Value(f"CAST({text} AS {duck_type(kind)})", kind, called)


def negate(value: Value) -> Value:
    """Change the sign."""
    if not kinds.is_numeric(value.kind):
        raise NotTranslatedError(f"- of {spark_type(value.kind)}", "-")
    if kinds.is_whole(value.kind):
        zero = f"CAST(0 AS {duck_type(value.kind)})"
        return Value(f"({zero} - {value.text})", value.kind, f"(- {value.name})")
    return Value(f"(-({value.text}))", value.kind, f"(- {value.name})")


def compare(sign: str, left: Value, right: Value, *, name: str = "") -> Value:
    """Compare two values of any type that has an order."""
    called = name or f"({left.name} {sign} {right.name})"
    mine, other = together([left, right], sign)
    for value in (mine, other):
        if not kinds.is_atomic(value.kind):
            raise NotTranslatedError(f"{sign} of {spark_type(value.kind)}", sign)
    _check_exact(sign, left, right)
    duck = {"<=>": "IS NOT DISTINCT FROM", "==": "="}.get(sign, sign)
    return Value(f"({mine.text} {duck} {other.text})", kinds.BOOLEAN, called)


def truth(value: Value, what: str) -> Value:
    """Check that a value is true or false."""
    if value.kind not in (kinds.BOOLEAN, kinds.VOID):
        raise NotTranslatedError(f"{what} of {spark_type(value.kind)}", what)
    return value


def _numbers(sign: str, left: Value, right: Value) -> tuple[Value, Value]:
    _check_numbers(sign, left, right)
    _check_exact(sign, left, right)
    return left, right


def _check_numbers(sign: str, left: Value, right: Value) -> None:
    for value in (left, right):
        if not kinds.is_numeric(value.kind):
            raise NotTranslatedError(f"{sign} of {spark_type(value.kind)}", sign)


def _check_exact(sign: str, left: Value, right: Value) -> None:
    """Refuse decimals that become doubles otherwise than Spark rounds them."""
    for value, other in ((left, right), (right, left)):
        is_rounded = kinds.is_decimal(value.kind) and shape(value.kind)[0] > EXACT_DIGITS
        if is_rounded and other.kind in (kinds.DOUBLE, kinds.FLOAT):
            raise NotTranslatedError(f"{sign} of {spark_type(value.kind)} and DOUBLE", sign)


EXACT_DIGITS = 15
"""Decimals of so many digits become the nearest double."""


def _is_exact(left: Value, right: Value) -> bool:
    """Tell whether two numbers are computed with as decimals."""
    types = (left.kind, right.kind)
    return any(map(kinds.is_decimal, types)) and kinds.DOUBLE not in types


def _computed(sign: str, left: Value, right: Value, name: str) -> Value:
    kind = kinds.common(left.kind, right.kind)
    if _is_exact(left, right):
        return _decimal(sign, left, right, name)
    if kind is None:
        types = f"{spark_type(left.kind)} and {spark_type(right.kind)}"
        raise NotTranslatedError(f"{sign} of {types}", sign)
    text = f"({cast(left, kind).text} {sign} {cast(right, kind).text})"
    return Value(text, kind, name)


def decimal_shape(value: Value) -> tuple[int, int]:
    """Return precision and scale that a number has beside a decimal."""
    if value.is_literal and isinstance(value.literal, int) and kinds.is_whole(value.kind):
        return len(str(abs(value.literal))), 0
    if value.kind == kinds.FLOAT:
        raise NotTranslatedError("FLOAT beside a decimal", "FLOAT")
    return shape(value.kind)


def _decimal(sign: str, left: Value, right: Value, name: str) -> Value:
    (left_digits, left_scale), (right_digits, right_scale) = map(decimal_shape, (left, right))
    if sign == "*":
        kind: Kind = _checked(sign, left_digits + right_digits + 1, left_scale + right_scale)
        sides = [
            f"CAST({left.text} AS DECIMAL({left_digits},{left_scale}))",
            f"CAST({right.text} AS DECIMAL({right_digits},{right_scale}))",
        ]
    else:
        scale = max(left_scale, right_scale)
        whole = max(left_digits - left_scale, right_digits - right_scale)
        kind = _checked(sign, whole + scale + 1, scale)
        sides = [f"CAST({side.text} AS {duck_type(kind)})" for side in (left, right)]
    text = f"CAST(({sides[0]} {sign} {sides[1]}) AS {duck_type(kind)})"
    return Value(text, kind, name)


def _checked(sign: str, precision: int, scale: int) -> Kind:
    if precision > kinds.MOST_DIGITS:
        raise NotTranslatedError(f"{sign} of decimals that need {precision} digits", sign)
    return kinds.decimal(precision, scale)
