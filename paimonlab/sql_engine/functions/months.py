"""Lengths of months and years that times are moved by.

They stand beside a time alone: a length of months is no value of a column here. Source: Spark's
``IntervalUtils.fromYearMonthString``, ``MakeYMInterval``, ``MultiplyYMInterval`` and
``DateAddYMInterval``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from sqlglot import exp

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

_MADE = "make_ym_interval"
_SIZES = {"MONTH": 1, "YEAR": 12}
_COUNT = re.compile(r"-?\d{1,6}")
_SPAN = re.compile(r"([+-]?)(\d{1,6})-(\d{1,2})")
_TIMES = (kinds.DATE, kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP)


class Months(NamedTuple):
    """A length."""

    text: str
    """How many months, in DuckDB's SQL: an INTEGER."""
    name: str
    """As Spark names it."""


def is_length(node: exp.Expression) -> bool:
    """Tell whether an expression is a length of months, whatever it is written like."""
    if isinstance(node, exp.Paren):
        return is_length(node.this)
    if isinstance(node, exp.Mul):
        return is_length(node.this) or is_length(node.expression)
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() == _MADE
    return isinstance(node, exp.Interval) and _unit(node) in (*_SIZES, "YEAR TO MONTH")


def _unit(node: exp.Interval) -> str:
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return f"{unit.this.name} TO {unit.expression.name}".upper()
    return unit.name.upper().removesuffix("S") if isinstance(unit, exp.Var) else ""


def length_of(node: exp.Expression, value: Callable[[exp.Expression], Value]) -> Months:
    """Translate a length.

    Parameters
    ----------
    node
        For which `is_length` is true.
    value
        Translates numbers in it.

    Raises
    ------
    NotTranslatedError
        If it is written as is not proven.
    """
    if isinstance(node, exp.Paren):
        return length_of(node.this, value)
    if isinstance(node, exp.Mul):
        length, number = node.this, node.expression
        if not is_length(length):
            length, number = number, length
        times, found = _whole(value(number), "*"), length_of(length, value)
        text = f"CAST(CAST({found.text} AS BIGINT) * {times.text} AS INTEGER)"
        return Months(text, f"({found.name} * {times.name})")
    if isinstance(node, exp.Anonymous):
        return _made(node, value)
    assert isinstance(node, exp.Interval), "what is_length says is a length"
    count, name = written(node)
    return Months(f"CAST({count} AS INTEGER)", name)


def written(node: exp.Interval) -> tuple[int, str]:
    """Return the months of a length that is written, and how Spark names it.

    Raises
    ------
    NotTranslatedError
        If it is written as is not proven.
    """
    given, unit = node.this, _unit(node)
    text = given.name if isinstance(given, exp.Literal) else ""
    if unit in _SIZES and _COUNT.fullmatch(text):
        return int(text) * _SIZES[unit], f"INTERVAL '{int(text)}' {unit}"
    span = _SPAN.fullmatch(text) if unit not in _SIZES else None
    if span is None or int(span[3]) >= _SIZES["YEAR"]:
        hint = "Write INTERVAL 3 MONTHS, or for a column n * INTERVAL 1 MONTH"
        raise NotTranslatedError("such an INTERVAL", "INTERVAL", hint)
    months = int(span[2]) * _SIZES["YEAR"] + int(span[3])
    sign = "-" if span[1] == "-" and months else ""
    name = f"INTERVAL '{sign}{int(span[2])}-{int(span[3])}' YEAR TO MONTH"
    return -months if sign else months, name


def _made(node: exp.Anonymous, value: Callable[[exp.Expression], Value]) -> Months:
    if not 1 <= len(node.expressions) <= 2:
        raise NotTranslatedError(f"{_MADE}() of such arguments", _MADE)
    years, *rest = (_whole(value(part), _MADE) for part in node.expressions)
    months = rest[0] if rest else Value("0", kinds.INT, "0")
    text = f"CAST(CAST({years.text} AS BIGINT) * 12 + CAST({months.text} AS BIGINT) AS INTEGER)"
    return Months(text, f"{_MADE}({years.name}, {months.name})")


def _whole(number: Value, word: str) -> Value:
    if number.kind not in kinds.WHOLE[:3]:
        raise NotTranslatedError(f"months by {kinds.spark_type(number.kind)}", word)
    return number


def moved(sign: str, time: Value, length: Months) -> Value:
    """Add a length to a time, or subtract it: to the last day of a month that is too short.

    Raises
    ------
    NotTranslatedError
        If it is not a time.
    """
    if time.kind not in _TIMES:
        raise NotTranslatedError(f"{kinds.spark_type(time.kind)} {sign} INTERVAL", "INTERVAL")
    step = f"to_months({length.text if sign == '+' else f'(-{length.text})'})"
    name = f"{time.name} {sign} {length.name}"
    if time.kind == kinds.TIMESTAMP:
        return Value(clocks.moved(time.text, step), kinds.TIMESTAMP, name)
    return Value(f"CAST(({time.text} + {step}) AS {kinds.duck_type(time.kind)})", time.kind, name)
