"""The time that the values of a partition stand for.

Source: apache/paimon@1.3.1 ``org.apache.paimon.partition.PartitionTimeExtractor``, and
``java.time.format.DateTimeFormatter.ofPattern`` for the letters of a formatter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from paimonlab.errors import SchemaError, UnsupportedError

_FORMATTER = "partition.timestamp-formatter"
_DEFAULT = re.compile(
    r"(?P<year>-?\d{1,10})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?: (?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?"
)
_PIECES = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|.", re.DOTALL)
_FIELDS = {
    "y": "year",
    "u": "year",
    "M": "month",
    "L": "month",
    "d": "day",
    "D": "day_of_year",
    "H": "hour",
    "m": "minute",
    "s": "second",
    "S": "fraction",
}
_TWO_DIGIT_YEARS_FROM = 2000
_LONGEST = {"day_of_year": 3, "year": 19}


def timestamp_text(values: Mapping[str, str | None], pattern: str | None) -> str | None:
    """Put the values of a partition into a pattern: ``$dt $hour:00:00``.

    Parameters
    ----------
    values
        Texts by partition column; None for null.
    pattern
        ``partition.timestamp-pattern``; None: the first column is the time.

    Returns
    -------
    str or None
        None if a null takes part.

    Examples
    --------
    >>> timestamp_text({"dt": "20260102", "h": "7"}, "$dt $h")
    '20260102 7'
    """
    if pattern is None:
        return next(iter(values.values()))
    text = pattern
    for name, value in values.items():
        if value is None:
            return None
        text = text.replace(f"${name}", value)
    return text


def parse_time(text: str, formatter: str | None) -> datetime | None:
    """Read the time of a partition.

    Parameters
    ----------
    text
        As `timestamp_text` returns it.
    formatter
        ``partition.timestamp-formatter`` in the letters of Java, as ``yyyyMMdd``; None:
        ``2026-01-02`` or ``2026-01-02 03:04:05``, where too large numbers carry over.

    Returns
    -------
    datetime or None
        Local, without a zone; None if the text is not a time.

    Raises
    ------
    UnsupportedError
        If the formatter has a letter that is not supported.

    Examples
    --------
    >>> parse_time("2026-1-2", None), parse_time("20260102", "yyyyMMdd")
    (datetime.datetime(2026, 1, 2, 0, 0), datetime.datetime(2026, 1, 2, 0, 0))
    """
    expression = _DEFAULT if formatter is None else _expression(formatter)
    match = expression.fullmatch(text)
    if match is None:
        return None
    fields = {name: value for name, value in match.groupdict().items() if value is not None}
    fraction = fields.pop("fraction", "")
    numbers = {name: int(value) for name, value in fields.items()}
    numbers["microsecond"] = int(fraction[:6].ljust(6, "0"))
    if "short_year" in numbers:
        numbers["year"] = numbers.pop("short_year") + _TWO_DIGIT_YEARS_FROM
    try:
        return _carried(numbers) if formatter is None else _checked(numbers)
    except (OverflowError, ValueError):
        return None


def _carried(numbers: Mapping[str, int]) -> datetime:
    """Make a time of numbers of which some are too large."""
    months = numbers["year"] * 12 + numbers["month"] - 1
    day = datetime(months // 12, months % 12 + 1, 1) + timedelta(days=numbers["day"] - 1)  # noqa: DTZ001
    return day + timedelta(
        hours=numbers.get("hour", 0),
        minutes=numbers.get("minute", 0),
        seconds=numbers.get("second", 0),
        microseconds=numbers["microsecond"],
    )


def _checked(numbers: Mapping[str, int]) -> datetime | None:
    """Make a time of numbers as Java does by default: day 31 is the last of a shorter month."""
    year = numbers.get("year")
    if year is None:
        return None
    if "day_of_year" in numbers:
        day = datetime(year, 1, 1) + timedelta(days=numbers["day_of_year"] - 1)  # noqa: DTZ001
        if day.year != year:
            return None
    elif "month" in numbers and 1 <= numbers.get("day", 0) <= 31:
        day = _last_of_month(year, numbers["month"], numbers["day"])
    else:
        return None
    clock = [numbers.get(name, 0) for name in ("hour", "minute", "second", "microsecond")]
    if clock == [24, 0, 0, 0]:
        return day + timedelta(days=1)
    if "hour" not in numbers or ("minute" not in numbers and "second" in numbers):
        return day  # without it there is only a date
    return day.replace(hour=clock[0], minute=clock[1], second=clock[2], microsecond=clock[3])


def _last_of_month(year: int, month: int, day: int) -> datetime:
    first = datetime(year, month, 1)  # noqa: DTZ001 - partitions have no zone
    after = datetime(year + month // 12, month % 12 + 1, 1)  # noqa: DTZ001
    return min(first + timedelta(days=day - 1), after - timedelta(days=1))


def _expression(formatter: str) -> re.Pattern[str]:
    """Turn a formatter into an expression with the names of `_FIELDS`."""
    parts, seen = [], set()
    for match in _PIECES.finditer(formatter):
        piece = match[0]
        if match[1]:
            name = _field(piece, formatter)
            if name in seen:
                raise UnsupportedError(f"{_FORMATTER} = {formatter!r}", f"{name} occurs twice")
            seen.add(name)
            parts.append(f"(?P<{name}>{_digits(piece, name)})")
        elif piece.startswith("'"):
            parts.append(re.escape(piece[1:-1].replace("''", "'") or "'"))
        elif piece in {"[", "]"}:
            parts.append("(?:" if piece == "[" else ")?")
        elif piece in {"#", "{", "}"}:
            raise SchemaError(f"option {_FORMATTER!r}: {piece!r} is reserved, quote it")
        else:
            parts.append(re.escape(piece))
    try:
        return re.compile("".join(parts))
    except re.error as error:
        raise SchemaError(f"option {_FORMATTER!r} = {formatter!r}: {error}") from error


def _field(piece: str, formatter: str) -> str:
    name = _FIELDS.get(piece[0])
    is_text = piece[0] in "ML" and len(piece) > 2
    if name is None or is_text:
        raise UnsupportedError(
            f"{_FORMATTER} = {formatter!r}",
            f"{piece!r} is not one of the letters y, u, M, d, D, H, m, s and S",
        )
    return "short_year" if name == "year" and len(piece) == 2 else name


def _digits(piece: str, name: str) -> str:
    count = len(piece)
    if name in {"fraction", "short_year"} or count > 1:
        return rf"\d{{{count}}}"
    return rf"\d{{1,{_LONGEST.get(name, 2)}}}"
