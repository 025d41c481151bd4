"""Doubles as texts, as Java writes them."""

from __future__ import annotations

from decimal import Decimal

from paimonlab.sql_engine.failures import NOT_PROVEN, fails

_MOST_DIGITS = 15
"""Every Java writes so many digits alike, of numbers of a usual size."""
_LEAST, _MOST = "1e-10", "1e18"


def java_text(number: float) -> str:
    """Write a double of a statement as Java does.

    Examples
    --------
    >>> java_text(12345678.5), java_text(0.00015), java_text(2.0)
    ('1.23456785E7', '1.5E-4', '2.0')
    """
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    mantissa, _, power = f"{Decimal(repr(number)).normalize():E}".partition("E")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}E{int(power)}"


def written(sql: str) -> str:
    """Write doubles as Java does: ``1234.5``, ``1.2345E7``, ``NaN``.

    Those with more than 15 digits, very large and very small ones are not proven: older releases
    write other digits for some.
    """
    plain = f"CAST(abs({sql}) AS VARCHAR)"
    mantissa = f"split_part({plain}, 'e', 1)"
    digits = f"trim(replace({mantissa}, '.', ''), '0')"
    sign = f"(CASE WHEN {sql} < 0 THEN '-' ELSE '' END)"
    power = f"CAST(nullif(split_part({plain}, 'e', 2), '') AS INTEGER)"
    # Before the point of a mantissa is one digit where there is a power, or as many as there are.
    above = f"(strpos({mantissa} || '.', '.') - 2)"
    below = f"(-length(regexp_extract({plain}, '^0[.](0*)', 1)) - 1)"
    exponent = f"coalesce({power}, CASE WHEN {plain} LIKE '0.%' THEN {below} ELSE {above} END)"
    rest = f"coalesce(nullif(substring({digits}, 2), ''), '0')"
    scientific = f"{sign} || left({digits}, 1) || '.' || {rest} || 'E' || {exponent}"
    message = fails(f"{NOT_PROVEN}: such a DOUBLE as text")
    return (
        f"(CASE WHEN {sql} IS NULL THEN NULL WHEN isnan({sql}) THEN 'NaN' WHEN isinf({sql}) "
        f"THEN if({sql} > 0, 'Infinity', '-Infinity') WHEN {sql} = 0 THEN CAST({sql} AS VARCHAR) "
        f"WHEN abs({sql}) >= 0.001 AND abs({sql}) < 1e7 AND length(CAST({sql} AS VARCHAR)) <= 16 "
        f"THEN CAST({sql} AS VARCHAR) WHEN length({digits}) > {_MOST_DIGITS} "
        f"OR abs({sql}) < {_LEAST} OR abs({sql}) >= {_MOST} THEN {message} "
        f"ELSE {scientific} END)"
    )
