"""Errors that DuckDB raises for values of a row."""

from __future__ import annotations

from decimal import Decimal

from paimonlab.sql_engine.value import Value

NOT_PROVEN = "not proven without Spark"
"""What DuckDB raises for values whose result may differ from Spark's begins with this."""
MAY_FAIL = "error('"
"""In SQL that raises an error for some values; DuckDB takes it for volatile."""
DIVIDED = "DIVIDE_BY_ZERO: a number is divided by zero; use NULLIF for the divisor"


def fails(message: str) -> str:
    """Return SQL that raises an error when it is evaluated."""
    return f"{MAY_FAIL}{message}')"


def quotient(text: str, above: str, below: str, divisor: Value) -> str:
    """Write a quotient or remainder that raises an error where the divisor is zero.

    Parameters
    ----------
    text
        It, as it is for other divisors.
    above, below
        What is divided, and by what: NULL divided by zero is NULL.
    divisor
        As it was translated. A number of the statement is looked at here: what may raise an error
        is volatile to DuckDB, which then takes it neither for groups nor for orders of windows.
    """
    number = divisor.literal if divisor.is_literal else None
    if isinstance(number, int | float | Decimal) and number:
        return text
    return f"(CASE WHEN {below} = 0 AND {above} IS NOT NULL THEN {fails(DIVIDED)} ELSE {text} END)"
