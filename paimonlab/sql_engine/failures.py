"""Errors that DuckDB raises for values of a row."""

from __future__ import annotations

NOT_PROVEN = "not proven without Spark"
"""What DuckDB raises for values whose result may differ from Spark's begins with this."""
DIVIDED = "DIVIDE_BY_ZERO: a number is divided by zero; use NULLIF for the divisor"


def fails(message: str) -> str:
    """Return SQL that raises an error when it is evaluated."""
    return f"error('{message}')"
