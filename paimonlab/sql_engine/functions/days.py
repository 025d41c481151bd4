"""Functions of dates and timestamps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import clocks, number_formats
from paimonlab.sql_engine.functions.moments import read_time
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
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, literal, quoted, read_text

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


_CLOCKS = (kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP)
_TIMED = (kinds.DATE, *_CLOCKS)


def _part(name: str, field: str, *wanted: Kind) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        value = clocks.shown(read_argument(values, *wanted, kinds.TIMESTAMP))
        text = f"CAST({field}({value.text}) AS INTEGER)"
        return Value(text, kinds.INT, named(name, values))

    return translate


def part(name: str, value: Value) -> Value:
    """Return the year of the week of a day, or the second of a time with its fraction."""
    if value.kind not in (_TIMED if name == "yearofweek" else _CLOCKS):
        raise NotTranslatedError(f"extract({name.upper()})", "extract")
    clock = clocks.shown(value).text
    if name == "yearofweek":
        return Value(f"CAST(isoyear({clock}) AS INTEGER)", kinds.INT, "")
    micros = f"CAST(microsecond({clock}) AS DECIMAL(8, 0))"
    kind = kinds.decimal(8, 6)
    text = f"CAST({micros} * CAST(0.000001 AS DECIMAL(6, 6)) AS {kinds.duck_type(kind)})"
    return Value(text, kind, "")


def _weekday(name: str, template: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        value = clocks.shown(read_argument(values, *_TIMED))
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
    expect(values, is_text, one_of(*_TIMED))
    if unit is None:
        raise WrongUseError
    if unit not in ("hour", "minute", "second"):
        begin = f"CAST(date_trunc('{unit}', {clocks.shown(values[1]).text}) AS TIMESTAMP)"
        text = clocks.instant(begin)
    else:
        at = clocks.as_instant(values[1])
        clock = clocks.shown(at).text
        begin = f"CAST(date_trunc('{unit}', {clock}) AS TIMESTAMP)"
        is_exact = clocks.is_fixed() or unit == "second"
        text = f"({at.text} - ({clock} - {begin}))" if is_exact else clocks.aimed(at.text, begin)
    return Value(text, kinds.TIMESTAMP, named("date_trunc", values))


def _trunc(values: Sequence[Value]) -> Value:
    expect(values, one_of(*_TIMED), is_text)
    constant(values[1], str)
    unit = _UNITS.get(str(values[1].literal).upper())
    if unit is None:
        raise WrongUseError
    text = f"CAST(date_trunc('{unit}', {clocks.shown(values[0]).text}) AS DATE)"
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
    "m": "%-M",
    "s": "%-S",
    "h": "%-I",
    "hh": "%I",
    "a": "%p",
    "SSS": "%g",
    "SSSSSS": "%f",
    "D": "%-j",
    "DDD": "%j",
}
_PIECES = re.compile(r"([A-Za-z])\1*|'[^'%]+'|[^A-Za-z'%\[\]{}#]+")


def _date_format(values: Sequence[Value]) -> Value:
    expect(values, one_of(*_TIMED), is_text)
    at = values[0] if clocks.is_fixed() else clocks.as_instant(values[0])
    text = _formatted(clocks.shown(at).text, values[1])
    return Value(text, kinds.STRING, named("date_format", values))


def _as_characters(values: Sequence[Value]) -> Value:
    """``to_char`` of numbers, and of times, which Spark takes for ``date_format``."""
    if values and (kinds.is_whole(values[0].kind) or kinds.is_decimal(values[0].kind)):
        return number_formats.written(values)
    expect(values, one_of(*_TIMED), is_text)
    return _date_format(values)


def _formatted(value: str, given: Value) -> str:
    """Write a time by a pattern of the statement."""
    constant(given, str)
    pattern, place, pieces = str(given.literal), 0, []
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
    message = fails(f"{NOT_PROVEN}: date_format() of years beyond 1000 to 9999")
    return (
        f"(CASE WHEN year({value}) < 1000 OR year({value}) > 9999 THEN {message} "
        f"ELSE strftime({value}, {quoted(''.join(pieces))}) END)"
    )


def _today(values: Sequence[Value]) -> Value:
    expect(values)
    today = datetime.now().astimezone().date()
    return literal(today, kinds.DATE, "current_date()")


def _now(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values)
        return literal(datetime.now(UTC), kinds.TIMESTAMP, f"{name}()")

    return translate


_DAY_PIECES = {
    "yyyy": ("%Y", "[0-9]{4}"),
    "MM": ("%m", "[0-9]{2}"),
    "dd": ("%d", "[0-9]{2}"),
    "M": ("%m", "[0-9]{1,2}"),
    "d": ("%d", "[0-9]{1,2}"),
}
_DAY_PATTERN = re.compile(r"yyyy|MM|dd|(?<![A-Za-z])[Md](?![A-Za-z])|[-./ ]")


def _date(name: str) -> Translate:
    def of_day(values: Sequence[Value]) -> Value:
        value = clocks.shown(read_argument(values, *_TIMED))
        shown = values[0].name if name == "date" else named(name, values)
        return Value(f"CAST({value.text} AS DATE)", kinds.DATE, shown)

    def translate(values: Sequence[Value]) -> Value:
        if len(values) == 2:
            return _date_by_pattern(values, name)
        return _of_text(of_day, kinds.DATE)(values)

    return translate


def _date_by_pattern(values: Sequence[Value], name: str) -> Value:
    expect(values, is_text, is_text)
    constant(values[1], str)
    pattern = str(values[1].literal)
    pieces = _DAY_PATTERN.findall(pattern)
    parts = sorted(piece[0] for piece in pieces if piece.isalpha())
    if "".join(pieces) != pattern or parts != ["M", "d", "y"]:
        raise WrongUseError
    read = "".join(_DAY_PIECES[p][0] if p in _DAY_PIECES else p for p in pieces)
    fits = "".join(_DAY_PIECES[p][1] if p in _DAY_PIECES else f"[{p}]" for p in pieces)
    message = fails(f"{NOT_PROVEN}: to_date() of such a text")
    sql = values[0].text
    text = (
        f"(CASE WHEN {sql} IS NULL THEN NULL WHEN regexp_matches({sql}, '^{fits}$') "
        f"THEN CAST(strptime({sql}, {quoted(read)}) AS DATE) ELSE {message} END)"
    )
    return Value(text, kinds.DATE, named(name, values))


TIME_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?)?$"
_ZONED_TEXT = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?"
    "(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])$"
)
_USUAL = Value("'yyyy-MM-dd HH:mm:ss'", kinds.STRING, "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss")


def _timestamp(values: Sequence[Value]) -> Value:
    if len(values) == 2:
        return read_time(values)
    expect(values, one_of(kinds.STRING, *_TIMED))
    value, sql = values[0], values[0].text
    called = named("to_timestamp", values)
    if value.kind == kinds.TIMESTAMP:
        return Value(sql, kinds.TIMESTAMP, called)
    if value.kind != kinds.STRING:
        return Value(clocks.instant(f"CAST({sql} AS TIMESTAMP)"), kinds.TIMESTAMP, called)
    text = moment_of_text(sql, kinds.TIMESTAMP, "to_timestamp()")
    return Value(text, kinds.TIMESTAMP, called)


def moment_of_text(sql: str, kind: Kind, name: str) -> str:
    """Read a day or a time, of TIMESTAMP with a zone as well; other texts are not proven."""
    message = fails(f"{NOT_PROVEN}: {name} of such a text")
    clock = f"CAST({sql} AS TIMESTAMP)"
    if kind == kinds.TIMESTAMP_NTZ:
        zoned = ""
    else:
        clock = clocks.instant(clock)
        fits = f"regexp_matches({sql}, '{_ZONED_TEXT}')"
        zoned = f"WHEN {fits} THEN CAST({sql} AS TIMESTAMPTZ) "
    return (
        f"(CASE WHEN {sql} IS NULL THEN NULL WHEN regexp_matches({sql}, '{TIME_TEXT}') "
        f"THEN {clock} {zoned}ELSE {message} END)"
    )


def _seconds(name: str) -> Translate:
    """``unix_timestamp``: whole seconds, cut off towards zero."""

    def translate(values: Sequence[Value]) -> Value:
        if not values:
            return Value(str(int(datetime.now(UTC).timestamp())), kinds.BIGINT, f"{name}()")
        shown = named(name, [*values, _USUAL][:2])
        if values[0].kind == kinds.STRING:
            values = [replace(read_time([*values, _USUAL][:2]), name=values[0].name)]
        expect(values[:1], one_of(*_TIMED))
        if len(values) > 2:
            raise WrongUseError
        sql = values[0].text
        if values[0].kind == kinds.DATE:
            sql = clocks.instant(f"CAST({sql} AS TIMESTAMP)")
        micros = f"epoch_us({sql})"
        return Value(f"(({micros} - {micros} % 1000000) // 1000000)", kinds.BIGINT, shown)

    return translate


def _from_seconds(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_whole, *[is_text] * (len(values) - 1))
    if len(values) > 2:
        raise WrongUseError
    shown = [*values, _USUAL][:2]
    moment = Value(f"to_timestamp({cast(values[0], kinds.BIGINT).text})", kinds.TIMESTAMP, "")
    text = _formatted(clocks.shown(moment).text, shown[1])
    return Value(text, kinds.STRING, named("from_unixtime", shown))


def _months_between(values: Sequence[Value]) -> Value:
    """Count months, with a 31st for each day; two last days are whole months apart."""
    expect(values, one_of(*_TIMED), one_of(*_TIMED))
    instants = [clocks.as_instant(value) for value in values]
    first, last = (f"CAST({clocks.shown(value).text} AS DATE)" for value in instants)
    months = f"((year({first}) - year({last})) * 12 + month({first}) - month({last}))"
    ends = f"(last_day({first}) = {first} AND last_day({last}) = {last})"
    begin, end = (
        "0" if value.kind == kinds.DATE else _second_of_day(at.text, day)
        for value, at, day in zip(values, instants, (first, last), strict=True)
    )
    seconds = f"(CAST((day({first}) - day({last})) * 86400 + {begin} - {end} AS DOUBLE) / 2678400)"
    parts = f"({months} + {seconds})"
    text = (
        f"(CASE WHEN day({first}) = day({last}) OR {ends} THEN CAST({months} AS DOUBLE) "
        f"ELSE floor({parts} * 1e8 + 0.5) / 1e8 END)"
    )
    shown = [*values, Value("", kinds.BOOLEAN, "true")]
    return Value(text, kinds.DOUBLE, named("months_between", shown))


def _second_of_day(at: str, day: str) -> str:
    """Count the whole seconds since a day began, which are not those of the clock at a change."""
    begin = clocks.instant(f"CAST({day} AS TIMESTAMP)")
    return f"(epoch_us({at}) - epoch_us({begin})) // 1000000"


_WEEK = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def _next_day(values: Sequence[Value]) -> Value:
    expect(values, is_day, is_text)
    constant(values[1], str)
    word = str(values[1].literal).upper()
    found = [n for n, day in enumerate(_WEEK, 1) if word in (day, day[:3], day[:2])]
    if not found:
        raise WrongUseError
    text = (
        f"({values[0].text} + CAST(({found[0]} - isodow({values[0].text}) + 6) % 7 + 1 AS INTEGER))"
    )
    return Value(text, kinds.DATE, named("next_day", values))


def _made(values: Sequence[Value]) -> Value:
    expect(values, *[one_of(*kinds.WHOLE[:3])] * 3)
    parts = ", ".join(f"CAST({value.text} AS BIGINT)" for value in values)
    return Value(f"make_date({parts})", kinds.DATE, named("make_date", values))


_DAY_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?$"


def _of_text(translate: Translate, kind: Kind, place: int = 0) -> Translate:
    """Let a function of days or times take a text there, or one of days a time, as Spark casts it.

    What follows the day after a blank or a ``T`` is cut off. Texts in another form are not proven.
    """

    def read(values: Sequence[Value]) -> Value:
        given = values[place] if place < len(values) else None
        if given is None or given.kind not in (kinds.STRING, *_CLOCKS):
            return translate(values)
        if given.kind != kinds.STRING:
            if kind != kinds.DATE:
                return translate(values)
            day = f"CAST({clocks.shown(given).text} AS DATE)"
            value = Value(day, kinds.DATE, given.name)
        else:
            value = read_text(given, kind) or _cast_text(given, kind)
        return translate([*values[:place], replace(value, name=given.name), *values[place + 1 :]])

    return read


def _cast_text(value: Value, kind: Kind) -> Value:
    if kind == kinds.TIMESTAMP:
        return _timestamp([value])
    message = fails(f"{NOT_PROVEN}: a day in such a text")
    text = (
        f"(CASE WHEN {value.text} IS NULL THEN NULL "
        f"WHEN regexp_matches({value.text}, '{_DAY_TEXT}') "
        f"THEN CAST(left({value.text}, 10) AS DATE) ELSE {message} END)"
    )
    return Value(text, kinds.DATE, value.name)


_DIFFERENCE = "CAST(({0} - {1}) AS INTEGER)"


def _difference(name: str) -> Translate:
    days = simple(name, _DIFFERENCE, kinds.INT, is_day, is_day)
    return _of_text(_of_text(days, kinds.DATE), kinds.DATE, 1)


DAYS: dict[str, Translate] = {
    **{
        name: _of_text(_part(name, field, kinds.DATE, kinds.TIMESTAMP_NTZ), kinds.DATE)
        for name, field in _DATES.items()
    },
    **{
        name: _of_text(_part(name, field, kinds.TIMESTAMP_NTZ), kinds.TIMESTAMP)
        for name, field in _TIMES.items()
    },
    "dayofweek": _of_text(_weekday("dayofweek", "dayofweek({}) + 1"), kinds.DATE),
    "weekday": _of_text(_weekday("weekday", "isodow({}) - 1"), kinds.DATE),
    "last_day": _of_text(simple("last_day", "last_day({})", kinds.DATE, is_day), kinds.DATE),
    "date_add": _of_text(_moved("date_add", "+"), kinds.DATE),
    "date_sub": _of_text(_moved("date_sub", "-"), kinds.DATE),
    "date_diff": _difference("date_diff"),
    "dateadd": _of_text(_moved("date_add", "+"), kinds.DATE),
    "dayname": _of_text(simple("dayname", "strftime({}, '%a')", kinds.STRING, is_day), kinds.DATE),
    "monthname": _of_text(
        simple("monthname", "strftime({}, '%b')", kinds.STRING, is_day), kinds.DATE
    ),
    "datediff": _difference("datediff"),
    "add_months": _of_text(_add_months, kinds.DATE),
    "date_trunc": _of_text(_date_trunc, kinds.TIMESTAMP, 1),
    "trunc": _of_text(_trunc, kinds.DATE),
    "to_date": _date("to_date"),
    "date": _date("date"),
    "to_timestamp": _timestamp,
    "unix_timestamp": _seconds("unix_timestamp"),
    "to_unix_timestamp": _seconds("to_unix_timestamp"),
    "from_unixtime": _from_seconds,
    "months_between": _months_between,
    "next_day": _of_text(_next_day, kinds.DATE),
    "make_date": _made,
    "unix_date": simple(
        "unix_date", "CAST(({} - DATE '1970-01-01') AS INTEGER)", kinds.INT, is_day
    ),
    "date_format": _of_text(_date_format, kinds.TIMESTAMP),
    "current_date": _today,
    "curdate": _today,
    "to_char": _as_characters,
    "to_varchar": _as_characters,
    "now": _now("now"),
    "current_timestamp": _now("current_timestamp"),
}
"""By name in small letters."""
