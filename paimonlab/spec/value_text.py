"""Values as the texts Java makes of them: in paths of partitions, in system tables.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.InternalRowPartitionComputer``, the
cast rules to STRING it uses, and ``toString`` of the Java types.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.spec.java_text import decode_utf8
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot

_DAY_SECONDS = 86_400
_UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def internal_texts(values: pa.Array, data_type: DataType) -> list[str | None]:
    """Return what ``toString`` prints of Paimon's internal values.

    Dates are days, times milliseconds, timestamps ``2024-01-02T00:00``, those with local
    time zone in UTC.

    Parameters
    ----------
    values : (n,)
        Values of the Arrow type of ``data_type``.
    data_type
        An atomic type.

    Returns
    -------
    (n,) list of str or None
        None for null.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> internal_texts(pa.array([1.0, 1e10, None]), parse_type("DOUBLE"))
    ['1.0', '1.0E10', None]
    """
    return _texts(values, data_type, _INTERNAL)


def display_texts(values: pa.Array, data_type: DataType) -> list[str | None]:
    """Return values cast to STRING: dates as ``2024-01-02``, timestamps with a space.

    Timestamps with local time zone are shown in the process's zone. Parameters and result
    are those of `internal_texts`.
    """
    return _texts(values, data_type, _DISPLAY)


Formatter = Callable[[Any, AtomicType, str], str]
"""From a stored value, its type and the Arrow unit of a timestamp."""


def _texts(
    values: pa.Array, data_type: DataType, formatters: dict[TypeRoot, Formatter]
) -> list[str | None]:
    if not isinstance(data_type, AtomicType):
        raise TypeError(f"{data_type!r} has no text")
    formatter = formatters.get(data_type.root, _plain)
    unit = getattr(values.type, "unit", "")
    stored = _stored(values, data_type)
    return [None if value is None else formatter(value, data_type, unit) for value in stored]


def _stored(values: pa.Array, data_type: AtomicType) -> list[Any]:
    """Python values; dates, times and timestamps as the integers Arrow stores."""
    match data_type.root:
        case TypeRoot.DATE | TypeRoot.TIME:
            return values.cast(pa.int32()).to_pylist()
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return values.cast(pa.int64()).to_pylist()
    return values.to_pylist()


def _plain(value: object, _type: AtomicType, _unit: str) -> str:
    return str(value)


def _boolean(value: bool, _type: AtomicType, _unit: str) -> str:  # noqa: FBT001
    return "true" if value else "false"


def _decimal(value: Decimal, _type: AtomicType, _unit: str) -> str:
    return format(value, "f")


def _binary(value: bytes, _type: AtomicType, _unit: str) -> str:
    return decode_utf8(value)


def _float(value: float, _type: AtomicType, _unit: str) -> str:
    return java_float_text(np.float32(value))


def _double(value: float, _type: AtomicType, _unit: str) -> str:
    return java_float_text(np.float64(value))


def java_float_text(value: np.floating[Any]) -> str:
    """Print a float (numpy.float32) or double (numpy.float64) as Java's ``toString`` does.

    The shortest digits that name the value; from 10**7 on and below 10**-3 with an exponent.

    Examples
    --------
    >>> [java_float_text(np.float64(value)) for value in (0.1, 100, 1e7, 1.5e-5, -0.0)]
    ['0.1', '100.0', '1.0E7', '1.5E-5', '-0.0']
    """
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(value, unique=True, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"


# Dates and times.


def _day(value: int, _type: AtomicType, _unit: str) -> str:
    return _calendar_day(value)


def _calendar_day(days: int) -> str:
    return str(np.datetime64(days, "D"))


def _clock(value: int, data_type: AtomicType, _unit: str) -> str:
    seconds, millis = divmod(value, 1000)
    if not data_type.precision:
        return _clock_text(seconds)
    digits = f"{millis:03}"[: data_type.precision].rstrip("0") or "0"
    return f"{_clock_text(seconds)}.{digits}"


def _clock_text(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}"


def _split(value: int, unit: str) -> tuple[int, int]:
    """Whole seconds since the epoch and nanoseconds within the second."""
    seconds, rest = divmod(value, _UNITS_PER_SECOND[unit])
    return seconds, rest * (10**9 // _UNITS_PER_SECOND[unit])


def _local_date_time(value: int, _type: AtomicType, unit: str) -> str:
    """Java's ``LocalDateTime.toString``: seconds and fraction only where they are not zero."""
    seconds, nanos = _split(value, unit)
    days, second_of_day = divmod(seconds, _DAY_SECONDS)
    day, clock = _calendar_day(days), _clock_text(second_of_day)
    if len(day) > 10 and not day.startswith("-"):
        day = "+" + day
    if nanos == 0:
        return f"{day}T{clock[:5] if clock.endswith(':00') else clock}"
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{day}T{clock}.{digits}"


def _timestamp(value: int, data_type: AtomicType, unit: str) -> str:
    seconds, nanos = _split(value, unit)
    days, second_of_day = divmod(seconds, _DAY_SECONDS)
    digits, precision = f"{nanos:09}", data_type.precision or 0
    digits = digits[:precision] + digits[precision:].rstrip("0")
    fraction = f".{digits}" if digits else ""
    return f"{_calendar_day(days)} {_clock_text(second_of_day)}{fraction}"


def _local_zone_timestamp(value: int, data_type: AtomicType, unit: str) -> str:
    seconds, _ = _split(value, unit)
    local = (_EPOCH + dt.timedelta(seconds=seconds)).astimezone()
    offset = local.utcoffset() or dt.timedelta()
    shift = int(offset.total_seconds()) * _UNITS_PER_SECOND[unit]
    return _timestamp(value + shift, data_type, unit)


_EITHER: dict[TypeRoot, Formatter] = {
    TypeRoot.BOOLEAN: _boolean,
    TypeRoot.DECIMAL: _decimal,
    TypeRoot.FLOAT: _float,
    TypeRoot.DOUBLE: _double,
    TypeRoot.BINARY: _binary,
    TypeRoot.VARBINARY: _binary,
}
_INTERNAL: dict[TypeRoot, Formatter] = {
    **_EITHER,
    TypeRoot.TIMESTAMP: _local_date_time,
    TypeRoot.TIMESTAMP_LTZ: _local_date_time,
}
_DISPLAY: dict[TypeRoot, Formatter] = {
    **_EITHER,
    TypeRoot.DATE: _day,
    TypeRoot.TIME: _clock,
    TypeRoot.TIMESTAMP: _timestamp,
    TypeRoot.TIMESTAMP_LTZ: _local_zone_timestamp,
}
