"""Decimals: the precision and scale of results by Spark's rules, and how DuckDB computes them."""

from __future__ import annotations

from paimonlab.sql_engine import failures, kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.kinds import Kind, duck_type, shape
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

_LEAST_SCALE = 6
"""Digits after the point that are kept where a result has too many digits."""
WHOLE_DIGITS = 18
"""Digits of whole numbers that fit into 64 bits."""
_JAVA_DIGITS = 34
"""Digits to which Scala rounds a decimal whose sign changes: ``MathContext.DECIMAL128``."""
_HUGE = 36
"""Digits of whole numbers that can be computed with in 128 bits, doubled once."""


def decimal_shape(value: Value) -> tuple[int, int]:
    """Return precision and scale that a number has beside a decimal."""
    if value.is_literal and isinstance(value.literal, int) and kinds.is_whole(value.kind):
        return len(str(abs(value.literal))), 0
    if value.kind == kinds.FLOAT:
        raise NotTranslatedError("FLOAT beside a decimal", "FLOAT")
    return shape(value.kind)


def adjusted(precision: int, scale: int) -> tuple[int, int]:
    """Cut a result to 38 digits: those after the point go first, but for six of them.

    Source: ``DecimalType.adjustPrecisionScale`` of Spark 4.
    """
    if precision <= kinds.MOST_DIGITS:
        return precision, scale
    whole = precision - scale
    return kinds.MOST_DIGITS, max(kinds.MOST_DIGITS - whole, min(scale, _LEAST_SCALE))


def computed(sign: str, left: Value, right: Value, name: str) -> Value:
    """Add, subtract or multiply.

    Raises
    ------
    NotTranslatedError
        If the result is rounded in a way that is not proven.
    """
    (left_digits, left_scale), (right_digits, right_scale) = map(decimal_shape, (left, right))
    if sign == "*":
        return _product(left, right, name)
    exact = max(left_scale, right_scale)
    whole = max(left_digits - left_scale, right_digits - right_scale)
    precision, scale = adjusted(whole + exact + 1, exact)
    if scale != exact:
        raise NotTranslatedError(f"{sign} of decimals that need {whole + exact + 1} digits", sign)
    kind = kinds.decimal(precision, scale)
    sides = [f"CAST({side.text} AS {duck_type(kind)})" for side in (left, right)]
    text = f"CAST(({sides[0]} {sign} {sides[1]}) AS {duck_type(kind)})"
    return Value(text, kind, name)


def _product(left: Value, right: Value, name: str) -> Value:
    shapes = [decimal_shape(side) for side in (left, right)]
    exact = shapes[0][1] + shapes[1][1]
    digits = shapes[0][0] + shapes[1][0] + 1
    precision, scale = adjusted(digits, exact)
    if exact > kinds.MOST_DIGITS - _LEAST_SCALE:
        raise NotTranslatedError(f"* of decimals that need {digits} digits", "*")
    kind = kinds.decimal(precision, scale)
    widths = [shapes[0][0], shapes[1][0]]
    if max(widths) <= WHOLE_DIGITS < sum(widths):
        widths[0] = WHOLE_DIGITS + 1  # DuckDB multiplies within 64 bits if both sides fit in
    sides = [
        f"CAST({side.text} AS DECIMAL({width},{places}))"
        for side, width, (_, places) in zip((left, right), widths, shapes, strict=True)
    ]
    text = f"CAST(({sides[0]} * {sides[1]}) AS {duck_type(kind)})"
    if scale != exact:  # it is computed with all digits, and then rounded
        size = f"abs(CAST({left.text} AS DOUBLE) * CAST({right.text} AS DOUBLE))"
        text = _below(size, kinds.MOST_DIGITS - exact, text)
    return Value(text, kind, name)


def signed(value: Value, text: str) -> str:
    """Return SQL of a decimal whose sign may change, for which more than 34 digits are not proven.

    Source: ``abs`` and ``unary_-`` of ``scala.math.BigDecimal``, which Spark's ``Decimal`` calls.
    """
    digits, scale = shape(value.kind)
    if digits <= _JAVA_DIGITS:
        return text
    return _below(_size(value.text), _JAVA_DIGITS - scale, text)


def _below(size: str, digits: int, text: str) -> str:
    """Raise an error where a size has more digits before the point than can be computed with."""
    message = fails(f"{NOT_PROVEN}: decimals so large")
    return f"(CASE WHEN {size} >= 9.9e{digits - 1} THEN {message} ELSE {text} END)"


def quotient(left: Value, right: Value, name: str) -> Value:
    """Divide: in whole numbers of the last digit, halves away from zero.

    Raises
    ------
    NotTranslatedError
        If the result has more digits than can be computed with.
    """
    shapes = [decimal_shape(side) for side in (left, right)]
    (left_digits, left_scale), (right_digits, right_scale) = shapes
    exact = max(_LEAST_SCALE, left_scale + right_digits + 1)
    precision, scale = adjusted(left_digits - left_scale + right_scale + exact, exact)
    shift = scale - left_scale + right_scale
    if not 0 <= shift <= _HUGE - 6:
        raise NotTranslatedError("/ of decimals with so many digits", "/")
    above = f"({units(left.text, left_digits, left_scale)}::HUGEINT * {2 * 10**shift}::HUGEINT)"
    below = f"({units(right.text, right_digits, right_scale)}::HUGEINT)"
    text = decimal_of(halved(above, below), precision, scale)
    text = failures.quotient(text, left.text, right.text, right)
    if left_digits > WHOLE_DIGITS or left_digits + shift > _HUGE:
        text = _below(_size(left.text), _room(left_scale, shift), text)
    if right_digits > WHOLE_DIGITS:
        text = _below(_size(right.text), _room(right_scale, 0), text)
    return Value(text, kinds.decimal(precision, scale), name)


def remainder_kind(left: Value, right: Value) -> Kind:
    """Return the type of ``%``.

    Source: ``Remainder.resultDecimalType`` of Spark 4.
    """
    (left_digits, left_scale), (right_digits, right_scale) = map(decimal_shape, (left, right))
    scale = max(left_scale, right_scale)
    return kinds.decimal(min(left_digits - left_scale, right_digits - right_scale) + scale, scale)


def alike(left: Value, right: Value) -> tuple[str, str]:
    """Write two numbers as decimals of one precision and scale.

    Raises
    ------
    NotTranslatedError
        If they need more digits than there are.
    """
    (left_digits, left_scale), (right_digits, right_scale) = map(decimal_shape, (left, right))
    scale = max(left_scale, right_scale)
    digits = max(left_digits - left_scale, right_digits - right_scale) + scale
    if digits > kinds.MOST_DIGITS:
        raise NotTranslatedError(f"% of decimals that need {digits} digits", "%")
    first, second = (f"CAST({side.text} AS DECIMAL({digits},{scale}))" for side in (left, right))
    return first, second


def halved(above: str, below: str) -> str:
    """Divide whole numbers, of which the first was doubled: rounded, halves away from zero."""
    quotient = f"((abs({above}) + abs({below})) // (2 * abs({below})))"
    return f"sign({above}) * sign({below}) * {quotient}"


def _size(text: str) -> str:
    return f"abs(CAST({text} AS DOUBLE))"


def _room(scale: int, shift: int) -> int:
    """Return how many digits before the point fit, beside those that computing adds."""
    return min(kinds.MOST_DIGITS - 2 * scale, _HUGE - shift - scale)


def mean(text: str, count: str, digits: int, scale: int) -> tuple[str, tuple[int, int]] | None:
    """Divide a sum by a count, as ``avg`` does.

    Parameters
    ----------
    text
        The sum, a decimal of 38 digits.
    count
        How many, not 0.
    digits, scale
        Of what was summed.

    Returns
    -------
    tuple of str and tuple of int, or None
        The mean, its precision and scale; None if it cannot be computed.
    """
    more = 4
    made = min(digits + more, kinds.MOST_DIGITS), scale + more
    room = _room(scale, more)
    if made[1] > kinds.MOST_DIGITS or room < 1:
        return None
    above = f"({units(text, kinds.MOST_DIGITS, scale)} * {2 * 10**more}::HUGEINT)"
    return _below(_size(text), room, decimal_of(halved(above, count), *made)), made


def units(text: str, digits: int, scale: int) -> str:
    """Write a decimal as a whole number of its last digit."""
    unit = f"CAST({10**scale} AS DECIMAL({scale + 1},0))"
    whole = "BIGINT" if digits <= WHOLE_DIGITS else "HUGEINT"
    return f"CAST(CAST({text} AS DECIMAL({digits},{scale})) * {unit} AS {whole})"


def decimal_of(whole: str, precision: int, scale: int) -> str:
    """Write a whole number of the last digit as a decimal."""
    if scale == 0:
        return f"CAST({whole} AS DECIMAL({precision},0))"
    step = f"CAST('{10**-scale:.{scale}f}' AS DECIMAL({scale},{scale}))"
    return f"CAST(CAST({whole} AS DECIMAL({precision},0)) * {step} AS DECIMAL({precision},{scale}))"
