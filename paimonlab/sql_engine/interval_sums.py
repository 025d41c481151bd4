"""Sums and means of lengths of days and times, which DuckDB has as microseconds."""

from __future__ import annotations

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import IntervalType, Kind
from paimonlab.sql_engine.value import Value

WHOLE = IntervalType("DAY", "SECOND")
"""The type of what is computed."""


def shared(total: str, count: str) -> str:
    """Divide a length by a whole number: rounded, halves away from zero."""
    whole = f"CAST({total} AS HUGEINT)"
    share = f"((2 * abs({whole}) + abs({count})) // (2 * abs({count})))"
    return f"CAST(sign({whole}) * sign({count}) * {share} AS BIGINT)"


def aggregated(name: str, value: Value, which: str, here: str) -> tuple[str, Kind] | None:
    """Translate an aggregate of lengths; None if it is another one.

    Parameters
    ----------
    name
        Of the function, in small letters.
    value
        Its argument.
    which
        ``DISTINCT`` and a blank, or nothing.
    here
        Where ``FILTER`` and ``OVER`` go.
    """
    sql = value.text
    if name == "count":
        return f"count({which}{sql}){here}", kinds.BIGINT
    if name in ("min", "max"):
        return f"{name}({sql}){here}", value.kind
    if which:
        return None
    if name == "sum":
        return f"CAST(sum({sql}){here} AS BIGINT)", value.kind
    if name in ("avg", "mean"):
        count = f"CAST(count({sql}){here} AS HUGEINT)"
        total = f"CAST(sum({sql}){here} AS BIGINT)"
        return f"(CASE WHEN {count} = 0 THEN NULL ELSE {shared(total, count)} END)", WHOLE
    return None
