"""Which texts are JSON for DuckDB and for Spark alike."""

from __future__ import annotations

_TEXTS = r'"(?:[^"\\]|\\.)*"'
_LENIENT = r",[ \n\r\t]*[\]}]|[nN][aA][nN]|[iI][nN][fF]|[-]0($|[^.0-9eE])"
"""What DuckDB reads and Spark does not, or writes in another way, outside of texts."""
_BARE = f"regexp_replace({{0}}, '{_TEXTS}', '\"\"', 'g')"
IS_STRICT = f"(json_valid({{0}}) AND NOT regexp_matches({_BARE}, '{_LENIENT.replace('}', '}}')}'))"
"""Condition that a text is JSON as the standard has it: a pattern of its SQL."""


def bare(sql: str) -> str:
    """Return a JSON text with empty texts and names."""
    return _BARE.format(sql)


def strict(sql: str) -> str:
    """Return a text as JSON; NULL if it is not proven to be JSON for both.

    DuckDB may evaluate what a condition before it rules out.
    """
    return f"CAST((CASE WHEN {IS_STRICT.format(sql)} THEN {sql} END) AS JSON)"
