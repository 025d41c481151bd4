"""How arguments of procedures are written: ``k=v,k2=v2``, ``dt=1,hh=2;dt=3``, durations, times.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.ParameterUtils``,
``org.apache.paimon.utils.TimeUtils``, ``org.apache.paimon.utils.DateTimeUtils.parseTimestampData``.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from paimonlab.errors import ArgumentError
from paimonlab.spec.options.grammar import parse_duration_millis

_TIME = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?: ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{0,9}))?)?"
)


def key_values(text: str, *, procedure: str, argument: str) -> dict[str, str]:
    """Read ``key=value`` pairs with commas between; blanks around them do not count.

    Raises
    ------
    ArgumentError
        If a pair has no equals sign, or a key comes twice with two values.

    Examples
    --------
    >>> key_values("a = 1, b=x=y", procedure="compact", argument="options")
    {'a': '1', 'b': 'x=y'}
    """
    values: dict[str, str] = {}
    if not text.strip():
        return values
    for pair in text.rstrip(",").split(","):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise ArgumentError(procedure, f"{argument} has {pair!r}; write it as key=value")
        if values.setdefault(key, value) != value:
            raise ArgumentError(procedure, f"{argument} has {key!r} twice: {values[key]}, {value}")
    return values


def duration(text: str, *, procedure: str, argument: str) -> timedelta:
    """Read a duration like ``1 d``; without a unit it counts milliseconds.

    Raises
    ------
    ArgumentError
        If it is not a duration.
    """
    try:
        return timedelta(milliseconds=parse_duration_millis(text))
    except (ValueError, OverflowError) as error:
        raise ArgumentError(procedure, f"{argument} => {text!r} is {error}") from error


def local_time(text: str, *, procedure: str, argument: str) -> datetime:
    """Read ``2026-01-31`` or ``2026-01-31 12:34:56.789``; what is finer than that is cut off.

    Returns
    -------
    datetime
        Without a zone: it means the process's local zone.

    Raises
    ------
    ArgumentError
        If it is not a time.
    """
    wrong = ArgumentError(
        procedure,
        f"{argument} => {text!r} is not a time; write it as 2026-01-31 or 2026-01-31 12:34:56.789",
    )
    match = _TIME.fullmatch(text)
    if match is None:
        raise wrong
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    millis = int((match[7] or "").ljust(3, "0")[:3])
    try:
        return datetime(year, month, day, hour, minute, second, millis * 1000)  # noqa: DTZ001
    except ValueError:
        raise wrong from None
