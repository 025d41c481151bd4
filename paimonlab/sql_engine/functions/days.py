"""Functions of dates and timestamps."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    constant,
    expect,
    is_day,
    is_text,
    named,
    one_of,
    read_argument,
    simple,
)
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.value import Value, cast

_DATES = {
    "year": "year",
    "month": "month",
    "day": "day",
    "dayofmonth": "day",
    "quarter": "quarter",
    "dayofyear": "dayofyear",
    "weekofyear": "week",
}
_TIMES = {"hour": "hour", "minute": "minute", "second": "second"}
_UNITS = {
    "YEAR": "year",
    "YYYY": "year",
    "YY": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "MM": "month",
    "MON": "month",
    "WEEK": "week",
}
_TIME_UNITS = _UNITS | {
    "DAY": "day",
    "DD": "day",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
}


def _part(name: str, field: str, *wanted: Kind) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        value = read_argument(values, *wanted)
        text = f"CAST({field}({value.text}) AS INTEGER)"
        return Value(text, kinds.INT, named(name, values))

    return translate


def _weekday(name: str, template: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        value = read_argument(values, kinds.DATE, kinds.TIMESTAMP_NTZ)
        text = f"CAST({template.format(value.text)} AS INTEGER)"
        return Value(text, kinds.INT, named(name, values))

    return translate


def _moved(name: str, sign: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_day, one_of(*kinds.WHOLE[:3]))
        text = f"({values[0].text} {sign} {cast(values[1], kinds.INT).text})"
        return Value(text, kinds.DATE, named(name, values))

    return translate


def _add_months(values: Sequence[Value]) -> Value:
    expect(values, is_day, one_of(*kinds.WHOLE[:3]))
    months = cast(values[1], kinds.INT).text
    text = f"CAST(({values[0].text} + to_months({months})) AS DATE)"
    return Value(text, kinds.DATE, named("add_months", values))


def _date_trunc(values: Sequence[Value]) -> Value:
    constant(values[0], str)
    unit = _TIME_UNITS.get(str(values[0].literal).upper())
    expect(values, is_text, one_of(kinds.TIMESTAMP_NTZ))
    if unit is None:
        raise WrongUseError
    text = f"CAST(date_trunc('{unit}', {values[1].text}) AS TIMESTAMP)"
    return Value(text, kinds.TIMESTAMP_NTZ, named("date_trunc", values))


def _trunc(values: Sequence[Value]) -> Value:
    expect(values, is_day, is_text)
    constant(values[1], str)
    unit = _UNITS.get(str(values[1].literal).upper())
    if unit is None:
        raise WrongUseError
    text = f"CAST(date_trunc('{unit}', {values[0].text}) AS DATE)"
    return Value(text, kinds.DATE, named("trunc", values))


def _date(values: Sequence[Value]) -> Value:
    value = read_argument(values, kinds.DATE, kinds.TIMESTAMP_NTZ)
    return Value(f"CAST({value.text} AS DATE)", kinds.DATE, named("to_date", values))


DAYS: dict[str, Translate] = {
    **{name: _part(name, f, kinds.DATE, kinds.TIMESTAMP_NTZ) for name, f in _DATES.items()},
    **{name: _part(name, f, kinds.TIMESTAMP_NTZ) for name, f in _TIMES.items()},
    "dayofweek": _weekday("dayofweek", "dayofweek({}) + 1"),
    "weekday": _weekday("weekday", "isodow({}) - 1"),
    "last_day": simple("last_day", "last_day({})", kinds.DATE, is_day),
    "date_add": _moved("date_add", "+"),
    "date_sub": _moved("date_sub", "-"),
    "datediff": simple("datediff", "CAST(({0} - {1}) AS INTEGER)", kinds.INT, is_day, is_day),
    "add_months": _add_months,
    "date_trunc": _date_trunc,
    "trunc": _trunc,
    "to_date": _date,
}
"""By name in small letters."""
