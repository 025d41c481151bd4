"""Functions of dates and timestamps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from paimonlab.errors import UnsupportedError
from paimonlab.formats.local_zone import local_zone
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.arithmetic import NOT_PROVEN, fails
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
from paimonlab.sql_engine.value import Value, cast, literal, quoted

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
    expect(values, is_text, one_of(kinds.TIMESTAMP_NTZ, kinds.DATE))
    if unit is None:
        raise WrongUseError
    text = f"CAST(date_trunc('{unit}', {values[1].text}) AS TIMESTAMP)"
    try:
        zone = local_zone()  # it becomes an instant, by the clock of the session
    except UnsupportedError:
        raise WrongUseError from None
    text = f"timezone({quoted(zone)}, {text})"
    return Value(text, kinds.TIMESTAMP, named("date_trunc", values))


def _trunc(values: Sequence[Value]) -> Value:
    expect(values, is_day, is_text)
    constant(values[1], str)
    unit = _UNITS.get(str(values[1].literal).upper())
    if unit is None:
        raise WrongUseError
    text = f"CAST(date_trunc('{unit}', {values[0].text}) AS DATE)"
    return Value(text, kinds.DATE, named("trunc", values))


_LETTERS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "EEE": "%a",
    "E": "%a",
    "EEEE": "%A",
    "MMM": "%b",
    "MMMM": "%B",
    "d": "%-d",
    "M": "%-m",
    "H": "%-H",
}
_PIECES = re.compile(r"([A-Za-z])\1*|'[^'%]+'|[^A-Za-z'%\[\]{}#]+")


def _date_format(values: Sequence[Value]) -> Value:
    expect(values, one_of(kinds.DATE, kinds.TIMESTAMP_NTZ), is_text)
    constant(values[1], str)
    pattern, place, pieces = str(values[1].literal), 0, []
    while place < len(pattern):
        piece = _PIECES.match(pattern, place)
        if piece is None:
            raise WrongUseError
        place, word = piece.end(), piece[0]
        if word[0].isascii() and word[0].isalpha():
            if word not in _LETTERS:
                raise WrongUseError
            word = _LETTERS[word]
        pieces.append(word.strip("'"))
    value = values[0].text
    message = fails(f"{NOT_PROVEN}: date_format() of years beyond 1000 to 9999")
    text = (
        f"(CASE WHEN year({value}) < 1000 OR year({value}) > 9999 THEN {message} "
        f"ELSE strftime({value}, {quoted(''.join(pieces))}) END)"
    )
    return Value(text, kinds.STRING, named("date_format", values))


def _today(values: Sequence[Value]) -> Value:
    expect(values)
    today = datetime.now().astimezone().date()
    return literal(today, kinds.DATE, "current_date()")


def _now(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values)
        return literal(datetime.now(UTC), kinds.TIMESTAMP, f"{name}()")

    return translate


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
    "date_diff": simple("date_diff", "CAST(({0} - {1}) AS INTEGER)", kinds.INT, is_day, is_day),
    "dateadd": _moved("date_add", "+"),
    "dayname": simple("dayname", "strftime({}, '%a')", kinds.STRING, is_day),
    "monthname": simple("monthname", "strftime({}, '%b')", kinds.STRING, is_day),
    "datediff": simple("datediff", "CAST(({0} - {1}) AS INTEGER)", kinds.INT, is_day, is_day),
    "add_months": _add_months,
    "date_trunc": _date_trunc,
    "trunc": _trunc,
    "to_date": _date,
    "date_format": _date_format,
    "current_date": _today,
    "curdate": _today,
    "now": _now("now"),
    "current_timestamp": _now("current_timestamp"),
}
"""By name in small letters."""
