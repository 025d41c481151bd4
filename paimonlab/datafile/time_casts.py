"""Casts between dates, times, timestamps, their texts and epoch seconds.

Source: apache/paimon@1.3.1 ``org.apache.paimon.casting``, ``…utils.DateTimeUtils``; every rule
is checked against recorded results of it.

Where a zone is needed (TIMESTAMP_LTZ against anything local) Java takes that of its JVM. Here
the answer must not depend on the machine: only UTC is supported (`needs_zone`).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.datafile.per_value import per_value
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, TypeRoot
from paimonlab.spec.types.text import format_type

_DAY_MILLIS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_UNITS = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_DATE_TEXT = re.compile(r"\s*(\d{1,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\s*( .*)?")
_TIME_TEXT = re.compile(r"\s*(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?\s*")
_STAMP_TEXT = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?"
)

_LOCAL = frozenset({TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, *TEXT_ROOTS})


def needs_zone(source: AtomicType, target: AtomicType) -> bool:
    """Whether Java's result depends on the zone of its JVM."""
    roots = (source.root, target.root)
    if roots.count(TypeRoot.TIMESTAMP_LTZ) != 1:
        return False
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        return source.root is not TypeRoot.TIME
    return target.root in _LOCAL


def timestamp_to_timestamp(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Cut fraction digits off or change the unit.

    Below three digits Java cuts the milliseconds toward zero, else it cuts down.
    """
    unit = to_arrow(target).unit
    precision = target.precision or 0
    if precision < (source.precision or 0):
        array = _cut(array, precision)
    return _with_unit(array, unit, target).cast(to_arrow(target))


def date_to_timestamp(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Take midnight."""
    return _cast(array, to_arrow(target), target)


def time_to_timestamp(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Take that time on 1970-01-01."""
    millis = array.cast(pa.int32()).cast(pa.int64())
    return millis.cast(pa.timestamp("ms")).cast(to_arrow(target))


def timestamp_to_date(array: pa.Array, source: AtomicType, _target: AtomicType) -> pa.Array:
    """Take the day.

    Java divides a TIMESTAMP toward zero, so that the day before 1970 becomes 1970-01-01; a
    TIMESTAMP_LTZ it cuts down.
    """
    divide = _divided if source.root is TypeRoot.TIMESTAMP else np.floor_divide
    days = divide(_millis(array), _DAY_MILLIS).astype(np.int32)
    return arrow_array(days, pa.int32(), mask=_is_null(array)).cast(pa.date32())


def timestamp_to_time(array: pa.Array, source: AtomicType, target: AtomicType) -> pa.Array:
    """Take the time of day.

    Raises
    ------
    ValueError
        For a TIMESTAMP before 1970: Java makes a negative time of it, which nothing can show.
    """
    remainder = np.fmod if source.root is TypeRoot.TIMESTAMP else np.mod
    millis = remainder(_millis(array), _DAY_MILLIS)
    if (millis < 0).any():
        raise ValueError(f"cannot read a timestamp before 1970 as {format_type(target)}")
    return arrow_array(millis.astype(np.int32), pa.int32(), mask=_is_null(array)).cast(
        to_arrow(target)
    )


def timestamp_to_integer(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Count epoch seconds, divided toward zero; INT wraps."""
    seconds = arrow_array(_divided(_millis(array), 1_000), mask=_is_null(array))
    return seconds.cast(to_arrow(target), safe=False)


def integer_to_timestamp(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Take epoch seconds."""
    filled = numpy_values(null_filled(array.cast(pa.int64()), 0))
    with np.errstate(over="ignore"):
        millis = arrow_array(filled * np.int64(1_000), mask=_is_null(array))
    return _cast(millis.cast(pa.timestamp("ms")), to_arrow(target), target)


def timestamp_to_text(array: pa.Array, source: AtomicType, _target: AtomicType) -> pa.Array:
    """Spell as ``yyyy-MM-dd HH:mm:ss`` and as many fraction digits as the type has."""
    local = array.cast(pa.timestamp(array.type.unit))
    text = local.cast(pa.string())
    precision = source.precision or 0
    surplus = {"ms": 3, "us": 6, "ns": 9}[array.type.unit] - precision
    if precision == 0:
        surplus += 1  # the point
    return pc.utf8_slice_codeunits(text, 0, -surplus) if surplus else text


def date_to_text(array: pa.Array, _source: AtomicType, _target: AtomicType) -> pa.Array:
    """Spell as ``yyyy-MM-dd``."""
    return array.cast(pa.string())


def time_to_text(array: pa.Array, source: AtomicType, _target: AtomicType) -> pa.Array:
    """Spell as ``HH:mm:ss``; with a precision at least one fraction digit, no trailing zeros."""
    text = array.cast(pa.string())
    precision = min(source.precision or 0, 3)
    if precision == 0:
        return pc.utf8_slice_codeunits(text, 0, 8)
    text = pc.utf8_slice_codeunits(text, 0, 9 + precision)
    return pc.replace_substring_regex(text, r"(\.\d+?)0+$", r"\1")


def text_to_date(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read ``yyyy[-M[-d]]``, whatever follows a blank ignored, or a number of epoch days."""

    def read(text: str) -> int:
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        match = _DATE_TEXT.fullmatch(text)
        if match is None:
            raise _unreadable(text, target)
        year, month, day = (int(part or 1) for part in match.groups()[:3])
        return _day(text, target, year, month, day)

    return _checked(lambda: per_value(array, read, pa.int32()), target).cast(pa.date32())


def text_to_time(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read ``H[:m[:s[.f]]]``, or a number of milliseconds."""

    def read(text: str) -> int:
        if re.fullmatch(r"\d+", text):
            return int(text)
        match = _TIME_TEXT.fullmatch(text)
        if match is None:
            raise _unreadable(text, target)
        hour, minute, second = (int(part or 0) for part in match.groups()[:3])
        if hour > 23 or minute > 59 or second > 59:
            raise _unreadable(text, target)
        fraction = int(((match[4] or "") + "000")[:3])
        return ((hour * 60 + minute) * 60 + second) * 1_000 + fraction

    millis = _checked(lambda: per_value(array, read, pa.int32()), target)
    return millis.cast(to_arrow(target))


def text_to_timestamp(array: pa.Array, _source: AtomicType, target: AtomicType) -> pa.Array:
    """Read ``yyyy-M-d[ H:m:s[.f]]``, or an epoch number in the unit of precision 0, 3, 6, 9.

    A day that the month does not have is its last one, hour 24 is the next midnight; both as
    Java does.
    """
    precision = target.precision or 0
    per_second = _UNITS[to_arrow(target).unit]
    is_number_read = target.root is TypeRoot.TIMESTAMP and precision % 3 == 0

    def read(text: str) -> int:
        if is_number_read and re.fullmatch(r"-?\d+", text):
            return int(text) * (per_second if precision == 0 else 1)
        match = _STAMP_TEXT.fullmatch(text)
        if match is None:
            raise _unreadable(text, target)
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
        if hour > 24 or minute > 59 or second > 59 or (hour == 24 and minute + second > 0):
            raise _unreadable(text, target)
        day = min(day, calendar.monthrange(year, month)[1]) if 1 <= month <= 12 else day
        days = _day(text, target, year, month, day)
        seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        digits = (match[7] or "")[:precision].ljust(9, "0")
        return seconds * per_second + int(digits) * per_second // 1_000_000_000

    numbers = _checked(lambda: per_value(array, read, pa.int64()), target)
    return numbers.cast(to_arrow(target))


def _day(text: str, target: AtomicType, year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).toordinal() - _EPOCH
    except ValueError as error:
        raise _unreadable(text, target) from error


def _cut(array: pa.Array, precision: int) -> pa.Array:
    """Set fraction digits beyond ``precision`` to zero."""
    if precision < 3:
        step = 10 ** (3 - precision)
        millis = _divided(_millis(array), step) * step
        return arrow_array(millis, mask=_is_null(array)).cast(pa.timestamp("ms"))
    step = _UNITS[array.type.unit] // 10**precision
    if step <= 1:
        return array
    values = _epoch(array)
    # Java looks at the digits of the nanosecond as a number: 1 nanosecond is one digit.
    is_short = values % _UNITS["ns"] < 10**precision if array.type.unit == "ns" else False
    cut = np.where(is_short, values, values - values % step)
    return arrow_array(cut, mask=_is_null(array)).cast(pa.timestamp(array.type.unit))


def _with_unit(array: pa.Array, unit: str, target: AtomicType) -> pa.Array:
    """Change the unit of a timestamp; finer digits are cut down."""
    local = array.cast(pa.timestamp(array.type.unit))
    if _UNITS[unit] < _UNITS[local.type.unit]:
        values = _epoch(local) // (_UNITS[local.type.unit] // _UNITS[unit])
        return arrow_array(values, mask=_is_null(array)).cast(pa.timestamp(unit))
    return _cast(local, pa.timestamp(unit), target)


def _epoch(array: pa.Array) -> npt.NDArray[np.int64]:
    """Return the stored numbers of timestamps, 0 at nulls."""
    numbers: npt.NDArray[np.int64] = numpy_values(null_filled(array.cast(pa.int64()), 0))
    return numbers


def _millis(array: pa.Array) -> npt.NDArray[np.int64]:
    """Return epoch milliseconds, cut down, 0 at nulls."""
    return _epoch(array) // (_UNITS[array.type.unit] // 1_000)


def _divided(numbers: npt.NDArray[np.int64], divisor: int) -> npt.NDArray[np.int64]:
    """Divide toward zero."""
    return (numbers - np.fmod(numbers, divisor)) // divisor


def _is_null(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    return numpy_values(array.is_null(), zero_copy_only=False) if array.null_count else None


def _cast(array: pa.Array, arrow_type: pa.DataType, target: AtomicType) -> pa.Array:
    return _checked(lambda: array.cast(arrow_type), target)


def _checked(make: Callable[[], pa.Array], target: AtomicType) -> pa.Array:
    """Run a cast whose result may be out of the type's range."""
    try:
        return make()
    except (pa.ArrowInvalid, OverflowError) as error:
        raise ValueError(f"out of the range of {format_type(target)}: {error}") from error


def _unreadable(text: str, target: AtomicType) -> ValueError:
    return ValueError(f"cannot read {text!r} as {format_type(target)}")
