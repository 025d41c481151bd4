"""Errors that DuckDB raises for values of a row."""

from __future__ import annotations

import re
from decimal import Decimal

from paimonlab.sql_engine.value import Value

NOT_PROVEN = "not proven without Spark"
"""What DuckDB raises for values whose result may differ from Spark's begins with this."""
MAY_FAIL = "error('"
"""In SQL that raises an error for some values; DuckDB takes it for volatile."""
_QUOTED_OR_FAILS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|error\('(?P<message>(?:[^']|'')*)'\)"""
)
_RAISED = "raised: "
_OF_CAST = re.compile(rf"Could not convert string '{_RAISED}(?P<message>.*)' to INT64")
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


def without_volatility(text: str) -> str:
    """Let SQL raise its errors by casts of their messages to numbers.

    DuckDB takes nothing volatile for the keys of a window, and a cast is not. What it casts is the
    place in a list whose only value is NULL, which is of any type that is needed. It is in a branch
    of CASE, as every error here: what such branches have in common DuckDB does not compute ahead.
    """

    def failing(found: re.Match[str]) -> str:
        message = found["message"]
        return found[0] if message is None else f"([NULL])[CAST('{_RAISED}{message}' AS BIGINT)]"

    return _QUOTED_OR_FAILS.sub(failing, text)


def told(message: str) -> str:
    """Return what an error said that `without_volatility` let a cast raise; others as they are."""
    found = _OF_CAST.search(message)
    return message if found is None else found["message"]
