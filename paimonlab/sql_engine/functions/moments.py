"""Functions that make times of numbers and texts, count them, and move them between zones."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Sequence
from datetime import datetime
from functools import cache

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    constant,
    expect,
    is_text,
    named,
    one_of,
)
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.value import Value, cast, literal, quoted, read_text

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
"""Of the years 1 and 9999."""
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_PIECES = {
    "yyyy": ("%Y", "[1-9][0-9]{3}"),
    "MM": ("%m", "[0-9]{2}"),
    "dd": ("%d", "[0-9]{2}"),
    "HH": ("%H", "[0-9]{2}"),
    "mm": ("%M", "[0-9]{2}"),
    "ss": ("%S", "[0-9]{2}"),
    "M": ("%m", "[0-9]{1,2}"),
    "d": ("%d", "[0-9]{1,2}"),
    "H": ("%H", "[0-9]{1,2}"),
}
"""Letters of a pattern, as DuckDB reads them, and which texts fit."""
_PATTERN = re.compile(r"yyyy|MM|dd|HH|mm|ss|(?<![A-Za-z])[MdH](?![A-Za-z])|'T'|[-./: ]")
_SHORT = {"M": "MM", "d": "dd", "H": "HH"}
_NEEDED = ("yyyy", "MM", "dd")
_PLAIN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?)?$"
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def _of_number(name: str, per_second: int) -> Translate:
    """Return what makes a time of a number of units since 1970."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, kinds.is_whole)
        text = seconds_as_time(cast(values[0], kinds.BIGINT).text, f"{name}()", per_second)
        return Value(text, kinds.TIMESTAMP, named(name, values))

    return translate


def seconds_as_time(count: str, name: str, per_second: int = 1) -> str:
    """Write the instant so many units after 1970 began."""
    first, last = _FIRST_SECOND * per_second, (_LAST_SECOND + 1) * per_second - 1
    message = fails(f"{NOT_PROVEN}: {name} of years beyond 1 to 9999")
    made = f"timezone('UTC', make_timestamp({count} * {1_000_000 // per_second}))"
    return (
        f"(CASE WHEN {count} IS NULL THEN NULL WHEN {count} BETWEEN {first} AND {last} "
        f"THEN {made} ELSE {message} END)"
    )


def _counted(name: str, size: int) -> Translate:
    """Return what counts whole units since 1970, rounded down."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, one_of(kinds.TIMESTAMP))
        micros = f"epoch_us({values[0].text})"
        rest = f"({micros} % {size})"
        down = f"(CASE WHEN {rest} < 0 THEN {rest} + {size} ELSE {rest} END)"
        text = micros if size == 1 else f"(({micros} - {down}) // {size})"
        return Value(text, kinds.BIGINT, named(name, values))

    return translate


def _of_days(values: Sequence[Value]) -> Value:
    expect(values, one_of(*kinds.WHOLE[:3]))
    count = cast(values[0], kinds.INT).text
    message = fails(f"{NOT_PROVEN}: date_from_unix_date() of years beyond 1 to 9999")
    text = (
        f"(CASE WHEN {count} IS NULL THEN NULL WHEN {count} BETWEEN {_FIRST_DAY} AND {_LAST_DAY} "
        f"THEN DATE '1970-01-01' + {count} ELSE {message} END)"
    )
    return Value(text, kinds.DATE, named("date_from_unix_date", values))


def _made(name: str, kind: Kind, *, is_tried: bool) -> Translate:
    """Return what makes a time of its parts; parts that are no time are an error, or give NULL."""

    def translate(values: Sequence[Value]) -> Value:
        is_second = [lambda kind: kinds.is_whole(kind) or kinds.is_decimal(kind)]
        expect(values, *[one_of(*kinds.WHOLE[:3])] * 5, *is_second)
        if kinds.is_decimal(values[5].kind) and kinds.shape(values[5].kind)[1] > 6:
            raise WrongUseError
        year, month, day, hour, minute = (cast(one, kinds.BIGINT).text for one in values[:5])
        second = values[5].text
        message = fails(f"{NOT_PROVEN}: {name}() of such parts")
        wrong = "NULL" if is_tried else message
        fits = (
            f"{month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND 31 AND {hour} BETWEEN 0 AND 23 "
            f"AND {minute} BETWEEN 0 AND 59 AND {second} >= 0 AND {second} < 60"
        )
        last = f"day(last_day(make_date({year}, {month}, 1)))"
        micros = f"CAST(trunc({second} * 1000000) AS BIGINT)"
        made = (
            f"make_timestamp({year}, {month}, {day}, {hour}, {minute}, 0::DOUBLE) "
            f"+ to_microseconds({micros})"
        )
        if kind == kinds.TIMESTAMP:
            made = clocks.instant(f"({made})")
        known = " OR ".join(f"{one.text} IS NULL" for one in values)
        text = (
            f"(CASE WHEN {known} THEN NULL WHEN {year} < 1 OR {year} > 9999 OR {second} = 60 "
            f"THEN {message} WHEN {fits} THEN (CASE WHEN {day} > {last} THEN {wrong} "
            f"ELSE {made} END) ELSE {wrong} END)"
        )
        return Value(text, kind, named(name, values))

    return translate


def _by_pattern(name: str, kind: Kind, *, is_tried: bool) -> Translate:
    """Return what reads a time; a text that is none is an error, or gives NULL."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, *[is_text] * (len(values) - 1))
        sql = values[0].text
        if len(values) == 1:
            fits = _DAY if kind == kinds.DATE else _PLAIN
            read = f"TRY_CAST({sql} AS TIMESTAMP)"
        else:
            fits, read = _read_by(values, sql)
        found = f"CAST({read} AS DATE)" if kind == kinds.DATE else read
        if kind == kinds.TIMESTAMP:
            found = clocks.instant(read)
        message = fails(f"{NOT_PROVEN}: {name}() of such a text")
        wrong = "NULL" if is_tried else message
        # A text without digits is no time; which others may be one is not proven.
        none = f"WHEN NOT regexp_matches({sql}, '[0-9]') THEN NULL " if is_tried else ""
        if len(values) == 1:
            none = ""
        text = (
            f"(CASE WHEN {sql} IS NULL THEN NULL WHEN regexp_matches({sql}, '{fits}') THEN "
            f"(CASE WHEN {read} IS NULL THEN {wrong} ELSE {found} END) {none}ELSE {message} END)"
        )
        return Value(text, kind, named(name, values))

    return translate


def _read_by(values: Sequence[Value], sql: str) -> tuple[str, str]:
    """Return which texts fit a pattern, and what reads them; NULL if they are no time."""
    constant(values[1], str)
    pattern = str(values[1].literal)
    pieces = _PATTERN.findall(pattern)
    letters = [_SHORT.get(piece, piece) for piece in pieces if piece in _PIECES]
    if "".join(pieces) != pattern or len(set(letters)) < len(letters):
        raise WrongUseError
    if any(piece not in letters for piece in _NEEDED):
        raise WrongUseError
    if ("mm" in letters and "HH" not in letters) or ("ss" in letters and "mm" not in letters):
        raise WrongUseError
    plain = [piece.strip("'") for piece in pieces]
    read = "".join(_PIECES[one][0] if one in _PIECES else one for one in plain)
    fits = "".join(_PIECES[one][1] if one in _PIECES else f"[{one}]" for one in plain)
    return f"^{fits}$", f"try_strptime({sql}, {quoted(read)})"


@cache
def _regions() -> frozenset[str]:
    """Return the names of zones that are those of places, which are alike everywhere."""
    return frozenset(one for one in zoneinfo.available_timezones() if "/" in one)


_TIMES = (kinds.DATE, kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP)


def _zone(value: Value) -> str:
    constant(value, str)
    name = str(value.literal)
    if name != "UTC" and (name not in _regions() or name.startswith(("Etc/", "SystemV/"))):
        raise WrongUseError
    return name


def _from_utc(values: Sequence[Value]) -> Value:
    expect(values, one_of(*_TIMES), is_text)
    at = clocks.as_instant(values[0]).text
    text = f"timezone('UTC', timezone({quoted(_zone(values[1]))}, {at}))"
    return Value(text, kinds.TIMESTAMP, named("from_utc_timestamp", values))


def _to_utc(values: Sequence[Value]) -> Value:
    expect(values, one_of(*_TIMES), is_text)
    clock = f"timezone('UTC', {clocks.as_instant(values[0]).text})"
    text = clocks.instant(clock, _zone(values[1]))
    return Value(text, kinds.TIMESTAMP, named("to_utc_timestamp", values))


def _converted(values: Sequence[Value]) -> Value:
    """``convert_timezone``: what a clock elsewhere shows when the one here shows a time."""
    if len(values) == 2:
        values = [Value(quoted(clocks.zone()), kinds.STRING, "current_timezone()"), *values]
        source = clocks.zone()
    else:
        source = _zone(values[0]) if values else ""
    expect(values, is_text, is_text, one_of(kinds.TIMESTAMP_NTZ, kinds.STRING))
    time = read_text(values[2], kinds.TIMESTAMP_NTZ) or values[2]
    if time.kind != kinds.TIMESTAMP_NTZ:
        raise WrongUseError
    text = f"timezone({quoted(_zone(values[1]))}, {clocks.instant(time.text, source)})"
    return Value(text, kinds.TIMESTAMP_NTZ, named("convert_timezone", values))


def _local_now(values: Sequence[Value]) -> Value:
    expect(values)
    now = datetime.now().astimezone().replace(tzinfo=None)
    return literal(now, kinds.TIMESTAMP_NTZ, "localtimestamp()")


def _zone_here(values: Sequence[Value]) -> Value:
    expect(values)
    return Value(quoted(clocks.zone()), kinds.STRING, "current_timezone()")


MOMENTS: dict[str, Translate] = {
    "timestamp_seconds": _of_number("timestamp_seconds", 1),
    "timestamp_millis": _of_number("timestamp_millis", 1_000),
    "timestamp_micros": _of_number("timestamp_micros", 1_000_000),
    "unix_seconds": _counted("unix_seconds", 1_000_000),
    "unix_millis": _counted("unix_millis", 1_000),
    "unix_micros": _counted("unix_micros", 1),
    "date_from_unix_date": _of_days,
    "make_timestamp": _made("make_timestamp", kinds.TIMESTAMP, is_tried=False),
    "make_timestamp_ntz": _made("make_timestamp_ntz", kinds.TIMESTAMP_NTZ, is_tried=False),
    "make_timestamp_ltz": _made("make_timestamp_ltz", kinds.TIMESTAMP, is_tried=False),
    "try_make_timestamp": _made("try_make_timestamp", kinds.TIMESTAMP, is_tried=True),
    "try_make_timestamp_ntz": _made("try_make_timestamp_ntz", kinds.TIMESTAMP_NTZ, is_tried=True),
    "try_make_timestamp_ltz": _made("try_make_timestamp_ltz", kinds.TIMESTAMP, is_tried=True),
    "to_timestamp_ntz": _by_pattern("to_timestamp_ntz", kinds.TIMESTAMP_NTZ, is_tried=False),
    "to_timestamp_ltz": _by_pattern("to_timestamp_ltz", kinds.TIMESTAMP, is_tried=False),
    "try_to_timestamp": _by_pattern("try_to_timestamp", kinds.TIMESTAMP, is_tried=True),
    "try_to_date": _by_pattern("try_to_date", kinds.DATE, is_tried=True),
    "from_utc_timestamp": _from_utc,
    "to_utc_timestamp": _to_utc,
    "convert_timezone": _converted,
    "localtimestamp": _local_now,
    "current_timezone": _zone_here,
}
"""By name in small letters."""
read_time = _by_pattern("to_timestamp", kinds.TIMESTAMP, is_tried=False)
"""``to_timestamp`` of a text and a pattern."""
