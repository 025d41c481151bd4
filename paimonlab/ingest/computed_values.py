"""What the functions of computed columns do with whole arrays.

Null stays null. A value for which a function has no result is marked instead of raised, so that
who computes can say which row it is. Nothing here looks at a clock or a zone.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.action.cdc.Expression``, and
``…utils.DateTimeUtils`` for texts of dates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values
from paimonlab.datafile.per_value import per_value
from paimonlab.ingest.date_patterns import Number, Pieces

Mask: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = "tuple[pa.Array, Mask | None]"
"""Results of shape (n,), and which rows have none because their value is wrong; None: no row."""

_DAY_SECONDS = 86_400
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""Seconds of the years 1 to 9999."""
_NANOS = 1_000_000_000
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": _NANOS}
_TIME_TEXT = (
    r"^(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?: (?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?$"
)
_INTEGER_TEXT = r"^\+?(?P<sign>-?)(?P<digits>\d{1,19})$"
_LARGEST = str(2**63 - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Dates and times without a zone."""

    seconds: pa.Array
    """``timestamp[s]``, cut down; null where there is none."""
    nanos: Numbers
    """Of the second, 0..999,999,999."""
    wrong: Mask | None
    """Where a value is no moment of the years 1 to 9999; None: nowhere."""


def moments_of_dates(dates: pa.Array) -> Moments:
    """Take midnight."""
    seconds = _integers(dates.cast(pa.int32())) * _DAY_SECONDS
    return _moments(seconds, np.zeros(len(dates), np.int64), dates)


def moments_of_timestamps(times: pa.Array) -> Moments:
    """Take timestamps of any unit; those with a zone as UTC shows them."""
    return _of_units(_integers(times.cast(pa.int64())), _PER_SECOND[times.type.unit], times)


def moments_of_epochs(numbers: pa.Array, precision: int) -> Moments:
    """Take counts since 1970 in UTC: of seconds (0), or with 3, 6 or 9 digits after them."""
    return _of_units(_integers(numbers), 10**precision, numbers)


def moments_of_epoch_texts(texts: pa.Array, precision: int) -> Moments:
    """Take counts that are written in digits."""
    parts = pc.extract_regex(texts, _INTEGER_TEXT)
    digits = _part(parts, "digits")
    longest = arrow_scalar(len(_LARGEST), pa.int32())
    is_large = pc.and_(
        pc.equal(pc.utf8_length(digits), longest), pc.greater(digits, arrow_scalar(_LARGEST))
    )
    wrong = _is_missing(parts, texts) | _truths(is_large)
    is_zero = arrow_array(wrong | _truths(parts.is_null()))
    digits = pc.if_else(is_zero, arrow_scalar("0"), digits)
    numbers = pc.binary_join_element_wise(_part(parts, "sign"), digits, arrow_scalar(""))
    return _of_units(_integers(numbers.cast(pa.int64())), 10**precision, texts, wrong)


def moments_of_texts(texts: pa.Array) -> Moments:
    """Read ``yyyy-M-d[ H:m:s[.f]]``.

    As in Java a day up to 31 that the month does not have is its last one, and 24:00:00 is the
    next midnight.
    """
    parts = pc.extract_regex(texts, _TIME_TEXT)
    year, month, day = (_digits(parts, name) for name in ("year", "month", "day"))
    hour, minute, second = (_digits(parts, name) for name in ("hour", "minute", "second"))
    fraction = pc.utf8_rpad(_part(parts, "fraction"), 9, "0")
    nanos = _integers(fraction.cast(pa.int64()))
    is_midnight = (hour == 24) & (minute == 0) & (second == 0) & (nanos == 0)
    wrong = (
        _is_missing(parts, texts)
        | ((year < 1) | (month < 1) | (month > 12) | (day < 1) | (day > 31))
        | (((hour > 23) & ~is_midnight) | (minute > 59) | (second > 59))
    )
    months = np.where(wrong, 0, (year - 1970) * 12 + month - 1)
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    days = first + np.minimum(day, after - first) - 1
    seconds = days * _DAY_SECONDS + hour * 3_600 + minute * 60 + second
    return _moments(seconds, nanos, texts, wrong)


def _of_units(
    counts: Numbers, per_second: int, given: pa.Array, wrong: Mask | None = None
) -> Moments:
    seconds, rest = np.divmod(counts, per_second)
    return _moments(seconds, rest * (_NANOS // per_second), given, wrong)


def _moments(
    seconds: Numbers, nanos: Numbers, given: pa.Array, wrong: Mask | None = None
) -> Moments:
    null = _truths(given.is_null())
    outside = (seconds < _FIRST) | (seconds > _LAST)
    bad = (outside if wrong is None else wrong | outside) & ~null
    missing = null | bad
    found = arrow_array(seconds, pa.int64(), mask=missing if missing.any() else None)
    return Moments(found.cast(pa.timestamp("s")), nanos, bad if bad.any() else None)


_PARTS: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "year": pc.year,
    "quarter": pc.quarter,
    "month": pc.month,
    "day": pc.day,
    "day_of_year": pc.day_of_year,
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
}


def part_of(moments: Moments, part: str) -> Values:
    """Return the year, month, day, hour, minute or second as int32."""
    return _PARTS[part](moments.seconds).cast(pa.int32()), moments.wrong


def formatted(moments: Moments, pieces: Pieces) -> Values:
    """Write moments by a pattern."""
    texts = [
        _shown(moments, piece) if isinstance(piece, Number) else arrow_scalar(piece)
        for piece in pieces
    ]
    return pc.binary_join_element_wise(*texts, arrow_scalar("")), moments.wrong


def _shown(moments: Moments, piece: Number) -> pa.Array:
    match piece.part:
        case "fraction":
            numbers = arrow_array(moments.nanos // 10 ** (9 - piece.width))
            # Where there is no moment, the other pieces may be texts alone.
            numbers = pc.if_else(moments.seconds.is_valid(), numbers, pa.nulls(1, pa.int64())[0])
        case "two_digit_year":
            years = pc.year(moments.seconds)
            hundred = arrow_scalar(100, pa.int64())
            numbers = pc.subtract(years, pc.multiply(pc.divide(years, hundred), hundred))
        case part:
            numbers = _PARTS[part](moments.seconds)
    return pc.utf8_lpad(numbers.cast(pa.string()), piece.width, "0")


def substring(texts: pa.Array, begin: int, end: int | None) -> Values:
    """Cut texts from a character, counted from 0, up to one that is left out.

    A text that has not so many characters is wrong.
    """
    needed = begin if end is None else end
    lengths = numpy_values(null_filled(pc.utf8_length(texts), needed))
    wrong = lengths < needed
    return pc.utf8_slice_codeunits(texts, begin, end), wrong if wrong.any() else None


def truncated_integers(numbers: pa.Array, width: int) -> Values:
    """Take the multiple of a width at or below each number; one that its type has not is wrong."""
    values = _integers(numbers)
    with np.errstate(over="ignore"):
        found = values - np.mod(values, width)
    wrong = (found > values) | (found < np.iinfo(numbers.type.to_pandas_dtype()).min)
    missing = wrong | _truths(numbers.is_null())
    made = arrow_array(np.where(wrong, 0, found), pa.int64(), mask=missing)
    return made.cast(numbers.type), wrong if wrong.any() else None


def truncated_decimals(numbers: pa.Array, width: int) -> Values:
    """Do so with the digits of decimals, whatever their point; width < 2**31."""
    kind = numbers.type
    words = np.frombuffer(numbers.buffers()[1], np.int64).reshape(-1, 2)
    words = words[numbers.offset : numbers.offset + len(numbers)]
    low, high = words[:, 0].view(np.uint64), words[:, 1]
    low_rest = np.mod(low, np.uint64(width)).astype(np.int64)
    rest = np.mod(np.mod(high, width) * (2**64 % width) + low_rest, width).astype(np.uint64)
    found = np.empty((len(numbers), 2), np.int64)
    with np.errstate(over="ignore"):
        found[:, 0] = (low - rest).view(np.int64)
        found[:, 1] = high - (low < rest)
    null = _truths(numbers.is_null())
    wrong = _is_below(found, -(10**kind.precision) + 1) & ~null
    found[wrong | null] = 0
    missing = wrong | null
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    made = pa.Array.from_buffers(kind, len(numbers), [valid, pa.py_buffer(found)])
    return made, wrong if wrong.any() else None


def _is_below(words: Numbers, limit: int) -> Mask:
    """Compare numbers of 128 bits, the lower half first, with a limit."""
    low, high = limit % 2**64, limit >> 64
    lower: Mask = words[:, 0].view(np.uint64) < np.uint64(low)
    return (words[:, 1] < high) | ((words[:, 1] == high) & lower)


def upper(texts: pa.Array) -> pa.Array:
    """Write texts in capital letters, as Java and Python do: ß becomes SS."""
    return _in_case(texts, pc.utf8_upper, str.upper, _grow_in_upper())


def lower(texts: pa.Array) -> pa.Array:
    """Write texts in small letters, as Java and Python do: a last Σ becomes ς."""
    return _in_case(texts, pc.utf8_lower, str.lower, "[İΣ]")


def _in_case(
    texts: pa.Array,
    kernel: Callable[[pa.Array], pa.Array],
    function: Callable[[str], str],
    special: str,
) -> pa.Array:
    """Let Arrow do it, but for texts with a letter of which it makes another one."""
    is_special = pc.match_substring_regex(texts, special)
    if not pc.any(is_special).as_py():
        return kernel(texts)
    others = per_value(texts.filter(is_special), function, pa.string())
    return pc.replace_with_mask(kernel(texts), null_filled(is_special, False), others)


@cache
def _grow_in_upper() -> str:
    """Return a regular expression for the letters whose capital is more than one letter."""
    letters = [chr(code) for code in range(0x80, 0xFFFF) if len(chr(code).upper()) > 1]
    return f"[{''.join(letters)}]"


_BLANKS = "".join(map(chr, range(0x21)))


def trimmed(texts: pa.Array) -> pa.Array:
    """Take blanks and control characters, up to U+0020, from both ends."""
    return pc.utf8_trim(texts, characters=_BLANKS)


def _integers(numbers: pa.Array) -> Numbers:
    """Return int64, 0 at nulls."""
    found: Numbers = numpy_values(null_filled(numbers.cast(pa.int64()), 0))
    return found


def _truths(mask: pa.Array) -> Mask:
    """Return what is true; null is not."""
    found: Mask = numpy_values(null_filled(mask, False))
    return found


def _is_missing(parts: pa.Array, texts: pa.Array) -> Mask:
    """Mark the texts that do not match."""
    return _truths(parts.is_null()) & _truths(texts.is_valid())


def _part(parts: pa.Array, name: str) -> pa.Array:
    """Return what a group matched; empty if nothing."""
    return null_filled(parts.field(name), "")


def _digits(parts: pa.Array, name: str) -> Numbers:
    return _integers(pc.utf8_lpad(_part(parts, name), 1, "0").cast(pa.int64()))
