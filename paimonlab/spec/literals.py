"""Constants of users as values of a column.

A constant that a column can never hold (1.5 in an INT column, the 40th digit of a decimal)
still has a place among the values it can hold; `place` finds it, so that comparisons stay
exact whatever is compared.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from paimonlab.errors import SchemaError
from paimonlab.spec.types.arrow import timestamp_unit
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot, with_nullable
from paimonlab.spec.types.text import format_type


class Exactly(Struct, frozen=True):
    """The column can hold the constant, as this value."""

    value: Any


class Between(Struct, frozen=True):
    """The constant lies between two neighbouring values of the column."""

    below: Any
    """The largest value the column can hold below the constant; None if there is none."""
    above: Any
    """The smallest value the column can hold above the constant; None if there is none."""


Place: TypeAlias = Exactly | Between


class Moment(Struct, frozen=True):
    """A point on a calendar with a clock, or, with a zone, in time."""

    nanos: int
    """Since 1970-01-01T00:00, on the wall clock or in UTC."""
    is_instant: bool
    """Whether a zone was given, so that ``nanos`` count in UTC."""


_DAY_NANOS = 86_400 * 10**9
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock
_UNIT_NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_INTEGER_BITS = {
    TypeRoot.TINYINT: 8,
    TypeRoot.SMALLINT: 16,
    TypeRoot.INT: 32,
    TypeRoot.BIGINT: 64,
}
_MOST_DIGITS = 1000
_EXACT = Context(prec=2 * _MOST_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_FLOOR)
# Patterns that few processes need are compiled, and kept, by what uses them.
_MOMENT = (
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?\s*(\S+)?)?"
)
_TIME = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?"
_OFFSET = r"([+-])(\d{1,2})(?::?(\d{2}))?"


def place(value: object, data_type: DataType, *, zone: dt.tzinfo | None = None) -> Place:
    """Find a constant among the values that a column can hold.

    Parameters
    ----------
    value
        int, float, Decimal, str, bytes, bool, date, time, datetime, a NumPy scalar, or a
        `Moment`. Text stands for any type, as in SQL: ``'2024-01-31'`` for a DATE.
    data_type
        Type of the column.
    zone
        The zone of wall clocks compared with TIMESTAMP_LTZ; None: the process's own.

    Returns
    -------
    Exactly | Between
        In the physical form of `paimonlab.spec.predicates.predicate.Literal`.

    Raises
    ------
    SchemaError
        If the two cannot be compared.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> place(1.5, parse_type("TINYINT")), place(300, parse_type("TINYINT"))
    (Between(below=1, above=2), Between(below=127, above=None))
    >>> place("2024-02-29", parse_type("DATE"))
    Exactly(value=19782)
    """
    if isinstance(value, np.generic):
        value = _from_numpy(value)
    if not isinstance(data_type, AtomicType) or data_type.root not in _PLACERS:
        raise SchemaError(f"{format_type(data_type)} cannot be compared with a constant")
    try:
        placed = _PLACERS[data_type.root](value, data_type, zone)
    except (ValueError, TypeError, OverflowError, InvalidOperation):
        placed = None
    if placed is None:
        wanted = format_type(with_nullable(data_type, nullable=True))
        written = _WRITTEN.get(data_type.root, "")
        advice = f": write {written}" if written else ""
        if data_type.root in (TypeRoot.VARCHAR, TypeRoot.CHAR) and isinstance(value, int | float):
            advice = f": write '{value}'"
        raise SchemaError(f"{value!r} cannot be compared with {wanted}{advice}")
    return placed


_WRITTEN = {
    TypeRoot.DATE: "dates as '2026-01-31'",
    TypeRoot.TIMESTAMP: "times as '2026-01-31 12:00:00'",
    TypeRoot.TIMESTAMP_LTZ: "times as '2026-01-31 12:00:00'",
    TypeRoot.BOOLEAN: "true or false",
    **dict.fromkeys(
        (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT, TypeRoot.DOUBLE),
        "a number",
    ),
}
"""What is compared with columns of a type."""


def _from_numpy(value: np.generic) -> object:
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        return Moment(int(value.astype("datetime64[ns]").astype(np.int64)), is_instant=False)
    return value.item()


def _boolean(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().lower())
    return Exactly(value) if isinstance(value, bool) else None


def _text(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    return Exactly(value) if isinstance(value, str) else None


def _binary(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    return Exactly(bytes(value)) if isinstance(value, bytes | bytearray | memoryview) else None


# Numbers.


def _integer(value: object, data_type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    number = _number(value, exact_float=True)
    if number is None:
        return None
    bits = _INTEGER_BITS[data_type.root]
    return _on_grid(number, 1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, int)


def _decimal(value: object, data_type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    number = _number(value, exact_float=False)
    if number is None:
        return None
    assert data_type.precision is not None
    assert data_type.scale is not None
    scale, most = data_type.scale, 10**data_type.precision - 1
    # Not Decimal.scaleb: the default context would round 38 digits to 28.
    return _on_grid(
        number, 10**scale, -most, most, lambda unscaled: _unscaled_decimal(unscaled, scale)
    )


def _unscaled_decimal(unscaled: int, scale: int) -> Decimal:
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((unscaled < 0, digits, -scale))


def _number(value: object, *, exact_float: bool) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _readable(Decimal(value.strip()))
    if isinstance(value, float):
        # As text a double is the decimal it was written as: 0.1 means 0.1.
        return Decimal(value) if exact_float or not math.isfinite(value) else Decimal(repr(value))
    return _readable(Decimal(value)) if isinstance(value, int | Decimal) else None


def _readable(number: Decimal) -> Decimal:
    if len(number.as_tuple().digits) > _MOST_DIGITS:
        raise ValueError(f"a number with more than {_MOST_DIGITS} digits")
    return number


def _on_grid(
    number: Decimal, units: int, low: int, high: int, hold: Callable[[int], object]
) -> Place | None:
    """Place a number among the multiples of 1/units from low to high (both in units)."""
    if number.is_nan():
        return Between(hold(high), None)  # NaN is above all numbers
    if number.is_infinite() or number.adjusted() > 100:
        return Between(None, hold(low)) if number < 0 else Between(hold(high), None)
    if number.adjusted() < -100 and number != 0:
        return Between(hold(-1), hold(0)) if number < 0 else Between(hold(0), hold(1))
    scaled = _EXACT.multiply(number, units)
    floor = int(scaled.to_integral_value(ROUND_FLOOR, _EXACT))
    if floor == scaled and low <= floor <= high:
        return Exactly(hold(floor))
    return _neighbours(floor, is_grid_point=floor == scaled, low=low, high=high, hold=hold)


def _neighbours(
    floor: int, *, is_grid_point: bool, low: int, high: int, hold: Callable[[int], object]
) -> Between:
    below, above = (floor - 1 if is_grid_point else floor), floor + 1
    return Between(
        hold(min(below, high)) if below >= low else None,
        hold(max(above, low)) if above <= high else None,
    )


def _double(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    number = _to_double(value)
    return None if number is None else Exactly(number)


def _to_double(value: object) -> float | None:
    """Round to a double, as SQL does before it compares; -0.0 is 0.0."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        return float(value) + 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def _float(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    number = _to_double(value)
    if number is None:
        return None
    with np.errstate(over="ignore", under="ignore"):
        single = np.float32(number)
        if float(single) == number or math.isnan(number):
            return Exactly(float(single))
        up, down = np.float32(math.inf), np.float32(-math.inf)
        below = single if float(single) < number else np.nextafter(single, down)
        above = single if float(single) > number else np.nextafter(single, up)
    return Between(float(below) + 0.0, float(above) + 0.0)


# Dates and times.


def _date(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    moment = _moment(value)
    if moment is None or moment.is_instant:
        return None
    return _on_grid_nanos(moment.nanos, _DAY_NANOS, bits=32)


def _time(value: object, _type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    if isinstance(value, str):
        match = re.fullmatch(_TIME, value.strip())
        nanos = None if match is None else _clock_nanos(*match.groups())
    elif isinstance(value, dt.time) and value.tzinfo is None:
        nanos = _clock_nanos(value.hour, value.minute, value.second, f"{value.microsecond:06}")
    else:
        nanos = None
    return None if nanos is None else _on_grid_nanos(nanos, 10**6, bits=32)


def _timestamp(value: object, data_type: AtomicType, _zone: dt.tzinfo | None) -> Place | None:
    moment = _moment(value)
    if moment is None or moment.is_instant:
        return None
    return _on_grid_nanos(moment.nanos, _UNIT_NANOS[timestamp_unit(data_type)], bits=64)


def _instant(value: object, data_type: AtomicType, zone: dt.tzinfo | None) -> Place | None:
    moment = _moment(value)
    if moment is None:
        return None
    nanos = moment.nanos if moment.is_instant else _utc_nanos(moment.nanos, zone)
    return _on_grid_nanos(nanos, _UNIT_NANOS[timestamp_unit(data_type)], bits=64)


def _on_grid_nanos(nanos: int, unit_nanos: int, *, bits: int) -> Place:
    floor, rest = divmod(nanos, unit_nanos)
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if rest == 0 and low <= floor <= high:
        return Exactly(floor)
    return _neighbours(floor, is_grid_point=rest == 0, low=low, high=high, hold=int)


def _moment(value: object) -> Moment | None:
    if isinstance(value, Moment):
        return value
    if isinstance(value, str):
        return parse_moment(value)
    if isinstance(value, dt.datetime):
        # pandas has nanoseconds beyond those of datetime.
        return _moment_of(value, value.microsecond * 1000 + getattr(value, "nanosecond", 0))
    if isinstance(value, dt.date):
        return Moment((value - _EPOCH.date()).days * _DAY_NANOS, is_instant=False)
    return None


def _moment_of(value: dt.datetime, sub_second_nanos: int) -> Moment:
    offset = value.utcoffset()
    wall = dt.datetime.combine(value.date(), dt.time(value.hour, value.minute, value.second))
    since = wall - _EPOCH - (offset or dt.timedelta())
    nanos = (since // dt.timedelta(microseconds=1)) * 1000 + sub_second_nanos
    return Moment(nanos, is_instant=offset is not None)


def parse_moment(text: str) -> Moment | None:
    """Read ``yyyy-mm-dd[ hh:mm[:ss[.fraction]][zone]]``; None if the text is not a time.

    Examples
    --------
    >>> parse_moment("1970-01-02 00:00:00.5 +01:00")
    Moment(nanos=82800500000000, is_instant=True)
    """
    match = re.fullmatch(_MOMENT, text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        wall = dt.datetime(  # noqa: DTZ001 - a wall clock
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0)
        )
        tzinfo = None if zone is None else _zone(zone)
    except (ValueError, KeyError):  # no such moment, no such zone
        return None
    return _moment_of(wall.replace(tzinfo=tzinfo), int((fraction or "0").ljust(9, "0")))


def _zone(text: str) -> dt.tzinfo:
    if text in ("Z", "UTC", "GMT"):
        return dt.UTC
    match = re.fullmatch(_OFFSET, text)
    if match is None:
        from zoneinfo import ZoneInfo  # noqa: PLC0415 - for start-up time

        return ZoneInfo(text)
    sign, hours, minutes = match.groups()
    offset = dt.timedelta(hours=int(hours), minutes=int(minutes or 0))
    return dt.timezone(offset if sign == "+" else -offset)


def _utc_nanos(wall_nanos: int, zone: dt.tzinfo | None) -> int:
    seconds, rest = divmod(wall_nanos, 10**9)
    wall = _EPOCH + dt.timedelta(seconds=seconds)
    aware = wall.astimezone() if zone is None else wall.replace(tzinfo=zone)
    return _moment_of(aware, 0).nanos + rest


def _clock_nanos(
    hour: str | int, minute: str | int, second: str | int | None, fraction: str | None
) -> int | None:
    clock = (int(hour), int(minute), int(second or 0))
    if clock > (23, 59, 59) or clock[1] > 59 or clock[2] > 59:
        return None
    seconds = clock[0] * 3600 + clock[1] * 60 + clock[2]
    return seconds * 10**9 + int((fraction or "0").ljust(9, "0"))


_PLACERS: dict[TypeRoot, Callable[[object, AtomicType, dt.tzinfo | None], Place | None]] = {
    TypeRoot.BOOLEAN: _boolean,
    **dict.fromkeys(_INTEGER_BITS, _integer),
    TypeRoot.DECIMAL: _decimal,
    TypeRoot.FLOAT: _float,
    TypeRoot.DOUBLE: _double,
    TypeRoot.CHAR: _text,
    TypeRoot.VARCHAR: _text,
    TypeRoot.BINARY: _binary,
    TypeRoot.VARBINARY: _binary,
    TypeRoot.DATE: _date,
    TypeRoot.TIME: _time,
    TypeRoot.TIMESTAMP: _timestamp,
    TypeRoot.TIMESTAMP_LTZ: _instant,
}
