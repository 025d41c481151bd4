"""Values that are written in a statement, or given with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from paimonlab.sql_engine import kinds, zones
from paimonlab.sql_engine.functions import doubles, intervals
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tree import NUMBER_WITH_TYPE
from paimonlab.sql_engine.value import Value, literal, quoted

_LIMITS = ((kinds.INT, 2**31), (kinds.BIGINT, 2**63))
_WHOLE = {"L": (kinds.BIGINT, 2**63), "S": (kinds.SMALLINT, 2**15), "Y": (kinds.TINYINT, 2**7)}
"""Types of integers by their letters, and what their numbers are below."""


class Given:
    """Values of parameters: by name, or those of each ``?`` in order."""

    def __init__(self, values: Mapping[str, Any] | Sequence[Any]) -> None:
        self._named = values if isinstance(values, Mapping) else {}
        self._in_order: Iterator[Any] = iter(() if isinstance(values, Mapping) else values)

    def take(self, name: str) -> Any:
        """Return the value of ``:name``, or of the next ``?``."""
        return self._named[name] if name else next(self._in_order)


def number(text: str) -> Value:
    """Read a number as Spark does: digits are INT or BIGINT, a point is a decimal, E a double.

    Letters at its end say another type: ``1L``, ``2.5D``.
    """
    found = NUMBER_WITH_TYPE.fullmatch(text.removeprefix("-"))
    if found is not None:
        sign = "-" if text.startswith("-") else ""
        return _number_of_type(sign + found[1], found[2].upper(), text)
    if "e" in text.lower():
        return _double(text, text)
    if "." in text:
        return _exact(text)
    whole = int(text)
    for kind, bound in _LIMITS:
        if -bound <= whole < bound:
            return literal(whole, kind, str(whole))
    raise NotTranslatedError(f"the number {text}", text)


def _double(digits: str, spelt: str) -> Value:
    value = float(digits)
    if math.isinf(value):
        raise NotTranslatedError(f"the number {spelt}", spelt)
    return literal(value, kinds.DOUBLE, doubles.java_text(value))


def _exact(text: str) -> Value:
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise NotTranslatedError(f"the number {text}", text) from None
    scale = -int(exact.as_tuple().exponent)
    digits = max(len(exact.as_tuple().digits), scale)
    if digits > kinds.MOST_DIGITS:
        raise NotTranslatedError(f"the number {text}", text)
    return literal(exact, kinds.decimal(digits, scale), str(exact))


def _number_of_type(digits: str, letters: str, spelt: str) -> Value:
    if letters == "BD":
        return _exact(digits)
    if letters == "D":
        return _double(digits, spelt)
    if letters in _WHOLE:
        kind, bound = _WHOLE[letters]
        if -bound <= int(digits) < bound:
            return literal(int(digits), kind, str(int(digits)))
    raise NotTranslatedError(f"the number {spelt}", spelt)


def python_value(value: Any) -> Value:
    """Write the value of a parameter.

    Raises
    ------
    NotTranslatedError
        If its type has no literal here.
    """
    if value is None:
        return Value("NULL", kinds.VOID, "NULL", None)
    if isinstance(value, bool):
        return Value("true" if value else "false", kinds.BOOLEAN, str(value).lower(), value)
    if isinstance(value, int):
        return number(str(value))
    if isinstance(value, float):
        return literal(value, kinds.DOUBLE)
    if isinstance(value, str):
        return Value(quoted(value), kinds.STRING, value, value)
    if isinstance(value, Decimal) and value.is_finite():
        return number(format(value, "f") if value.as_tuple().exponent else f"{value}.0")
    found = _of_time(value)
    if found is not None:
        return found
    if isinstance(value, bytes):
        return literal(value, kinds.BINARY)
    raise NotTranslatedError(f"a parameter that is a {type(value).__name__}", ":")


def _of_time(value: Any) -> Value | None:
    """Write a time, a day, or a length of time; None if it is something else."""
    if isinstance(value, datetime):
        moment = zones.moment(value) if value.tzinfo is None else value
        return literal(moment, kinds.TIMESTAMP)
    if isinstance(value, date):
        return literal(value, kinds.DATE)
    return intervals.of_python(value) if isinstance(value, timedelta) else None
