"""How values of options are written: durations, sizes, numbers, lists.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.TimeUtils``,
``org.apache.paimon.options.MemorySize``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "string", "boolean", "int", "long", "float", "duration", "memory", "enum", "list", "map"
]

_NUMBER_AND_UNIT = re.compile(r"(\d+)\s*([^\W\d]*)")
_INFINITE = 2**63 - 1

_NANOS = {
    **dict.fromkeys(("ns", "nano", "nanosecond", "nanos", "nanoseconds"), 1),
    **dict.fromkeys(("µs", "micro", "microsecond", "micros", "microseconds"), 10**3),
    **dict.fromkeys(("", "ms", "milli", "millisecond", "millis", "milliseconds"), 10**6),
    **dict.fromkeys(("s", "sec", "second", "secs", "seconds"), 10**9),
    **dict.fromkeys(("min", "m", "minute", "mins", "minutes"), 60 * 10**9),
    **dict.fromkeys(("h", "hour", "hours"), 3600 * 10**9),
    **dict.fromkeys(("d", "day", "days"), 86_400 * 10**9),
}
_BYTES = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}


def parse_duration_millis(text: str) -> int:
    """Read a duration; without a unit it counts milliseconds.

    Raises
    ------
    ValueError
        If the text is not a duration.

    Examples
    --------
    >>> parse_duration_millis("1 h"), parse_duration_millis("250"), parse_duration_millis("2min")
    (3600000, 250, 120000)
    """
    return _with_unit(text, _NANOS, "a duration like '10 s' or '1 h'") // 10**6


def parse_memory_size_bytes(text: str) -> int:
    """Read a size in memory; without a unit it counts bytes, units are powers of 1024.

    Raises
    ------
    ValueError
        If the text is not a size.

    Examples
    --------
    >>> parse_memory_size_bytes("8 mb"), parse_memory_size_bytes("1024")
    (8388608, 1024)
    """
    return _with_unit(text, _BYTES, "a size like '64 mb'")


def _with_unit(text: str, units: Mapping[str, int], what: str) -> int:
    if text.strip().lower() == "infinite":
        return _INFINITE
    match = _NUMBER_AND_UNIT.fullmatch(text.strip().lower())
    if match is None or match[2] not in units:
        raise ValueError(f"not {what}")
    return int(match[1]) * units[match[2]]


def parse_boolean(text: str) -> bool:
    """Read ``true`` or ``false`` in upper or lower case.

    Raises
    ------
    ValueError
        If the text is neither.
    """
    value = {"true": True, "false": False}.get(text.strip().lower())
    if value is None:
        raise ValueError("neither true nor false")
    return value


def parse_list(text: str) -> tuple[str, ...]:
    """Read names separated by commas; blanks around them do not count."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_map(text: str) -> dict[str, str]:
    """Read ``key:value`` pairs separated by commas.

    Raises
    ------
    ValueError
        If a pair has no colon.
    """
    pairs = [part.partition(":") for part in parse_list(text)]
    if not all(colon for _, colon, _ in pairs):
        raise ValueError("not pairs like '0:avro,5:orc'")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _parse_int(text: str, bits: int) -> int:
    if text.strip().lower() == "infinite":
        return 2 ** (bits - 1) - 1
    if not re.fullmatch(r"[+-]?[0-9]+", text.strip()):
        raise ValueError("not a whole number")
    value = int(text)
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(f"not a number of {bits} bits")
    return value


def _parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("not a number") from None


PARSERS: Mapping[Kind, Callable[[str], Any]] = {
    "string": str,
    "boolean": parse_boolean,
    "int": lambda text: _parse_int(text, 32),
    "long": lambda text: _parse_int(text, 64),
    "float": _parse_float,
    "duration": parse_duration_millis,
    "memory": parse_memory_size_bytes,
    "enum": lambda text: text.strip().lower(),
    "list": parse_list,
    "map": parse_map,
}
"""What reads a value of each kind: durations give milliseconds, sizes bytes."""
