"""Scalar functions: which there are, for which types, and what DuckDB computes for each."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from paimonlab.sql_engine import words
from paimonlab.sql_engine.aggregates import AGGREGATES, WINDOWS
from paimonlab.sql_engine.functions.arrays import ARRAYS
from paimonlab.sql_engine.functions.choices import CHOICES
from paimonlab.sql_engine.functions.days import DAYS
from paimonlab.sql_engine.functions.json_fields import JSON_FIELDS
from paimonlab.sql_engine.functions.lists import LISTS
from paimonlab.sql_engine.functions.mathematics import MATHEMATICS
from paimonlab.sql_engine.functions.numbers import NUMBERS
from paimonlab.sql_engine.functions.patterns import PATTERNS
from paimonlab.sql_engine.functions.pieces import PIECES
from paimonlab.sql_engine.functions.signatures import WrongUseError
from paimonlab.sql_engine.functions.texts import TEXTS
from paimonlab.sql_engine.kinds import spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

FUNCTIONS = {
    **TEXTS,
    **PIECES,
    **NUMBERS,
    **MATHEMATICS,
    **DAYS,
    **CHOICES,
    **PATTERNS,
    **LISTS,
    **ARRAYS,
    **JSON_FIELDS,
}
"""By name in small letters: the closed list."""


def call(name: str, values: Sequence[Value]) -> Value:
    """Translate a call of a function.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    translate = FUNCTIONS.get(name)
    if translate is None:
        raise NotTranslatedError(f"{name}()", name, meant(name))
    try:
        return translate(values)
    except (IndexError, WrongUseError):
        types = ", ".join(spark_type(value.kind) for value in values)
        raise NotTranslatedError(f"{name}({types})", name, words.written(name)) from None


def meant(name: str) -> str:
    """Say which function is probably meant by a name; empty if that is unclear."""
    if name in words.ELSEWHERE:
        return words.written(name)
    known = sorted({*FUNCTIONS, *AGGREGATES, *WINDOWS})
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f"Did you mean {close[0]}()?" if close else ""
